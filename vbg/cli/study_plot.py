"""Pictures of the tables that sweep and optimise write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.model import Model


def draw_table(
    table: str | Path,
    output: str,
    *,
    wanted: list[str] | None = None,
    model: Model | None = None,
    optimum: bool = False,
    title: str = "",
) -> None:
    """Draw the table of a study; only the `wanted` measures if any are given.

    With the `model`, parameters are shown in the units in which it writes them.
    `optimum`: a star at the smallest value of the first measure.
    Raises UsageError for an unknown measure or an empty table.
    """
    import numpy as np

    from vbg.analysis.studies.table import read_table
    from vbg.draw.study import StudyPicture, draw_study
    from vbg.measures import in_unit

    found = read_table(table)
    names = wanted or list(found.measures)
    unknown = [name for name in names if name not in found.measures]
    if unknown:
        there = ", ".join(found.measures)
        raise UsageError(f"{table} has no measure {', '.join(unknown)}; it has {there}.")
    measures = {name: np.array(found.measures[name]) for name in names}
    written = {} if model is None else model.parameter_units
    units = {name: unit for name in found.parameters if (unit := written.get(name, ""))}
    parameters = {
        name: np.array([in_unit(value, units.get(name, "")) for value in values])
        for name, values in found.parameters.items()
    }
    first = next(iter(measures.values()))
    best = int(np.nanargmin(first)) if optimum and not np.isnan(first).all() else None
    picture = StudyPicture(parameters, measures, best, units, found.units)
    draw_study(picture, output, title=title)
