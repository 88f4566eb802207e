"""`vbg sweep`: many runs over parameters, and measures of each."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import PICTURES, require_output, wrote
from vbg.cli.parser import (
    INTERRUPTED,
    add,
    add_json,
    add_model,
    add_span,
    add_start,
    add_tolerances,
    count_of,
)
from vbg.cli.progress import CLEAR
from vbg.cli.text import bar, count, figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.analysis.studies.sampling import Point, Range
    from vbg.analysis.studies.sweep import Study
    from vbg.analysis.studies.table import Row, Table
    from vbg.model import Model

PLACE = 64
SHOWN = 20  # rows printed
MOST_PROCESSES = 1024
SETTINGS = ("t_end", "output_step", "method", "rtol", "atol")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "sweep",
        act=act,
        summary="many runs over parameters, with measures of each",
        detail="The table grows run by run; started again, it goes on where it was killed.\n"
        "Points that cannot be run are kept with the reason; exit code 1 where none could.\n"
        "Ctrl-C keeps the runs done so far.\n"
        "A measure is an expression of signals, or the name of one of the model's [measures];\n"
        "`vbg parts measures` lists the functions.  Values are in SI, or in the\n"
        "unit that [measures] names.",
        examples="""vbg sweep crank.toml --vary r='30 mm:60 mm:16' --measure "rms(A.force)" -o r.csv
            vbg sweep m.toml --vary K=log:1e2:1e5 --samples lhs:200 --measure "final(A.angle)" -j 2
            vbg sweep m.toml --vary r=1:2:50 --measure "rms(A.speed)" -o r.parquet --plot r.svg
            vbg sweep m.toml --vary r=1:2 --vary K=1:9 --samples ccd --measure "rms(A.speed)" \
--effects""",
    )
    add_study(parser)
    parser.add_argument(
        "--samples",
        metavar="PLAN",
        help="factorial:LEVELS, lhs:N[:SEED] (Latin hypercube), sobol:N[:SEED], ccd or ccf "
        "(central composite, inscribed or on the faces); usual: the grid of --vary",
    )
    parser.add_argument(
        "--effects", action="store_true", help="main effects and interactions on every measure"
    )
    parser.add_argument("--effects-plot", metavar="OUT", help="picture of them: .png, .svg, .pdf")
    parser.add_argument(
        "-j",
        "--processes",
        type=count_of(1, MOST_PROCESSES),
        default=1,
        metavar="N",
        help="processes",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="Dask cluster (extra: sweep)")
    add_json(parser)


def add_study(parser: argparse.ArgumentParser) -> None:
    """Arguments that sweep and optimise share."""
    add_model(parser)
    parser.add_argument(
        "--vary",
        metavar="NAME=LOW:HIGH[:N]",
        action="append",
        required=True,
        help="a parameter and its range, SI or with units; NAME=log:LOW:HIGH:N; may be repeated",
    )
    parser.add_argument(
        "--measure",
        metavar="EXPRESSION",
        action="append",
        required=True,
        help="what to record of each run; may be repeated",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="table: .csv or .parquet")
    parser.add_argument("--plot", metavar="OUT", help="picture of the table: .png, .svg, .pdf")
    add_start(parser)
    add_span(parser)
    parser.add_argument("--method", help="integrator")
    add_tolerances(parser)


def study_of(arguments: argparse.Namespace) -> Study:
    """The Study that the arguments describe."""
    from vbg.analysis.studies.sweep import Study
    from vbg.starting import asked_start

    require_output(arguments.output, (".csv", ".parquet"))
    require_output(arguments.plot, PICTURES, "--plot")
    given = {name: getattr(arguments, name) for name in SETTINGS}
    settings = {name: value for name, value in given.items() if value is not None}
    model = read_checked(arguments)
    return Study(model, settings, tuple(arguments.measure), asked_start(model, arguments.start))


def ranges_of(arguments: argparse.Namespace, study: Study) -> list[Range]:
    """What --vary says, with units as the model's parameters have them."""
    from vbg.analysis.studies.sampling import parse_range

    model = study.model
    written = {name: model.parameter_units.get(name, "") for name in model.parameters}
    ranges = [parse_range(text, written) for text in arguments.vary]
    for k, one in enumerate(ranges):
        if one.name in (before.name for before in ranges[:k]):
            raise UsageError(f"--vary names {one.name} twice; give each parameter one range.")
        if one.name in dict(arguments.parameters):
            raise UsageError(f"--set and --vary both name {one.name}; leave out one of them.")
    return ranges


def table_of(arguments: argparse.Namespace, study: Study, names: list[str]) -> Table:
    """The table on disk; without -o one of this study alone that is thrown away."""
    from vbg.analysis.studies.sweep import table_of as table_at
    from vbg.platform.folders import temporary_folder

    output = arguments.output or str(Path(mkdtemp(dir=temporary_folder())) / "sweep.csv")
    growing = output + ".part.csv" if output.endswith(".parquet") else output
    return table_at(study, growing, names)


def finish(
    arguments: argparse.Namespace, study: Study, results: Table, *, optimum: bool = False
) -> None:
    """The picture that was asked for; Parquet, from the table that grew."""
    if arguments.plot:
        from vbg.cli.study_plot import draw_table

        title = f"{study.model.name}: {count(len(results.rows), 'run')}"
        draw_table(results.path, arguments.plot, model=study.model, optimum=optimum, title=title)
        wrote(arguments.plot, "plot of the study")
    if arguments.output and arguments.output.endswith(".parquet"):
        from vbg.analysis.studies.table import write_parquet

        write_parquet(results, arguments.output)
    if arguments.output:
        wrote(arguments.output, f"table of {count(len(results.rows), 'run')}")


