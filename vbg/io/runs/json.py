"""Results as one JSON object, for programs that read neither HDF5 nor tables.

Layout (format 1)::

    {"vbg": 1, "time": [...], "signals": {NAME: [...] or [[...], ...]},
     "units": {NAME: UNIT}, "status": {...}, "audit": {...}, "made_by": {...}, "notes": [...]}

SI units; a vector signal has one list per instant.  NaN has no JSON and is written as null;
infinity is a number too large for any reader, 1e999.  Both come back as what they were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io.runs import trust
from vbg.io.runs.ending import from_plain, to_plain
from vbg.platform.files import write_text
from vbg.platform.text import escaped
from vbg.solution import Solution

FORMAT = 1


def write(solution: Solution, path: str | Path) -> None:
    """Write all of `solution`.

    Raises UsageError where the file cannot be written, VbgError where the disk is full.
    """
    signals = {name: _numbers(values) for name, values in solution.signals.items()}
    others = {"units": dict(solution.units), **to_plain(solution)}
    content = {
        "vbg": str(FORMAT),
        "time": _numbers(solution.time),
        "signals": _object(signals),
        **{key: json.dumps(value, allow_nan=False) for key, value in others.items()},
    }
    write_text(path, _object(content))


def read(path: str | Path) -> Solution:
    """The solution in a file of this format.

    Raises UsageError if it is not one.
    """
    try:
        trust.require_file(path, growth=12.0)
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["vbg"] > FORMAT:
            raise ValueError(f"format {content['vbg']}, newer than {FORMAT}, which this vbg reads")
        signals = {
            escaped(name): np.array(rows, dtype=float)
            for name, rows in dict(content["signals"]).items()
        }
        time = np.array(content["time"], dtype=float)
        units = trust.restored(Mapping[str, str], content["units"])
        return Solution(time, signals, units=units, **from_plain(content))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError, UsageError) as error:
        reason = escaped(" ".join(str(error).split())[:200])
        raise UsageError(
            f"{path}: not a result of vbg ({reason})."
            " Result files are written by `vbg run MODEL -o NAME.json`."
        ) from error


def _object(members: Mapping[str, str]) -> str:
    """The JSON of an object whose members' values are JSON already."""
    return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in members.items()) + "}"


def _numbers(values: np.ndarray) -> str:
    """The JSON of nested lists."""
    return json.dumps(_without_nan(values)).replace("Infinity", "1e999")


def _without_nan(values: np.ndarray) -> list[Any]:
    """Nested lists, None for NaN."""
    if not np.isnan(values).any():
        return values.tolist()
    if values.ndim == 1:
        return [None if math.isnan(value) else value for value in values.tolist()]
    return [_without_nan(row) for row in values]
