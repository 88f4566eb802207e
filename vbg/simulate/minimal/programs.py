"""What a run in independent coordinates evaluates: residuals, their Jacobians, rates.

Posture level (z: positions, quaternions, displacements; d: flows of those that no other
posture state determines, three for a quaternion):

    Phi(z, t) = 0,      J = dPhi/dd,      Z = dz/dd

Motion level (X1: the stores that constraint rows r tie to one another; s: speeds, that is
rates z' of positions and displacements, spins w_WB_B, tied stores that are no body's momentum):

    r(X1, z, t) = 0,    dr/dX1,           S = ds/dX1

and at a state that meets both: x', the constraint efforts, and s'.  All Jacobians are
symbolic, so the compiled machine evaluates them like anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.start.start import Start
from vbg.assemble.system import StateSlice, System
from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    const,
    dependencies,
    leaf,
    rotation,
    rows,
    stack,
    transpose,
    zeros,
)
from vbg.graph.bondgraph import Configuration

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.float64]
Places = NDArray[np.int64]

ANGLE, SLIDE, STORE, BODY = range(4)  # tiers of coordinates and speeds, the first first


@dataclass(frozen=True, slots=True)
class MinimalPrograms:
    """Programs and where their vectors stand.

    `posture`: places of z in x, `posture_tiers` their tiers; `measured`: places in x of the
    displacements that other states determine, modulo `period`; `lengths`: which of d are
    lengths, not turns; `tied`: places of X1 in x;
    `speed_tiers`: tiers of s; `coupled`: Phi depends on measured displacements.
    """

    residual: Program
    slope: Slopes
    motion: Program
    motion_slope: Slopes
    rates: Program
    posture: Places
    posture_tiers: Places
    measured: Places
    period: Array
    lengths: NDArray[np.bool_]
    tied: Places
    speed_tiers: Places
    coupled: bool


def minimal_programs(start: Start) -> MinimalPrograms:
    """The programs of the start's system, for its rows."""
    return _lowered(start.system, start.dependent > 0)


@lru_cache(maxsize=1)  # runs of one start follow each other, and lowering costs what a run does
def _lowered(system: System, smallest: bool) -> MinimalPrograms:
    e = system.equations
    graph = system.causal.graph
    by_name = {s.state.name: s for s in system.slices}
    configurations = graph.configurations
    inputs = system.programs.inputs
    measured = [by_name[c.name] for c in configurations if by_name[c.name].state.measured]
    values = {s.state.leaf: s.state.measured for s in measured if s.state.measured is not None}
    tied = _tied(system)
    bodies = set(graph.bodies)
    stores = [s for s in tied if s.state.name.rpartition(".")[0] not in bodies]
    speeds = _speeds(system, configurations, stores)
    along = Tangent({**e.rates, e.time: const(1.0)}, e.spins)
    outputs = {s.state.name: e.rates[s.state.leaf] for s in system.slices}
    outputs |= {"efforts": e.efforts, "accelerations": _stacked(along(s) for _, s in speeds)}
    flow = _stacked(s for _, s in speeds)
    return MinimalPrograms(
        residual=lower({"position": e.position, "measured": _stacked(values.values())}, inputs),
        slope=_posture_slopes(system, configurations, values),
        motion=lower({"velocity": e.residual, "speeds": flow}, inputs),
        motion_slope=_motion_slopes(system, tied, [s for _, s in speeds]),
        rates=lower(outputs, inputs, smallest=smallest),
        posture=_places([by_name[c.name] for c in configurations]),
        posture_tiers=_repeated(
            [_tier(c) for c in configurations], [c.state for c in configurations]
        ),
        measured=_places(measured),
        period=np.array([s.state.period for s in measured]),
        lengths=np.concatenate(
            [
                np.zeros(0, dtype=bool),
                *(
                    np.full(c.flow.rows, _is_length(c))
                    for c in configurations
                    if c.state not in values
                ),
            ]
        ),
        tied=_places(tied),
        speed_tiers=_repeated([tier for tier, _ in speeds], [s for _, s in speeds]),
        coupled=any(block in values for block in dependencies([e.position])),
    )


def _tier(c: Configuration) -> int:
    """What is tried first as a coordinate: an angle turns on where a slide or a point of a
    body reverses (dead centres)."""
    if c.kind != "displacement":
        return BODY
    return ANGLE if c.period > 0.0 else SLIDE


def _is_length(c: Configuration) -> bool:
    return c.kind == "position" or _tier(c) == SLIDE


def _repeated(tiers: Sequence[int], blocks: Sequence[Block]) -> Places:
    return np.repeat(tiers, [b.rows for b in blocks]).astype(np.int64)


def _speeds(
    system: System, configurations: Sequence[Configuration], stores: Sequence[StateSlice]
) -> list[tuple[int, Block]]:
    """Tier and value of every speed that can be derived once more: the flow of a massless
    node that hangs on constraint efforts cannot."""
    e = system.equations
    found = []
    for c in configurations:
        speed = e.rates[c.state]
        if c.kind == "quaternion":
            speed = e.spins[rotation(c.state)]
        if not any(b.op == "solve" for b in dependencies([speed])):
            found.append((_tier(c), speed))
    return found + [(STORE, s.state.leaf) for s in stores]


def _stacked(blocks: Iterable[Block]) -> Block:
    several = [block for block in blocks if block.rows]
    return stack(*several) if several else zeros(0)


