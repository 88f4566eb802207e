"""The results table of a study: grows line by line, survives a kill, is taken up again."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from vbg.analysis.studies.sampling import Point
from vbg.errors import UsageError, not_installed


@dataclass(frozen=True, slots=True)
class Row:
    """One point: its measures, or why there are none (`status` "failed")."""

    point: Point
    measures: tuple[float, ...]
    status: str
    reason: str


class Table:
    """A CSV file with the columns study, PARAMETERS, MEASURES, status, reason.

    `study` is the hash of the model without its varied values and of the settings: a table of
    another study is refused rather than mixed.  Every row is on disk before the next one.
    """

    def __init__(
        self, path: str | Path, study: str, parameters: Sequence[str], measures: Sequence[str]
    ):
        self.path = Path(path)
        self.study = study
        self.parameters, self.measures = tuple(parameters), tuple(measures)
        self.header = ["study", *self.parameters, *self.measures, "status", "reason"]
        self.rows: list[Row] = []
        if self.path.exists() and self.path.stat().st_size:
            self._take_up()
        self._file: IO[str] | None = None

    def _take_up(self) -> None:
        """Read what an earlier run has finished; a last line cut off by a kill is dropped."""
        text = self.path.read_text(encoding="utf-8")
        whole, _, _ = text.rpartition("\n")
        lines = list(csv.reader(whole.splitlines()))
        if not lines or lines[0] != self.header:
            raise UsageError(f"{self.path} holds {_named(lines)}: name another file, or remove it.")
        for line in lines[1:]:
            if line[0] != self.study:
                raise UsageError(
                    f"{self.path} was made with another model or other settings: name another "
                    "file, or remove it."
                )
            self.rows.append(self._row(line))
        if whole + "\n" != text:
            self.path.write_text(whole + "\n", encoding="utf-8")

    def _row(self, line: list[str]) -> Row:
        n, m = len(self.parameters), len(self.measures)
        values = [float(v) for v in line[1 : 1 + n]]
        measures = tuple(float(v) for v in line[1 + n : 1 + n + m] if v)
        return Row(tuple(zip(self.parameters, values, strict=True)), measures, *line[-2:])

    def __enter__(self) -> Self:
        fresh = not self.path.exists() or self.path.stat().st_size == 0
        self._file = open(self.path, "a", newline="", encoding="utf-8")
        if fresh:
            csv.writer(self._file, lineterminator="\n").writerow(self.header)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: Row) -> None:
        """Append a row and see it to the disk."""
        assert self._file is not None
        measures = [repr(v) for v in row.measures] or [""] * len(self.measures)
        values = [repr(v) for _, v in row.point]
        writer = csv.writer(self._file, lineterminator="\n")
        writer.writerow([self.study, *values, *measures, row.status, row.reason])
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows.append(row)

    def missing(self, points: Sequence[Point]) -> list[Point]:
        """Points that have no row yet."""
        done = {row.point for row in self.rows}
        return [point for point in points if point not in done]


def _named(lines: list[list[str]]) -> str:
    """What another table than the one expected is, for a message."""
    if not lines or lines[0][:1] != ["study"]:
        return "something else than the table of a study"
    return f"another study (columns {', '.join(lines[0][1:-2])})"


@dataclass(frozen=True, slots=True)
class Finished:
    """A table that was read to be looked at: columns (n,), measures NaN where a run failed."""

    parameters: dict[str, list[float]]
    measures: dict[str, list[float]]


def is_study(path: str | Path) -> bool:
    """Whether the file is the table of a parameter study."""
    if Path(path).suffix != ".csv" or not Path(path).is_file():
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().startswith("study,")


def read_table(path: str | Path) -> Finished:
    """The columns of a table on disk; a measure is told by its function, max(...), from a
    parameter, which is a name.  A last line cut off by a kill is left out.

    Raises UsageError if it is not the table of a study.
    """
    text, _, _ = Path(path).read_text(encoding="utf-8").rpartition("\n")
    head, *lines = list(csv.reader(text.splitlines())) or [[]]
    if head[:1] != ["study"] or head[-2:] != ["status", "reason"]:
        raise UsageError(f"{path} is not the table of a sweep or an optimisation.")
    columns = {
        name: [float(line[i]) if line[i] else math.nan for line in lines]
        for i, name in enumerate(head[1:-2], start=1)
    }
    measures = {name: values for name, values in columns.items() if "(" in name}
    return Finished({n: v for n, v in columns.items() if n not in measures}, measures)


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
    for i, name in enumerate(table.measures):
        columns[name] = [row.measures[i] if row.measures else None for row in table.rows]
    columns["status"] = [row.status for row in table.rows]
    columns["reason"] = [row.reason for row in table.rows]
    parquet.write_table(pyarrow.table(columns), str(path))
