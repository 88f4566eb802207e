"""In which lengths gaps, speeds and written values count, of a start and in a run: those of the
machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.closing import Closer, HeldRows
from vbg.assemble.start.constraints.sizes import farthest_end
from vbg.assemble.start.remarks import MOVED, unit_of
from vbg.assemble.system import System
from vbg.errors import Problem

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
GRAINS = 4.0  # roundings of the farthest position: a gap that no step makes smaller


def run_lengths(system: System, x: Array) -> Array:
    """`row_lengths` at the state x, with those that rows will have which come and go: rows of
    joints that grip or close later, 1 where nothing moves."""
    choice = RowChoice(system)
    modes = {mode.name for mode in system.causal.graph.modes}
    found = choice.rows_at(0.0, x).lengths
    for mode in (1.0, 0.0):  # where dry friction holds, where joints have closed
        if not modes or np.all(found > 0.0):
            break
        there = x.copy()
        for s in system.slices:
            if s.state.name in modes:
                there[s.first : s.last] = mode
        found = np.where(found > 0.0, found, choice.rows_at(0.0, there).lengths)
    found = np.where(found > 0.0, found, 1.0)
    joints = [c.part.startswith("joints.") for c in system.equations.constraints for _ in c.labels]
    return np.where((np.array(_units(system)) != "") | np.array(joints, dtype=bool), found, 1.0)


def rounding_of_gaps(system: System, x: Array, lengths: Array) -> float:
    """What rounding of positions leaves of a gap, in `lengths` of rows: much where a machine
    stands far from the origin, or a joint far from its body."""
    metres = lengths[np.array(_units(system)) == "m"]
    far = [x[s.first : s.last] for s in system.slices if s.state.kind == "position"]
    farthest = np.abs(np.concatenate([[farthest_end(system)], *far])).max()
    return float(GRAINS * EPS * farthest / metres.min(initial=np.inf))


def row_lengths(system: System, closer: Closer) -> Array:
    """By which a gap or a speed of each row counts as an angle or its rate: those of the rows of
    joints, 1 for what is no motion."""
    return np.where(np.array(_units(system)) != "", closer.rows.lengths, 1.0)


def held_lengths(system: System, held: HeldRows, closer: Closer) -> Array:
    """The same for written coordinates and speeds; slides count in the longest row that closes a
    distance."""
    far = closer.rows.lengths[np.array(_units(system)) == "m"].max(initial=0.0) or 1.0
    slides = [system.signal_units.get(row.name, "") in ("m", "m/s") for row in held.rows]
    return np.where(slides, far, 1.0)


def _units(system: System) -> list[str]:
    return [
        unit_of(system, c.part, label) for c in system.equations.constraints for label in c.labels
    ]


def held_not_kept(
    system: System, held: HeldRows, closer: Closer, x: Array, what: str
) -> Problem | None:
    """A warning that names which of the written ones, "coordinates" or "speeds" as `what` says,
    have changed, if any; of a speed by how much per second its coordinate."""
    lengths, rate = held_lengths(system, held, closer), "/s" if what == "speeds" else ""
    changed = [
        f"{row.name} (by {-miss:.4g} {system.signal_units.get(row.name, '')}{rate})"
        for row, miss, length in zip(held.rows, held.misses(x), lengths, strict=True)
        if abs(miss) > MOVED * length
    ]
    if not changed:
        return None
    return Problem(
        "warning",
        "joints",
        f"not all written start {what} could be kept; changed: {', '.join(changed)}.",
        "Write only as many as the mechanism has freedoms.",
    )
