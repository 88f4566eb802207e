"""Rows on which one run is before a crossing and the other behind it, compared on one side of it.

A law that switches or bends where the motion brings it has its row there on either side, by the
last digits of that instant; both are right, and a force that jumps is then another one in the two
runs.  Each run is asked for rows close before and behind (`instants_beside`); what they tell at
the row itself, by the parabola through three of them, are the two sides x- and x+ of a component
in that run.  A run's value x is on the side s that it is nearest to, and

    x' = x - x_s + x_r

is what it would be on side r, on which the other run's value y is.  What counts is the larger of
|y - x'| and |x - y'|: a component that does not jump has x- = x+ and is compared as everywhere,
one that jumps must be on one of its two sides in both runs, and these must agree.  Nothing but
what the parabola may miss, its difference from a straight line, is allowed, and no more of that
than a verdict does not see.  Halfway between the sides counts, too: sign(0) is 0.

On the first row what is before is not known: one of the two values must be what both runs have
behind.  Where several laws change at one instant, some of them may have done so on the row and
others not.  Both sides must agree, and both values be on one of them, or together as far from both
(one run behind the one law, the other behind the other: x + y = x- + x+).  Anything else proves
neither a fault nor its absence (`undecided_windows`).  That there are several a run tells by its
crossings, or by components of which some are before and some behind, as where laws change so close
to each other that one root is that of all.  A place or an angle is compared as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg.plumbing.components import vector_of
from vbg.solution import Solution
from vbg.validate.comparison.pairing import (
    BESIDE,
    VISIBLE,
    Pair,
    Window,
    common_times,
    crossed,
    on_other_sides,
    pairs_of,
    span_of,
)

Array = np.ndarray[Any, Any]
POINTS = 3  # of a parabola
SPREAD = 1e-6  # of the span: crossings so near to a row are passed by on both sides of it
CLEAR = 4.0 * BESIDE  # of the span: how far behind them the rows begin at least
ROOM = 0.125  # of the way to the next row, which they do not go beyond


@dataclass(frozen=True, eq=False)
class Side:
    """Where rows beside another one tell what is there: their places, the weights of the parabola
    through them, (3,), and of its difference from the straight line through the nearer two."""

    rows: Array
    weights: Array
    bent: Array

    def value(self, column: Array) -> tuple[float, float]:
        """What a component is on this side, and how much of that is unsure."""
        there = column[self.rows]
        return float(self.weights @ there), float(abs(self.bent @ there))


@dataclass(frozen=True, eq=False)
class Torn:
    """A row that the runs have on different sides: its place among the common ones, its instant,
    both sides, None where not known, and whether several laws change there."""

    row: int
    time: float
    before: Side | None
    behind: Side | None
    several: bool


def instants_beside(first: Solution, second: Solution) -> tuple[float, ...]:
    """Instants [s] before and behind every row that a crossing of either run lies on; behind the
    last row they are later than the runs."""
    least = min(len(first.time), len(second.time))
    common = common_times(first, second, ()) if least > 1 else None
    if common is None:
        return ()
    i, j = common
    time, span, found = first.time[i], span_of(first), list[float]()
    near = crossed(first, i)[1] + crossed(second, j)[1] > 0
    instants = np.array([t for run in (first, second) for t, _ in run.audit.crossings])
    for row in np.flatnonzero(near).tolist():
        room = ROOM * _room(time, row)
        off = np.abs(instants - time[row])
        passed = float(off[off <= min(SPREAD * span, room)].max(initial=0.0))
        step = min(passed + CLEAR * span, room)
        beside = time[row] + step * np.array([-3, -2, -1, 1, 2, 3])
        found += beside[beside > time[0]].tolist()
    return tuple(found)


def torn_rows(
    first: Solution, second: Solution, common: tuple[Array, Array], beside: Array
) -> tuple[Torn, ...]:
    """The rows, among the `common` ones, that the runs have on different sides of a crossing, or
    so near to one that only one of them has found there; `beside` are instants of further rows.

    A row on an instant that is written, as on the edge of a pulse, is on the same side in both
    runs by their own rule.
    """
    i, j = common
    time, margin = first.time[i], BESIDE * span_of(first)
    several = np.maximum(crossed(first, i)[1], crossed(second, j)[1]) > 1
    return tuple(
        Torn(row, float(time[row]), *_sides(time, row, beside, margin), bool(several[row]))
        for row in np.flatnonzero(on_other_sides(first, second, i, j)).tolist()
    )


def _room(time: Array, row: int) -> float:
    """How far the next row is [s]."""
    return float(np.diff(time[max(row - 1, 0) : row + 2]).min())


def _sides(time: Array, row: int, beside: Array, margin: float) -> tuple[Side | None, Side | None]:
    off, reach = beside - time[row], 0.5 * _room(time, row)
    near = (np.abs(off) > margin) & (np.abs(off) < reach)
    before, behind = np.flatnonzero(near & (off < 0.0)), np.flatnonzero(near & (off > 0.0))
    return _side(before[::-1], off), _side(behind, off)


def _side(rows: Array, off: Array) -> Side | None:
    """By the nearest rows, `off` from the instant that is asked for [s]."""
    if len(rows) < POINTS:
        return None
    rows = rows[:POINTS]
    a, b, c = off[rows].tolist()
    parabola = (
        b * c / ((a - b) * (a - c)),
        a * c / ((b - a) * (b - c)),
        a * b / ((c - a) * (c - b)),
    )
    line = (-b / (a - b), a / (a - b), 0.0)
    return Side(rows, np.array(parabola), np.subtract(parabola, line))


def on_one_side(
    pairs: Sequence[Pair], torn: tuple[Torn, ...], beside: Mapping[str, Pair]
) -> tuple[dict[str, Array], tuple[Torn, ...]]:
    """By what the second values of every component are to be moved, so that those of torn rows are
    as far from the first ones as on one side, and the rows where that is visibly nearer;
    `beside`: their values in the rows beside, by name."""
    found, nearer = dict[str, Array](), set[int]()
    torn = with_several(pairs, torn, beside)
    for pair in pairs:
        sides, moved = beside.get(pair.name), np.zeros(len(pair.second))
        for k, one in enumerate(torn if sides is not None else ()):
            a, b = float(pair.first[one.row]), float(pair.second[one.row])
            allowed = VISIBLE * pair.peak
            error = _error(a, b, one, sides, allowed) if sides and a != b else np.inf
            if error < abs(a - b):
                moved[one.row] = a - b + np.copysign(error, b - a)
                if abs(a - b) - error > allowed:
                    nearer.add(k)
        if moved.any():
            found[pair.name] = moved
    return found, tuple(one for k, one in enumerate(torn) if k in nearer)


def with_several(
    pairs: Sequence[Pair], torn: tuple[Torn, ...], beside: Mapping[str, Pair]
) -> tuple[Torn, ...]:
    """The rows, marked where components of one run that jump are on different sides."""
    return tuple(
        one if one.several else replace(one, several=_is_parted(pairs, one, beside)) for one in torn
    )


def _is_parted(pairs: Sequence[Pair], one: Torn, beside: Mapping[str, Pair]) -> bool:
    if one.before is None or one.behind is None:
        return False
    found: tuple[set[int], set[int]] = set(), set()
    for pair in pairs:
        if pair.name not in beside:
            continue
        told, allowed = beside[pair.name], VISIBLE * pair.peak
        for run, value, column in zip(
            found, (pair.first, pair.second), (told.first, told.second), strict=True
        ):
            ends = np.array([side.value(column)[0] for side in (one.before, one.behind)])
            off = np.abs(float(value[one.row]) - ends)
            if abs(ends[1] - ends[0]) > 2.0 * allowed and off.min() <= allowed:
                run.add(int(off.argmin()))
    return any(len(run) > 1 for run in found)


def _error(a: float, b: float, torn: Torn, sides: Pair, allowed: float) -> float:
    """How far both values are from each other on one side, less what the parabolas may miss but at
    most `allowed`; not finite where that is not known."""
    known = [side for side in (torn.before, torn.behind) if side is not None]
    pairs = [(side.value(sides.first), side.value(sides.second)) for side in known]
    unsure = min(sum(one[1] + other[1] for one, other in pairs), allowed)
    A, B = (np.array([pair[n][0] for pair in pairs]) for n in (0, 1))
    differ = float(np.abs(A - B).max(initial=0.0))
    left_out = [np.inf]
    if len(known) == 2:
        A, B = (np.append(values, values.mean()) for values in (A, B))
        s, r = int(np.argmin(np.abs(a - A))), int(np.argmin(np.abs(b - B)))
        moved = max(abs(a - (b - B[r] + B[s])), abs(b - (a - A[s] + A[r])))
        left_out = [moved] if s != r else [np.inf]
    if known and not goes_on(sides.name, sides.unit):
        if torn.several and len(known) == 2:
            among = max(float(np.abs(x - X).min()) for x, X in ((a, A), (b, B)))
            parted = abs(a + b - 0.5 * float(A[0] + A[1] + B[0] + B[1]))
            left_out.append(max(differ, min(among, parted)))
        elif torn.behind is not None and len(known) == 1:
            left_out.append(max(differ, min(abs(a - A[0]), abs(b - B[0]))))
    return max(min(left_out) - unsure, 0.0)


def goes_on(name: str, unit: str) -> bool:
    """Whether it is a place or an angle, which never jumps."""
    return unit in ("m", "rad") or vector_of(name).endswith(".rotation")


def undecided_windows(
    first: Solution,
    second: Solution,
    exclude: tuple[Window, ...],
    beside: tuple[Solution | None, Solution | None],
) -> tuple[Window, ...]:
    """Windows about the torn rows at which several laws change."""
    common, margin = common_times(first, second, exclude), BESIDE * span_of(first)
    if common is None or beside[0] is None or beside[1] is None:
        return ()
    rows = common_times(beside[0], beside[1], ())
    torn = torn_rows(first, second, common, beside[0].time[rows[0]] if rows else np.zeros(0))
    if rows is not None:
        there = {pair.name: pair for pair in pairs_of(beside[0], beside[1], *rows)}
        torn = with_several(list(pairs_of(first, second, *common)), torn, there)
    return tuple((one.time - margin, one.time + margin) for one in torn if one.several)


def why_on_one_side(torn: Sequence[Torn]) -> tuple[str, ...]:
    """The notes on rows on crossings."""
    notes = []
    plain = [one for one in torn if one.before is not None and not one.several]
    rest = [one for one in torn if one not in plain]
    if plain:
        notes.append(
            "Compared on one side, outputs at the instant at which a law switches or bends, which"
            f" the two runs have on different sides of it: {_instants(plain)}."
        )
    if rest:
        notes.append(
            "Compared with what is before and behind, but for places and angles, outputs at an"
            " instant at which several laws switch or bend, or with what is behind where the first"
            f" one does so at the start, which the two runs have on different sides of it:"
            f" {_instants(rest)}."
        )
    return tuple(notes)


def _instants(torn: Sequence[Torn]) -> str:
    at = ", ".join(f"{one.time:.6g} s" for one in torn[:8])
    return at + (f" and {len(torn) - 8} more" if len(torn) > 8 else "")
