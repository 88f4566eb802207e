"""Where the bodies of a machine are: at its start, over a run, at one instant (--run, --at)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vbg.cli.parser import instant
from vbg.cli.results import read_result
from vbg.errors import UsageError, VbgError

if TYPE_CHECKING:
    from vbg.model import Model

Rows = tuple[Any, Mapping[str, Any]]  # times (n,) [s], signals of n rows


def add_postures(parser: argparse.ArgumentParser, option: str, run: str) -> None:
    """--run, which the text `run` explains, and --at, both with `option`."""
    parser.add_argument("--run", metavar="RESULT", help=f"with {option}: {run}")
    parser.add_argument(
        "--at",
        type=instant,
        metavar="T",
        help=f"with {option}: at this time, in the row of --run nearest to it; without --run the "
        "machine runs until then",
    )


def postures(model: Model, run: str | None, at: float | None) -> Rows:
    """The rows of the result `run`, or the one nearest to `at` [s]; without a run where the machine
    is then, by default where it begins; notes go to standard error.

    Raises UsageError where the run holds no such time or lacks bodies, VbgError where the machine
    does not run so far.
    """
    import numpy as np

    import vbg

    if run:
        return _rows_of(model, run, at)
    start = vbg.start(model)
    for note in start.notes:
        print(note, file=sys.stderr)
    if not at:
        first = start.outputs(0.0, start.state)
        return np.zeros(1), {name: np.ravel(value)[None] for name, value in first.items()}
    solution = vbg.simulate(start, t_end=at, output_step=at)
    if solution.status.code != "finished":
        raise VbgError(f"{model.name} does not run until {at:.6g} s: {solution.status.sentence}")
    return solution.time[-1:], {name: value[-1:] for name, value in solution.signals.items()}


def _rows_of(model: Model, run: str, at: float | None) -> Rows:
    import numpy as np

    solution = read_result(run)
    time, signals = solution.time, solution.signals
    lacking = [n for n, b in model.bodies.items() if b.shape and f"{n}.position" not in signals]
    if lacking:
        raise UsageError(f"{run} has no positions of {', '.join(lacking[:6])}.")
    if at is None:
        return time, signals
    first, last = float(time[0]), float(time[-1])
    if not first <= at <= last * (1.0 + 1e-9):
        raise UsageError(f"{run} runs from {first:.6g} to {last:.6g} s; {at:.6g} s is not in it.")
    row = int(np.argmin(np.abs(time - at)))
    if abs(time[row] - at) > 1e-9 * last:
        print(f"vbg: the row of {run} at {time[row]:.6g} s is nearest.", file=sys.stderr)
    return time[row : row + 1], {name: value[row : row + 1] for name, value in signals.items()}
