"""Motions of a drive from rest to rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from vbg.blocks import Block, call, const, linear, times
from vbg.builder import Builder
from vbg.elements.signals.pieces import chosen
from vbg.fields import declare, quantity
from vbg.plumbing.words import with_article

# of s(u), u = t/T: largest speed, acceleration and jerk of a move of 1 in 1 s
_PEAKS = {
    "polynomial": (1.875, 10.0 / math.sqrt(3.0), 60.0),
    "cycloid": (2.0, 2.0 * math.pi, 4.0 * math.pi**2),
}
LIMITS = ("speed", "acceleration", "jerk")


@dataclass(frozen=True, slots=True)
class Motion:
    """value(t) rests at `stops[0]`, then moves to each further stop, and rests there for `dwell`.

    A move of the distance D takes as long as its limits ask for, or `duration`:

    - `trapezoid`: speed ramps up, holds, ramps down; needs speed and acceleration,
    - `s-curve`: the acceleration ramps, too (7 segments); needs speed, acceleration and jerk,
    - `polynomial`: D (10 u^3 - 15 u^4 + 6 u^5), u = t/T, at rest in acceleration at both ends,
    - `cycloid`: D (u - sin(2 pi u)/(2 pi)), as cams have it.

    The last two take a `duration`, or the longest of those that their limits need: 1.875 D/speed,
    sqrt(5.77 D/acceleration), (60 D/jerk)^(1/3); of the cycloid 2, 2 pi, 4 pi^2.  The limits are
    reached exactly, unless a move is too short for them (L. Biagiotti, C. Melchiorri, Trajectory
    Planning for Automatic Machines and Robots, 2008, ch. 2, 3).
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "motion"

    stops: tuple[float, ...] = declare("vector", "where it rests, in order", unit="", size=0)
    law: str = declare(
        "choice",
        "of each move",
        choices=("trapezoid", "s-curve", "polynomial", "cycloid"),
        default="polynomial",
    )
    start: float = quantity("s", "instant of the first move", default=0.0, minimum=0.0)
    dwell: float = quantity("s", "rest between two moves", default=0.0, minimum=0.0)
    duration: float | None = quantity(
        "s", "of each move, instead of limits", default=None, above=0.0
    )
    speed: float | None = quantity("", "largest speed", default=None, above=0.0)
    acceleration: float | None = quantity("", "largest acceleration", default=None, above=0.0)
    jerk: float | None = quantity("", "largest jerk", default=None, above=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Too few stops; limits that the law does not have or needs."""
        if len(self.stops) < 2:
            yield "stops", f"a motion needs at least 2 stops, found {len(self.stops)}.", ""
        law = with_article(self.law)
        needed = {"trapezoid": LIMITS[:2], "s-curve": LIMITS}.get(self.law, ())
        for key in needed:
            if getattr(self, key) is None:
                yield "", f"{law} needs {' and '.join(needed)}; {key} is missing.", ""
        if needed and self.duration is not None:
            remedy = "Leave it out, or take law = 'polynomial'."
            yield "duration", f"{law} takes as long as its limits say.", remedy
        if self.law == "trapezoid" and self.jerk is not None:
            yield "jerk", "the jerk of a trapezoid has no bound.", "Take law = 's-curve'."
        given = [key for key in LIMITS if getattr(self, key) is not None]
        if not needed and (self.duration is None) == (not given):
            yield "", f"{law} needs either a duration or limits: {', '.join(LIMITS)}.", ""

    def widths(self, distance: float) -> tuple[float, ...]:
        """Of the boxes whose convolution is the speed of a move [s]: the duration is their sum.

        trapezoid: D/speed, speed/acceleration; s-curve: also acceleration/jerk; shorter ones
        where the move is too short to reach a limit; of the smooth laws the duration alone.
        """
        D = abs(distance)
        if self.law not in ("trapezoid", "s-curve"):
            return (self._smooth_duration(D),)
        assert self.speed is not None and self.acceleration is not None
        v, a = self.speed, self.acceleration
        if self.law == "trapezoid":
            v = min(v, math.sqrt(D * a))
            return D / v, v / a
        assert self.jerk is not None
        j = self.jerk
        ramp = min(a, math.sqrt(v * j))  # acceleration that is reached on the way to v
        if v * (v / ramp + ramp / j) > D:  # v is not reached
            v = 0.5 * a * (math.sqrt((a / j) ** 2 + 4.0 * D / a) - a / j)
            ramp = a
            if v < a * a / j:  # nor a
                v = (0.25 * D * D * j) ** (1.0 / 3.0)
                ramp = math.sqrt(v * j)
        return D / v, v / ramp, ramp / j

    def _smooth_duration(self, D: float) -> float:
        if self.duration is not None:
            return self.duration
        limits = (getattr(self, key) for key in LIMITS)
        return max(
            (peak * D / limit) ** (1.0 / order)
            for order, (peak, limit) in enumerate(zip(_PEAKS[self.law], limits, strict=True), 1)
            if limit is not None
        )

    def moves(self) -> Iterator[tuple[float, float, tuple[float, ...]]]:
        """(begin, distance, widths) of each move that goes anywhere."""
        t = self.start
        for before, after in pairwise(self.stops):
            widths = self.widths(after - before) if after != before else (0.0,)
            if after != before:
                yield t, after - before, widths
            t += sum(widths) + self.dwell

    def value(self, name: str, builder: Builder) -> Block:
        terms = [(1.0, const(self.stops[0]))]
        for begin, distance, widths in self.moves():
            for instant in corners(begin, widths):
                builder.breakpoint(instant)
            terms.append((distance, self._part(builder.time, begin, widths)))
        return linear(*terms)

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))

    def _part(self, t: Block, begin: float, widths: tuple[float, ...]) -> Block:
        """The part of a move that is done at t."""
        if self.law in ("trapezoid", "s-curve"):
            starts, pieces = convolved(begin, widths)
            return chosen(t, (begin, *starts), [(0.0,) * len(pieces[0]), *pieces])
        inside = call("max", const(0.0), call("min", t - const(begin), const(widths[0])))
        u = (1.0 / widths[0]) * inside
        if self.law == "cycloid":
            return u - (0.5 / math.pi) * call("sin", (2.0 * math.pi) * u)
        inner = const(10.0) + times(u, 6.0 * u - const(15.0))
        return times(times(u, times(u, u)), inner)


def corners(begin: float, widths: tuple[float, ...]) -> list[float]:
    """Instants at which a derivative of a move jumps."""
    return convolved(begin, widths)[0]


def convolved(
    begin: float, widths: tuple[float, ...]
) -> tuple[list[float], list[tuple[float, ...]]]:
    """The integral of n boxes of unit area convolved with one another, from `begin` on: where its
    pieces begin, and their coefficients from the constant on.

    The derivative of order n is constant between corners, +1 or -1 or 0 over the product of the
    widths; the lower ones are continued from piece to piece over lengths that are differences of
    widths, not of instants, whose rounding a short ramp would see.  Behind the last corner the
    move is done.
    """
    spans, levels = [widths[-1]], [1]
    for width in reversed(widths[:-1]):  # a copy with the other sign at the end of the box
        between = max(width - sum(spans), 0.0)
        spans, levels = [*spans, between, *spans], [*levels, 0, *(-one for one in levels)]
    n, piece = len(widths), [0.0] * (len(widths) + 1)
    pieces, elapsed = [], [0.0]
    for span, level in zip(spans, levels, strict=True):
        piece[n] = level / (math.factorial(n) * math.prod(widths))
        pieces.append(tuple(piece))
        piece = _continued(piece, span)
        elapsed.append(elapsed[-1] + span)
    return [begin + d for d in elapsed], [*pieces, (1.0,) + (0.0,) * n]


def _continued(piece: list[float], d: float) -> list[float]:
    """The coefficients of a polynomial about a place d further on."""
    n = len(piece) - 1
    return [
        sum(math.comb(m, k) * piece[m] * d ** (m - k) for m in range(k, n + 1))
        for k in range(n + 1)
    ]
