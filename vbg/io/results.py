"""Result files of either format, by their ending."""

from __future__ import annotations

from pathlib import Path

from vbg.errors import UsageError
from vbg.solution import Solution

ENDINGS = (".h5", ".hdf5", ".csv")


def read(path: str | Path) -> Solution:
    """The solution in a result file.

    Raises UsageError if it is not one.
    """
    ending = Path(path).suffix
    if ending == ".csv":
        from vbg.io import csv

        return csv.read(path)
    if ending in (".h5", ".hdf5"):
        from vbg.io import hdf5

        return hdf5.read(path)
    raise UsageError(
        f"{path}: result files end in {', '.join(ENDINGS)}; `vbg run MODEL -o NAME.h5` writes one."
    )
