"""Instants where inputs jump, and on which side of them an output row is.

Two instants are one where only rounding is between them.  The inputs are looked at from inside
the span between two of them, by more than rounding moves an edge; the row at such an instant
holds the values after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.switches import changes
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.start import drive_rates

if TYPE_CHECKING:
    from vbg.tmm_bridge.formulas.switches import Switch
    from vbg.tmm_bridge.formulas.timefunctions import Break
    from vbg.tmm_bridge.mechanism.mechanism import Mechanism

ALIKE = 3e-14  # relative distance of instants between which only rounding is
AWAY = 1e-14  # relative distance from an edge at which a function of time is looked at
MOST_STOPS = 1e8  # of a run
MOST_INSTANTS = 1e8  # that a run keeps
SOONEST = 1e-30  # [s], behind an edge at t = 0, where nothing is rounded


class Breaking(Protocol):
    """What jumps at its `breaks`, and where one of its `switches` changes its sign."""

    @property
    def breaks(self) -> tuple[Break, ...]: ...
    @property
    def switches(self) -> tuple[Switch, ...]: ...


@dataclass(frozen=True)
class Stop:
    """One or more instants, equal but for rounding, from `first` to `last`; `size` is what the
    rounding is relative to.  The begin and the end of a run are stops too, where nothing jumps."""

    first: float
    last: float
    size: float
    jumps: bool

    @property
    def before(self) -> float:
        """The last time that is before it for the inputs."""
        return self.first - AWAY * self.size if self.jumps else self.first

    @property
    def after(self) -> float:
        """The first time that is after it for the inputs."""
        return self.last + max(AWAY * self.size, SOONEST) if self.jumps else self.last

    @property
    def rows(self) -> tuple[float, float]:
        """Output rows from ... to are on it; none where nothing jumps."""
        if not self.jumps:
            return np.inf, -np.inf
        return self.first - ALIKE * self.size, self.last + ALIKE * self.size


def stops(breaks: Iterable[Break], begin: float, end: float) -> list[Stop]:
    """The stops of a run, its begin and its end the first and the last of them."""
    breaks = set(breaks)
    _require_few(breaks, end - begin)
    early = max((-first for first, _ in breaks), default=0.0)
    scale = max(early, 0.0)

    def alike(t: float) -> float:
        return ALIKE * (abs(t) + scale) + SOONEST

    times = [
        found
        for first, period in breaks
        for found in _train(first, period, begin - alike(begin), end + alike(end))
    ]
    merged: list[Stop] = []
    marked = [(begin, False), (end, False), *((float(t), True) for t in times)]
    for t, jumps in sorted(marked):
        last = merged[-1] if merged else None
        if last is not None and t - last.first <= alike(t):
            merged[-1] = Stop(last.first, t, last.size, last.jumps or jumps)
        else:
            merged.append(Stop(t, t, abs(t) + scale, jumps))
    return merged


def _require_few(breaks: set[Break], duration: float) -> None:
    """UsageError where an input jumps more often than stops can be kept."""
    shortest = min((period for _, period in breaks if period > 0.0), default=np.inf)
    if not sum(duration / period for _, period in breaks if period > 0.0) <= MOST_STOPS:
        raise UsageError(
            f"inputs jump every {shortest:g} s: more than {MOST_STOPS:.0e} stops in a run of"
            f" {duration:g} s. Take a longer period, or a shorter run."
        )


def _train(first: float, period: float, begin: float, end: float) -> Array:
    """first + n period, n = 0, 1, ..., between two times; `first` alone where period is 0."""
    if period <= 0.0:
        return np.array([first] if begin <= first <= end else [])
    n = np.arange(
        max(0, int((begin - first) / period) - 1), max(0, int((end - first) / period)) + 2
    )
    found: Array = first + n * period
    return found[(found >= begin) & (found <= end)]


def drives_from(mechanism: Mechanism, seen: float, t: float) -> Array:
    """f, f', f'' of every drive at t (d, 3), as they go on from where they are `seen`."""
    rates, late = drive_rates(mechanism, seen), t - seen
    rates[:, 0] += late * (rates[:, 1] + 0.5 * late * rates[:, 2])
    rates[:, 1] += late * rates[:, 2]
    return rates


def stops_of(mechanism: Mechanism, begin: float, end: float) -> list[Stop]:
    """The stops of a run: where drives, inputs and network of a mechanism have kinks and jumps."""
    functions: list[Breaking] = [*mechanism.drives, *mechanism.inputs]
    if mechanism.network is not None:
        functions.append(mechanism.network)
    return stops_among(functions, begin, end)


def stops_among(functions: Iterable[Breaking], begin: float, end: float) -> list[Stop]:
    """The same for what has `breaks` and `switches`."""
    functions = list(functions)
    breaks = {b for function in functions for b in function.breaks}
    switches = [s for function in functions for s in function.switches]
    behind = end + ALIKE * abs(end)  # what changes on the last row is found behind it
    sides = {(t, 0.0) for change in changes(switches, begin, behind) for t in change}
    return stops(breaks | sides, begin, end)


def behind(mechanism: Mechanism, times: Array) -> Array:
    """The times, those on a jump of an input moved behind it."""
    return behind_stops(stops_of(mechanism, float(times[0]), float(times[-1])), times)


def behind_stops(marked: Iterable[Stop], times: Array) -> Array:
    """The times, those on a stop moved behind it."""
    seen = times.copy()
    for stop in marked:
        first, last = stop.rows
        at = slice(*np.searchsorted(times, [first, np.nextafter(last, np.inf)]))
        seen[at] = np.maximum(seen[at], stop.after)
    return seen


def output_grid(t_end: float, output_step: float) -> Array:
    """0, step, 2 step, ... and t_end; UsageError where these are more instants than can be kept."""
    if not t_end < MOST_INSTANTS * output_step:
        raise UsageError(
            f"a run of {t_end:g} s in steps of {output_step:g} s has more than {MOST_INSTANTS:.0e}"
            " output instants. Take a larger output_step, or a shorter run."
        )
    n = int(np.floor(t_end / output_step + 1e-9))
    grid = np.arange(n + 1) * output_step
    if t_end - grid[-1] > 1e-9 * output_step:
        grid = np.append(grid, t_end)
    else:
        grid[-1] = t_end if n else 0.0
    return grid
