"""Results as comma-separated values, for spreadsheets and other programs.

One header line of column names with their units
(``time [s],crank.position.x [m],energy.kinetic [J]``; none where none is known),
then one line per output instant, 17 significant digits so that reading gives back the same
floats.  Units are those of SI, or those that the values are to be shown in, which reading turns
into SI again (to rounding).  A table without units is read, too, as SI.

How the run ended, its audit and the model's hash are in ``NAME.csv.ending`` beside it, so
that every program reads the table without options: a JSON object, with the sha256 of the
table that it belongs to.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from vbg.display import Scale, in_si
from vbg.errors import UsageError
from vbg.io.runs import trust
from vbg.io.runs.ending import from_plain, to_plain
from vbg.platform.files import replacing, write_text
from vbg.platform.text import escaped
from vbg.plumbing.components import gathered
from vbg.solution import Solution, Status, write_table

_WITH_UNIT = re.compile(r"(?P<name>.*\S)\s+\[(?P<unit>[^\[\]]*)\]")


def write(solution: Solution, path: str | Path) -> None:
    """Write time and all signals of `solution`, in its units.

    Raises
    ------
    UsageError or VbgError
        the file cannot be written; VbgError where the disk is full.
    """
    with replacing(path) as temporary:
        write_table(solution, temporary)
        ending = {"table": _hash(temporary), **to_plain(solution)}
        write_text(ending_of(path), json.dumps(ending), follow=False)


def ending_of(path: str | Path) -> Path:
    """The file beside a table that says how its run ended."""
    return Path(f"{path}.ending")


def _hash(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _how(path: str | Path) -> dict[str, Any]:
    """How the run ended; of a table alone it is not known, and it is taken as whole."""
    beside = ending_of(path)
    if not beside.is_file():
        return {"status": Status("finished", f"Read from {path}.")}
    try:
        trust.require_file(beside, growth=10.0)
        plain = json.loads(beside.read_text(encoding="utf-8"))
        if plain["table"] != _hash(path):
            told = f"{beside} belongs to another table than {path}, or this one was changed."
            remedy = f"Remove {beside} if the table is as you want it."
            return {"status": Status("failed", told, remedy)}
        return from_plain(plain)
    except (OSError, KeyError, ValueError, TypeError, RecursionError) as error:
        reason = escaped(" ".join(str(error).split())[:200])
        raise UsageError(
            f"{beside}: does not say how a run ended ({reason}). Remove it."
        ) from error


def read(path: str | Path) -> Solution:
    """Time and signals of a table whose first column is ``time``, in SI: what is written in
    another unit, ``p [bar]``, is converted.

    Columns ``NAME.x, NAME.y, NAME.z`` or ``NAME[0], NAME[1], ...`` become one signal of shape
    (n, k).

    Raises
    ------
    UsageError
        no such file, the first column is not time, or a cell is not a number.
    """
    if not Path(path).exists():
        raise UsageError(f"{path}: no such file.")
    try:
        trust.require_file(path, growth=8.0)
        with open(path, encoding="utf-8-sig") as file:
            titles = [_title(cell) for cell in _cells(file.readline())]
            if titles[0][0] != "time":
                found = f"found '{titles[0][0]}'" if titles[0][0] else "it is empty"
                raise UsageError(f"{path}: no result: the first column must be 'time'; {found}.")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a run may end before its first row
                table = np.loadtxt(file, delimiter=",", ndmin=2).reshape(-1, len(titles))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no result: it is not text.") from error
    except ValueError as error:
        said = escaped(" ".join(str(error).split())[:200].rstrip("."))
        raise UsageError(f"{path}: not a table of numbers under one header: {said}.") from error
    time, _ = _in_si(table[:, 0], titles[0][1])
    signals: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for name, places in gathered([title for title, _ in titles[1:]]):
        columns, spelled = zip(*(_in_si(table[:, 1 + k], titles[1 + k][1]) for k in places))
        signals[name] = columns[0] if name == titles[1 + places[0]][0] else np.column_stack(columns)
        if any(spelled):
            units[name] = spelled[-1]
    return Solution(time, signals, units=units, **_how(path))


def _in_si(values: np.ndarray, unit: str) -> tuple[np.ndarray, str]:
    """A column in SI, and its unit there."""
    written = in_si(unit) if unit else Scale("")
    if written.factor == 1.0 and written.offset == 0.0:
        return values, written.unit
    return values * written.factor + written.offset, written.unit


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), []) or [""]


def _title(cell: str) -> tuple[str, str]:
    """Name and unit of a column, the unit empty where none is written."""
    text = escaped(cell.strip().strip('"'))
    match = _WITH_UNIT.fullmatch(text)
    return (match["name"], match["unit"]) if match else (text, "")
