"""`vbg run`: simulate a model file and say what came out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from vbg.cli.child import follow
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.progress import ProgressLine
from vbg.cli.report import report
from vbg.errors import UsageError
from vbg.runner import RESULT_SUFFIXES, SOLVERS, Job

PLACE = 40
SETTINGS = ("t_end", "output_step", "method", "rtol", "atol")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "run",
        act=act,
        summary="simulate a model file",
        detail="Prints every signal's range, the residuals and the energy audit.\n"
        "Ctrl-C stops at the next step and keeps the result so far.\n"
        "Exit code 1 if the model is wrong or the run did not reach its end.",
        examples="""vbg run crank.toml
            vbg run crank.toml --set r=0.12 --t-end 5 -o crank.h5
            vbg run crank.toml -o crank.csv --signals 'A.*'
            vbg run crank.toml --solver mstmm --json""",
    )
    add_model(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="result file: .h5 (grows during the run) or .csv"
    )
    parser.add_argument("--t-end", type=float, metavar="S", help="end of the run [s]")
    parser.add_argument("--output-step", type=float, metavar="S", help="distance of outputs [s]")
    parser.add_argument("--method", help="integrator: auto, dop853, rk4, radau, ...")
    parser.add_argument("--rtol", type=float, help="relative tolerance")
    parser.add_argument("--atol", type=float, help="absolute tolerance")
    parser.add_argument(
        "--solver", choices=SOLVERS, default="vbg", help="mstmm: the independent transfer matrices"
    )
    parser.add_argument("--signals", metavar="PATTERN", help="print only these: 'A.*', '*.force*'")
    parser.add_argument("--all", action="store_true", help="print all signals, however many")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar, no report")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    job = _job(arguments)
    line = ProgressLine(quiet=arguments.quiet or arguments.json)
    ending = follow(job, line.tell)
    if arguments.json:
        print(json.dumps({name: value for name, value in ending.items() if name != "kind"}))
    elif not arguments.quiet:
        print(report(ending, pattern=arguments.signals, limit=None if arguments.all else 60))
    return 0 if ending["status"]["code"] == "finished" else 1


def _job(arguments: argparse.Namespace) -> Job:
    if not Path(arguments.file).is_file():
        if Path(arguments.file).is_dir():
            raise UsageError(f"{arguments.file} is a folder; name the model file in it.")
        raise UsageError(f"{arguments.file}: no such file. `vbg new` writes one to start from.")
    if arguments.output is not None and not arguments.output.endswith(RESULT_SUFFIXES):
        raise UsageError(
            f"-o {arguments.output}: the name must end in {', '.join(RESULT_SUFFIXES)}."
        )
    given = {name: getattr(arguments, name) for name in SETTINGS}
    return Job(
        model=arguments.file,
        parameters=dict(arguments.parameters),
        solver=arguments.solver,
        settings={name: value for name, value in given.items() if value is not None},
        result=arguments.output,
    )
