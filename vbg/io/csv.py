"""Results as comma-separated values, for spreadsheets and other programs.

One header line of column names with their units
(``time [s],crank.position[0] [m],energy.kinetic [J]``; none where none is known),
then one line per output instant, SI units, 17 significant digits so that
reading gives back the same floats.  A table without units is read, too.  What a table
cannot hold (audit, status) is in the HDF5 file (vbg.io.hdf5).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from vbg.errors import UsageError
from vbg.solution import Solution, Status, components

_COMPONENT = re.compile(r"(?P<name>.+)\[\d+\]")
_WITH_UNIT = re.compile(r"(?P<name>.*\S)\s+\[(?P<unit>[^\[\]]*)\]")


def write(solution: Solution, path: str | Path) -> None:
    """Write time and all signals of `solution`.

    Raises
    ------
    UsageError
        the file cannot be written.
    """
    columns = dict(components(solution))
    table = np.column_stack([solution.time, *columns.values()])
    titles = (f"{name} [{unit}]" if (unit := solution.unit(name)) else name for name in columns)
    header = ",".join(["time [s]", *titles])
    try:
        np.savetxt(path, table, fmt="%.17g", delimiter=",", header=header, comments="")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error


def read(path: str | Path) -> Solution:
    """Time and signals of a table whose first column is ``time``, with the units written.

    Columns ``NAME[0], NAME[1], ...`` become one signal of shape (n, k).

    Raises
    ------
    UsageError
        no such file, the first column is not time, or a cell is not a number.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            titles = [_title(cell) for cell in file.readline().split(",")]
            if titles[0][0] != "time":
                found = f"found '{titles[0][0]}'" if titles[0][0] else "it is empty"
                raise UsageError(f"{path}: no result: the first column must be 'time'; {found}.")
            table = np.loadtxt(file, delimiter=",", ndmin=2).reshape(-1, len(titles))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no result: it is not text.") from error
    except ValueError as error:
        said = str(error).rstrip(".")
        raise UsageError(f"{path}: not a table of numbers under one header: {said}.") from error
    columns: dict[str, list[np.ndarray]] = {}
    units: dict[str, str] = {}
    vectors = set()
    for (name, unit), values in zip(titles[1:], table.T[1:], strict=True):
        match = _COMPONENT.fullmatch(name)
        signal = match["name"] if match else name
        if unit:
            units[signal] = unit
        columns.setdefault(signal, []).append(values)
        if match:
            vectors.add(signal)
    signals = {
        name: np.column_stack(values) if name in vectors else values[0]
        for name, values in columns.items()
    }
    status = Status("finished", f"Read from {path}.")
    return Solution(table[:, 0], signals, status=status, units=units)


def _title(cell: str) -> tuple[str, str]:
    """Name and unit of a column, the unit empty where none is written."""
    text = cell.strip().strip('"')
    match = _WITH_UNIT.fullmatch(text)
    return (match["name"], match["unit"]) if match else (text, "")
