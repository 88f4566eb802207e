"""`vbg optimise`: the parameters at which a measure is smallest."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.parser import add, add_json, count_of
from vbg.cli.text import count, figure
from vbg.cli.verbs.sweep import (
    add_study,
    end_progress,
    finish,
    ranges_of,
    show_progress,
    stopped,
    study_of,
    table_of,
    written,
)

if TYPE_CHECKING:
    from vbg.analysis.studies.sweep import Study
    from vbg.analysis.studies.table import Row, Table

PLACE = 66
AT_END = 1e-3  # of a range: nearer to its end is at it
METHODS = ("nelder-mead", "differential-evolution")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "optimise",
        act=act,
        summary="the parameters at which a measure is smallest",
        detail="The first --measure is minimised inside the ranges; others are recorded.\n"
        "The table keeps every run; started again, known points are not run twice.\n"
        "Ctrl-C tells the best point so far.",
        examples="""vbg optimise crank.toml --vary r=0.03:0.06 --measure "max(abs(A.force))"
            vbg optimise m.toml --vary a=0:1 --vary b=0:1 --measure "rms(A.speed)" \
--search differential-evolution""",
    )
    add_study(parser)
    parser.add_argument("--search", choices=METHODS, default="nelder-mead", help="local or global")
    parser.add_argument(
        "--evaluations", type=count_of(1), default=200, metavar="N", help="runs at most"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis.studies.optimise import optimise

    study = study_of(arguments)
    ranges = ranges_of(arguments, study)
    results = table_of(arguments, study, [r.name for r in ranges])
    try:
        best = optimise(
            study,
            ranges,
            results,
            method=arguments.search,
            evaluations=arguments.evaluations,
            progress=show_progress,
        )
    except KeyboardInterrupt:
        finished = [row for row in results.rows if row.measures]
        if finished:
            best = min(finished, key=lambda row: row.measures[0])
            _print(best, study, results, as_json=arguments.json)
        done = f"{count(len(results.rows), 'run')}, before the search had converged"
        return stopped(results, done, arguments.output)
    end_progress()
    finish(arguments, study, results, optimum=True)
    _print(best, study, results, as_json=arguments.json)
    if not arguments.json:
        for name, value in best.point:
            one = next(r for r in ranges if r.name == name)
            if min(value - one.low, one.high - value) <= AT_END * (one.high - one.low):
                print(f"{name} is at an end of its range: the smallest may lie beyond.")
    return 0


def _print(best: Row, study: Study, results: Table, *, as_json: bool) -> None:
    """The best row: parameters as the model writes them (JSON: in SI), measures in their units."""
    runs = len(results.rows)
    if as_json:
        found = {
            "parameters": dict(best.point),
            "measures": dict(zip(results.measures, best.measures, strict=True)),
            "units": dict(zip(results.measures, results.units, strict=True)),
            "runs": runs,
        }
        print(json.dumps(found | ({"warning": best.reason} if best.reason else {})))
        return
    measured = zip(results.measures, best.measures, results.units, strict=True)
    for name, value, unit in (*written(study.model, best.point), *measured):
        print(f"{name} = {figure(value, 8)} {unit}".rstrip())
    print(f"{count(runs, 'run')}.")
    if best.reason:
        print(f"warning: {best.reason}")
