"""How many digits elimination keeps: the condition of the constraint matrix, and what rounding
leaves of the accelerations.

The condition alone says too much: that of an open chain grows with the fourth power of its links,
as that of a beam does, and the chain loses three digits of sixteen where light links of the same
condition lose ten.  So the loss is looked at: bodies are given accelerations that their joints do
not allow, these are taken away by one elimination, and what a second one still takes away is the
first one's rounding (docs/derivations/redundancy.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.junction_structure import coenergy
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.layout import LEAST_PIVOT
from vbg.assemble.start.constraints.choice import spans
from vbg.assemble.start.constraints.closing import Closer
from vbg.assemble.start.constraints.posture import Steps
from vbg.assemble.system import System

Array = NDArray[np.float64]

MODERATE = 1e6  # condition below which one elimination loses 1e-9 of accelerations at most
HELD = 1.0 - 1e-9  # of the least pivot, but for rounding: a pivot that is it
NOTHING = 1e-12  # of accelerations: a loss no larger than this is not worth a second elimination
EPS = float(np.finfo(float).eps)
DRAWS = 3  # right-hand sides that say how well the constraint matrix is conditioned
_GROUND = ""
FIELDS = 3  # random accelerations, beside one along each axis of the world


def lost_pivots(evaluate: Evaluator, kept: Array) -> NDArray[np.bool_]:
    """Rows that are kept and have no pivot in the digits of numbers: held by the least one."""
    lost: NDArray[np.bool_] = ~(_shares(evaluate, kept) < HELD / LEAST_PIVOT)
    return lost


def weakest_pivots(evaluate: Evaluator, kept: Array) -> NDArray[np.bool_]:
    """Rows that are kept of which elimination leaves no more than ten times the least share."""
    shares = _shares(evaluate, kept)
    return shares >= 0.1 * shares.max(initial=0.0)


def _shares(evaluate: Evaluator, kept: Array) -> Array:
    """Of each row its diagonal over its pivot; 0 for those that are not kept."""
    inverse, diagonal = evaluate.inverse_pivots(), _diagonal(evaluate, len(kept))
    return np.where(kept != 0.0, np.abs(inverse * diagonal), 0.0)


def _diagonal(evaluate: Evaluator, rows: int) -> Array:
    """Of the constraint matrix, before elimination."""
    first = evaluate.program.schedules[0].scratch
    return np.asarray(evaluate.work[first : first + rows].real)


def condition_of(evaluate: Evaluator, kept: Array, x: Array) -> float:
    """Of the constraint matrix, from random right-hand sides of `evaluate`, the correction, run
    at x before: the mean of r^T H^-1 r over r^T D^-1 r is that of the inverse eigenvalues.  Below
    zero it is rounding's, and large."""
    rows = len(kept)
    sizes = np.sqrt(np.abs(_diagonal(evaluate, rows))) * (kept != 0.0)
    random, worst = np.random.default_rng(3), 1.0
    for _ in range(DRAWS):
        right = sizes * random.choice([-1.0, 1.0], rows)
        evaluate(0.0, x, right)
        worst = max(worst, abs(float(right @ evaluate.output("multipliers"))))
    return worst


@dataclass(frozen=True, slots=True)
class _Store:
    """A store that constraints act on: its place in x, F of Z = F X, the unit of its flow."""

    first: int
    last: int
    slope: Array
    unit: float
    vector: bool  # a velocity in space


def lost_to_rounding(system: System, closer: Closer, x: Array, condition: float) -> float:
    """The largest error of accelerations, in parts of those that bodies would have without
    joints, that one elimination makes at any posture like x; infinite where a store's law is not
    linear, or where postures differ, as those of a loop do: but 0 there if nothing is lost at x
    and a MODERATE `condition` bounds what is lost elsewhere."""
    loops = not is_open(system)
    stores = None if loops and condition > MODERATE else _stores(system, closer, x)
    if stores is None:
        return np.inf
    laws = _Laws(stores)
    lost = _largest(_left(closer, laws, 0.0, x, np.concatenate(f)) for f in _momenta(stores))
    if loops:
        return 0.0 if lost < NOTHING else np.inf
    return lost


def lost_when_closed(system: System, closer: Closer, x: Array) -> float:
    """The largest error at x of accelerations that are well closed, in parts of those that bodies
    would have without joints; infinite where they cannot be closed, or a store's law is not linear.

    Both what a second projection on the joints still takes away, and what none of them sees: the
    rounding of forces that cancel at a body, as far as its joints let it go that way."""
    stores = _stores(system, closer, x) if system.programs.closes else None
    if stores is None:
        return np.inf
    evaluate = Evaluator(system.programs.well_closed_correction, kept=closer.kept)
    steps, laws = Steps(system, evaluate, "velocity "), _Laws(stores)
    random = np.random.default_rng(7)
    moved = x.copy()
    moved[laws.places] = 0.0
    base = closer.projector.residuals(0.0, moved)[1]

    def project(momenta: Array) -> Array:
        """The flows that the joints leave of these momenta."""
        moved[laws.places] = momenta
        evaluate(0.0, moved, base - closer.projector.residuals(0.0, moved)[1])
        steps.add(moved)
        return laws.flows(moved[laws.places])

    def lost(momenta: Array) -> float:
        once = project(momenta)
        terms = closer.rows.terms_at(0.0, x, evaluate.output("multipliers"))
        twice = project(moved[laws.places])
        rounded = project(EPS * terms * random.choice([-1.0, 1.0], len(terms)))
        return float(np.abs([once - twice, rounded]).max())

    return _largest(lost(np.concatenate(field)) for field in _momenta(stores))


