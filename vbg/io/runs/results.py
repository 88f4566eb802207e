"""Result files of any format, by their ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.io.runs import trust
from vbg.io.runs.names import SAVED_ENDINGS, growing_file
from vbg.solution import Solution

if TYPE_CHECKING:
    from vbg.model import Model


def read(path: str | Path) -> Solution:
    """The solution in a result file.

    Raises UsageError if it is not one, or its time is none: it falls, stands or is not finite.
    """
    _require(Path(path))
    solution = _read(path)
    trust.require_time(path, solution.time)
    return solution


def _read(path: str | Path) -> Solution:
    ending = Path(path).suffix
    if ending == ".csv":
        from vbg.io.runs import csv

        return csv.read(path)
    if ending == ".json":
        from vbg.io.runs import json

        return json.read(path)
    if ending == ".parquet":
        from vbg.io.runs import parquet

        return parquet.read(path)
    from vbg.io.runs import hdf5

    return hdf5.read(path)


load = read  # `vbg.load`: `vbg.read` reads model files


def save(solution: Solution, path: str | Path, *units: str, model: Model | None = None) -> None:
    """Write `solution`, in the format of the ending: .h5, .json, .csv, .parquet.

    Tables may be in other units than SI, ``vbg.save(solution, "run.csv", "bar", "deg")``, which
    reading them turns back; `model` is kept in an .h5, for films and start values.  Everything
    but those conversions comes back from `load` bit by bit.

    Raises UsageError for another ending, and for units of a file that is in SI.
    """
    require_savable(str(path))
    ending = Path(path).suffix
    if units and ending != ".csv":
        raise UsageError(f"{path}: {ending} is in SI; units are for .csv.")
    if ending in (".h5", ".hdf5"):
        from vbg.io.runs import hdf5
        from vbg.io.toml import kept_in_result, updated

        text = "" if model is None else kept_in_result(updated("", model.document), model)
        hdf5.write(solution, path, model=text)
        return
    from vbg.io.runs import csv, json, parquet

    write = {".csv": csv.write, ".json": json.write, ".parquet": parquet.write}[ending]
    write(solution.in_units(*units), path)


def require_savable(path: str) -> None:
    """Raises UsageError where no result can be written as `path`: another ending, a format whose
    library is not installed."""
    if Path(path).suffix not in SAVED_ENDINGS:
        raise UsageError(f"{path}: results are written as {', '.join(SAVED_ENDINGS)}.")
    if path.endswith(".parquet"):
        from vbg.io.runs import parquet

        parquet.require()


def _require(path: Path) -> None:
    if path.suffix not in SAVED_ENDINGS:
        raise UsageError(
            f"{path}: result files end in {', '.join(SAVED_ENDINGS)};"
            " `vbg run MODEL -o NAME.h5` writes one."
        )
    if path.is_file():
        return
    growing = Path(growing_file(str(path)))
    if growing != path and growing.is_file():
        raise UsageError(
            f"{path}: no such file: its run was ended before it was written, or is still at"
            f" work. What is computed so far is in {growing}."
        )
    raise UsageError(f"{path}: no such file.")
