"""Rows of numbers, written in the model file or taken from columns of a CSV file."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import Any

from vbg import units
from vbg.errors import ModelError, UsageError
from vbg.model.text.allowed import refusal
from vbg.model.text.files import text_of
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.model.values.values import read_list, read_vector, unknown_keys

MOST_ROWS = 5000
KEYS = ("file", "columns", "units")
WHERE = "The path counts from this file's folder."
HOW = (
    "It is a table of comma-separated numbers whose first line names the columns, with their "
    "units: time [s], level [mm]."
)


def read_samples(
    reading: Reading, path: Path, raw: Any, size: int, columns: tuple[str, ...] = ("",)
) -> tuple[tuple[float, ...], ...] | None:
    """Rows of `size` numbers in SI; None, with problems noted, where they are none.

    `columns`: the unit of each, or of all; "" for any."""
    if isinstance(raw, Mapping):
        return _of_file(reading, path, raw, columns * (size // len(columns)))
    entries = read_list(reading, path, raw, 0, "rows")
    if entries is None:
        return None
    rows = [read_vector(reading, (*path, i), row, columns, size) for i, row in enumerate(entries)]
    return None if None in rows else tuple(rows)  # type: ignore[arg-type]


def _of_file(
    reading: Reading, path: Path, raw: Mapping[str, Any], expected: tuple[str, ...]
) -> tuple[tuple[float, ...], ...] | None:
    size = len(expected)
    unknown_keys(reading, path, raw, KEYS, "samples")
    names, written = raw.get("columns"), reading.text((*path, "file"), raw.get("file"))
    if written is None:
        return None
    if not isinstance(names, (list, tuple)) or len(names) != size:
        what = f"columns are {size} names of the file's first line."
        reading.fail_key((*path, "columns"), what, 'Write columns = ["x", "y"].')
        return None
    file = os.path.join(os.path.dirname(reading.file), written)
    told = refusal(written, file, os.path.realpath(reading.file or "model"))
    if told:
        remedy = "Put it there, or allow its folder: --allow-include DIR."
        reading.fail((*path, "file"), told, remedy)
        return None
    try:
        return _columns(text_of(file), list(map(str, names)), raw.get("units"), expected)
    except (UsageError, ModelError) as error:
        remedy = WHERE if isinstance(error, UsageError) else HOW
        reading.fail(path, f"{str(error).rstrip('.')}.", remedy)
        return None


def _columns(
    text: str, names: list[str], given: Any, expected: tuple[str, ...]
) -> tuple[tuple[float, ...], ...]:
    """The columns of a CSV text; heads are "flow", "flow [L/min]" or "flow (L/min)".

    Raises ModelError for what is not there or no number."""
    try:
        cells = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ModelError(f"the file is no table: {error}") from None
    lines = [line for line in cells if any(cell.strip() for cell in line)]
    if not lines:
        raise ModelError("the file has no rows")
    heads = [_head(cell) for cell in lines[0]]
    known = [name for name, _ in heads]
    for name in names:
        if known.count(name) != 1:
            often = "no" if name not in known else "more than one"
            raise ModelError(f"the file has {often} column {name!r}; there are {', '.join(known)}")
    if len(lines) - 1 > MOST_ROWS:
        raise ModelError(f"the file has {len(lines) - 1} rows, at most {MOST_ROWS} are read")
    at = [known.index(name) for name in names]
    written = list(given) if isinstance(given, (list, tuple)) else [heads[k][1] for k in at]
    if len(written) != len(names):
        raise ModelError(f"units are {len(names)}, one for each column")
    factors = [_conversion(*one) for one in zip(names, map(str, written), expected, strict=True)]
    return tuple(_row(number, line, at, factors) for number, line in enumerate(lines[1:], 2))


def _conversion(name: str, unit: str, expected: str) -> tuple[float, float]:
    """Factor and offset to SI of a column; without a unit it is in SI."""
    try:
        return units.conversion(unit, expected) if unit else (1.0, 0.0)
    except ModelError as error:
        raise ModelError(f"column {name!r}: {error}") from None


def _head(cell: str) -> tuple[str, str]:
    """Name and unit of a column."""
    name, bracket, rest = cell.strip().partition("[" if "[" in cell else "(")
    return name.strip(), rest.rstrip(" )]") if bracket else ""


def _row(
    number: int, line: list[str], at: list[int], factors: list[tuple[float, float]]
) -> tuple[float, ...]:
    try:
        values = [float(line[k]) for k in at]
    except (ValueError, IndexError):
        raise ModelError(f"line {number} of the file has no number in each column") from None
    if not all(abs(value) < 1e50 for value in values):
        raise ModelError(f"line {number} of the file has a number that is none or too large")
    return tuple(v * factor + offset for v, (factor, offset) in zip(values, factors, strict=True))
