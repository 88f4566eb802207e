"""The parameters at which a measure is smallest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from vbg.analysis.studies.sampling import Point, Range
from vbg.analysis.studies.sweep import Study, run_point
from vbg.analysis.studies.table import Row, Table
from vbg.errors import VbgError

Method = Literal["nelder-mead", "differential-evolution"]
METHODS = ("nelder-mead", "differential-evolution")
FAILED = 1e100  # value of a point that cannot be run


def optimise(
    study: Study,
    ranges: Sequence[Range],
    table: Table,
    *,
    method: Method = "nelder-mead",
    evaluations: int = 200,
    progress: Callable[[int, int], None] | None = None,
) -> Row:
    """The best row found for the first measure, inside `ranges`; all runs go to `table`,
    and points that are in it are not run again.  At most `evaluations` runs are made.

    "nelder-mead": local, from the middle of the ranges; "differential-evolution": global.
    Raises VbgError if no point could be run.
    """
    from scipy.optimize import differential_evolution, minimize

    known: dict[Point, Row] = {}
    before = 0

    def cost(fractions: Any) -> float:
        point = tuple(
            (r.name, r.at(float(np.clip(f, 0.0, 1.0))))
            for r, f in zip(ranges, fractions, strict=True)
        )
        if point not in known and len(known) - before >= evaluations:
            return FAILED  # differential evolution ends with a generation, not before
        if point not in known:
            known[point] = run_point(study, point)
            table.add(known[point])
            if progress is not None:
                progress(len(known), evaluations)
        row = known[point]
        return row.measures[0] if row.measures else FAILED

    bounds = [(0.0, 1.0)] * len(ranges)
    with table:
        known |= {row.point: row for row in table.rows}
        before = len(known)
        if method == "nelder-mead":
            options = {"maxfev": evaluations, "xatol": 1e-6, "fatol": 1e-10}
            middle = np.full(len(ranges), 0.5)
            minimize(cost, middle, method="Nelder-Mead", bounds=bounds, options=options)
        else:
            generations = max(1, evaluations // (15 * len(ranges)) - 1)
            differential_evolution(cost, bounds, maxiter=generations, seed=1, polish=False)
    finished = [row for row in known.values() if row.measures]
    if not finished:
        reason = next(iter(known.values())).reason if known else "no point was tried"
        raise VbgError(f"no point could be run: {reason}")
    return min(finished, key=lambda row: row.measures[0])
