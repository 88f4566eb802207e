"""Inputs of the transfer-matrix solver as functions of time, with two derivatives for drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vbg.elements.signals.chirp import Chirp
from vbg.elements.signals.curve import Curve
from vbg.elements.signals.limiter import Limiter
from vbg.elements.signals.motion import Motion
from vbg.elements.signals.pulse import Pulse
from vbg.elements.signals.ramp import Ramp
from vbg.elements.signals.sine import Sine
from vbg.elements.signals.table import Table
from vbg.tmm_bridge.formulas.characteristics import pieces_of
from vbg.tmm_bridge.formulas.switches import Switch
from vbg.tmm_bridge.formulas.tape import (
    Number,
    Played,
    Tape,
    choose,
    cos,
    floor,
    least,
    most,
    sin,
)
from vbg.tmm_bridge.kernels.entries import play

Array = np.ndarray[Any, Any]
Record = Callable[[Tape, Number, int], Number]
Break = tuple[float, float]  # instants first, first + period, ...; one where the period is 0


@dataclass(frozen=True)
class TimeFunction:
    """f, f', f'' on a tape: `record(tape, t, order)` is the derivative of that order at t;
    `breaks` are the instants where one of them jumps; f there is the value after the jump.
    Where one of `switches` changes its sign they may jump, too."""

    record: Record
    breaks: tuple[Break, ...] = ()
    switches: tuple[Switch, ...] = ()

    @cached_property
    def _played(self) -> tuple[Played, list[int]]:
        """A tape with the time in its first place, and the places of f, f', f''."""
        tape = Tape()
        t = tape.place()
        places = [tape.slot(self.record(tape, t, order)).place for order in range(3)]
        return tape.played([""]), places

    def rates(self, t: float) -> tuple[float, float, float]:
        """f, f', f'' at t."""
        tape, (value, slope, bend) = self._played
        m = tape.memory
        m[0] = t
        play(tape.code, m, tape.curves, 0, len(tape.code))
        return float(m[value]), float(m[slope]), float(m[bend])

    def value(self, t: float) -> float:
        """f(t)."""
        return self.rates(t)[0]


def constant(value: float) -> TimeFunction:
    """f = value."""
    return TimeFunction(lambda tape, t, order: 0.0 if order else value)


def total_of(terms: Iterable[Number]) -> Number:
    found: Number = 0.0
    for term in terms:
        found = found + term
    return found


def _once(*instants: float) -> tuple[Break, ...]:
    return tuple((t, 0.0) for t in instants)


def of_curve(starts: Sequence[float], pieces: Array, breaks: tuple[Break, ...]) -> TimeFunction:
    """A piecewise cubic: piece k in t - starts[k] from starts[k] < t on, the first also before;
    pieces (k, 4), coefficients from the constant on."""
    c = np.asarray(pieces, dtype=float)
    zero = np.zeros(len(c))
    slope = np.column_stack([c[:, 1], 2.0 * c[:, 2], 3.0 * c[:, 3], zero])
    bend = np.column_stack([2.0 * c[:, 2], 6.0 * c[:, 3], zero, zero])
    orders = (c, slope, bend)
    return TimeFunction(lambda tape, t, order: tape.curve(t, starts, orders[order]), breaks)


def of_spline(spline: Any) -> TimeFunction:
    """A scipy CubicSpline, continued by its last pieces."""
    return of_curve(spline.x[:-1], spline.c[::-1].T, ())


def of_steps(steps: list[tuple[float, float]]) -> TimeFunction:
    """Piecewise constant: (from, value), each value from its instant on."""
    starts = [start for start, _ in steps[1:]]
    # a piece of a curve begins behind its start
    behind = [math.nextafter(start, -math.inf) for start in starts]
    pieces = np.array([[value, 0.0, 0.0, 0.0] for _, value in steps])
    return of_curve([behind[0], *behind], pieces, _once(*starts))


def of_ramp(part: Ramp) -> TimeFunction:
    end, slope = part.start + part.duration, part.height / part.duration

    def record(tape: Tape, t: Number, order: int) -> Number:
        elapsed = t - part.start
        if order == 0:
            return part.offset + slope * least(most(elapsed, 0.0), part.duration)
        inside = choose(elapsed, choose(end - t, slope, 0.0), 0.0)
        return inside if order == 1 else 0.0

    return TimeFunction(record, _once(part.start, end))


