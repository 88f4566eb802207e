"""Momenta and the energy that a machine keeps, with the direction or the axis that they go with.

Of all bodies together: the momentum P, the angular momentum L about the world's origin and
L_c about the common mass centre c,

    P = sum p_i,   L = sum (r_i x p_i + R_i h_i),   L_c = L - c x P

A combination a . P + b . L + d . L_c is kept where its rate is zero in states of the machine
anywhere near the start, at any speeds and times (Noether: what turning about an axis leaves
as it is keeps the angular momentum about it).  a . P + b . L with b not zero is the
angular momentum about the axis along b through b x a / |b|^2.  The energy is kept where nothing
supplies and nothing dissipates in any of these states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.causality.conserved import row_echelon
from vbg.spatial import rotation_matrix

Array = NDArray[np.float64]

SAMPLES = 32
STEP = 0.1  # from one sample to the next, in lengths of the machine and rad
KEPT = 1e-10  # a rate below this part of what makes it up is rounding
ROUNDING = 1e-7  # of the largest entry of a matrix: no pivot
CLOSED = 1e-9  # residual of a posture that counts as assembled
SCREW = 1e-6  # of the machine's length: a pitch above it is none of an axis
POWERS = ("supplied", "dissipated")  # what changes the energy of a machine
LARGEST = 400  # states up to which the search is made

Kind = Literal["momentum", "angular momentum", "angular momentum about the mass centre", "energy"]


@dataclass(frozen=True, slots=True)
class Kept:
    """`kind`; `direction` (3,) in W of a momentum or an axis, `point` (3,) on the axis [m]."""

    kind: Kind
    direction: tuple[float, ...] = ()
    point: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.kind == "energy":
            return "energy of the machine = constant"
        along = _written(self.direction)
        if self.kind == "angular momentum":
            through = "" if not any(self.point) else f" through {_written(self.point)} m"
            return (
                f"angular momentum of all bodies about the axis along {along}{through} = constant"
            )
        return f"{self.kind} of all bodies along {along} = constant"


def _written(vector: tuple[float, ...]) -> str:
    units = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}
    if vector in units:
        return units[vector]
    return f"({', '.join(f'{v:.6g}' for v in vector)})"


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is `kept`, and where the energy is not what changes it: "supplied", "dissipated"."""

    kept: tuple[Kept, ...] = ()
    energy: tuple[str, ...] = ()


def find_kept(system: System) -> tuple[Kept, ...]:
    """What all bodies together keep, see `keeping_of`."""
    return keeping_of(system).kept


def keeping_of(system: System) -> Keeping:
    """What all bodies together keep; nothing is said of machines without bodies, or with more than
    LARGEST states."""
    if not system.model.bodies or system.size > LARGEST:
        return Keeping()
    start = assemble_start(system)
    rates, sizes, values, powers, taken = [], [], [], [], []
    for t, x in states_on_constraints(system, start):
        rate = start.rate(t, x)
        if not np.all(np.isfinite(rate)):  # a law has no value for what a controller might hold
            continue
        own, size = _rates(system, x, rate)
        rates.append(own)
        sizes.append(size)
        values.append(_values(system, x))
        powers.append([rate[_place(system, f"energy.{name}")] for name in POWERS])
        taken.append(float(np.linalg.norm(x[_momenta(system)] * rate[_momenta(system)])))
    if not rates:
        return Keeping()
    found = _combinations(np.array(rates), np.max(sizes, axis=0), np.array(values))
    found = [kept for kept in found if not _is_nothing(kept, np.array(values))]
    felt = np.abs(powers).max(axis=0) > KEPT * max(np.max(taken), 1e-300)
    if not felt.any():
        found.append(Kept("energy"))
    return Keeping(tuple(found), tuple(name for name, one in zip(POWERS, felt) if one))


def _place(system: System, name: str) -> int:
    return next(s.first for s in system.slices if s.state.name == name)


def _momenta(system: System) -> list[int]:
    names = {f"{b}.{one}" for b in system.model.bodies for one in ("momentum", "angular_momentum")}
    return [i for s in system.slices if s.state.name in names for i in range(s.first, s.last)]


