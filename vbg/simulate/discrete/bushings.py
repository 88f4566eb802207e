"""Stiffness and damping of the bushings that stand for joints in the discrete-time method.

K and C of each constrained direction follow from one frequency w and damping ratio z:

    K = w^2 / (s m_i),   C = 2 z w / (s m_i)

with H4 = G M^-1 G^T at the start, 1/m_i its diagonal (m_i is the mass that the direction sees),
averaged over the components of each force and torque: a body that turns is met by the same
stiffness from all sides; s the largest eigenvalue of H4 scaled to a diagonal of ones, so that w is
the largest frequency that the bushings cause.  The gap of the joints shrinks with 1/w^2.

A step dt carries a frequency v of these bushings while v^2 (dt^2 + 4 z dt / w) < 4 (`carried`):
v = w at the start; elsewhere H4 is another.

H4 is known by its products alone: its diagonal comes from the product with the sum of unit
vectors of rows that share no store, s from Lanczos' iteration.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.constraints import vectors_of
from vbg.assemble.derive.equations import efforts_as_inputs
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, const, dependencies, mul, rows, stack, zeros
from vbg.errors import Problem, UsageError

Array = NDArray[np.float64]

DAMPING = 0.5  # ratio z of the bushings
CARRIED = 0.5  # part of the limit of stability that a step may use
NEAREST = 1e-10  # relative tolerance of the nearest gaps
EIGENVALUE = 1e-8  # relative tolerance of s


@dataclass(frozen=True, slots=True)
class Bushings:
    """Stiffness K and damping C of every constrained direction, their frequency w [rad/s] and
    damping ratio z."""

    stiffness: Array
    damping: Array
    frequency: float
    ratio: float

    def carried(self, growth: float, part: float = CARRIED) -> float:
        """The step [s] that is this part of the limit of stability, where the square of the
        largest frequency is `growth` times that at the start."""
        lever, square = 2.0 * self.ratio / self.frequency, part * 4.0 / growth
        return float(np.sqrt(lever**2 + square / self.frequency**2) - lever)


def not_by_small_steps(where: str, what: str, remedy: str = "Use method = 'auto'.") -> UsageError:
    """What the discrete-time method cannot do, with the part or the setting that asks for it."""
    return UsageError.of([Problem("error", where, what, remedy)])


def bushings(mobility: Mobility, frequency: float, ratio: float = DAMPING) -> Bushings:
    """K and C for the frequency [rad/s] at the assembled start; none for what sticks, which is
    held by impulses.

    Raises UsageError where a constraint acts on no mass."""
    constraints, names = mobility.system.equations.constraints, mobility.system.constraint_names
    soft = np.array([c.active is None for c in constraints for _ in c.labels])
    diagonal = np.where(soft, mobility.diagonal(), 1.0)
    if np.any(diagonal <= 0.0):
        worst = names[int(np.argmin(diagonal))]
        raise not_by_small_steps(
            worst,
            "it acts on no mass: the discrete-time method has no step for it.",
            "Give the part an inertia, or use method = 'auto'.",
        )
    for first, count in vectors_of(constraints):
        diagonal[first : first + count] = diagonal[first : first + count].mean()
    if not soft.any():
        return Bushings(np.zeros(len(soft)), np.zeros(len(soft)), frequency, ratio)
    per_mass = soft / (largest(mobility, soft / np.sqrt(diagonal)) * diagonal)
    stiffness, damping = frequency**2 * per_mass, 2.0 * ratio * frequency * per_mass
    return Bushings(stiffness, damping, frequency, ratio)


def largest(mobility: Mobility, scale: Array, tolerance: float = EIGENVALUE) -> float:
    """The largest eigenvalue of H4, rows and columns times `scale`."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    count = len(scale)

    def product(y: Array) -> Array:
        return scale * mobility(scale * y.ravel())

    if count < 3:
        columns = np.column_stack([product(unit) for unit in np.eye(count)])
        return float(np.linalg.eigvalsh(0.5 * (columns + columns.T)).max())
    operator = LinearOperator((count, count), matvec=product, dtype=np.float64)
    begin = np.random.default_rng(1).standard_normal(count)
    values = eigsh(operator, 1, which="LA", v0=begin, tol=tolerance, return_eigenvectors=False)
    return float(values[0])


