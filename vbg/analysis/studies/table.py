"""The results table of a study: grows line by line, survives a kill, is taken up again."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from vbg.analysis.studies.sampling import Point
from vbg.errors import UsageError, not_installed
from vbg.platform.files import is_other_than_file, refused, replacing, write_text
from vbg.platform.locks import OneWriter
from vbg.platform.text import escaped


@dataclass(frozen=True, slots=True)
class Row:
    """One point: parameters in SI, its measures each in its unit (`Table.units`), or why there are
    none (`status` "failed"); `reason` of a finished run says what makes its measures doubtful, if
    anything does."""

    point: Point
    measures: tuple[float, ...]
    status: str
    reason: str


class Table:
    """A CSV file with the columns study, PARAMETERS, MEASURES, status, reason.

    Parameters are in SI under their bare names, measures in their `units`, which stand behind them
    as in `life [h]`; [1] where there is none.
    `study` is the name of the model, and behind it the hash of that without its varied values and
    of the settings: a table of another study is refused rather than mixed.  Every row is on disk
    before the next one, and what a kill has cut off is left out when the table is taken up again.
    As a context manager it is open for rows, for one process at a time.
    """

    def __init__(
        self,
        path: str | Path,
        study: str,
        parameters: Sequence[str],
        measures: Sequence[str],
        units: Sequence[str],
    ):
        self.path = Path(path)
        self.study = study
        self.parameters, self.measures = tuple(parameters), tuple(measures)
        self.units = tuple(units)
        pairs = zip(self.measures, self.units, strict=True)
        self.titles = tuple(f"{measure} [{unit or '1'}]" for measure, unit in pairs)
        self.header = ["study", *self.parameters, *self.titles, "status", "reason"]
        self._right = OneWriter(self.path)
        self._file: IO[str] | None = None
        self.rows, _ = self._found()

    def _found(self) -> tuple[list[Row], str]:
        """What an earlier run has finished, and its text: whole lines."""
        found = is_other_than_file(self.path)
        if found:
            raise UsageError(f"{self.path}: it is {found}; name a file for the table.")
        if not self.path.exists():
            return [], ""
        text = _text(self.path)
        whole = text[: text.rfind("\n") + 1]
        if not whole and _line(self.header).startswith(text):
            return [], ""  # killed before its first row
        lines = _lines(self.path, whole)
        if not lines or lines[0] != self.header:
            raise UsageError(f"{self.path} holds {_named(lines)}: name another file, or remove it.")
        return [self._row(number, line) for number, line in enumerate(lines[1:], start=2)], whole

    def _row(self, number: int, line: list[str]) -> Row:
        if line[:1] != [self.study]:
            raise UsageError(
                f"{self.path} was made with another model or other settings: name another "
                "file, or remove it."
            )
        n, m = len(self.parameters), len(self.measures)
        try:
            if len(line) != len(self.header):
                raise ValueError(f"{len(line)} columns, not {len(self.header)}")
            values = [_number(v) for v in line[1 : 1 + n]]
            measures = tuple(_number(v) for v in line[1 + n : 1 + n + m] if v)
            if len(measures) != {"finished": m, "failed": 0}.get(line[-2]):
                raise ValueError(f"{len(measures)} measures of a run that has {line[-2]!r}")
        except ValueError as error:
            raise _damaged(self.path, number, error) from None
        return Row(tuple(zip(self.parameters, values, strict=True)), measures, *line[-2:])

    def __enter__(self) -> Self:
        """Raises UsageError where another process writes the table, or it cannot be written."""
        self._right.take()
        try:
            self.rows, whole = self._found()
            if not whole:
                write_text(self.path, _line(self.header))
            elif whole != _text(self.path):
                write_text(self.path, whole)
            self._file = open(self.path, "a", newline="", encoding="utf-8")
        except BaseException:
            self._right.give_back()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._file is not None:
                self._file.close()
        finally:
            self._right.give_back()

    def add(self, row: Row) -> None:
        """Append a row and see it to the disk.

        Raises VbgError where the disk is full; the rows before it are kept.
        """
        assert self._file is not None
        measures = [repr(v) for v in row.measures] or [""] * len(self.measures)
        values = [repr(v) for _, v in row.point]
        reason = " ".join(row.reason.split())  # one row is one line
        try:
            self._file.write(_line([self.study, *values, *measures, row.status, reason]))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise refused(self.path, error) from error
        self.rows.append(row)

    def missing(self, points: Sequence[Point]) -> list[Point]:
        """Points that have no row yet."""
        done = {row.point for row in self.rows}
        return [point for point in points if point not in done]


def _number(text: str) -> float:
    """Raises ValueError for what is no finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start + 1} is not text; no table.") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from None


