"""Peaks between output rows: what a run passes through and its rows do not show.

Rows lie where the engineer asks, steps where the motion asks.  A contact of a millisecond between
two rows a tenth of a second apart leaves no trace in them, and the largest force of a bearing
would be read off too small.  So all signals are looked at inside each step whose rows do
not resolve it, at thirds of it; between three looks the largest value is that of their
parabola.  What exceeds the rows is told by name, value and instant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vbg.errors import Problem
from vbg.plumbing.components import component
from vbg.simulate.settings import MOST_ROWS

Array = NDArray[np.float64]

LOOKS = np.array([1.0, 2.0, 3.0]) / 3.0  # of a step; as many rows in it show as much
BLOCK = 40  # steps whose looks are evaluated at once
MISSED = 0.05  # of a signal's range, which rows may lack untold
GRAIN = 1e-6  # of the largest range of the same unit, or of the signal's own size: less is no peak
ROUNDED = 1e-9  # of the largest value of the same unit: less is rounding's
TOLD = 3  # signals by name
BESIDE = (("N", "N*m"), ("m", "rad"), ("m/s", "rad/s"), ("m/s^2", "rad/s^2"))
WHERE = "simulate.output_step"
UNTOLD = ("energy.", "residual.")  # sums of others, and what ought to be zero
ROUNDINGS = 16.0  # last digits of a state: what they make of a signal is no peak
INSIDE = 1e3  # what the polynomial of a step makes of those of its rates: coefficients of DOP853
LOADS = ("N", "N*m", "Pa", "V", "A")  # what parts are sized by


Signals = Callable[[Array, Array], Array]


class Stepped(Protocol):
    """A step that is made: its ends and the states inside it."""

    @property
    def t_before(self) -> float: ...
    @property
    def consistent(self) -> bool: ...
    def between_each(self, times: Array) -> Array: ...


@dataclass(frozen=True, slots=True)
class Peak:
    """A scalar signal reaches `value` at `time` [s], its rows `rows` at most; the step in which
    it does is `length` [s] long; `missed`: what the rows lack, in its range."""

    signal: str
    unit: str
    value: float
    rows: float
    time: float
    length: float
    missed: float


@dataclass(frozen=True, slots=True)
class _Look:
    """Into one step, `length` [s] long; `joined`: it goes on from the look before it."""

    times: Array
    states: Array
    length: float
    joined: bool


class Peaks:
    """Least and largest values of all signals inside the steps of one run.

    `signals(times, states)` gives them at these states as rows (k, width); they are asked for many
    steps at once; `gravity` [m/s^2]: its amount."""

    def __init__(self, signals: Signals, width: int, gravity: float, discrete: NDArray[np.bool_]):
        self._signals, self._gravity, self._moves = signals, gravity, ~discrete
        # by sign: largest values of -signals and of signals
        self._most = np.full((2, width), -np.inf)
        self._when = np.zeros((2, width))
        self._length = np.zeros((2, width))
        self._looks: list[_Look] = []
        self._end = np.nan  # of the last step that was looked into
        self._last: tuple[float, Array] | None = None  # instant and states of the last look

    def look(self, step: Stepped, until: float, rows: int) -> None:
        """Inside the step up to `until`, where it has `rows` rows."""
        begin, length = step.t_before, until - step.t_before
        # steps of a multistep method are short, and their ends cost nothing
        looks = LOOKS[-1:] if step.consistent else LOOKS
        if rows >= len(looks) or not length > 0.0:
            return
        times = begin + length * looks
        times[-1] = until
        states = step.between_each(times)
        self._looks.append(_Look(times, states, length, begin == self._end))
        self._end = until
        self._last = until, states[-1]
        if len(self._looks) > BLOCK:
            self._evaluate()
            del self._looks[:-2]  # the parabola at its end needs what follows

    def pause(self) -> None:
        """Something happens here: signals may jump and laws change; no parabola leads across."""
        if self._looks:
            self._evaluate()
        self._looks.clear()
        self._end = np.nan

    def _evaluate(self) -> None:
        looks = self._looks
        times = np.concatenate([look.times for look in looks])
        values = self._signals(times, np.concatenate([look.states for look in looks]))
        counts = [len(look.times) for look in looks]
        lengths = np.repeat([look.length for look in looks], counts)
        joined = np.ones(len(times), dtype=bool)  # to the look before it
        joined[np.cumsum([0, *counts[:-1]])] = [look.joined for look in looks]
        lost = np.isnan(values)
        holes = bool(lost.any())
        columns = np.ascontiguousarray(values.T)  # each is searched where it lies together
        for sign, turned in enumerate((-values, values)):
            known = (
                np.where(lost.T, np.inf if sign == 0 else -np.inf, columns) if holes else columns
            )
            best = known.argmin(axis=1) if sign == 0 else known.argmax(axis=1)
            top, when = _tops(times, turned, joined, best)
            more = top > self._most[sign]
            self._most[sign, more] = top[more]
            self._when[sign, more] = when[more]
            self._length[sign, more] = lengths[best][more]

    def reached(self) -> tuple[Array, Array]:
        """Least and largest value of each signal; infinite where no step was looked into."""
        self.pause()
        return -self._most[0], self._most[1].copy()

    def missed(
        self, shapes: Mapping[str, Sequence[int]], rows: Array, units: Mapping[str, str]
    ) -> list[Peak]:
        """Peaks that the rows lack, the worst first, loads before all else.

        `shapes`: place, rows and columns of each signal, in the order of their columns; `rows`
        (2, width): the largest values in the rows, of minus the signals and of these."""
        self.pause()
        if not np.all(np.isfinite(rows)):
            return []
        most = np.maximum(self._most, rows)
        spans = most.sum(axis=0)
        lacks = np.maximum(*(most - rows)) > MISSED * spans
        if not np.any(lacks):
            return []
        names = [
            (n, component(n, k, r * c)) for n, (_, r, c) in shapes.items() for k in range(r * c)
        ]
        of_each = [units.get(name, "") for name, _ in names]
        largest = np.abs(rows).max(axis=0)
        floors = _floors(of_each, spans, largest)
        vectors = np.repeat(np.arange(len(shapes)), [r * c for _, r, c in shapes.values()])
        lacks &= np.maximum(*(most - rows)) > self._rounding(np.array(of_each), vectors, largest)
        found = []
        for at in np.flatnonzero(lacks).tolist():
            name, told = names[at]
            unit = units.get(name, "")
            lacking = most[:, at] - rows[:, at]
            sign = int(np.argmax(lacking))
            least = max(MISSED * spans[at], floors[unit], GRAIN * largest[at])
            if name.startswith(UNTOLD) or lacking[sign] <= least:
                continue
            turned = 1.0 if sign else -1.0
            value, shown = (0.0 + turned * float(v[sign, at]) for v in (most, rows))
            when, length = float(self._when[sign, at]), float(self._length[sign, at])
            missed = float(lacking[sign] / spans[at])
            found.append(Peak(told, unit, value, shown, when, length, missed))
        return sorted(found, key=lambda peak: (peak.unit not in LOADS, -peak.missed))

    def _rounding(
        self, units: NDArray[np.str_], vectors: NDArray[np.intp], largest: Array
    ) -> Array | float:
        """What last digits make of every signal, at the last look.

        Accelerations: a stiff spring that holds nothing shows k eps x / m of its ends' places, a
        weight that is held eps g. Speeds: what these give in a step, places: what the weight gives
        (what a spring gives it takes back); what slides beside what turns by the size of the
        machine. Powers: what the loads do with such speeds.

        States are moved by one last digit and what that makes is taken ROUNDINGS times, so that
        the digits that signals lose on their way from the states count as often; those of a vector
        are the largest of its components. `vectors`: which of them each column is of."""
        if self._last is None:
            return 0.0
        t, x = self._last
        signs = np.random.default_rng(0).choice((-1.0, 1.0), (BLOCK, len(x)))
        moved = np.vstack([x, x + self._moves * np.spacing(x) * signs])
        values = self._signals(np.full(len(moved), t), moved)
        changed = ROUNDINGS * np.nan_to_num(
            np.abs(values[1:] - values[0]).max(axis=0), posinf=np.inf
        )
        of_vector = np.zeros(len(vectors))
        np.maximum.at(of_vector, vectors, changed)
        found = of_vector[vectors]
        size = _largest(largest, units, "m")
        slides, turns = (_largest(found, units, unit) for unit in ("m/s^2", "rad/s^2"))
        weight = np.finfo(float).eps * self._gravity
        found[units == "m/s^2"] += ROUNDINGS * weight
        falls, tumbles = INSIDE * weight, 0.0
        slides += falls
        if size > 0.0:
            slides, turns = max(slides, turns * size), max(turns, slides / size)
            tumbles = falls / size
        power, length = np.zeros(len(found)), self._length.max(axis=0)
        for load, place, rate in (("N", "m", slides), ("N*m", "rad", turns)):
            speed, way = rate * length, (falls if place == "m" else tumbles) * length**2
            for unit, gained in ((f"{place}/s", speed), (place, way)):
                found = np.where(units == unit, np.maximum(found, gained), found)
            power += _largest(largest, units, load) * speed
        return np.where(units == "W", np.maximum(found, power), found)


def _largest(values: Array, units: NDArray[np.str_], unit: str) -> float:
    """Of the signals in that unit; 0 without one."""
    return float(values[units == unit].max(initial=0.0))


def _floors(units: Sequence[str], spans: Array, largest: Array) -> dict[str, float]:
    """By unit what is below rounding: of the largest range and value, and of what turns and what
    slides beside one another by the size of the machine, its largest length."""
    floors: dict[str, float] = {}
    for unit, span, value in zip(units, spans, largest, strict=True):
        floor = max(GRAIN * float(span), ROUNDED * float(value))
        floors[unit] = max(floors.get(unit, 0.0), floor)
    size = max((float(v) for unit, v in zip(units, largest, strict=True) if unit == "m"), default=0)
    for slides, turns in BESIDE if size > 0.0 else ():
        force, torque = floors.get(slides, 0.0), floors.get(turns, 0.0)
        floors[slides], floors[turns] = max(force, torque / size), max(torque, force * size)
    return floors


def _tops(
    times: Array, values: Array, joined: NDArray[np.bool_], best: NDArray[np.intp]
) -> tuple[Array, Array]:
    """The largest value of each column, which stands in the row `best`, or where that goes on on
    both sides the top of the parabola through it and its higher neighbour, with the least bend
    that the rows have at these two, so that none leads over a jump; with their instants.
    `joined`: whether a row goes on from the one before it."""
    columns = np.arange(values.shape[1])
    top, when = values[best, columns], times[best]
    before, behind = np.maximum(best - 1, 0), np.minimum(best + 1, len(times) - 1)
    higher = np.where(values[before, columns] > values[behind, columns], before, behind)
    inner, bend = _bends(times, values, joined, best)
    follows, there = _bends(times, values, joined, higher)
    with np.errstate(over="ignore", invalid="ignore"):  # of values near the end of numbers
        inner, bend = inner & follows, np.minimum(bend, there)
        away = np.where(inner, times[higher] - when, 1.0)
        drop = top - values[higher, columns]
        slope = bend * np.abs(away) - drop / np.abs(away)
        inner &= (bend > 0.0) & (slope > 0.0) & np.isfinite(slope**2)
        safe = np.where(inner, bend, 1.0)
        lowest = np.minimum(values[before, columns], values[behind, columns])
        more = np.minimum(slope**2 / (4.0 * safe), top - lowest)
        aside = np.sign(away) * slope / (2.0 * safe)
        return np.where(inner, top + more, top), np.where(inner, when + aside, when)


def _bends(
    times: Array, values: Array, joined: NDArray[np.bool_], rows: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], Array]:
    """Whether the row of each column goes on on both sides, and minus half of the second
    derivative there."""
    columns = np.arange(values.shape[1])
    before, behind = np.maximum(rows - 1, 0), np.minimum(rows + 1, len(times) - 1)
    inner = (before < rows) & (rows < behind) & joined[rows] & joined[behind]
    inner &= (times[before] < times[rows]) & (times[rows] < times[behind])
    a = np.where(inner, times[rows] - times[before], 1.0)
    b = np.where(inner, times[behind] - times[rows], 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rise = (values[rows, columns] - values[before, columns]) / a
        fall = (values[behind, columns] - values[rows, columns]) / b
        return inner, (rise - fall) / (a + b)


def between_rows(peaks: Sequence[Peak], step: float, t_end: float) -> Iterator[Problem]:
    """A warning about the worst of the peaks that rows `step` [s] apart lack, in a run of `t_end`
    [s], with the step that shows them if a run keeps so many rows."""
    if not peaks:
        return
    worst, rest = peaks[:TOLD], len(peaks) - TOLD
    words = [
        f"{p.signal} reaches {p.value:.4g} {p.unit} at t = {p.time:.6g} s, {p.rows:.4g} in the rows"
        for p in worst
    ]
    shortest = min(peak.length for peak in worst)
    if t_end <= MOST_ROWS * shortest / (2.0 * len(LOOKS)):  # a part of it, rounded down
        finer = _round(shortest / len(LOOKS))  # rows as close as looks
        remedy = f"output_step = {finer:.0e} s shows these peaks, too (--output-step {finer:.0e})."
    else:
        remedy = (
            f"no output step shows these peaks, steps of {shortest:.0e} s made them: look at what"
            " jumps or hits there, soften it, or end the run behind them."
        )
    yield Problem(
        "warning",
        WHERE,
        f"between output rows, {step:.4g} s apart, signals go further than the rows show: "
        f"{'; '.join(words)}{f'; and {rest} more' if rest > 0 else ''}.",
        f"Largest values, measures and curves are those of the rows: {remedy}",
    )


def hidden(notes: Iterable[Problem]) -> list[str]:
    """Warnings of `between_rows` among the notes of a run, in words."""
    return [f"{note.what} {note.remedy}" for note in notes if note.where == WHERE]


def _round(step: float) -> float:
    """Down to one digit."""
    scale = 10.0 ** np.floor(np.log10(step))
    return float(np.floor(step / scale) * scale)