def states_on_constraints(
    system: System, start: Start, count: int = SAMPLES
) -> list[tuple[float, Array]]:
    """`count` states on all constraints, a random walk from the start: they lie far apart."""
    random = np.random.default_rng(4)
    projector = Projector(system, start.kept)
    modes = {mode.name for mode in system.causal.graph.modes}
    length, large = length_of(start), large_momenta(start)
    found = []
    before = start.state
    for _ in range(count):
        x = before.copy()
        for s in system.slices:
            own = slice(s.first, s.last)
            if s.state.kind in ("position", "quaternion"):
                size = length if s.state.kind == "position" else 1.0
                x[own] += STEP * size * random.normal(size=s.last - s.first)
            elif s.state.name in large:
                x[own] = start.state[own] + large[s.state.name] * random.normal(
                    size=s.last - s.first
                )
            elif s.state.kind == "store":
                x[own] = start.state[own] * (1.0 + STEP * random.normal(size=s.last - s.first))
            elif s.state.kind in ("signal", "discrete") and s.state.name not in modes:
                sizes = np.maximum(np.abs(start.state[own]), 1.0)
                x[own] = start.state[own] + sizes * random.normal(size=s.last - s.first)
        t = float(random.uniform(0.0, system.model.simulate.t_end))
        projector.normalise(x)
        projector.project(t, x, 1e-12, 1e-12)
        projector.measure(t, x)
        position, velocity = projector.residuals(t, x)
        if np.abs([*position, *velocity, 0.0]).max() < CLOSED * max(1.0, length):
            found.append((t, x))
            before = x
    return found


def length_of(start: Start) -> float:
    """How far bodies are apart, from the origin on [m]."""
    places = [
        start.state[s.first : s.last] for s in start.system.slices if s.state.kind == "position"
    ]
    return max(1e-3, float(np.ptp(np.vstack([*places, np.zeros(3)]), axis=0).max()))


def large_momenta(start: Start) -> dict[str, float]:
    """Of each body's momenta what `states_on_constraints` may give them, before joints have their
    say."""
    length, found = length_of(start), {}
    for body, part in start.system.model.bodies.items():
        found[f"{body}.momentum"] = part.mass * length
        found[f"{body}.angular_momentum"] = max(part.inertia[:3])
    return found


def _bodies(system: System, x: Array) -> Iterator[tuple[Array, ...]]:
    """Position, momentum, angular momentum (body axes) and quaternion of every body in x, a
    state or its rate."""
    places = {s.state.name: slice(s.first, s.last) for s in system.slices}
    for body, part in system.model.bodies.items():
        if part.mass > 0.0:  # not a point of a flexible body, whose momenta have its modes behind
            yield tuple(
                x[places[f"{body}.{one}"]][:size]
                for one, size in (
                    ("position", 3),
                    ("momentum", 3),
                    ("angular_momentum", 3),
                    ("quaternion", 4),
                )
            )


def _middle(system: System, places: Sequence[Array]) -> Array:
    masses = np.array([part.mass for part in system.model.bodies.values() if part.mass > 0.0])
    return np.asarray(masses @ np.array(places) / masses.sum())


def _values(system: System, x: Array) -> Array:
    """(9,) P, L and L_c, and how large they are (3,) where nothing cancels, as (12,)."""
    bodies = list(_bodies(system, x))
    c = _middle(system, [r for r, _, _, _ in bodies])
    total, size = np.zeros(9), np.zeros(3)
    for r, p, h, q in bodies:
        own = rotation_matrix(q) @ h
        total += np.concatenate([p, np.cross(r, p) + own, np.cross(r - c, p) + own])
        arm, turning = np.linalg.norm(p), np.linalg.norm(h)
        size += [arm, np.linalg.norm(r) * arm + turning, np.linalg.norm(r - c) * arm + turning]
    return np.concatenate([total, size])


def _rates(system: System, x: Array, rate: Array) -> tuple[Array, Array]:
    """(9,) P', L' and L_c', and (3,) the sizes of the terms that make them up."""
    bodies = list(zip(_bodies(system, x), _bodies(system, rate), strict=True))
    c = _middle(system, [r for (r, _, _, _), _ in bodies])
    c_dot = _middle(system, [v for _, (v, _, _, _) in bodies])
    total, size = np.zeros(9), np.zeros(3)
    for (r, p, h, q), (v, force, h_dot, q_dot) in bodies:
        w_B = 2.0 * _quaternion_product(np.array([q[0], *-q[1:]]), q_dot)[1:]
        turned = rotation_matrix(q) @ (h_dot + np.cross(w_B, h))
        about = turned + np.cross(r, force) + np.cross(v, p)
        middle = turned + np.cross(r - c, force) + np.cross(v - c_dot, p)
        total += np.concatenate([force, about, middle])
        pull, spun = (
            np.linalg.norm(force),
            np.linalg.norm(h_dot) + np.linalg.norm(w_B) * np.linalg.norm(h),
        )
        thrown = np.linalg.norm(v) * np.linalg.norm(p)
        arms = np.array([np.linalg.norm(r), np.linalg.norm(r - c)])
        size += [pull, *(arms * pull + spun + thrown)]
    return total, size