def of_sine(part: Sine) -> TimeFunction:
    w, a = part.frequency, part.amplitude
    held = (part.offset + a * math.sin(part.phase), 0.0, 0.0)

    def record(tape: Tape, t: Number, order: int) -> Number:
        # With a start in the past (0 or before) the sine counts from t = 0.
        angle = w * (t - max(part.start, 0.0)) + part.phase
        if order == 0:
            value = part.offset + a * sin(angle)
        else:
            value = a * w * cos(angle) if order == 1 else -a * w * w * sin(angle)
        return choose(part.start - t, held[order], value) if part.start > 0.0 else value

    return TimeFunction(record, _once(part.start) if part.start > 0.0 else ())


def of_chirp(part: Chirp) -> TimeFunction:
    slope = (part.last - part.first) / part.duration

    def record(tape: Tape, t: Number, order: int) -> Number:
        inside = least(t, part.duration)
        angle = part.first * inside + 0.5 * slope * inside * inside + part.last * (t - inside)
        a = part.amplitude
        if order == 0:
            return part.offset + a * sin(angle)
        before = part.duration - t
        w = choose(before, part.first + slope * t, part.last)
        if order == 1:
            return a * w * cos(angle)
        return a * (choose(before, slope, 0.0) * cos(angle) - w * w * sin(angle))

    return TimeFunction(record, _once(part.duration))


def of_pulse(part: Pulse) -> TimeFunction:
    def record(tape: Tape, t: Number, order: int) -> Number:
        if order:
            return 0.0
        elapsed = t - part.start
        phase = elapsed - part.period * floor(elapsed / part.period)
        high = choose(-elapsed, 0.0, choose(part.width - phase, part.height, 0.0))
        return part.offset + high

    edges = (part.start, part.start + part.width)
    return TimeFunction(record, tuple((edge, part.period) for edge in edges))


def of_table(part: Table) -> TimeFunction:
    """Held, on straight lines, or on the cubic spline, natural or at rest at its ends; constant
    outside."""
    times, values = [row[0] for row in part.rows], [row[1] for row in part.rows]
    if part.interpolation == "previous":
        return of_steps([(-math.inf, values[0]), *zip(times[1:], values[1:], strict=True)])
    resting = part.ends == "rest"
    if part.interpolation == "cubic" and (len(times) > 2 or (resting and len(times) == 2)):
        from scipy.interpolate import CubicSpline

        given = (1, 0.0) if resting else (2, 0.0)  # order of the derivative at both ends, its value
        inside = CubicSpline(times, values, bc_type=(given, given)).c[::-1].T
    else:
        slopes = np.diff(values) / np.diff(times)
        inside = np.column_stack([values[:-1], slopes, 0.0 * slopes, 0.0 * slopes])
    ends = [[value, 0.0, 0.0, 0.0] for value in (values[0], values[-1])]
    starts = [times[0], *times[:-1], times[-1]]
    return of_curve(starts, np.vstack([ends[0], inside, ends[1]]), _once(*times))


def of_motion(part: Motion) -> TimeFunction:
    """Moves from rest to rest: constant jerk piece by piece, or a smooth law of t/T."""
    moves, at, rest = [], part.start, part.stops[0]
    for stop in part.stops[1:]:
        if stop != rest:
            widths = part.widths(stop - rest)
            smooth = part.law in ("polynomial", "cycloid")
            move = _smooth_move if smooth else _jerked_move
            moves.append((1.0, move(part.law, at, stop - rest, widths)))
            at += sum(widths)
        at, rest = at + part.dwell, stop
    return of_sum([(part.stops[0], constant(1.0)), *moves])