def _largest(losses: Iterable[float]) -> float:
    """Infinite where one of them is no number."""
    worst = float(np.max(np.fromiter(losses, dtype=float), initial=0.0))
    return np.inf if np.isnan(worst) else worst


class LossOfLoads:
    """What one elimination loses at a state, where `lost_to_rounding` says what it may lose at
    worst: of accelerations G^T U / M, which the joints cause there and a projection takes away
    whole, it leaves what it loses of the machine's own."""

    def __init__(self, system: System, kept: Array, x: Array):
        """Of an open machine whose stores are linear."""
        self._closer = Closer(system, kept)
        stores = _stores(system, self._closer, x) or []
        self._laws = _Laws(stores)

    def at(self, t: float, x: Array, efforts: Array) -> float:
        """The largest error of accelerations, in parts of the largest that joints cause by
        their `efforts`; 0 where they cause none."""
        forces = self._closer.rows.forces_at(t, x, efforts)
        largest = float(np.abs(self._laws.flows(forces)).max(initial=0.0))
        return _left(self._closer, self._laws, t, x, forces) / largest if largest > 0.0 else 0.0


class _Laws:
    """Those of all stores one behind the other: their places in x, and their flows."""

    def __init__(self, stores: list[_Store]):
        sizes = np.array([s.last - s.first for s in stores], dtype=np.int64)
        self.places = spans([s.first for s in stores], sizes)
        self._units = np.repeat([s.unit for s in stores], sizes)
        self._slopes = np.concatenate([np.zeros(0), *(s.slope.ravel() for s in stores)])
        first = np.cumsum(sizes) - sizes
        self._column = spans(np.repeat(first, sizes), np.repeat(sizes, sizes))
        self._row = np.repeat(np.arange(len(self.places)), np.repeat(sizes, sizes))

    def flows(self, momenta: Array) -> Array:
        """Each in its unit."""
        terms = self._slopes * momenta[self._column]
        flows: Array = np.bincount(self._row, terms, len(momenta)) / self._units
        return flows


def _left(closer: Closer, laws: _Laws, t: float, x: Array, momenta: Array) -> float:
    """Of bodies that have these `momenta` at the posture of x: the largest flow, in its unit,
    that a second projection on the joints still takes away."""
    projector, moved = closer.projector, x.copy()
    moved[laws.places] = 0.0
    base = projector.residuals(t, moved)[1]
    moved[laws.places] = momenta
    projector.move_velocity(t, moved, base - projector.residuals(t, moved)[1])
    once = moved.copy()
    projector.move_velocity(t, moved, base - projector.residuals(t, moved)[1])
    return float(np.abs(laws.flows((moved - once)[laws.places])).max(initial=0.0))


def is_open(system: System) -> bool:
    """Whether no constraint closes a loop: then rows are independent at every posture."""
    vertices = system.causal.graph.vertices.values()
    parts = {coenergy(v): v.part for v in vertices}
    group: dict[str, str] = {}

    def root(part: str) -> str:
        while part in group:
            further = group[part]
            group[part] = group.get(further, further)
            part = further
        return part

    for row in system.equations.rows_on_stores:
        roots = {root(part) for part in {parts[z] for z in row}}
        joined = {root(_GROUND), *roots} if len(roots) == 1 else roots
        if len(joined) != 2 or len(roots) != len({parts[z] for z in row}):
            return False
        first, second = joined
        group[first] = second
    return True


def _stores(system: System, closer: Closer, x: Array) -> list[_Store] | None:
    places = {s.state.leaf: s for s in system.slices}
    units = closer.rows.rows_at(0.0, x).units
    states = {coenergy(v): v.state for v in system.causal.graph.vertices.values()}
    found = []
    for k, z in enumerate(system.equations.stores_of_rows):
        state = states.get(z)
        slope = None if state is None else system.equations.slopes.get(state)
        if state is None or slope is None or not slope.is_const:
            return None
        place = places[state]
        moves = slope.rows == 3 and k not in closer.rows.turning
        found.append(_Store(place.first, place.last, slope.data, units[k], moves))
    return found


def _momenta(stores: list[_Store]) -> Iterable[tuple[Array, ...]]:
    """Those of all stores with the flows of each of `_fields`."""
    flows = zip(stores, zip(*_fields(stores), strict=True), strict=True)
    each = [np.linalg.solve(s.slope, s.unit * np.stack(own, axis=1)).T for s, own in flows]
    return zip(*each, strict=True)


def _fields(stores: list[_Store]) -> Iterator[list[Array]]:
    """Flows of all stores: one velocity for all bodies, then any."""
    sizes = [s.last - s.first for s in stores]
    for axis in np.eye(3):
        if any(s.vector for s in stores):
            yield [axis if s.vector else np.zeros(n) for s, n in zip(stores, sizes, strict=True)]
    random = np.random.default_rng(3)
    for _ in range(FIELDS):
        yield [random.choice([-1.0, 1.0], n) for n in sizes]
