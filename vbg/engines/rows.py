"""Rows that joints put on the speeds of a tree: g = 0, g' = jacobian . a + drift.

A row takes the motion of the second body's point M seen from the first body, along or about
a direction n that is fixed in the first (but for a rod's and a cross's, which turn)::

    along   g = n . (v_M - v_F - w_A x r),  r = M - F      force  on the second at M:  effort n
    about   g = n . (w_B - w_A)                            moment on the second:       effort n

and what it puts on the first body at M is the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import Ends
from vbg.engines.pose import Array

ALONG: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("fixed", "revolute", "spherical", "universal"), (0, 1, 2)),
    **dict.fromkeys(("prismatic", "cylindrical", "helical", "point_on_line"), (0, 1)),
    **dict.fromkeys(("planar", "point_on_plane"), (2,)),
    "guide": (),
}
"""Axes of F along which the joint holds."""
ABOUT: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("fixed", "prismatic"), (0, 1, 2)),
    **dict.fromkeys(("revolute", "cylindrical", "helical", "planar"), (0, 1)),
}
"""Axes of F about which the joint holds."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """`force` and `moment` are what a unit effort puts on the second body at M, W;
    `jacobian` (nv,), `drift`, and the violation `gap` of its position."""

    joint: Ends
    jacobian: Array
    drift: float
    force: Array
    moment: Array
    gap: float


class _Seen:
    """The second body's point M seen from F on the first: where it is, how fast, and its
    acceleration without any of the coordinates, all in W."""

    def __init__(self, ends: Ends, A: Moving, B: Moving):
        self.ends, self.A, self.B = ends, A, B
        F, M = ends.X_AF, ends.X_BM
        arm_F, arm_M = A.R @ F.p, B.R @ M.p
        self.R_WF, self.R_WM = A.R @ F.R, B.R @ M.R
        self.r = B.p + arm_M - A.p - arm_F
        self.v = B.v + np.cross(B.w, arm_M) - A.v - np.cross(A.w, arm_F)
        self.a = _at(B, arm_M) - _at(A, arm_F)
        self.to_M = B.point(M.p)[2] - A.point(A.R.T @ (arm_F + self.r))[2]
        self.turning = B.jacobian[3:] - A.jacobian[3:]
        self.w, self.alpha = B.w - A.w, B.drift[3:] - A.drift[3:]

    def along(self, n: Array, gap: float, n_rate: Array | None = None) -> Row:
        """`n_rate`: of a direction that is not fixed in the first body."""
        A = self.A
        n_rate = np.cross(A.w, n) if n_rate is None else n_rate
        seen = self.v - np.cross(A.w, self.r)
        a = self.a - np.cross(A.drift[3:], self.r) - np.cross(A.w, self.v)
        drift = float(n_rate @ seen + n @ a)
        return Row(self.ends, n @ self.to_M, drift, n, np.zeros(3), gap)

    def about(self, n: Array, gap: float, n_rate: Array | None = None) -> Row:
        """The same for a turn."""
        n_rate = np.cross(self.A.w, n) if n_rate is None else n_rate
        drift = float(n @ self.alpha + n_rate @ self.w)
        return Row(self.ends, n @ self.turning, drift, np.zeros(3), n, gap)

    def thread(self) -> Row:
        """Along less lead times about."""
        z, lead = self.R_WF[:, 2], self.ends.part.lead
        slide, turn = self.along(z, 0.0), self.about(z, 0.0)
        row = slide.jacobian - lead * turn.jacobian
        return Row(self.ends, row, slide.drift - lead * turn.drift, z, -lead * z, 0.0)

    def rod(self) -> Row:
        """Along the line of the two points."""
        length = float(np.linalg.norm(self.r))
        n = self.r / length
        rate = (self.v - n * (n @ self.v)) / length
        wanted = self.ends.part.length or length
        row = self.along(n, length - wanted, rate)
        # the first body is held at F, not at M, which is the same along the line but for
        # n . (w_A x r) = 0, whose rate is not
        drift = float(rate @ self.v + n @ self.a)
        return Row(self.ends, row.jacobian, drift, n, np.zeros(3), row.gap)

    def cross(self) -> Row:
        """The two axes of a universal joint stay square."""
        z, y = self.R_WF[:, 2], self.R_WM[:, 2]
        rate = np.cross(np.cross(self.A.w, z), y) + np.cross(z, np.cross(self.B.w, y))
        return self.about(np.cross(z, y), float(z @ y), rate)


def _at(body: Moving, arm: Array) -> Array:
    turning = np.cross(body.drift[3:], arm) + np.cross(body.w, np.cross(body.w, arm))
    return np.asarray(body.drift[:3] + turning)


def rows_of(ends: Ends, bodies: Mapping[str, Moving]) -> Iterator[Row]:
    """The rows of a joint that closes a loop."""
    seen = _Seen(ends, bodies[ends.first], bodies[ends.second])
    if ends.kind == "distance":
        yield seen.rod()
        return
    for k in ALONG[ends.kind]:
        yield seen.along(seen.R_WF[:, k], float(seen.R_WF[:, k] @ seen.r))
    for k in ABOUT.get(ends.kind, ()):
        yield seen.about(seen.R_WF[:, k], _tilt(seen.R_WF.T @ seen.R_WM, k))
    if ends.kind == "universal":
        yield seen.cross()
    if ends.kind == "helical":
        yield seen.thread()


def coordinates_of(ends: Ends, bodies: Mapping[str, Moving]) -> dict[str, tuple[float, float]]:
    """Values and rates of the coordinates of a joint that closes a loop, angles within half a
    turn: slide and angle along and about F's z; angle2 about M's z behind angle."""
    seen = _Seen(ends, bodies[ends.first], bodies[ends.second])
    z, R = seen.R_WF[:, 2], seen.R_WF.T @ seen.R_WM
    slide_rate = float(z @ (seen.v - np.cross(seen.A.w, seen.r)))
    found = {"slide": (float(z @ seen.r), slide_rate)}
    if ends.kind == "universal":
        # R = Rz(a) C Rz(a2): third column (-sin a, cos a, 0), third row (-sin a2, -cos a2, 0)
        cross = np.column_stack((z, seen.R_WM[:, 2]))
        rates = np.linalg.lstsq(cross, seen.w, rcond=None)[0]
        found["angle"] = (float(np.arctan2(-R[0, 2], R[1, 2])), float(rates[0]))
        found["angle2"] = (float(np.arctan2(-R[2, 0], -R[2, 1])), float(rates[1]))
        return found
    found["angle"] = float(np.arctan2(R[1, 0], R[0, 0])), float(z @ seen.w)
    return found


def thread_of(ends: Ends, bodies: Mapping[str, Moving]) -> Row:
    """What makes a screw of a cylindrical joint in the tree."""
    return _Seen(ends, bodies[ends.first], bodies[ends.second]).thread()


def _tilt(R_FM: Array, k: int) -> float:
    """How far M is turned in F about its axis k, where that is little [rad]."""
    i, j = (k + 1) % 3, (k + 2) % 3
    return float(R_FM[j, i] - R_FM[i, j]) / 2.0
