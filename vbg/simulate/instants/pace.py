"""Where functions of time change fast: no step may pass such a place unseen.

An integrator whose steps have grown long looks at a source a dozen times a step; a pulse of
1e-5 s between two looks never was.  The run is halved where bounds of a function (see
`vbg.simulate.instants.bounds`) allow it to change by more than PART of its range, until they do
not; the ends of the small intervals in which it does change are places where steps end.

What changes slowly is looked at often enough, but not what an exponential diode makes of it:
between two charges of its capacitor a rectifier is at rest, a step may be as long as it likes
there, and all its stages may lie where the diodes block.  With such laws no step is longer than
SEEN of the shortest of those intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

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
SHARES = (1.0, 1 / 16, 1 / 256, 1 / 4096)  # of a run, from its beginning
SEEN = 1.5  # of the shortest slow interval: no step longer than that beside an exponential law
LONGEST = 128  # of a run of fast intervals: one that goes on for longer is seen by the integrator


def fast_places(system: System, t_end: float) -> Array:
    """Times in (0, t_end) at which steps are to end, in order."""
    functions = time_functions(system)
    if not functions or t_end == 0.0:
        return np.zeros(0)
    edges, wild, moving = _intervals(functions, t_end)
    return _ends(edges, _fast(edges, wild, moving), t_end)


def longest_step(system: System, t_end: float) -> float:
    """The longest step [s] that passes no pulse of an exponential diode unseen; infinite where
    there is none, or no function of time drives it."""
    if not has_exponential(system.causal.graph):
        return np.inf
    return min((_shortest(function, t_end) for function in time_functions(system)), default=np.inf)


def _shortest(function: Block, t_end: float) -> float:
    """The shortest interval in which the function changes, and not fast, in the first of SHARES
    of the run in which it does not change too often to be followed."""
    for share in SHARES if t_end > 0.0 else ():
        edges, wild, moving = _intervals([function], share * t_end)
        fast = np.isin(edges[:-1], _ends(edges, _fast(edges, wild, moving), share * t_end))
        slow = np.diff(edges)[moving & ~wild & ~fast]
        if slow.size or not wild.any():
            return SEEN * float(slow.min(initial=np.inf))
    return np.inf


def _intervals(
    functions: Sequence[Block], t_end: float
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """The ends of intervals of the run, and what `_look` says of each."""
    edges = np.linspace(0.0, t_end, BEGIN + 1)
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
