"""Result files of any format, by their ending."""

from __future__ import annotations

from pathlib import Path

from vbg.errors import UsageError
from vbg.io.names import RESULT_ENDINGS, growing_file
from vbg.solution import Solution


def read(path: str | Path) -> Solution:
    """The solution in a result file.

    Raises UsageError if it is not one.
    """
    _require(Path(path))
    ending = Path(path).suffix
    if ending == ".csv":
        from vbg.io import csv

        return csv.read(path)
    if ending == ".json":
        from vbg.io import json

        return json.read(path)
    from vbg.io import hdf5

    return hdf5.read(path)


load = read  # `vbg.load`: `vbg.read` reads model files


def _require(path: Path) -> None:
    if path.suffix not in RESULT_ENDINGS:
        raise UsageError(
            f"{path}: result files end in {', '.join(RESULT_ENDINGS)};"
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
