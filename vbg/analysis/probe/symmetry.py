"""Steady motions: the state moves, but only along a symmetry of the machine.

A rotor that turns, a vehicle that drives straight on, a top that precesses:
x'(t) = f(x) is not zero, yet everything that matters stays as it is.  With a
vector field g that commutes with f (a symmetry) and g(x0) = f(x0), deviations
in the frame that moves along g obey z' = D(f - g) z with constant matrices.

Candidates for g, with parameters that are fitted to f(x0):
  spin of a body about axes of its own  quat' = 1/2 quat o (0, a), h' = -a x h
  turning of all bodies about an axis   p' = W x p, (m v)' = W x m v, quat' = 1/2 (0, W) o quat
  moving of all bodies                  p' = u
  counting on of a displacement         q' = s
(J. Marsden, T. Ratiu, Introduction to Mechanics and Symmetry, relative equilibria.)

All this is judged in the motion's own units (`Units`): with sizes D of the unknowns and its pace p,
y = D^-1 x and the time p t, so that what is slow, small or light is as steady as what is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import constraint_jacobian
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.system import System
from vbg.simulate.steppers.machine_size import extent
from vbg.simulate.steppers.tolerances import Tolerances

Array = NDArray[np.float64]

MATCHES = 1e-7  # relative misfit of g(x0) = f(x0) and of the commutator that still counts as zero
NEARBY = 1e-2  # size of the deviation at which the commutator is looked at
GRAIN = 1e-4  # of the slopes of the rates: MATCHES of this is their rounding
CLOSED = 1e-13  # of a size of the machine, and of its pace: what the constraints keep
FLOWS = {"momentum": "velocity", "angular_momentum": "angular_velocity"}


@dataclass(frozen=True, slots=True)
class Generator:
    """g(x) = matrix @ x + constant: all candidates are affine in x."""

    matrix: Array
    constant: Array

    def at(self, x: Array) -> Array:
        return self.matrix @ x + self.constant


@dataclass(frozen=True, slots=True)
class Family:
    """Candidates with one free parameter each, as (matrix, constant)."""

    members: tuple[tuple[Array, Array], ...]

    def values(self, x: Array) -> Array:
        """Columns g_i(x)."""
        columns = [matrix @ x + constant for matrix, constant in self.members]
        return np.column_stack(columns) if columns else np.zeros((len(x), 0))

    def combined(self, parameters: Array) -> Generator:
        n = len(self.members[0][1])
        matrix, constant = np.zeros((n, n)), np.zeros(n)
        for p, (one, c) in zip(parameters, self.members, strict=True):
            matrix += p * one
            constant += p * c
        return Generator(matrix, constant)


def turning_with(system: System, g: Generator) -> Array:
    """(3,) the angular velocity in W at which the frame turns that moves along g [rad/s]: that of
    places and momenta, which are in world axes; 0 but for it where bodies spin about axes of
    their own."""
    for s in system.slices:
        if s.state.name.removesuffix(".position") in system.causal.graph.bodies:
            K = g.matrix[s.first : s.last, s.first : s.last]
            W = 0.5 * np.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]])
            return np.where(np.abs(W) > MATCHES * np.abs(g.matrix).max(), W, 0.0)
    return np.zeros(3)


def seen_from(W: Array) -> str:
    """Of poles in a frame that turns at W: deviations across its axis are exp(s t) there, and
    exp(s t +- i |W| t) on the ground."""
    speed = float(np.linalg.norm(W))
    if speed == 0.0:
        return ""
    axis = ", ".join(f"{part:.3g}" for part in W / speed + 0.0)
    return (
        f" Poles and shapes are those in a frame that turns along, at {speed:.6g} rad/s about "
        f"[{axis}]: across this axis the ground sees a pole s as s +- {speed:.6g} i."
    )


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _half_product(a: Array, *, left: bool) -> Array:
    """Matrix of quat -> 1/2 (0, a) o quat, or 1/2 quat o (0, a)."""
    result = np.zeros((4, 4))
    result[0, 1:], result[1:, 0] = -a, a
    result[1:, 1:] = _skew(a) if left else -_skew(a)
    return 0.5 * result


def families(system: System) -> tuple[Family, ...]:
    """Sets of candidates, the simplest first."""
    n = system.size
    spans = {s.state.name: slice(s.first, s.last) for s in system.slices}
    # what is fixed to a flexible body has no pose of its own
    bodies = [b for b in system.causal.graph.bodies if f"{b}.quaternion" in spans]
    spins, moves, counts = [], [], []
    for axis in np.eye(3):
        turn = np.zeros((n, n))
        shift = np.zeros(n)
        for body in bodies:
            spin = np.zeros((n, n))
            quat, first = spans[f"{body}.quaternion"], spans[f"{body}.angular_momentum"].start
            h = slice(first, first + 3)  # of a flexible body its modes' momenta follow
            spin[quat, quat] = _half_product(axis, left=False)
            spin[h, h] = -_skew(axis)
            spins.append((spin, np.zeros(n)))
            p, m = spans[f"{body}.position"], spans[f"{body}.momentum"]
            turn[quat, quat] = _half_product(axis, left=True)
            turn[p, p] = turn[m, m] = _skew(axis)
            shift[p] = axis
        if bodies:
            moves.append((turn, np.zeros(n)))
            counts.append((np.zeros((n, n)), shift))
    for s in system.slices:
        if s.state.kind == "displacement" and s.state.measured is None:
            for i in range(s.first, s.last):
                counts.append((np.zeros((n, n)), np.eye(n)[i]))
    sets = (counts, spins + counts, moves + counts, spins + moves + counts)
    return tuple(Family(tuple(one)) for one in sets if one)


@dataclass(frozen=True, slots=True)
class Units:
    """What is large for each unknown in a motion, (n,), and its `pace` [1/s]: of what moves, sizes
    of the machine or radians, and the momenta that move a body by as much at this pace; of stores
    what they hold, but no less than what makes 1 V, 1 A, 1 bar."""

    sizes: Array
    pace: float

    def moves(self, rates: Array, part: float) -> bool:
        """Whether any of the rates (n,) is more than this part of the pace."""
        return bool(np.any(np.abs(rates) > part * self.pace * self.sizes))


def units_of(probe: Probe, t: float, jacobian: Array, x: Array) -> Units:
    """The units of the motion through x; 1 /s where nothing moves."""
    system, f = probe.system, probe.values(t, x)[probe.spans["rate"]]
    try:
        natural = Tolerances(system, 1.0)(t, x)
    except ZeroDivisionError:  # a law of a store has no slope
        natural = np.zeros(len(x))
    sizes = np.maximum(np.abs(x), np.where(np.isfinite(natural), natural, 0.0))
    sizes[sizes == 0.0] = 1.0
    length = extent(system)
    pace = 0.0
    for s in system.slices:
        if s.state.kind in ("position", "quaternion", "displacement"):
            is_way = s.state.kind == "position" or s.state.unit == "m"
            at, sizes[s.first : s.last] = slice(s.first, s.last), length if is_way else 1.0
            pace = max(pace, float(np.abs(f[at] / sizes[at]).max(initial=0.0)))
    pace = pace if 0.0 < pace < np.inf else 1.0
    for s in system.slices:
        at, (owner, _, what) = slice(s.first, s.last), s.state.name.rpartition(".")
        if (flow := f"signal {owner}.{FLOWS.get(what, '')}") in probe.spans:
            flows = np.linalg.norm(jacobian[probe.spans[flow], at], axis=0)
            known = np.isfinite(flows) & (flows > 0.0)
            unit = pace * (length if what == "momentum" else 1.0)
            sizes[at] = np.where(known, unit / np.where(known, flows, 1.0), sizes[at])
    return Units(sizes, pace)


def symmetries(
    probe: Probe, units: Units, rows: NDArray[np.intp], basis: Array, t: float, x: Array
) -> tuple[Family, ...]:
    """Of each set the combinations that keep the constraints and commute with the machine's
    motion near x.

    What they do to the constraints and the commutator Df g - Dg f are linear in the parameters
    of g, so they are the null spaces of two matrices, taken at a state beside x on the manifold.
    """
    beside = _beside(probe, units, basis, t, x)
    jacobian = probe.jacobian(t, beside)
    f = probe.values(t, beside)[probe.spans["rate"]]
    held = _held(probe, units, t, jacobian, beside)
    found = []
    for family in families(probe.system):
        along = _along(probe, family, jacobian, beside) / units.sizes[:, None]
        allowed = _null(family, held @ along, np.linalg.norm(along, axis=0))
        found.append(_commuting(probe, units, rows, allowed, jacobian, f, beside))
    return tuple(found)


def _beside(probe: Probe, units: Units, basis: Array, t: float, x: Array) -> Array:
    """A state that deviates from x by NEARBY of its units, on the constraints."""
    scaled = np.linalg.qr(basis / units.sizes[:, None])[0]
    deviation = scaled @ np.random.default_rng(2).standard_normal(scaled.shape[1])
    deviation *= NEARBY / max(float(np.abs(deviation).max(initial=0.0)), 1e-300)
    beside = np.asarray(x + units.sizes * deviation)
    projector = Projector(probe.system, probe.rows_at(t, x))
    projector.normalise(beside)
    gap = CLOSED * min(extent(probe.system), 1.0)
    projector.project(t, beside, gap, gap * units.pace)
    return beside


def _held(probe: Probe, units: Units, t: float, jacobian: Array, x: Array) -> Array:
    """Slopes of the constraints, each row of length 1, but for those that follow time: a drive
    goes on with the motion."""
    drift = probe.drift(t, x)
    C = constraint_jacobian(probe, jacobian, x) * units.sizes
    driven = np.zeros(len(C), dtype=bool)
    moved = np.concatenate([drift[probe.spans[name]] != 0.0 for name in ("position", "velocity")])
    driven[: len(moved)] = moved
    size = np.linalg.norm(C, axis=1)
    kept = ~driven & (size > 0.0)
    return np.asarray(C[kept] / size[kept, None])


def _along(probe: Probe, family: Family, jacobian: Array, x: Array) -> Array:
    """Columns g_i(x) with the measured coordinates that follow from them."""
    columns = family.values(x)
    for s in probe.measured:
        columns[s.first : s.last] = 0.0
    for s in probe.measured:
        derived = jacobian[probe.spans[f"measured {s.state.name}"], : probe.size]
        columns[s.first : s.last] = derived @ columns
    return columns


def _null(family: Family, effects: Array, sizes: Array) -> Family:
    """The combinations of the members that have none of the `effects`, a column each, seen over
    their `sizes`."""
    if not len(effects) or not family.members:
        return family
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    _, singular, right = np.linalg.svd(effects / sizes)
    rank = int(np.count_nonzero(singular > MATCHES))
    combined = [family.combined(parameters / sizes) for parameters in right[rank:]]
    return Family(tuple((g.matrix, g.constant) for g in combined))


def _commuting(
    probe: Probe,
    units: Units,
    rows: NDArray[np.intp],
    family: Family,
    jacobian: Array,
    f: Array,
    x: Array,
) -> Family:
    sizes, paced = units.sizes, units.pace * units.sizes
    along = _along(probe, family, jacobian, x) / sizes[:, None]
    rates = (jacobian[probe.spans["rate"], : probe.size] * sizes / paced[:, None])[rows]
    change = rates @ along
    turned = np.array([(matrix @ f / paced)[rows] for matrix, _ in family.members])
    turned = turned.T.reshape(change.shape)
    grain = GRAIN * np.linalg.norm(rates) * np.linalg.norm(along, axis=0)
    seen = np.linalg.norm(change, axis=0) + np.linalg.norm(turned, axis=0) + grain
    return _null(family, change - turned, seen)


def find_generator(
    probe: Probe, units: Units, rows: NDArray[np.intp], basis: Array, t: float, x: Array
) -> Generator | None:
    """The symmetry along which x moves, or None if there is none among the families."""
    sizes = units.sizes
    f = (probe.values(t, x)[probe.spans["rate"]] / sizes)[rows]
    for family in symmetries(probe, units, rows, basis, t, x):
        if not family.members:
            continue
        columns = (family.values(x) / sizes[:, None])[rows]
        width = np.linalg.norm(columns, axis=0)
        width[width == 0.0] = 1.0
        parameters, *_ = np.linalg.lstsq(columns / width, f, rcond=1e-9)
        g = family.combined(np.asarray(parameters / width, dtype=np.float64))
        if np.linalg.norm((g.at(x) / sizes)[rows] - f) <= MATCHES * np.linalg.norm(f):
            return g
    return None