def _places(slices: Sequence[StateSlice]) -> Places:
    spans = [np.arange(s.first, s.last) for s in slices]
    return np.concatenate([np.zeros(0, dtype=np.int64), *spans]).astype(np.int64)


def _tied(system: System) -> list[StateSlice]:
    """Stores that some constraint row depends on."""
    met = set(dependencies([system.equations.residual]))
    return [s for s in system.slices if s.state.kind == "store" and s.state.leaf in met]


def _posture_slopes(
    system: System, configurations: Sequence[Configuration], measured: Mapping[Block, Block]
) -> Slopes:
    """[dPhi/dd; dz/dd], d in the order of the configurations that are not measured."""
    rates: dict[Block, Block] = {}
    spins: dict[Block, Block] = {}
    directions = []
    for c in configurations:
        if c.state in measured:
            continue
        direction = leaf(f"direction of {c.name}", c.flow.rows)
        directions.append(direction)
        rates[c.state] = Substitution({c.flow: direction})(c.rate)
        if c.kind == "quaternion":
            spins[rotation(c.state)] = direction
    for state, value in measured.items():
        rates[state] = Tangent(dict(rates), spins)(value)
    along = Tangent(rates, spins)
    constraints = system.equations.constraints
    positions = [zeros(c.unknown.rows) if c.position is None else c.position for c in constraints]
    changes = [along(p) for p in positions] + [rates[c.state] for c in configurations]
    return Slopes(changes, directions, system)


def _motion_slopes(system: System, tied: Sequence[StateSlice], speeds: Sequence[Block]) -> Slopes:
    """[dr/dX1; ds/dX1]."""
    directions = {
        s.state.leaf: leaf(f"direction of {s.state.name}", s.last - s.first) for s in tied
    }
    along = Tangent(directions)
    e = system.equations
    residuals = [rows(e.residual, c.first, c.first + c.unknown.rows) for c in e.constraints]
    return Slopes([along(b) for b in [*residuals, *speeds]], list(directions.values()), system)


class Slopes:
    """A dense matrix whose rows are the coefficients of `changes` on `directions`; only
    what is not zero by structure is computed."""

    def __init__(self, changes: Sequence[Block], directions: Sequence[Block], system: System):
        coefficients = Coefficients(directions)
        columns, at = {}, 0
        for direction in directions:
            columns[direction] = at
            at += direction.rows
        outputs: dict[str, Block] = {}
        places: list[tuple[int, int]] = []
        row = 0
        for change in changes:
            for direction, matrix in _slopes(change, directions, coefficients).items():
                outputs[f"{row} by {columns[direction]}"] = matrix
                places.append((row, columns[direction]))
            row += change.rows
        self.program = lower(outputs, system.programs.inputs)
        self.shape = (row, at)
        spans = self.program.outputs.values()
        grids = [
            np.add.outer(np.arange(r, r + m) * at, np.arange(c, c + n)).ravel()
            for (r, c), (_, m, n) in zip(places, spans, strict=True)
        ]
        self._places = np.concatenate([np.zeros(0, dtype=np.int64), *grids]).astype(np.int64)

        self._sparse = _compressed(self._places, self.shape)

    def evaluator(self) -> SlopesEvaluator:
        return SlopesEvaluator(self)


def _compressed(places: Places, shape: tuple[int, int]) -> tuple[Places, Places, Places]:
    """Rows one after the other of what stands at `places` of a matrix: the order of the values,
    their columns, where each row begins."""
    order = np.argsort(places, kind="stable")
    begins = np.searchsorted(places[order], np.arange(shape[0] + 1) * shape[1])
    return order, places[order] % max(shape[1], 1), begins


def _slopes(
    change: Block, directions: Sequence[Block], coefficients: Coefficients
) -> dict[Block, Block]:
    """Coefficients of `change`, which is linear in the directions; where the form does not
    show it (dot products, turns of quaternions) by one unit direction after the other."""
    try:
        return coefficients(change)
    except ValueError:
        met = set(dependencies([change]))
        result = {}
        for direction in (d for d in directions if d in met):
            others = {d: zeros(d.rows) for d in directions if d is not direction}
            columns = [
                Substitution(others | {direction: const(unit[:, None])})(change)
                for unit in np.eye(direction.rows)
            ]
            result[direction] = transpose(stack(*(transpose(column) for column in columns)))
        return result


class SlopesEvaluator:
    """Evaluates Slopes with a workspace of its own."""

    def __init__(self, slopes: Slopes):
        self._evaluate = Evaluator(slopes.program)
        self._places, self._sparse, self._shape = slopes._places, slopes._sparse, slopes.shape
        self._matrix = np.zeros(slopes.shape)

    def __call__(self, t: float, x: Array) -> Array:
        """The matrix at (t, x): overwritten by the next call."""
        if len(self._places):
            self._matrix.ravel()[self._places] = self._evaluate(t, x)
        return self._matrix

    @property
    def unknowns(self) -> int:
        """Number of columns."""
        return self._shape[1]

    def sparse(self, t: float, x: Array) -> csr_matrix:
        """The same, a value of its own."""
        from scipy.sparse import csr_matrix

        order, columns, begins = self._sparse
        values = self._evaluate(t, x)[order] if len(order) else np.zeros(0)
        return csr_matrix((values, columns, begins), shape=self._shape)