def possible_gaps(mobility: Mobility, gaps: Array, stiffness: Array) -> Array:
    """Gaps that the bodies can make, H4 y, nearest to these in the energy of bushings with this
    `stiffness`."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    count, scale = len(gaps), np.sqrt(stiffness)
    unit = largest(mobility, scale)

    def product(u: Array) -> Array:
        return scale * mobility(scale * u.ravel()) / unit

    whole = LinearOperator((count, count), matvec=product, rmatvec=product, dtype=np.float64)
    u = lsmr(whole, scale * gaps, atol=NEAREST, btol=NEAREST, maxiter=10 * count)[0]
    return mobility(scale * u) / unit


class Mobility:
    """H4 y = dr/dX1 dX1'/dU2 y at a state, the start unless `at` another; exact because both are
    linear there.  What can stick does."""

    def __init__(self, start: Start):
        system = start.system
        e = system.equations
        self.system = system
        self._residual = Evaluator(system.programs.residual)
        unknown = efforts_as_inputs(e.constraints)
        opened = with_efforts(system, [c.unknown for c in e.constraints])
        spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind == "store"]
        self._momenta = np.concatenate([np.zeros(0, dtype=int), *spans])
        names = {mode.name for mode in system.causal.graph.modes}
        self._modes = [s.first for s in system.slices if s.state.name in names]
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
        self.at(0.0, start.state)

    def at(self, t: float, x: Array) -> None:
        """Takes H4 at (t, x) from now on."""
        self._t, self._x = t, x.copy()
        self._x[self._modes] = 0.0
        self._free = self._rates(t, self._x, np.zeros(self.system.equations.efforts.rows)).copy()
        self._before = self._velocity(self._x)

    def _velocity(self, x: Array) -> Array:
        self._residual(self._t, x)
        return self._residual.output("velocity").ravel().copy()

    def __call__(self, y: Array) -> Array:
        moved = self._x.copy()
        moved[self._momenta] += self._rates(self._t, self._x, y) - self._free
        return self._velocity(moved) - self._before

    def stopped(self, t: float, x: Array, held: NDArray[np.int64]) -> Array:
        """Stops the motion of the rows `held` by the smallest impulses, in place; returns
        these."""
        self.at(t, x)
        columns = []
        for row in held:
            unit = np.zeros(len(self._before))
            unit[row] = 1.0
            columns.append(self(unit)[held])
        impulses = np.linalg.lstsq(np.column_stack(columns), -self._before[held], rcond=None)[0]
        y = np.zeros(len(self._before))
        y[held] = impulses
        x[self._momenta] += self._rates(t, self._x, y) - self._free
        return np.asarray(impulses)

    def diagonal(self) -> Array:
        result = np.empty(self.system.equations.efforts.rows)
        for chosen in _apart(self.system):
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
    if not efforts:
        return Substitution({})
    parts = {e.efforts: stack(*efforts)}
    for node in dependencies(e.rates.values()):
        if node.op == "rows" and node.args[0] == e.efforts:
            low, high = node.data
            at = bisect_right(starts, low) - 1
            if high <= starts[at] + efforts[at].rows:
                parts[node] = rows(efforts[at], low - starts[at], high - starts[at])
    return Substitution(parts)


def bushing_efforts(system: System, bush: Bushings) -> list[Block]:
    """U2 = -K Phi - C r of each constraint; of what sticks its unknown, see `held_rows`."""
    e = system.equations
    sizes = [c.unknown.rows for c in e.constraints]
    positions, residuals = _split(e.position, sizes), _split(e.residual, sizes)
    result = []
    for c, position, residual in zip(e.constraints, positions, residuals, strict=True):
        here = slice(c.first, c.first + c.unknown.rows)
        stiffness, damping = np.diag(bush.stiffness[here]), np.diag(bush.damping[here])
        pressed = -1.0 * mul(const(stiffness), position) - mul(const(damping), residual)
        result.append(pressed if c.active is None else c.unknown)
    return result


def held_rows(system: System) -> tuple[dict[str, Block], NDArray[np.int64]]:
    """The unknown efforts of what sticks, and their rows among all constraints."""
    held = [c for c in system.equations.constraints if c.active is not None]
    rows = [i for c in held for i in range(c.first, c.first + c.unknown.rows)]
    return efforts_as_inputs(held), np.array(rows, dtype=np.int64)


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
