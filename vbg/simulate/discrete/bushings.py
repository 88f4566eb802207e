"""Stiffness and damping of the bushings that stand for joints in the discrete-time method.

K and C of each constrained direction follow from one frequency w and damping ratio z:

    K = w^2 / (s H4_ii),   C = 2 z w / (s H4_ii)

with H4 = G M^-1 G^T at the start (1/H4_ii is the mass that the direction sees) and s the
largest eigenvalue of H4 scaled to a diagonal of ones, so that w is the largest
frequency that the bushings cause.  The gap of the joints shrinks with 1/w^2.

H4 is known by its products alone: its diagonal comes from the product with the sum of unit
vectors of rows that share no store, s from Lanczos' iteration.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, const, dependencies, mul, rows, stack, zeros
from vbg.errors import UsageError

Array = NDArray[np.float64]

DAMPING = 0.5  # ratio z of the bushings
EIGENVALUE = 1e-8  # relative tolerance of s


@dataclass(frozen=True, slots=True)
class Bushings:
    """Stiffness K and damping C of every constrained direction, and their frequency [rad/s]."""

    stiffness: Array
    damping: Array
    frequency: float


def bushings(start: Start, frequency: float, ratio: float = DAMPING) -> Bushings:
    """K and C for the frequency [rad/s] at the assembled start."""
    mobility = Mobility(start)
    diagonal = mobility.diagonal()
    if np.any(diagonal <= 0.0):
        raise UsageError(
            "a constraint acts on no mass: the discrete-time method has no step for it"
        )
    per_mass = 1.0 / (_largest(mobility, 1.0 / np.sqrt(diagonal)) * diagonal)
    return Bushings(frequency**2 * per_mass, 2.0 * ratio * frequency * per_mass, frequency)


def _largest(mobility: Mobility, scale: Array) -> float:
    """The largest eigenvalue of H4 scaled to a diagonal of ones."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    count = len(scale)

    def product(y: Array) -> Array:
        return scale * mobility(scale * y.ravel())

    if count < 3:
        columns = np.column_stack([product(unit) for unit in np.eye(count)])
        return float(np.linalg.eigvalsh(0.5 * (columns + columns.T)).max())
    operator = LinearOperator((count, count), matvec=product, dtype=np.float64)
    begin = np.random.default_rng(1).standard_normal(count)
    values = eigsh(operator, 1, which="LA", v0=begin, tol=EIGENVALUE, return_eigenvectors=False)
    return float(values[0])


class Mobility:
    """H4 y = dr/dX1 dX1'/dU2 y at the start; exact because both are linear there."""

    def __init__(self, start: Start):
        system = start.system
        e = system.equations
        self._system, self._x = system, start.state
        self._residual = Evaluator(system.programs.residual)
        unknown = {c.name: c.unknown for c in e.constraints}
        opened = with_efforts(system, [c.unknown for c in e.constraints])
        spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind == "store"]
        self._momenta = np.concatenate(spans)
        self._rates = Evaluator(
            lower(
                {
                    s.state.name: opened(e.rates[s.state.leaf])
                    for s in system.slices
                    if s.state.kind == "store"
                },
                {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time} | unknown,
            )
        )
        self._free = self._rates(0.0, self._x, np.zeros(e.efforts.rows)).copy()
        self._before = self._velocity(self._x)

    def _velocity(self, x: Array) -> Array:
        self._residual(0.0, x)
        return self._residual.output("velocity").ravel().copy()

    def __call__(self, y: Array) -> Array:
        moved = self._x.copy()
        moved[self._momenta] += self._rates(0.0, self._x, y) - self._free
        return self._velocity(moved) - self._before

    def diagonal(self) -> Array:
        result = np.empty(self._system.equations.efforts.rows)
        for chosen in _apart(self._system):
            probe = np.zeros(len(result))
            probe[chosen] = 1.0
            result[chosen] = self(probe)[chosen]
        return result


def _apart(system: System) -> Iterator[list[int]]:
    """Sets of rows that H4 does not couple, each row once: the k-th rows of constraints that
    share no store.  Single rows where its pattern is not known."""
    e = system.equations
    if e.efforts.op != "solve" or e.factor is None:
        yield from ([i] for i in range(e.efforts.rows))
        return
    _, places, _ = e.factor.data
    neighbours: list[set[int]] = [set() for _ in e.constraints]
    for i, j, _, _ in places:
        neighbours[i].add(j)
        neighbours[j].add(i)
    colours: list[int] = []
    for i, around in enumerate(neighbours):
        taken = {colours[j] for j in around if j < i}
        colours.append(next(c for c in range(len(taken) + 1) if c not in taken))
    groups: dict[tuple[int, int], list[int]] = {}
    for c, colour in zip(e.constraints, colours, strict=True):
        for k in range(c.unknown.rows):
            groups.setdefault((colour, k), []).append(c.first + k)
    yield from groups.values()


def with_efforts(system: System, efforts: list[Block]) -> Substitution:
    """Puts `efforts`, one block for each constraint, in place of the solved ones in rates.

    Rows of the solution are replaced each by itself: cutting them from a stack of all
    would take as many looks as there are constraints.
    """
    e = system.equations
    starts = [c.first for c in e.constraints]
    parts = {e.efforts: stack(*efforts)}
    for node in dependencies(e.rates.values()):
        if node.op == "rows" and node.args[0] == e.efforts:
            low, high = node.data
            at = bisect_right(starts, low) - 1
            if high <= starts[at] + efforts[at].rows:
                parts[node] = rows(efforts[at], low - starts[at], high - starts[at])
    return Substitution(parts)


def bushing_efforts(system: System, bush: Bushings) -> list[Block]:
    """U2 = -K Phi - C r of each constraint."""
    e = system.equations
    sizes = [c.unknown.rows for c in e.constraints]
    positions, residuals = _split(e.position, sizes), _split(e.residual, sizes)
    result = []
    for c, position, residual in zip(e.constraints, positions, residuals, strict=True):
        here = slice(c.first, c.first + c.unknown.rows)
        stiffness, damping = np.diag(bush.stiffness[here]), np.diag(bush.damping[here])
        result.append(-1.0 * mul(const(stiffness), position) - mul(const(damping), residual))
    return result


def _split(whole: Block, sizes: list[int]) -> list[Block]:
    """`whole` as blocks of these numbers of rows, in one pass over its parts."""
    parts = list(whole.args) if whole.op == "stack" else [whole]
    result, at, used = [], 0, 0
    for size in sizes:
        pieces, missing = [zeros(0)], size
        while missing:
            taken = min(missing, parts[at].rows - used)
            pieces.append(rows(parts[at], used, used + taken))
            missing, used = missing - taken, used + taken
            if used == parts[at].rows:
                at, used = at + 1, 0
        result.append(stack(*pieces))
    return result
