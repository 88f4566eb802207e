"""Which curves a plot shows: signals of one or several runs, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from vbg.errors import UsageError
from vbg.solution import Solution, components


@dataclass(frozen=True, eq=False)
class Series:
    """One curve over time: `unit` is its SI unit, `run` the label of its run."""

    name: str
    run: str
    unit: str
    time: np.ndarray
    values: np.ndarray


def choose(solution: Solution, wanted: str) -> list[tuple[str, np.ndarray]]:
    """Columns that `wanted` asks for: a signal (all its components), one component
    ("A.force.z", "A.force[2]"), or a pattern ("A.*").

    Raises UsageError if there is none.
    """
    if wanted in solution and solution[wanted].ndim == 1:
        return [(wanted, solution[wanted])]
    pattern = wanted.replace("[", "[[]")
    found = [
        (name, values)
        for name, values in components(solution)
        if name.split("[")[0] == wanted or fnmatchcase(name, pattern)
    ]
    if not found:
        solution[wanted]  # says what is near
        raise UsageError(f"no signal matches {wanted!r}.")
    return found


def series_of(runs: Sequence[tuple[str, Solution]], wanted: Sequence[str]) -> list[Series]:
    """The curves of all `wanted` signals of all runs, run after run."""
    return [
        Series(name, label, solution.unit(name), solution.time, values)
        for label, solution in runs
        for one in wanted
        for name, values in choose(solution, one)
    ]


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
