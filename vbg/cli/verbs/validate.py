"""`vbg validate`: both solvers on one model, and whether they agree."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_folder, wrote
from vbg.cli.parser import (
    add,
    add_json,
    add_model,
    add_span,
    add_start,
    add_tolerances,
    seconds,
    tolerance,
)
from vbg.engines import ENGINES
from vbg.errors import ModelError

if TYPE_CHECKING:
    from vbg.validate import Report

PLACE = 45
TITLES = {"vbg": "bond graph", "mstmm": "transfer matrices"}


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "validate",
        act=act,
        summary="solve a model twice and compare every joint force",
        detail="Once by bond graph and once by the transfer-matrix solver (MSTMM), which shares\n"
        "no equations with it.  Prints the joint forces channel by channel and the verdict:\n"
        "PASS, FAIL or INCONCLUSIVE.  Exit code 1 unless it is PASS, which may say what was not\n"
        "solved twice: PASS (1 part replayed: motor); and where another engine contradicts.",
        examples="""vbg validate crank.toml
            vbg validate crank.toml --t-end 2 --tolerance 1e-5 -o report
            vbg validate crank.toml --also dt --exclude 0.41:0.43 --json
            vbg validate crank.toml --also pinocchio --also exudyn""",
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write the report there as well")
    add_span(parser)
    add_tolerances(parser)
    parser.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="X",
        help="allowed error relative to a channel's peak",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        choices=("dt", "dt-houbolt", "dt-wilson", *ENGINES),
        help="a further column: the discrete-time method by Newmark's, Houbolt's or Wilson's step; "
        "or another engine, which shares no frames with vbg",
    )
    parser.add_argument(
        "--dt-step", type=seconds, metavar="T", help="step of the discrete-time method: '0.1 ms'"
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        type=_window,
        metavar="FROM:TO",
        help="a window of time to leave out, recorded in the report",
    )
    parser.add_argument(
        "--patience",
        type=seconds,
        metavar="T",
        help="processor time in which a run must get a percent further, default 60 s",
    )
    add_start(parser)
    parser.add_argument("--all", action="store_true", help="print all channels, however many")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress line")
    add_json(parser)


def _window(text: str) -> tuple[float, float]:
    from vbg import units

    begin, _, end = text.partition(":")
    try:
        window = units.convert(begin, "s"), units.convert(end, "s")
    except ModelError:
        window = (0.0, 0.0)
    if not window[0] < window[1]:
        wanted = "FROM:TO, as in 0.41:0.43 or '410 ms:430 ms'"
        raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")
    return window


def act(arguments: argparse.Namespace) -> int:
    from vbg.validate import as_json, text, write

    if arguments.output is not None:
        require_folder(arguments.output)
    line = _Line(quiet=arguments.quiet or arguments.json)
    try:
        report = _validated(arguments, line)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{line.reach()} No verdict.".strip()) from None
    if arguments.output is not None:
        paths = write(report, arguments.output)
    print(as_json(report) if arguments.json else text(report, limit=None if arguments.all else 40))
    if arguments.output is not None and not arguments.quiet:
        for path in paths:
            wrote(path, "validation report")
    contradicted = any(report.also[n].result == "FAIL" for n in ENGINES if n in report.also)
    return 0 if report.result == "PASS" and not contradicted else 1


def _validated(arguments: argparse.Namespace, line: _Line) -> Report:
    from vbg.starting import asked_start
    from vbg.validate import validate
    from vbg.validate.child import PATIENCE

    model = read_checked(arguments)
    return validate(
        model,
        start=asked_start(model, arguments.start),
        t_end=arguments.t_end,
        output_step=arguments.output_step,
        rtol=arguments.rtol,
        atol=arguments.atol,
        tolerance=arguments.tolerance,
        also=tuple(arguments.also),
        dt_step=arguments.dt_step,
        exclude=tuple(arguments.exclude),
        patience=PATIENCE if arguments.patience is None else arguments.patience,
        progress=line.tell,
    )


class _Line:
    """Both solvers' progress in one line, on a terminal only."""

    def __init__(self, *, quiet: bool):
        self._shown = not quiet and sys.stderr.isatty()
        self._fractions: dict[str, float] = {}

    def reach(self) -> str:
        """How far the solvers have come."""
        shares = [f"{TITLES.get(n, n)} at {100 * f:.0f} %" for n, f in self._fractions.items()]
        return f"{', '.join(shares)}." if shares else ""

    def tell(self, solver: str, fraction: float) -> None:
        self._fractions[solver] = fraction
        if not self._shown:
            return
        line = "  ".join(
            f"{TITLES.get(name, name)} {100 * f:3.0f} %" for name, f in self._fractions.items()
        )
        done = all(f >= 1.0 for f in self._fractions.values())
        sys.stderr.write("\r\x1b[K" + ("" if done else line))
        sys.stderr.flush()
