"""Where functions of time change fast: no step may pass such a place unseen.

An integrator whose steps have grown long looks at a source a dozen times a step; a pulse of
1e-5 s between two looks never was.  The run is halved where bounds of a function (see
`vbg.simulate.instants.bounds`) allow it to change by more than PART of its range, until they do
not; the ends of the small intervals in which it does change are places where steps end.

What changes slowly is looked at often enough, but not what an exponential diode makes of it:
between two charges of its capacitor a rectifier is at rest, a step may be as long as it likes
there, and all its stages may lie where the diodes block.  With such laws no step is longer than
SEEN of the shortest time between a change of a source and the one back, a 16th of a period of a
sine, wherever in the run that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.blocks import Block, dependencies
from vbg.simulate.instants.bounds import bounds
from vbg.simulate.steppers.exponential import has_exponential

Array = NDArray[np.float64]

BEGIN, DEEPEST = 16, 44  # intervals at first, and how often they are halved at most
SMALL = 256  # parts of the run below which a change counts as fast
PART = 0.2  # of the range of a function, by which it may change in an interval
CHANGES = 1e-3  # of the range: what changes less is at rest
MOST = 4096  # intervals
SEEN = 1 / 8  # of a pulse: no step longer than that beside an exponential law
SEEN_AT_ENDS = 1 / 64  # by a method that looks at the ends of its steps alone
OFTEN = 1e4  # steps that a pulse may ask for in which steps end anyway
WINDOWS, AROUND, DEEPER = 3, 8.0, 6  # looks at what changes too often, their size, how deep they go
JUMP = 1e-11  # of a run: what changes in less is a jump
LONGEST = 128  # of a run of fast intervals: one that goes on for longer is seen by the integrator


def fast_places(system: System, t_end: float) -> Array:
    """Times in (0, t_end) at which steps are to end, in order."""
    functions = time_functions(system)
    if not functions or t_end == 0.0:
        return np.zeros(0)
    edges, wild, moving = _intervals(functions, (0.0, t_end))
    return _ends(edges, _fast(edges, wild, moving), t_end)


def longest_step(system: System, t_end: float, seen: float = SEEN) -> float:
    """The longest step [s] that passes no pulse of an exponential diode unseen, `seen` of the
    shortest pulse of a source; infinite where there is none, or no function of time drives it."""
    functions = time_functions(system)
    if not functions or t_end == 0.0 or not has_exponential(system.causal.graph):
        return np.inf
    places = fast_places(system, t_end)
    return seen * min(_shortest(f, (0.0, t_end), WINDOWS, places) for f in functions)


def _shortest(
    function: Block, span: tuple[float, float], windows: int, places: Array, deeper: int = DEEPER
) -> float:
    """The shortest time [s] between a change of the function and one back in the span: where
    it changes too often to be followed, in some windows of these parts of the span.

    One with `places` in it, at which steps end anyway, asks for no more than OFTEN steps."""
    edges, wild, _ = _intervals([function], span)
    ((values, _),) = bounds([function], edges, edges)
    begin, end = swings(edges, values)
    least = (span[1] - span[0]) / OFTEN
    aside = np.searchsorted(places, 2.0 * begin - end) < np.searchsorted(places, 2.0 * end - begin)
    between = np.where(aside & (SEEN * (end - begin) < least), np.inf, end - begin)
    shortest = float(between.min(initial=np.inf))
    width = np.diff(edges)
    (left,) = np.nonzero(wild & (width > JUMP * (span[1] - span[0])))
    if not len(left) or not deeper:
        return shortest
    chosen = left[np.unique(np.linspace(0, len(left) - 1, windows + 2).astype(int)[1:-1])]
    if windows > 1:
        chosen = np.unique([left[0], *chosen, left[-1]])
    for k in chosen:
        around = (
            max(span[0], edges[k] - AROUND * width[k]),
            min(span[1], edges[k + 1] + AROUND * width[k]),
        )
        shortest = min(shortest, _shortest(function, around, 1, places[:0], deeper - 1))
    return shortest


def swings(times: Array, values: Array) -> tuple[Array, Array]:
    """Middles of each change by more than PART of the range, and of the one back that follows."""
    seen = np.isfinite(values)
    times, values = times[seen], values[seen]
    turns = _turns(values.tolist(), PART * float(np.ptp(values)) if len(values) else 0.0)
    middles = []
    for first, last in pairwise(turns):
        way = (values[first : last + 1] - values[first]) / (values[last] - values[first])
        k = int(np.argmax(way >= 0.5))
        part = (0.5 - way[k - 1]) / (way[k] - way[k - 1])
        middles.append(times[first + k - 1] + part * (times[first + k] - times[first + k - 1]))
    return np.array(middles[:-1]), np.array(middles[1:])


def _turns(values: Sequence[float], least: float) -> list[int]:
    """Where the values turn by more than `least`: peaks and troughs by turns, both ends' too."""
    low = high = sense = 0
    found = []
    for i, value in enumerate(values):
        low = i if value < values[low] else low
        high = i if value > values[high] else high
        if sense >= 0 and value < values[high] - least:
            found.append(high)
            low, sense = i, -1
        elif sense <= 0 and value > values[low] + least:
            found.append(low)
            high, sense = i, 1
    return [*found, high if sense > 0 else low] if found else []


