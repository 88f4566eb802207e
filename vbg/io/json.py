"""Results as one JSON object, for programs that read neither HDF5 nor tables.

Layout (format 1)::

    {"vbg": 1, "time": [...], "signals": {NAME: [...] or [[...], ...]},
     "units": {NAME: UNIT}, "status": {...}, "audit": {...}, "made_by": {...}, "notes": [...]}

SI units; a vector signal has one list per instant.  NaN and infinity have no
JSON: they are written as null and come back as NaN.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io.ending import from_plain, to_plain
from vbg.solution import Solution

FORMAT = 1


def write(solution: Solution, path: str | Path) -> None:
    """Write all of `solution`.

    Raises UsageError where the file cannot be written.
    """
    content = {
        "vbg": FORMAT,
        "time": _plain(solution.time),
        "signals": {name: _plain(values) for name, values in solution.signals.items()},
        "units": dict(solution.units),
        **to_plain(solution),
    }
    try:
        Path(path).write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}.") from error


def read(path: str | Path) -> Solution:
    """The solution in a file of this format.

    Raises UsageError if it is not one.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["vbg"] > FORMAT:
            raise ValueError(f"format {content['vbg']}, newer than {FORMAT}, which this vbg reads")
        signals = {name: np.array(rows, dtype=float) for name, rows in content["signals"].items()}
        time = np.array(content["time"], dtype=float)
        return Solution(time, signals, units=content["units"], **from_plain(content))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{path}: not a result of vbg ({error})."
            " Result files are written by `vbg run MODEL -o NAME.json`."
        ) from error


def _plain(values: np.ndarray) -> list[Any]:
    """Nested lists, null for what is not finite."""
    if np.isfinite(values).all():
        return values.tolist()
    if values.ndim == 1:
        return [value if math.isfinite(value) else None for value in values.tolist()]
    return [_plain(row) for row in values]
