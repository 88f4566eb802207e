"""Courses over time, and windows of them.

Between two rows a course is taken as linear: integrals are by the trapezoidal rule, and the
ends of a window between rows get values of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.solution import Event

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """values : (n,) or (n, k), SI, at the instants time : (n,) [s]; `events` of the run."""

    time: Array
    values: Array
    events: tuple[Event, ...] = ()

    def mapped(self, function: Callable[[Array], Array]) -> Series:
        """The course of a function of the values, row by row."""
        return Series(self.time, np.asarray(function(self.values), dtype=float), self.events)

    @property
    def span(self) -> float:
        """Length of the window [s]."""
        return float(self.time[-1] - self.time[0])

    def require_scalar(self, function: str) -> Array:
        """The values of a scalar course.

        Raises UsageError for a vector."""
        if self.values.ndim != 1:
            raise UsageError(
                f"{function}() takes one component, not a vector of {self.values.shape[1]}: write "
                "NAME.x, or norm(NAME)"
            )
        return self.values


Value = Series | float


def combined(operate: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    """`operate` on two values row by row.

    Raises UsageError where they are courses over different windows, or of different widths.
    """
    if isinstance(a, Series) and isinstance(b, Series):
        if a.time.shape != b.time.shape or not np.array_equal(a.time, b.time):
            raise UsageError("two courses are over different windows: give both the same one")
        if a.values.shape != b.values.shape:
            raise UsageError(
                f"courses of the shapes {a.values.shape} and {b.values.shape} do not go together: "
                "take components, NAME.x, or norm(NAME)"
            )
        return Series(a.time, operate(a.values, b.values), a.events)
    if isinstance(a, Series):
        return a.mapped(lambda values: operate(values, b))
    if isinstance(b, Series):
        return b.mapped(lambda values: operate(a, values))
    return float(operate(a, b))


def at(course: Series, t: float) -> Any:
    """The value at t [s].

    Raises UsageError outside of the window."""
    time = course.time
    if not time[0] <= t <= time[-1]:
        raise UsageError(f"t = {t:g} s is outside of {time[0]:g} to {time[-1]:g} s")
    if course.values.ndim == 1:
        return float(np.interp(t, time, course.values))
    columns = [np.interp(t, time, column) for column in course.values.T]
    return Series(np.array([t]), np.array([columns]), course.events)


def over(course: Series, first: float, last: float) -> Series:
    """The course from `first` to `last` [s].

    Raises UsageError where the window is empty or reaches out of the run."""
    time = course.time
    if not first < last:
        raise UsageError(f"the window from {first:g} to {last:g} s is empty")
    slack = 1e-9 * max(abs(time[-1]), abs(time[0]))
    if first < time[0] - slack or last > time[-1] + slack:
        raise UsageError(
            f"the window from {first:g} to {last:g} s reaches out of the run, which is from "
            f"{time[0]:g} to {time[-1]:g} s"
        )
    inside = (time > first + slack) & (time < last - slack)
    cut = np.concatenate([[first], time[inside], [last]])
    if course.values.ndim == 1:
        values = np.interp(cut, time, course.values)
    else:
        values = np.column_stack([np.interp(cut, time, column) for column in course.values.T])
    return Series(cut, values, course.events)


def between(course: Series, begins: str, ends: str) -> Series:
    """The course from the first event that says `begins` to the next one that says `ends`.

    Raises UsageError where there is none; it lists those that there are."""
    first = _next_event(course.events, begins, -np.inf)
    return over(course, first, _next_event(course.events, ends, first))


def _next_event(events: tuple[Event, ...], words: str, behind: float) -> float:
    for event in events:
        if event.time > behind and words in f"{event.where} {event.what}":
            return event.time
    known = dict.fromkeys(f"{event.where} {event.what}" for event in events)
    listed = "; there are: " + ", ".join(list(known)[:6]) if known else ": the run has none"
    later = f" behind t = {behind:g} s" if np.isfinite(behind) else ""
    raise UsageError(f"no event says {words!r}{later}{listed}")


def integral(course: Series) -> Any:
    """Over the time of the window."""
    t, a = course.time, course.values
    if len(t) == 1:
        return np.zeros(a.shape[1:])
    return np.tensordot(np.diff(t), 0.5 * (a[1:] + a[:-1]), axes=1)


def mean(course: Value) -> Any:
    """The integral over the window by its length; of a constant or a single row its value."""
    if not isinstance(course, Series):
        return course
    return integral(course) / course.span if course.span else course.values[-1]


def rms(course: Value) -> Any:
    """Root of the mean square, of a vector that of its length.

    The square of what is linear between two rows is integrated exactly: (a^2 + a b + b^2)/3."""
    if not isinstance(course, Series):
        return abs(course)
    a = course.values if course.values.ndim == 2 else course.values[:, None]
    if not course.span:
        return float(np.linalg.norm(a[-1]))
    squares = (np.square(a[1:]) + a[1:] * a[:-1] + np.square(a[:-1])).sum(axis=1) / 3.0
    return float(np.sqrt(np.diff(course.time) @ squares / course.span))
