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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io import trust
from vbg.io.ending import from_plain, to_plain
from vbg.platform.files import write_text
from vbg.platform.text import escaped
from vbg.solution import Solution

FORMAT = 1


def write(solution: Solution, path: str | Path) -> None:
    """Write all of `solution`.

    Raises UsageError where the file cannot be written, VbgError where the disk is full.
    """
    content = {
        "vbg": FORMAT,
        "time": _plain(solution.time),
        "signals": {name: _plain(values) for name, values in solution.signals.items()},
        "units": dict(solution.units),
        **to_plain(solution),
    }
    write_text(path, json.dumps(content, allow_nan=False))


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


def _plain(values: np.ndarray) -> list[Any]:
    """Nested lists, null for what is not finite."""
    if np.isfinite(values).all():
        return values.tolist()
    if values.ndim == 1:
        return [value if math.isfinite(value) else None for value in values.tolist()]
    return [_plain(row) for row in values]
