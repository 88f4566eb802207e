"""Results as Parquet, for data frames and databases (extra `sweep`: pyarrow).

One column of 64-bit floats for each component, ``time``, ``crank.position.x``, ...; the units,
and how the run ended, are JSON in the metadata of the file, under ``vbg``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError, not_installed
from vbg.io.runs import trust
from vbg.io.runs.ending import from_plain, to_plain
from vbg.platform.files import replacing
from vbg.platform.text import escaped
from vbg.plumbing.components import gathered
from vbg.solution import Solution, Status, components

_KEY = b"vbg"
SMALL = 1e8  # bytes of numbers that are read whatever the size of the file


def require() -> Any:
    """pyarrow and its parquet module; UsageError where they are not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed("a Parquet file", "pyarrow", "sweep") from error
    return pyarrow, parquet


def _require_size(path: str | Path, size: float) -> None:
    """Raises ValueError where so many bytes of numbers cannot be, or cannot be held: columns of
    one value take next to nothing on the disk, but time is no such column."""
    held = os.stat(path).st_size
    if size > max(SMALL, trust.EXPANSION * held):
        raise ValueError(f"it says it has {size:.3g} bytes of numbers; the file has {held}")
    trust.require_memory(3.0 * size)


def write(solution: Solution, path: str | Path) -> None:
    """Write time and all signals of `solution`, in its units.

    Raises UsageError without pyarrow or where the file cannot be written.
    """
    pyarrow, parquet = require()
    columns = {"time": solution.time, **dict(components(solution))}
    told = json.dumps({"units": dict(solution.units), **to_plain(solution)})
    table = pyarrow.table({name: np.ascontiguousarray(x) for name, x in columns.items()})
    with replacing(path) as temporary:
        parquet.write_table(table.replace_schema_metadata({_KEY: told}), str(temporary))


def read(path: str | Path) -> Solution:
    """The solution in a Parquet file whose columns are ``time`` and numbers.

    Columns ``NAME.x, NAME.y, ...`` or ``NAME[0], ...`` become one signal of shape (n, k); a file
    of another program is taken as whole and in SI.

    Raises UsageError without pyarrow, or where it is no such file.
    """
    _, parquet = require()
    trust.require_file(path, growth=8.0)
    try:
        file = parquet.ParquetFile(path)  # this file alone: its folder's name may be speed=3
        _require_size(path, 8.0 * file.metadata.num_rows * file.metadata.num_columns)
        table = file.read()
        titles = [escaped(title) for title in table.column_names]
        if "time" not in titles:
            raise UsageError(f"{path}: no result: it has no column 'time'.")
        if len(set(titles)) < len(titles):
            raise ValueError("a column stands twice")
        told = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
        ending = from_plain(told) if told != {} else {}
        units = dict(trust.restored(Mapping[str, str], told.get("units", {})))
        columns = {t: np.array(x, dtype=float) for t, x in zip(titles, table.columns, strict=True)}
    except KeyError as error:
        raise UsageError(f"{path}: no result of vbg: {error} is missing.") from None
    except (OSError, ValueError, TypeError, RecursionError, NotImplementedError) as error:
        reason = escaped(" ".join(str(error).split())[:200])
        raise UsageError(f"{path}: no result in Parquet ({reason}).") from error
    time = columns.pop("time")
    names = list(columns)
    signals = {}
    for name, places in gathered(names):
        parts = [columns[names[k]] for k in places]
        signals[name] = parts[0] if name == names[places[0]] else np.column_stack(parts)
    ending = ending or {"status": Status("finished", f"Read from {path}.")}
    return Solution(time, signals, units=units, **ending)
