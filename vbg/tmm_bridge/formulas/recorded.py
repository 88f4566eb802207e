"""What an FMU told in the run of another solver, as polynomials between communications.

A unit is native code and has no twin: here it is data, like the rows of a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model

Array = np.ndarray[Any, Any]


def recorded_pieces(model: Model, name: str) -> tuple[list[float], Array]:
    """The times [s] of the communications of the unit whose output `name` is, and from each on the
    coefficients (k, 4) by powers of the time since.

    Raises UsageError where there is no record, or no such output of one component.
    """
    unit, _, wanted = name.partition(".")
    part = model.fmu[unit]
    if part.recorded is None:
        raise UsageError(
            f"fmu.{unit} is native code, which the transfer-matrix solver does not run itself;"
            " `vbg validate` replays what it told to the other one."
        )
    columns, count = _columns(part)
    if wanted not in columns:
        raise UsageError(f"fmu.{unit} has no output '{wanted}' of one component.")
    record = np.asarray(part.recorded)
    pieces = np.zeros((len(record), 4))
    pieces[:, : part.order + 1] = record[:, 1 + columns[wanted] :: count]
    return record[:, 0].tolist(), pieces


def _columns(part: Any) -> tuple[dict[str, int], int]:
    """Number of each output component in a record by its names, torque, force[0], force.x; and how
    many there are."""
    columns: dict[str, int] = {}
    first = 0
    for output, told in part.outputs.items():
        size = sum(part.described.variables[v].size for v in told)
        if size == 1:
            columns[output] = first
        for k in range(size if size > 1 else 0):
            columns[f"{output}[{k}]"] = first + k
            if k < 3:
                columns[f"{output}.{'xyz'[k]}"] = first + k
        first += size
    return columns, first