def show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{CLEAR}{bar(done / max(total, 1))} {done} of {total}")
        sys.stderr.flush()


def end_progress() -> None:
    """Clear the line of `show_progress`."""
    if sys.stderr.isatty():
        sys.stderr.write(CLEAR)
        sys.stderr.flush()


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis.studies.effects import varied_of
    from vbg.analysis.studies.plans import points_of
    from vbg.analysis.studies.sweep import sweep

    require_output(arguments.effects_plot, PICTURES, "--effects-plot")
    study = study_of(arguments)
    ranges = ranges_of(arguments, study)
    if arguments.effects or arguments.effects_plot:
        varied_of(ranges)
    points = points_of(ranges, arguments.samples)
    results = table_of(arguments, study, [r.name for r in ranges])
    before = len(results.rows)
    try:
        sweep(
            study,
            points,
            results,
            processes=arguments.processes,
            scheduler=arguments.scheduler,
            progress=show_progress,
        )
    except KeyboardInterrupt:
        if results.rows or arguments.json:
            print_rows(study.model, results, as_json=arguments.json)
        return stopped(results, f"{len(results.rows)} of {len(points)} runs", arguments.output)
    end_progress()
    finish(arguments, study, results)
    failed = [row for row in results.rows if row.status == "failed"]
    none_finished = len(failed) == len(results.rows) > 0
    if arguments.effects or arguments.effects_plot:
        return tell_effects(arguments, study.model, ranges, results)
    print_rows(study.model, results, as_json=arguments.json)
    if arguments.json:
        return int(none_finished)
    fresh = len(results.rows) - before
    kept = f", {before} taken from {arguments.output}" if before else ""
    print(f"\n{count(fresh, 'run')}{kept}; {len(failed)} failed.")
    doubtful = [row for row in results.rows if row.status != "failed" and row.reason]
    if doubtful:
        print(f"{len(doubtful)} finished with a warning; the column `reason` of a table has each.")
    for row in (*failed[:3], *doubtful[:3]):
        place = (
            f"{name} = {figure(value)} {unit}".rstrip()
            for name, value, unit in written(study.model, row.point)
        )
        print(f"  {', '.join(place)}: {row.reason}")
    return int(none_finished)


def tell_effects(
    arguments: argparse.Namespace, model: Model, ranges: list[Range], results: Table
) -> int:
    """The table, what of it the parameters explain, and the picture of that."""
    from vbg.analysis.studies.effects import effects_of_rows, varied_of
    from vbg.cli.effects import effects_data, effects_text

    found = effects_of_rows(ranges, results.rows, results.measures, results.units)
    if arguments.json:
        rows = [_plain_row(row, results) for row in results.rows]
        print(json.dumps({"rows": rows, "effects": effects_data(found)}))
    else:
        print_rows(model, results, as_json=False)
        print("\n" + effects_text(found))
    if arguments.effects_plot:
        from vbg.draw.effects import draw_effects

        draw_effects(found, [r.name for r in varied_of(ranges)], arguments.effects_plot)
        wrote(arguments.effects_plot, "effects of the study")
    return 0


def print_rows(model: Model, results: Table, *, as_json: bool) -> None:
    """The rows that there are, for a person or a program."""
    if as_json:
        print(json.dumps([_plain_row(row, results) for row in results.rows]))
    else:
        print(as_text(model, results))


def stopped(results: Table, done: str, output: str | None) -> int:
    """Exit code after Ctrl-C; what was computed stays in the table that was asked for."""
    end_progress()
    kept = ""
    if output and results.rows:
        kept = f" They are in {results.path}; the same command goes on from there."
    print(f"vbg: stopped after {done}.{kept}", file=sys.stderr)
    return INTERRUPTED


def _plain_row(row: Row, results: Table) -> dict[str, Any]:
    return {
        "parameters": dict(row.point),
        "measures": dict(zip(results.measures, row.measures, strict=False)),
        "units": dict(zip(results.measures, results.units, strict=True)),
        "status": row.status,
        "reason": row.reason,
    }


def written(model: Model, point: Point) -> list[tuple[str, float, str]]:
    """(name, value, unit) of the parameters of a point, in the units in which the model writes
    them; "" for SI."""
    from vbg.measures import in_unit

    units = [model.parameter_units.get(name, "") for name, _ in point]
    return [
        (name, in_unit(value, unit), unit) for (name, value), unit in zip(point, units, strict=True)
    ]


def as_text(model: Model, results: Table) -> str:
    """The first rows, in the order of their parameters, each number under its unit."""
    units = [*(model.parameter_units.get(name, "") for name in results.parameters), *results.units]
    names = (*results.parameters, *results.measures)
    titles = (f"{n} [{u}]" if u else n for n, u in zip(names, units, strict=True))
    head = (*titles, "status")
    rows = sorted(results.rows, key=lambda row: row.point)
    lines = [
        (
            *(figure(value) for _, value, _ in written(model, row.point)),
            *([figure(v, 7) for v in row.measures] or [""] * len(results.measures)),
            row.status,
        )
        for row in rows[:SHOWN]
    ]
    text = table([head, *lines], ">" * (len(head) - 1) + "<")
    hidden = len(rows) - len(lines)
    return text + (f"\n{hidden} more rows in the table" if hidden > 0 else "")
