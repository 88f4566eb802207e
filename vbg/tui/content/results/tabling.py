"""The runs of a history as a table: what changed, and the range of some curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vbg.draw.text.axes import number
from vbg.draw.text.rows import Row, Rows, cells, clip, pad, printable
from vbg.errors import UsageError
from vbg.tui.session.runs import Run

if TYPE_CHECKING:
    from vbg.solution import Solution

HEAD = ("run", "what")
Entry = str | float
_LONGEST = 28  # columns of the words on a run


def table(
    runs: Sequence[Run], solutions: Mapping[int, Solution], names: Sequence[str]
) -> tuple[tuple[Entry, ...], ...]:
    """A heading and a row for each run that has a result: its number, what is said of it, the
    smallest and the largest value of each signal in `names`; "-" where it has none."""
    known = [run for run in runs if run.number in solutions]
    units = {name: _unit(solutions[run.number], name) for run in known for name in names}
    heads = [
        f"{end} {name} [{units.get(name, '')}]".replace(" []", "")
        for name in names
        for end in ("min", "max")
    ]
    rows = [
        (
            str(run.number),
            run.summary,
            *(value for name in names for value in _range(solutions[run.number], name)),
        )
        for run in known
    ]
    return ((*HEAD, *heads), *rows)


def rows_of(entries: tuple[tuple[Entry, ...], ...]) -> Rows:
    """The table in cells; numbers stand right."""
    told = [
        [number(value) if isinstance(value, float) else printable(value) for value in row]
        for row in entries
    ]
    for words in told:
        words[1] = clip(words[1], _LONGEST)
    widths = [max(cells(row[k]) for row in told) for k in range(len(told[0]))]

    def line(row: list[str]) -> str:
        words = pad(row[1], widths[1])
        numbers = (text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True))
        return "  ".join((row[0].rjust(widths[0]), words, *numbers))

    head, *others = told
    rows: list[Row] = [((line(head), "dim"),), *(((line(row), ""),) for row in others)]
    return tuple(rows)


def _unit(solution: Solution, name: str) -> str:
    return solution.unit(name) if name.split("[")[0] in solution.signals else ""


def _range(solution: Solution, name: str) -> tuple[Entry, Entry]:
    try:
        values = solution[name]
    except UsageError:
        return "-", "-"
    if not len(values):
        return "-", "-"
    return float(np.min(values)), float(np.max(values))
