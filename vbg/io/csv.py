"""Results as comma-separated values, for spreadsheets and other programs.

One header line of column names (``time,crank.position[0],energy.kinetic``),
then one line per output instant, SI units, 17 significant digits so that
reading gives back the same floats.  What a table cannot hold (units, audit,
status) is in the HDF5 file (vbg.io.hdf5).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from vbg.errors import UsageError
from vbg.solution import Solution, Status, components

_COMPONENT = re.compile(r"(?P<name>.+)\[\d+\]")


def write(solution: Solution, path: str | Path) -> None:
    """Write time and all signals of `solution`.

    Raises
    ------
    UsageError
        the file cannot be written.
    """
    columns = dict(components(solution))
    table = np.column_stack([solution.time, *columns.values()])
    header = ",".join(["time", *columns])
    try:
        np.savetxt(path, table, fmt="%.17g", delimiter=",", header=header, comments="")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error


def read(path: str | Path) -> Solution:
    """Time and signals of a table whose first column is ``time``.

    Columns ``NAME[0], NAME[1], ...`` become one signal of shape (n, k).

    Raises
    ------
    UsageError
        no such file, the first column is not time, or a cell is not a number.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            names = [name.strip().strip('"') for name in file.readline().split(",")]
            table = np.loadtxt(file, delimiter=",", ndmin=2).reshape(-1, len(names))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file.") from None
    except ValueError as error:
        raise UsageError(f"{path}: not a table of numbers under one header: {error}.") from error
    if names[0] != "time":
        raise UsageError(f"{path}: the first column must be 'time'; found '{names[0]}'.")
    columns: dict[str, list[np.ndarray]] = {}
    vectors = set()
    for name, values in zip(names[1:], table.T[1:], strict=True):
        match = _COMPONENT.fullmatch(name)
        signal = match["name"] if match else name
        columns.setdefault(signal, []).append(values)
        if match:
            vectors.add(signal)
    signals = {
        name: np.column_stack(values) if name in vectors else values[0]
        for name, values in columns.items()
    }
    return Solution(table[:, 0], signals, status=Status("finished", f"Read from {path}."))
