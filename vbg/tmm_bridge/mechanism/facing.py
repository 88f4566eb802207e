"""How frames face each other across cut joints: the turn of M against F.

Rows that hold rotations keep axes of F and M square, x_F . z_M = 0, which two axes are half a turn
off, too; and a quarter off such a row has no direction left to turn in.  Where frames may be
anywhere, as written postures are, the rows are turns about axes of F instead, and their gaps are
components of the rotation vector v of R_FM in F, with the quaternion (w, u) of R_FM

    all axes held:   v = 2 atan2(|u|, w) u / |u|
    z_M along z_F:   v = 2 atan2(|z_M - z_F|, |z_M + z_F|) n,   n along z_F x z_M

(the second after W. Kahan, How Futile are Mindless Assessments of Roundoff, 2006, section 12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.cuts import C_F, C_M
from vbg.tmm_bridge.kernels.motion.rotation import Array, quaternion_of
from vbg.tmm_bridge.kernels.tables import IDLE, ROW_DOT, ROW_SLIDE, ROW_TURN, Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import CutJoint

HALF = 1e-9  # of the quaternion: an axis of half a turn, which rounding does not choose
# Axes of F and of M that a row keeps square, by numbers: the axis of F about which it holds M.
_ABOUT = {(0, 2): 1, (1, 2): 0, (0, 1): 2}


@dataclass(frozen=True)
class Facing:
    """Rows of cut joints that hold turns: row, cut, axis of F, and whether all axes are held."""

    rows: tuple[tuple[int, int, int, bool], ...]

    def measure(self, s: Scratch) -> None:
        """The gaps of these rows at the posture in `s`, in place."""
        turns: dict[int, Array] = {}
        for row, cut, axis, whole in self.rows:
            if cut not in turns:
                turns[cut] = turn_across(s.cut[cut], whole=whole)
            s.row_state[row, 0] = turns[cut][axis]


def facing_rows(t: Tables) -> tuple[Tables, Facing]:
    """Tables with turns about axes of F for rows that keep axes square, and these rows."""
    held = {int(cut) for primitive, cut, i, j, _ in t.rows if (primitive, i, j) == (ROW_DOT, 0, 1)}
    rows, found = t.rows.copy(), []
    for r, (primitive, cut, i, j, drive) in enumerate(t.rows):
        about = _ABOUT.get((int(i), int(j)))
        if primitive == ROW_DOT and about is not None and drive != IDLE:
            rows[r, :4] = ROW_TURN, cut, about, 0
            found.append((r, int(cut), about, int(cut) in held))
    return t._replace(rows=rows), Facing(tuple(found))


def turn_across(cut: Array, *, whole: bool) -> Array:
    """(3,) rotation vector [rad] of M against F, in F; of z_M against z_F alone unless `whole`."""
    R = cut[C_F : C_F + 9].reshape(3, 3) @ cut[C_M : C_M + 9].reshape(3, 3).T
    if not whole:
        return _tilt(R)
    w, u = (quaternion := quaternion_of(R))[0], quaternion[1:]
    size = float(np.linalg.norm(u))
    if size == 0.0:
        return np.zeros(3)
    if w < HALF:
        u = u * math.copysign(1.0, next(c for c in u if abs(c) > 0.5 * size))
    turn: Array = 2.0 * math.atan2(size, w) / size * u
    return turn


def _tilt(R: Array) -> Array:
    """Of z_M against z_F; where they are opposite about x_M, which keeps its place in F."""
    z_M, z_F = R[:, 2], np.array([0.0, 0.0, 1.0])
    apart, along = float(np.linalg.norm(z_M - z_F)), float(np.linalg.norm(z_M + z_F))
    n = np.cross(z_F, z_M if along > HALF else np.cross(z_F, R[:, 0])) * (1.0, 1.0, 0.0)
    size = float(np.linalg.norm(n))
    tilt: Array = n if size == 0.0 else 2.0 * math.atan2(apart, along) / size * n
    return tilt


def way_apart(t: Tables, s: Scratch, joint: CutJoint) -> float:
    """How far M stands from where its joint wants it, along the axes that are held [m]."""
    rows = [row for row in joint.rows if t.rows[row, 0] == ROW_SLIDE]
    return float(np.linalg.norm(s.row_state[rows, 0]))


def turn_apart(t: Tables, s: Scratch, joint: CutJoint) -> float:
    """By how much M is turned from where its joint wants it [rad]."""
    square = [tuple(t.rows[row, 2:4]) for row in joint.rows if t.rows[row, 0] == ROW_DOT]
    if not square:
        return 0.0
    return float(np.linalg.norm(turn_across(s.cut[joint.index], whole=(0, 1) in square)))