def _is_nothing(kept: Kept, values: Array) -> bool:
    """Whether what is kept is zero in every state: the joints alone see to it."""
    P, L, L_c, size = values[:, :3], values[:, 3:6], values[:, 6:9], values[:, 9:]
    direction = np.array(kept.direction)
    if kept.kind == "momentum":
        amount, scale = P @ direction, size[:, 0]
    elif kept.kind == "angular momentum":
        amount, scale = (L - np.cross(np.array(kept.point), P)) @ direction, size[:, 1]
    else:
        amount, scale = L_c @ direction, size[:, 2]
    return bool((np.abs(amount) <= 1e-6 * scale).all())


def _quaternion_product(a: Array, b: Array) -> Array:
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([scalar, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def _combinations(rates: Array, sizes: Array, values: Array) -> list[Kept]:
    """The combinations of P and L, and of L_c, whose rates vanish; `sizes` (3,) of what makes
    up P', L' and L_c'."""
    found = [Kept("momentum", _tidy(a)) for a in _null(rates[:, :3], sizes[0])]
    moved = np.array([kept.direction for kept in found]).reshape(-1, 3)
    length = sizes[1] / sizes[0] if sizes[0] > 0.0 else 1.0
    nothing = _both(values[:, :6], values[:, 9:11].max(axis=0))
    for row in row_echelon(_without(_both(rates[:, :6], sizes[:2]), nothing, moved), ROUNDING):
        size = np.linalg.norm(row[:3])
        if size > KEPT * np.linalg.norm(row):
            b, a = row[:3] / size, row[3:] / size
            if abs(a @ b) <= SCREW * max(np.linalg.norm(a), length):  # no screw: a fixed axis
                found.append(Kept("angular momentum", _tidy(b), _tidy(np.cross(b, a))))
    found += [
        Kept("angular momentum about the mass centre", _tidy(d))
        for d in _null(rates[:, 6:], sizes[2])
    ]
    return found


def _both(columns: Array, sizes: Array) -> Array:
    """Rows (b, a) with no a . P + b . L in `columns` (n, 6) of P and L, whose sizes are given."""
    scale = np.repeat(np.where(sizes > 0.0, sizes, 1.0), 3)
    null = _null(columns / scale, 1.0) / scale
    return np.hstack([null[:, 3:], null[:, :3]])


def _without(rows: Array, nothing: Array, moved: Array) -> Array:
    """`rows` (b, a) less what is `nothing` anyway, so that b is across it, and a across momenta
    that are kept: in a planar machine only the axis across the plane is left."""
    nothing = row_echelon(nothing, ROUNDING)
    turning = nothing[np.linalg.norm(nothing[:, :3], axis=1) > KEPT]
    share, *_ = np.linalg.lstsq(turning[:, :3].T, rows[:, :3].T)
    rows = rows - share.T @ turning
    rows[:, 3:] -= rows[:, 3:] @ moved.T @ moved
    return np.asarray(rows[np.linalg.norm(rows[:, :3], axis=1) > KEPT])


def _null(rates: Array, size: float) -> Array:
    """Rows: orthonormal directions in which no rate is seen, reduced so that they name few axes."""
    count = rates.shape[1]
    if size == 0.0:
        return np.eye(count)
    _, values, rows = np.linalg.svd(rates / size)
    values = np.append(values, np.zeros(count - len(values)))
    null = row_echelon(rows[values <= KEPT * np.sqrt(len(rates))], ROUNDING)
    return null / np.linalg.norm(null, axis=1, keepdims=True) if len(null) else null


def _tidy(vector: Array) -> tuple[float, ...]:
    largest = np.abs(vector).max(initial=0.0)
    return tuple(0.0 if abs(v) <= 1e-7 * max(largest, 1e-3) else float(round(v, 9)) for v in vector)
