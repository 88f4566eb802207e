"""`vbg run`: simulate a model file and say what came out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from vbg.cli.child import follow
from vbg.cli.models import STANDARD_INPUT, require_model, text_of_standard_input
from vbg.cli.output import require_output, wrote
from vbg.cli.parser import (
    INTERRUPTED,
    add,
    add_bushings,
    add_json,
    add_model,
    add_span,
    add_start,
    add_tolerances,
    add_units,
    names,
)
from vbg.cli.progress import ProgressLine
from vbg.cli.report import matching, report
from vbg.cli.text import count
from vbg.engines import ENGINES
from vbg.errors import UsageError
from vbg.io.runs.names import SAVED_ENDINGS
from vbg.runner import SOLVERS, Job

PLACE = 40
EXIT_CODES = {"finished": 0, "failed": 1, "cancelled": INTERRUPTED}
SETTINGS = (
    *("t_end", "output_step", "method", "rtol", "atol", "formulation"),
    *("step", "bushing_frequency", "bushing_damping"),
)


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "run",
        act=act,
        summary="simulate a model file",
        detail="Prints every signal's range, the residuals and the energy audit.\n"
        "Ctrl-C stops at the next step and keeps the result so far.\n"
        "Exit code 1 if the model is wrong or the run did not reach its end, with --strict also\n"
        "if its audit fails; 130 after Ctrl-C.",
        examples="""vbg run crank.toml
            vbg run crank.toml --set r='60 mm' --t-end '500 ms' -o crank.h5
            vbg run crank.toml -o crank.csv --signals 'A.*,slide.position'
            vbg run crank.toml --measure 'max(norm(A.force))' --measure 'settle(A.speed, 2 %)'
            vbg run arm.toml --start equilibrium -o rest.h5
            vbg run arm.toml --start rest.h5@'500 ms' --set load='20 kg'
            vbg run crank.toml --solver mstmm --json
            sed s/revolute/spherical/ crank.toml | vbg run -""",
    )
    add_model(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="result file: .h5 (grows during the run), .csv, .json or .parquet",
    )
    add_span(parser)
    parser.add_argument("--method", help="integrator: auto, dop853, rk4, radau, ...")
    parser.add_argument(
        "--formulation", help="constraint (redundant coordinates) or minimal (independent ones)"
    )
    add_tolerances(parser)
    add_bushings(parser)
    parser.add_argument(
        "--solver",
        choices=(*SOLVERS, *ENGINES),
        default="vbg",
        help="mstmm: the transfer-matrix solver (MSTMM), which is independent of the bond graph; "
        "pinocchio, mujoco, exudyn, drake: other engines (extra engines), from the same start",
    )
    add_start(parser)
    parser.add_argument(
        "--measure",
        dest="measures",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help="one number of the run, besides the model's [measures]: 'max(norm(A.force))', "
        "see vbg parts measures; may be repeated",
    )
    add_units(parser)
    parser.add_argument(
        "--bonds",
        action="store_true",
        help="keep effort and flow of every bond of the bond graph as signals, too: "
        "'A.dv_W -> crank.v.effort'",
    )
    _add_printing(parser)


def _add_printing(parser: argparse.ArgumentParser) -> None:
    """What is printed, and what counts as failed."""
    parser.add_argument(
        "--signals",
        metavar="PATTERN",
        type=names,
        action="extend",
        help="print only these: 'A.*', '*.force*,hinge.angle'; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="print all signals, however many")
    parser.add_argument(
        "--events", action="store_true", help="list every event, not only how often each happened"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 where the audit fails, too"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar, no report")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.units:
        raise UsageError("--units: JSON is for programs and in SI; leave --units or --json out.")
    job = _job(arguments)
    line = ProgressLine(quiet=arguments.quiet or arguments.json)
    ending = follow(job, line.tell)
    if arguments.json:
        told = ending | {"summary": matching(ending["summary"], arguments.signals)}
        print(json.dumps({name: value for name, value in told.items() if name != "kind"}))
    elif not arguments.quiet:
        limit = None if arguments.all else 60
        print(report(ending, patterns=arguments.signals, limit=limit, every_event=arguments.events))
    elif ending["status"]["code"] == "failed":
        status = ending["status"]
        print(f"vbg: {arguments.file}: {status['sentence']} {status['remedy']}", file=sys.stderr)
    if arguments.output is not None and not arguments.quiet:
        wrote(arguments.output, f"result, {count(ending['n_rows'], 'output')}")
    if arguments.strict and ending["audit"]["failures"]:
        return EXIT_CODES["failed"]
    unanswered = any(measure["value"] is None for measure in ending["measures"])
    return EXIT_CODES[ending["status"]["code"]] or int(unanswered)


def _job(arguments: argparse.Namespace) -> Job:
    require_model(arguments.file)
    require_output(arguments.output, SAVED_ENDINGS)
    if arguments.output is not None and arguments.output.endswith(".parquet"):
        from vbg.io.runs.results import require_savable

        require_savable(arguments.output)
    given = {name: getattr(arguments, name) for name in SETTINGS}
    return Job(
        model=arguments.file if arguments.file != STANDARD_INPUT else "<stdin>",
        text=_text(arguments.file),
        parameters=dict(arguments.parameters),
        solver=arguments.solver,
        settings={name: value for name, value in given.items() if value is not None},
        start=arguments.start,
        units=arguments.units,
        measures=tuple(arguments.measures),
        bonds=arguments.bonds,
        result=arguments.output,
    )


def _text(file: str) -> str | None:
    """What standard input or a pipe, <(command), gives: the child could not read it."""
    if file == STANDARD_INPUT:
        return text_of_standard_input()
    if Path(file).is_file():
        return None  # nor does this process need what reads it
    from vbg.model.text.files import text_of

    return text_of(file)
