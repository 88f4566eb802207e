"""Closed loops in the linear transfer equation: rows, static efforts and what these stiffen.

A row r of a cut joint allows no motion  w_r . [dx; dtheta] + gain dq = 0; lambda_r is its effort.
As the bodies move its wrench moves with them:  d(lambda_r w_r), found by central differences
of the rows over rigid displacements of both bodies, extrapolated to a vanishing step (L. F.
Richardson, Phil. Trans. R. Soc. A 210 (1911) 307).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.entries import all_rows
from vbg.tmm_bridge.kernels.motion.cuts import C_F, C_M, C_PF, C_PM
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_P, W_R
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SECOND,
    COORDINATE_SLIDE,
    IDLE,
    Scratch,
    Tables,
)
from vbg.tmm_bridge.modes.network.acting import Rows
from vbg.tmm_bridge.overall.transfer import cross_matrix

TURN = 2e-3  # of the bodies for a difference [rad], its square far above rounding


def _put_frames(t: Tables, s: Scratch) -> None:
    """Frames of the cut joints where the bodies were put in the workspace, at rest."""
    for out, nodes, constants in zip(s.cut, t.cuts, t.cut, strict=True):
        out[:] = 0.0
        for node, at, axes, point in ((nodes[0], 0, C_F, C_PF), (nodes[1], 12, C_M, C_PM)):
            R, p = np.eye(3), np.zeros(3)
            if node >= 0:
                R, p = s.work[node, W_R : W_R + 9].reshape(3, 3), s.work[node, W_P : W_P + 3]
            out[axes : axes + 9] = (R @ constants[at : at + 9].reshape(3, 3)).T.ravel()
            out[point : point + 3] = p + R @ constants[at + 9 : at + 12]


def rows_of(t: Tables, s: Scratch) -> Rows:
    """The rows that hold now, all_rows having been played."""
    held = np.flatnonzero(t.rows[:, 4] != IDLE)
    nodes = np.zeros((len(held), len(t.links), 6))
    hinges = np.zeros((len(held), int(t.sizes[1])))
    for k, r in enumerate(held):
        for place in range(4):
            if s.row_nodes[r, place] >= 0:
                nodes[k, s.row_nodes[r, place]] += s.row_wrench[r, place]
        for place in range(2):
            if s.row_v[r, place] >= 0:
                hinges[k, s.row_v[r, place]] += s.row_gain[r, place]
    return Rows(nodes, hinges)


def stiffness_of_loops(
    t: Tables, s: Scratch, drive: Array, efforts: Array
) -> dict[tuple[int, int], Array]:
    """(12, 12) of each pair of nodes that cut joints join: the loads which displacements
    (dx_a, dtheta_a, dx_b, dtheta_b) need against the `efforts` that the rows hold."""
    found = {}
    for pair in {(int(a), int(b)) for a, b in t.cuts}:
        K = np.zeros((12, 12))
        for j in range(12):
            node, way = pair[j // 6], j % 6
            if node < 0:
                continue
            size = TURN * (t.length[0] if way < 3 else 1.0)
            near = {
                h: _loads(t, s, drive, _Moved(node, way, h), pair, efforts)
                for h in (size, -size, 0.5 * size, -0.5 * size)
            }
            once, half = ((near[h] - near[-h]) / (2.0 * h) for h in (size, 0.5 * size))
            K[:, j] = -(4.0 * half - once) / 3.0
        found[pair] = K
    all_rows(t, s, drive)
    return found


@dataclass(frozen=True)
class _Moved:
    """A rigid displacement of one node by h, along an axis of W [m] or, from way 3 on, about it
    [rad]."""

    node: int
    way: int
    h: float


def _loads(
    t: Tables, s: Scratch, drive: Array, moved: _Moved, pair: tuple[int, int], efforts: Array
) -> Array:
    """Loads (12,) of the efforts on both nodes of a pair when one is displaced."""
    kept, joints = s.work.copy(), s.cut.copy()
    if moved.way < 3:
        s.work[moved.node, W_P + moved.way] += moved.h
    else:
        K = cross_matrix(np.eye(3)[moved.way - 3])
        turn = np.eye(3) + np.sin(moved.h) * K + (1.0 - np.cos(moved.h)) * K @ K
        R = s.work[moved.node, W_R : W_R + 9].reshape(3, 3)
        s.work[moved.node, W_R : W_R + 9] = (turn @ R).ravel()
    _put_frames(t, s)
    all_rows(t, s, drive)
    held = rows_of(t, s)
    s.work[:], s.cut[:] = kept, joints
    of_pair = [r for r, row in enumerate(t.rows[t.rows[:, 4] != IDLE]) if _joins(t, row, pair)]
    total = np.zeros(12)
    for k, node in enumerate(pair):
        if node >= 0:
            total[6 * k : 6 * k + 6] = efforts[of_pair] @ held.nodes[of_pair, node]
    return total


def _joins(t: Tables, row: Array, pair: tuple[int, int]) -> bool:
    cut = int(row[1])
    return cut >= 0 and (int(t.cuts[cut, 0]), int(t.cuts[cut, 1])) == pair


def under_effort(t: Tables, s: Scratch, k: int, effort: float) -> tuple[Array, Array]:
    """Of a coordinate across a cut joint: its motion w (12,) by displacements of both bodies, and
    the loads (12, 12) that these need against an effort along it, whose axis n turns with its body

        dn = dtheta x n,   load = effort (n, r x n) on b, the opposite on a, r to the joint.
    """
    kind, cut = int(t.coordinates[k, 0]), int(t.coordinates[k, 1])
    c, nodes = s.cut[cut], (int(t.cuts[cut, 0]), int(t.cuts[cut, 1]))
    owner = 1 if kind == COORDINATE_SECOND else 0
    at = C_M + 6 if owner else C_F + 6
    n, point = c[at : at + 3], c[C_PM : C_PM + 3]
    slides = kind == COORDINATE_SLIDE
    arms = [point - (s.work[i, W_P : W_P + 3] if i >= 0 else np.zeros(3)) for i in nodes]

    def load(sign: float, arm: Array, axis: Array) -> Array:
        if slides:
            return sign * np.concatenate([axis, np.cross(arm, axis)])
        return sign * np.concatenate([np.zeros(3), axis])

    w = np.concatenate([load(-1.0, arms[0], n), load(1.0, arms[1], n)])
    K = np.zeros((12, 12))
    for j, x in enumerate(np.eye(12)):
        turned = np.cross(x[6 * owner + 3 : 6 * owner + 6], n)
        moved = x[6:9] + np.cross(x[9:12], arms[1])  # the joint's point, of body b
        by_axis = np.concatenate([load(-1.0, arms[0], turned), load(1.0, arms[1], turned)])
        by_arm = np.zeros(12)
        if slides:
            by_arm[3:6] = -np.cross(moved - x[:3], n)
            by_arm[9:12] = np.cross(moved - x[6:9], n)
        K[:, j] = -effort * (by_axis + by_arm)
    return w, K
