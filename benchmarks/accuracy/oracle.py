"""The accelerations of a mechanism by dense linear algebra, from its data and a posture alone.

Nothing of vbg's equations is used: constraint rows are written here in world axes, their rates
follow from complex steps of the posture, rank and null space from singular values, and what is
left of rounding is taken away with residuals in extended precision.

    M a + J^T l = F,    J a = -(dJ/dt) v + d

With J = U S V^T, rank r: rows U_r^T J are independent; a = V_r b + Z y, where Z spans the
null space, b follows from the rows and (Z^T M Z) y = Z^T (F - M V_r b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import lu_solve, matrix, workdps
from scipy.linalg import cho_factor, cho_solve, qr

Array = np.ndarray

RANK = 1e-9  # singular values of the scaled rows below this part of the largest are zero
STEP = 1e-30
REFINEMENTS = 4
DIGITS = 60  # of `exact`


@dataclass(frozen=True)
class Body:
    """`p`, `R`: pose; `inertia` (3, 3) about the mass centre, which is the origin, body axes;
    `v` world axes, `w` body axes."""

    mass: float
    inertia: Array
    p: Array
    R: Array
    v: Array
    w: Array


@dataclass(frozen=True)
class Joint:
    """Bodies by number, -1 for ground; points and axes in the axes of their bodies."""

    kind: str
    first: int
    second: int
    at_first: Array
    at_second: Array
    axis: Array
    axis2: Array
    lead: float = 0.0
    drive: tuple[float, float] | None = None  # speed and half the acceleration


@dataclass(frozen=True)
class Mechanism:
    name: str
    gravity: Array
    bodies: Sequence[Body]
    joints: Sequence[Joint]
    tags: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Truth:
    """`acceleration` (6 n,): linear in world axes and angular (world axes, rate of the body
    components turned) of each body; `loads` (6 n,): forces and torques of all constraints
    together on each body; `rank` of the rows, `freedoms`, `last` kept and `next` singular
    value of the scaled rows; `condition` of the independent rows in the metric of the masses;
    `largest`: acceleration, with or without the constraints, to which errors are relative: the
    forces that hold a weight at rest are as large as those that would let it fall."""

    acceleration: Array
    loads: Array
    rank: int
    freedoms: int
    last: float
    next: float
    condition: float
    largest: float


def skew(a: Array) -> Array:
    x, y, z = a
    zero = 0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors square to `axis` and to one another."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, other)
    first = first / np.sqrt(first @ first)
    return first, np.cross(axis, first)


class _Rows:
    """Constraint rows at poses (p, R) of all bodies, ground last."""

    def __init__(self, p: Array, R: Array):
        self.p, self.R, self.rows = p, R, []

    def add(self, on: dict[int, tuple[Array, Array]]) -> None:
        row = np.zeros((len(self.p) - 1, 6), dtype=self.p.dtype)
        for body, (linear, angular) in on.items():
            if body >= 0:
                row[body, :3] += linear
                row[body, 3:] += angular
        self.rows.append(row.ravel())

    def point(self, j: Joint, n: Array, *, fixed_in_first: bool = True) -> None:
        """Rate of n . (p_second - p_first), n fixed in the first body or in the world."""
        a, b = j.first, j.second
        to_b = self.R[b] @ j.at_second
        from_a = self.p[b] + to_b - self.p[a] if fixed_in_first else self.R[a] @ j.at_first
        if a == b:
            raise ValueError("a joint within one body")
        self.add({a: (-n, -np.cross(from_a, n)), b: (n, np.cross(to_b, n))})

    def turn(self, j: Joint, n: Array) -> None:
        """n . (w_second - w_first)."""
        zero = np.zeros(3)
        self.add({j.first: (zero, -n), j.second: (zero, n)})

    def helix(self, j: Joint, e: Array) -> None:
        a, b = j.first, j.second
        to_b = self.R[b] @ j.at_second
        arm = self.p[b] + to_b - self.p[a]
        self.add({a: (-e, -np.cross(arm, e) + j.lead * e), b: (e, np.cross(to_b, e) - j.lead * e)})


def rows_of(joints: Sequence[Joint], p: Array, R: Array) -> Array:
    """J, (m, 6 n): rows of all joints on the linear and angular velocities, world axes."""
    rows = _Rows(p, R)
    for j in joints:
        a, b = j.first, j.second
        e = R[a] @ j.axis
        f, g = (R[a] @ n for n in across(j.axis))
        world = np.eye(3)
        if j.kind in ("revolute", "spherical", "universal", "fixed"):
            for n in world:
                rows.point(j, n, fixed_in_first=False)
        if j.kind in ("prismatic", "cylindrical", "helical", "point_on_line"):
            rows.point(j, f)
            rows.point(j, g)
        if j.kind in ("planar", "point_on_plane"):
            rows.point(j, e)
        if j.kind in ("revolute", "cylindrical", "helical", "planar"):
            rows.turn(j, f)
            rows.turn(j, g)
        if j.kind in ("prismatic", "fixed"):
            for n in world:
                rows.turn(j, n)
        if j.kind == "universal":
            rows.turn(j, np.cross(R[b] @ j.axis2, e))
        if j.kind == "helical":
            rows.helix(j, e)
        if j.kind == "distance":
            d = p[b] + R[b] @ j.at_second - p[a] - R[a] @ j.at_first
            rows.point(j, d / np.sqrt(d @ d), fixed_in_first=False)
        if j.drive is not None:
            rows.turn(j, e)
    return np.array(rows.rows)


def truth(mechanism: Mechanism) -> Truth:
    """The accelerations of `mechanism` at t = 0."""
    return _solved(mechanism, *equations(mechanism))


def exact(mechanism: Mechanism) -> Truth:
    """The same in DIGITS digits, of independent rows, whatever the masses: (a, l) of
    [M, J^T; J, 0] (a, l) = (F, right).  `condition` is not looked at."""
    M, J, F, right = equations(mechanism)
    n, m = len(F), len(J)
    whole = np.block([[M, J.T], [J, np.zeros((m, m), dtype=M.dtype)]])
    with workdps(DIGITS):
        found = lu_solve(matrix(whole.tolist()), matrix(np.concatenate([F, right]).tolist()))
        a = np.array([float(found[i]) for i in range(n)])
        efforts = matrix([-found[n + i] for i in range(m)])
        loads = np.array([float(v) for v in matrix(J.T.tolist()) * efforts])
    free = np.linalg.solve(M.astype(float), F.astype(float))
    largest = float(max(np.abs(a).max(), np.abs(free).max()))
    return Truth(a, loads, m, n - m, 1.0, 0.0, 1.0, largest)


def equations(mechanism: Mechanism) -> tuple[Array, Array, Array, Array]:
    """M, J, F and the right-hand side of its rows at t = 0, in extended precision."""
    real: Any = np.longdouble
    bodies, count = mechanism.bodies, len(mechanism.bodies)
    ground = (np.zeros((1, 3), dtype=real), np.eye(3, dtype=real)[None])
    p = np.concatenate([np.array([b.p for b in bodies], dtype=real), ground[0]])
    R = np.concatenate([np.array([_orthonormal(b.R) for b in bodies]), ground[1]])
    v = np.array([b.v for b in bodies], dtype=real)
    w = np.array([R[i] @ b.w.astype(real) for i, b in enumerate(bodies)])
    J = rows_of(mechanism.joints, p, R)
    moved_p, moved_R = p.astype(np.clongdouble), R.astype(np.clongdouble)
    for i in range(count):
        moved_p[i] += 1j * STEP * v[i]
        moved_R[i] += 1j * STEP * (skew(w[i]) @ R[i])
    velocity = np.concatenate([v, w], axis=1).ravel()
    J_rate = rows_of(mechanism.joints, moved_p, moved_R).imag / STEP
    right = -(J_rate @ velocity)
    at = 0
    for j in mechanism.joints:
        at += _count(j)
        if j.drive is not None:
            right[at - 1] += 2.0 * j.drive[1]
    M = np.zeros((6 * count, 6 * count), dtype=real)
    F = np.zeros(6 * count, dtype=real)
    for i, b in enumerate(bodies):
        here = slice(6 * i, 6 * i + 3), slice(6 * i + 3, 6 * i + 6)
        inertia = R[i] @ b.inertia.astype(real) @ R[i].T
        M[here[0], here[0]] = b.mass * np.eye(3)
        M[here[1], here[1]] = inertia
        F[here[0]] = b.mass * mechanism.gravity
        F[here[1]] = -np.cross(w[i], inertia @ w[i])
    return M, J, F, right


def _count(j: Joint) -> int:
    sizes = {
        "revolute": 5, "prismatic": 5, "cylindrical": 4, "helical": 5, "universal": 4,
        "spherical": 3, "planar": 3, "point_on_line": 2, "point_on_plane": 1, "distance": 1,
        "fixed": 6,
    }  # fmt: skip
    return sizes[j.kind] + (j.drive is not None)


def _orthonormal(R: Array) -> Array:
    """The rotation nearest to R, in extended precision."""
    R = R.astype(np.longdouble)
    for _ in range(3):
        R = R @ (1.5 * np.eye(3) - 0.5 * (R.T @ R))
    return R


def _sizes(mechanism: Mechanism) -> Array:
    """A length of each body, by which its rotations are measured: its farthest joint."""
    size = np.zeros(len(mechanism.bodies))
    for j in mechanism.joints:
        for body, point in ((j.first, j.at_first), (j.second, j.at_second)):
            if body >= 0:
                size[body] = max(size[body], float(np.linalg.norm(point)))
    return np.where(size > 0.0, size, 1.0)


def _solved(mechanism: Mechanism, M: Array, J: Array, F: Array, right: Array) -> Truth:
    n = len(F)
    if len(J) == 0:
        a = np.linalg.solve(M.astype(float), F.astype(float))
        return Truth(a, np.zeros(n), 0, n, 1.0, 0.0, 1.0, float(np.abs(a).max()))
    sizes = _sizes(mechanism)
    unit = np.ones(n)
    for i, size in enumerate(sizes):
        unit[6 * i + 3 : 6 * i + 6] = 1.0 / size
    scaled = J * unit
    height = np.sqrt(np.sum(scaled**2, axis=1))
    scaled, right = scaled / height[:, None], right / height
    U, S, Vt = np.linalg.svd(scaled.astype(float), full_matrices=True)
    rank = int(np.count_nonzero(RANK * S[0] < S))
    # independent combinations of rows, and a in units that make turns lengths
    rows, b = U[:, :rank].T @ scaled, U[:, :rank].T @ right
    Z, V = Vt[rank:].T, Vt[:rank].T
    mass, force = M * np.outer(unit, unit), F * unit
    solve = _projected(Z, V, S[:rank], mass.astype(float))
    a, effort = np.zeros(n, dtype=F.dtype), np.zeros(rank, dtype=F.dtype)
    for _ in range(REFINEMENTS):
        left = force - mass @ a - rows.T @ effort
        gap = b - rows @ a
        da, de = solve(left.astype(float), gap.astype(float))
        a, effort = a + da, effort + de
    following = float(S[rank] / S[0]) if rank < len(S) else 0.0
    loads = (mass @ a - force) / unit
    free = np.linalg.solve(M.astype(float), F.astype(float))
    largest = float(max(np.abs(unit * a).max(), np.abs(free).max()))
    return Truth(
        (unit * a).astype(float), loads.astype(float), rank, n - rank,
        float(S[rank - 1] / S[0]), following, _condition(scaled, rank, mass), largest,
    )  # fmt: skip


def _projected(Z: Array, V: Array, S: Array, mass: Array) -> Any:
    """Solution (a, l) of M a + rows^T l = f, rows a = b by the null space of the rows."""
    small = Z.T @ mass @ Z
    scale = 1.0 / np.sqrt(np.diag(small)) if len(small) else np.zeros(0)
    factor = cho_factor(small * np.outer(scale, scale)) if len(small) else None

    def solve(f: Array, b: Array) -> tuple[Array, Array]:
        particular = V @ (b / S)
        a = particular
        if factor is not None:
            free = Z.T @ (f - mass @ particular)
            a = particular + Z @ (scale * cho_solve(factor, scale * free))
        return a, (V.T @ (f - mass @ a)) / S

    return solve


def _condition(scaled: Array, rank: int, mass: Array) -> float:
    """Of independent rows in the metric of the masses, each divided by its length."""
    chosen = qr(scaled.T.astype(float), mode="r", pivoting=True)[1][:rank]
    root = np.linalg.cholesky(mass.astype(float))
    seen = np.linalg.solve(root, scaled[chosen].T.astype(float))
    values = np.linalg.svd(seen / np.linalg.norm(seen, axis=0), compute_uv=False)
    return float(values[0] / values[-1])
