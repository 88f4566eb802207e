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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import constraint_jacobian
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.system import System

Array = NDArray[np.float64]

MATCHES = 1e-7  # relative misfit of g(x0) = f(x0) and of the commutator that still counts as zero
NEARBY = 1e-2  # size of the deviation at which the commutator is looked at
MOMENT = 1e-3  # [s] over which what follows time, a drive, is seen to go on


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


def symmetries(
    probe: Probe, rows: NDArray[np.intp], basis: Array, t: float, x: Array
) -> tuple[Family, ...]:
    """Of each set the combinations that keep the constraints and commute with the machine's
    motion near x.

    What they do to the constraints and the commutator Df g - Dg f are linear in the parameters
    of g, so they are the null spaces of two matrices, taken at a state beside x on the manifold.
    """
    random = np.random.default_rng(2)
    deviation = basis @ random.standard_normal(basis.shape[1])
    deviation *= NEARBY / max(float(np.abs(deviation).max()), 1e-300)
    beside = x + deviation
    projector = Projector(probe.system, probe.rows_at(t, x))
    projector.normalise(beside)
    projector.project(t, beside, 1e-13, 1e-13)
    jacobian = probe.jacobian(t, beside)
    f = probe.values(t, beside)[probe.spans["rate"]]
    held = _held(probe, t, jacobian, beside)
    found = []
    for family in families(probe.system):
        along = _along(probe, family, jacobian, beside)
        allowed = _null(family, held @ along, np.linalg.norm(along, axis=0) + 1.0)
        found.append(_commuting(probe, rows, allowed, jacobian, f, beside))
    return tuple(found)


def _held(probe: Probe, t: float, jacobian: Array, x: Array) -> Array:
    """Slopes of the constraints, each row of length 1, but for those that follow time: a drive
    goes on with the motion."""
    now, later = probe.values(t, x), probe.values(t + MOMENT, x)
    C = constraint_jacobian(probe, jacobian, x)
    driven = np.zeros(len(C), dtype=bool)
    parts = [(later - now)[probe.spans[name]] != 0.0 for name in ("position", "velocity")]
    moved = np.concatenate(parts)
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
    _, singular, right = np.linalg.svd(effects / sizes)
    rank = int(np.count_nonzero(singular > MATCHES))
    combined = [family.combined(parameters / sizes) for parameters in right[rank:]]
    return Family(tuple((g.matrix, g.constant) for g in combined))


def _commuting(
    probe: Probe, rows: NDArray[np.intp], family: Family, jacobian: Array, f: Array, x: Array
) -> Family:
    along = _along(probe, family, jacobian, x)
    change = (jacobian[probe.spans["rate"], : probe.size] @ along)[rows]
    turned = np.array([(matrix @ f)[rows] for matrix, _ in family.members]).T.reshape(change.shape)
    sizes = np.linalg.norm(change, axis=0) + np.linalg.norm(turned, axis=0) + 1.0
    return _null(family, change - turned, sizes)


def find_generator(
    probe: Probe, rows: NDArray[np.intp], basis: Array, t: float, x: Array
) -> Generator | None:
    """The symmetry along which x moves, or None if there is none among the families."""
    f = probe.values(t, x)[probe.spans["rate"]]
    size = float(np.linalg.norm(f[rows]))
    for family in symmetries(probe, rows, basis, t, x):
        if not family.members:
            continue
        columns = family.values(x)
        parameters, *_ = np.linalg.lstsq(columns[rows], f[rows], rcond=1e-9)
        g = family.combined(np.asarray(parameters, dtype=np.float64))
        if np.linalg.norm(g.at(x)[rows] - f[rows]) <= MATCHES * size:
            return g
    return None
