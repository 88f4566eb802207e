"""Results as Parquet, for data frames and databases (extra `sweep`: pyarrow).

One column of 64-bit floats for each component, ``time``, ``crank.position.x``, ...; the units,
and how the run ended, are JSON in the metadata of the file, under ``vbg``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError, not_installed
from vbg.io import trust
from vbg.io.ending import from_plain, to_plain
from vbg.platform.files import replacing
from vbg.platform.text import escaped
from vbg.plumbing.components import gathered
from vbg.solution import Solution, Status, components

_KEY = b"vbg"


def require() -> Any:
    """pyarrow and its parquet module; UsageError where they are not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed("a Parquet file", "pyarrow", "sweep") from error
    return pyarrow, parquet


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
        table = parquet.read_table(str(path))
        told = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
        ending = from_plain(told) if told else {}
        units = {escaped(str(n)): str(unit) for n, unit in dict(told.get("units", {})).items()}
        columns = {name: np.array(table[name], dtype=float) for name in table.column_names}
        time = columns.pop("time")
    except KeyError:
        raise UsageError(f"{path}: no result: it has no column 'time'.") from None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        reason = escaped(" ".join(str(error).split())[:200])
        raise UsageError(f"{path}: no result in Parquet ({reason}).") from error
    names = list(columns)
    signals = {}
    for name, places in gathered([escaped(title) for title in names]):
        parts = [columns[names[k]] for k in places]
        signals[name] = parts[0] if name == escaped(names[places[0]]) else np.column_stack(parts)
    ending = ending or {"status": Status("finished", f"Read from {path}.")}
    return Solution(time, signals, units=units, **ending)
