"""The functions of measures: what each takes, and a line of meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.measures import course, loads, series
from vbg.measures.series import Series, Value

COURSE, NUMBER, WORDS, EITHER = "a course", "a number", "words in quotes", "a course or a number"


@dataclass(frozen=True, slots=True)
class Function:
    """`arguments`: (name, what it is) of each; those from `least` on may be left out."""

    call: Callable[..., Any]
    arguments: tuple[tuple[str, str], ...]
    least: int
    meaning: str

    def spelled(self, name: str) -> str:
        """settle(x[, band])"""
        words = [argument for argument, _ in self.arguments]
        needed, more = words[: self.least], "".join(f"[, {word}]" for word in words[self.least :])
        return f"{name}({', '.join(needed)}{more})"


def _of_values(function: Callable[[Any], Any]) -> Callable[[Value], Any]:
    def apply(x: Value) -> Any:
        return function(x.values if isinstance(x, Series) else np.float64(x))

    return apply


def _row_by_row(function: Callable[[Any], Any]) -> Callable[[Value], Value]:
    def apply(x: Value) -> Value:
        return x.mapped(function) if isinstance(x, Series) else float(function(np.float64(x)))

    return apply


def _lengths(a: Any) -> Any:
    return np.abs(a) if np.ndim(a) < 2 else np.linalg.norm(a, axis=1)


def _row(place: int) -> Callable[[Series], Any]:
    def apply(x: Series) -> Any:
        one = x.values[place]
        if np.ndim(one) == 0:
            return float(one)
        return Series(x.time[[place]], x.values[[place]], x.events)

    return apply


def _after(x: Series, t: float) -> Series:
    return series.over(x, t, float(x.time[-1]))


def _before(x: Series, t: float) -> Series:
    return series.over(x, float(x.time[0]), t)


def _one(
    call: Callable[..., Any], meaning: str, kind: str = EITHER, *more: tuple[str, str], least: int
) -> Function:
    return Function(call, (("x", kind), *more), least, meaning)


_N = NUMBER
FUNCTIONS: Mapping[str, Function] = {
    "max": _one(_of_values(np.max), "largest value", least=1),
    "min": _one(_of_values(np.min), "smallest value", least=1),
    "range": _one(_of_values(np.ptp), "largest less smallest value", least=1),
    "mean": _one(series.mean, "integral over the time by the time", least=1),
    "rms": _one(series.rms, "root of the mean square", least=1),
    "integral": _one(series.integral, "over the time", COURSE, least=1),
    "first": _one(_row(0), "value at the begin", COURSE, least=1),
    "final": _one(_row(-1), "value at the end", COURSE, least=1),
    "at": _one(series.at, "value at t", COURSE, ("t", _N), least=2),
    "over": _one(series.over, "the course from t1 to t2", COURSE, ("t1", _N), ("t2", _N), least=3),
    "after": _one(_after, "the course from t on", COURSE, ("t", _N), least=2),
    "before": _one(_before, "the course up to t", COURSE, ("t", _N), least=2),
    "between": _one(
        series.between,
        "from one event to the next, by words of `vbg run --events`",
        COURSE,
        ("'begins'", WORDS),
        ("'ends'", WORDS),
        least=3,
    ),
    "settle": _one(
        course.settle,
        "time until it stays within band (0.02) of the step from its end",
        COURSE,
        ("band", _N),
        least=1,
    ),
    "overshoot": _one(course.overshoot, "beyond its end, as part of the step", COURSE, least=1),
    "rise": _one(course.rise, "time from 10 % to 90 % of the step", COURSE, least=1),
    "frequency": _one(course.frequency, "swings per second [Hz]", COURSE, least=1),
    "count": _one(course.count, "upward passages of a level", COURSE, ("level", _N), least=2),
    "share": _one(
        course.share,
        "part of the time between low and high",
        COURSE,
        ("low", _N),
        ("high", _N),
        least=3,
    ),
    "cycles": _one(loads.cycles, "number of rainflow cycles", COURSE, least=1),
    "damage": Function(
        loads.damage,
        (("x", COURSE), ("range", _N), ("cycles", _N), ("slope", _N)),
        4,
        "Miner's sum of rainflow cycles; range breaks after cycles",
    ),
    "equivalent": Function(
        loads.equivalent,
        (("load", COURSE), ("exponent", _N), ("speed", COURSE)),
        2,
        "constant load of the same wear, over the time or the way",
    ),
    "bearing_life": Function(
        loads.bearing_life,
        (("load", COURSE), ("speed", COURSE), ("rating", _N), ("exponent", _N)),
        3,
        "L10 in seconds if the window is repeated (ISO 281); 3 for balls, 10/3 for rollers",
    ),
    "abs": _one(_row_by_row(np.abs), "of each value", least=1),
    "norm": _one(_row_by_row(_lengths), "length of a vector", least=1),
    "sqrt": _one(_row_by_row(np.sqrt), "of each value", least=1),
    "log": _one(_row_by_row(np.log), "of each value", least=1),
    "exp": _one(_row_by_row(np.exp), "of each value", least=1),
}
