"""Which curves a plot shows: signals of one or several runs over time or over another
signal, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np

from vbg.errors import UsageError
from vbg.plumbing.components import spellings
from vbg.solution import Solution, components

MOST = 200
"""Curves of one picture: more than a reader tells apart, and than a legend has room for."""
MOST_PANELS = 40
"""Axes of one picture; pictures end at 65 536 pixels, which are 180 of them."""


@dataclass(frozen=True, eq=False)
class Series:
    """One curve, `values` over `x`: `unit` is its SI unit, `run` the label of its run;
    `across` and `across_unit` say what x is, `scale` how it is divided."""

    name: str
    run: str
    unit: str
    x: np.ndarray
    values: np.ndarray
    across: str = "time"
    across_unit: str = "s"
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the panel of `unit` at `level`; with `x` instead a stretch from there to
    `value`, which is read off as `text`, and a thin line through all panels."""

    unit: str
    level: float
    x: float | None = None
    value: float = 0.0
    text: str = ""


def choose(solution: Solution, wanted: str) -> list[tuple[str, np.ndarray]]:
    """Columns that `wanted` asks for: a signal (all its components), one component
    ("A.force.z", "A.force[2]"), or a pattern ("A.*").

    Raises UsageError if there is none.
    """
    pattern = wanted.replace("[", "[[]")
    columns = dict(components(solution))
    spelled = spellings(list(columns))
    found = [
        (name, values)
        for name, values in columns.items()
        if any(fnmatchcase(one, pattern) for one in spelled[name])
    ]
    if not found:
        solution[wanted]  # says what is near
        raise UsageError(f"no signal matches {wanted!r}.")
    return found


def require_few(count: int, panels: int = 1) -> None:
    """Raises UsageError where a picture would have more than `MOST` curves, or `MOST_PANELS`."""
    for found, most, what in ((count, MOST, "curves"), (panels, MOST_PANELS, "panels")):
        if found > most:
            raise UsageError(
                f"{found} {what} are asked for; a picture has at most {most}. Name some of the"
                " signals, or take narrower patterns: 'crank.*', '*.angle', 'A.force.z'."
            )


def series_of(runs: Sequence[tuple[str, Solution]], wanted: Sequence[str]) -> list[Series]:
    """The curves of all `wanted` signals of all runs, run after run."""
    return [
        Series(name, label, solution.unit(name), solution.time, values)
        for label, solution in runs
        for one in wanted
        for name, values in choose(solution, one)
    ]


def paths_of(
    runs: Sequence[tuple[str, Solution]], across: str, wanted: Sequence[str]
) -> list[Series]:
    """Every `wanted` signal over the signal `across` of the same run (phase curves).

    Raises UsageError if `across` is not one number at each instant.
    """
    curves = []
    for label, solution in runs:
        found = choose(solution, across)
        if len(found) != 1:
            some = ", ".join(name for name, _ in found[:3])
            raise UsageError(f"{across} has {len(found)} components; name one of {some} ...")
        name, x = found[0]
        unit = solution.unit(name)
        curves += [
            Series(one.name, label, one.unit, x, one.values, name, unit)
            for one in series_of([(label, solution)], wanted)
        ]
    return curves


def errors_against_first(
    runs: Sequence[tuple[str, Solution]], wanted: Sequence[str]
) -> list[Series]:
    """Curves of the difference of every further run to the first, at the instants of the
    first; the further run is interpolated linearly where its instants differ."""
    (first, reference), *others = runs
    if not others:
        raise UsageError("differences need a second run: --with OTHER.h5.")
    curves = []
    for label, solution in others:
        inside = (reference.time >= solution.time[0]) & (reference.time <= solution.time[-1])
        at = reference.time[inside]
        for one in wanted:
            for name, values in choose(reference, one):
                theirs = np.interp(at, solution.time, solution[name])
                difference = theirs - values[inside]
                curves.append(
                    Series(f"{name} - {first}", label, reference.unit(name), at, difference)
                )
    return curves


def by_unit(curves: Sequence[Series]) -> list[tuple[str, list[Series]]]:
    """Curves grouped by unit, in order of appearance: one panel each."""
    groups: dict[str, list[Series]] = {}
    for curve in curves:
        groups.setdefault(curve.unit, []).append(curve)
    return list(groups.items())