def _jerked_move(law: str, begin: float, distance: float, widths: Sequence[float]) -> TimeFunction:
    """A trapezoid of speed (two widths) or of acceleration (three): position by integration
    from corner to corner of what is piecewise constant."""
    ramp, hold = widths[1], widths[0] - widths[1]
    peak = distance / widths[0]
    if len(widths) == 2:
        spans = [(ramp, peak / ramp, 0.0), (hold, 0.0, 0.0), (ramp, -peak / ramp, 0.0)]
    else:
        jerk_time = widths[2]
        a = peak / ramp
        j, flat = a / jerk_time, ramp - jerk_time
        up = [(jerk_time, 0.0, j), (flat, a, 0.0), (jerk_time, a, -j)]
        spans = [*up, (hold - jerk_time, 0.0, 0.0), *((s, -b, -c) for s, b, c in up)]
    starts, pieces, s, v, t = [begin], [[0.0] * 4], 0.0, 0.0, begin
    for span, acceleration, jerk in spans:
        if span > 0.0:
            starts.append(t)
            pieces.append([s, v, acceleration / 2.0, jerk / 6.0])
            s += span * (v + span * (acceleration / 2.0 + span * jerk / 6.0))
            v += span * (acceleration + span * jerk / 2.0)
            t += span
    starts.append(t)
    pieces.append([distance, 0.0, 0.0, 0.0])
    # a piece of a curve begins behind its start: the value after a jump is wanted at it
    behind = [math.nextafter(start, -math.inf) for start in starts]
    return of_curve(behind, np.array(pieces), _once(*starts[1:]))


def _smooth_move(law: str, begin: float, distance: float, widths: Sequence[float]) -> TimeFunction:
    """D (10 - 15 u + 6 u^2) u^3 or D (u - sin(2 pi u)/(2 pi)), and their derivatives."""
    T, D = widths[0], distance

    def record(tape: Tape, t: Number, order: int) -> Number:
        u = least(most((t - begin) / T, 0.0), 1.0)
        if law == "cycloid":
            angle = 2.0 * math.pi * u
            if order == 0:
                return D * (u - sin(angle) / (2.0 * math.pi))
            if order == 1:
                return D / T * (1.0 - cos(angle))
            return 2.0 * math.pi * D / (T * T) * sin(angle)
        if order == 0:
            return D * ((6.0 * u - 15.0) * u + 10.0) * u * u * u
        if order == 1:
            return 30.0 * D / T * u * u * (1.0 - u) * (1.0 - u)
        return 60.0 * D / (T * T) * u * (1.0 - u) * (1.0 - 2.0 * u)

    return TimeFunction(record, _once(begin, begin + T))


def of_limiter(part: Limiter, inner: TimeFunction) -> TimeFunction:
    """A function of time between two bounds, at rest on either."""

    def record(tape: Tape, t: Number, order: int) -> Number:
        value, bound = inner.record(tape, t, 0), (part.lower, part.upper)
        if order == 0:
            return least(most(value, bound[0]), bound[1])
        rate = inner.record(tape, t, order)
        return choose(value - bound[0], choose(bound[1] - value, rate, 0.0), 0.0)

    return with_edges(record, [inner], _crossings(inner, [part.lower, part.upper]))


def of_characteristic(part: Curve, inner: TimeFunction) -> TimeFunction:
    """y(x(t)):  y' = y_x x',  y'' = y_xx x'^2 + y_x x''."""
    x, y = np.array(part.rows).T
    starts, pieces = pieces_of(x, y, part.interpolation, part.outside)
    laws = of_curve(starts.tolist(), pieces, ())

    def record(tape: Tape, t: Number, order: int) -> Number:
        at = inner.record(tape, t, 0)
        if order == 0:
            return laws.record(tape, at, 0)
        slope, rate = laws.record(tape, at, 1), inner.record(tape, t, 1)
        if order == 1:
            return slope * rate
        bend = laws.record(tape, at, 2) * rate * rate
        return bend + slope * inner.record(tape, t, 2)

    return with_edges(record, [inner], _crossings(inner, starts[1:].tolist()))


def _crossings(inner: TimeFunction, values: Iterable[float]) -> tuple[Switch, ...]:
    """What changes its sign where a function passes one of the values."""
    return tuple(lambda tape, t, at=at: inner.record(tape, t, 0) - at for at in values)


def of_sum(terms: list[tuple[float, TimeFunction]]) -> TimeFunction:
    """A weighted sum of functions of time."""

    def record(tape: Tape, t: Number, order: int) -> Number:
        return total_of(weight * f.record(tape, t, order) for weight, f in terms)

    return with_edges(record, [f for _, f in terms])


def with_edges(
    record: Record, inner: Iterable[TimeFunction], own: tuple[Switch, ...] = ()
) -> TimeFunction:
    """A function with the edges of those that it is made of, and its own."""
    inner = tuple(inner)
    breaks = tuple(b for f in inner for b in f.breaks)
    return TimeFunction(record, breaks, (*(s for f in inner for s in f.switches), *own))