def _lines(path: Path, text: str) -> list[list[str]]:
    try:
        return list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise UsageError(f"{path} is no table: {error}. Name another file, or remove it.") from None


def _damaged(path: Path, number: int, error: ValueError) -> UsageError:
    told = escaped(" ".join(str(error).split()))
    return UsageError(
        f"{path}: line {number} is damaged ({told}). Remove the line: its point is run again."
    )


def _named(lines: list[list[str]]) -> str:
    """What another table than the one expected is, for a message."""
    if not lines or lines[0][:1] != ["study"]:
        return "something else than the table of a study"
    return f"another study (columns {', '.join(lines[0][1:-2])})"


_MEASURE = re.compile(r"(.+) \[([^][]+)\]")  # life [h]


@dataclass(frozen=True, slots=True)
class Finished:
    """A table that was read to be looked at: columns (n,), measures NaN where a run failed; `units`
    of the measures, "" for 1 and where it is not told; `model`: its name, if it has one."""

    parameters: dict[str, list[float]]
    measures: dict[str, list[float]]
    units: dict[str, str]
    model: str = ""


def is_study(path: str | Path) -> bool:
    """Whether the file is the table of a parameter study."""
    if Path(path).suffix != ".csv" or not Path(path).is_file():
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().startswith("study,")


def read_table(path: str | Path) -> Finished:
    """The columns of a table on disk; a measure is told by its unit, life [h], or by its function,
    max(...), from a parameter, which is a bare name.  A last line cut off by a kill is left out.

    Raises UsageError if it is not the table of a study.
    """
    text = _text(Path(path))
    head, *lines = _lines(Path(path), text[: text.rfind("\n") + 1]) or [[]]
    if head[:1] != ["study"] or head[-2:] != ["status", "reason"]:
        raise UsageError(f"{path} is not the table of a sweep or an optimisation.")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(head):
            what = ValueError(f"{len(line)} columns, not {len(head)}")
            raise _damaged(Path(path), number, what)
    try:
        columns = {
            escaped(name): [_number(line[i]) if line[i] else math.nan for line in lines]
            for i, name in enumerate(head[1:-2], start=1)
        }
    except ValueError as error:
        raise UsageError(f"{path}: a cell is no number: {escaped(str(error))}.") from None
    parameters: dict[str, list[float]] = {}
    measures: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for title, values in columns.items():
        told = _MEASURE.fullmatch(title)
        if told is None and "(" not in title:
            parameters[title] = values
            continue
        name, unit = (title, "") if told is None else told.groups()
        measures[name], units[name] = values, "" if unit == "1" else unit
    named = lines[0][0] if lines else ""
    return Finished(parameters, measures, units, escaped(named.rpartition(" ")[0]))


def write_parquet(table: Table, path: str | Path) -> None:
    """The table as Parquet.  Raises UsageError without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed("a Parquet table", "pyarrow", "sweep") from error
    columns: dict[str, list[object]] = {
        name: [dict(row.point)[name] for row in table.rows] for name in table.parameters
    }
    for i, title in enumerate(table.titles):
        columns[title] = [row.measures[i] if row.measures else None for row in table.rows]
    columns["status"] = [row.status for row in table.rows]
    columns["reason"] = [row.reason for row in table.rows]
    with replacing(path) as temporary:
        parquet.write_table(pyarrow.table(columns), str(temporary))