def _intervals(
    functions: Sequence[Block], span: tuple[float, float]
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """The ends of intervals of the span, and what `_look` says of each."""
    edges = np.linspace(*span, BEGIN + 1)
    for _ in range(DEEPEST):
        wild, _ = _look(functions, edges)
        if not wild.any() or len(edges) + wild.sum() > MOST:
            break
        middle = 0.5 * (edges[:-1] + edges[1:])
        edges = np.sort(np.concatenate([edges, middle[wild]]))
    return edges, *_look(functions, edges)


def _fast(edges: Array, wild: NDArray[np.bool_], moving: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The small intervals in which a function changes."""
    return moving & ~wild & (np.diff(edges) < 1.5 * edges[-1] / SMALL)


def _look(functions: Sequence[Block], edges: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each interval whether some function may change in it by more than PART, and whether
    some changes by more than CHANGES."""
    wild = np.zeros(len(edges) - 1, dtype=bool)
    moving = wild.copy()
    middle = 0.5 * (edges[:-1] + edges[1:])
    over = bounds(functions, edges[:-1], edges[1:])
    at, halfway = bounds(functions, edges, edges), bounds(functions, middle, middle)
    for (low, high), (ends, _), (inside, _) in zip(over, at, halfway, strict=True):
        values = np.concatenate([ends, inside])
        values = values[np.isfinite(values)]
        seen = np.ptp(values) if len(values) else 0.0
        finite = np.isfinite(low) & np.isfinite(high)
        reach = high[finite].max() - low[finite].min() if finite.any() else np.inf
        size = max(seen, 0.01 * reach)
        wild |= ~(high - low <= PART * size)
        with np.errstate(invalid="ignore"):
            change = np.maximum(np.abs(np.diff(ends)), np.abs(inside - ends[:-1]))
        moving |= change > CHANGES * size
    return wild, moving


def _ends(edges: Array, fast: NDArray[np.bool_], t_end: float) -> Array:
    """Both ends of the fast intervals, but for those of long runs of them."""
    change = np.flatnonzero(np.diff(np.concatenate([[0], fast.astype(int), [0]])))
    found = [
        edges[first : last + 1]
        for first, last in zip(change[::2], change[1::2], strict=True)
        if last - first <= LONGEST
    ]
    times = np.unique(np.concatenate(found)) if found else np.zeros(0)
    return times[(times > 0.0) & (times < t_end)]


def time_functions(system: System) -> tuple[Block, ...]:
    """The scalar functions of time alone that sources, drives and controllers follow."""
    graph = system.causal.graph
    roots = [v.law for v in graph.vertices.values() if v.kind in ("Se", "Sf") and v.law is not None]
    roots += [s.rate for s in graph.signal_states]
    whole = dependencies(roots)
    of_time: dict[bytes, bool] = {}
    for block in whole:
        alone = block == graph.time or bool(block.args)
        inside = [of_time[a.key] or a.is_const for a in block.args]
        moves = block == graph.time or any(of_time[a.key] for a in block.args)
        of_time[block.key] = alone and all(inside) and moves
    used_by_time = {a.key for b in whole if of_time[b.key] and b.shape == (1, 1) for a in b.args}
    return tuple(
        b
        for b in whole
        if of_time[b.key]
        and b.shape == (1, 1)
        and b.op in ("times", "sum", "call", "mul")
        and b.key not in used_by_time
    )
