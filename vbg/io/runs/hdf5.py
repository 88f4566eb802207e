"""Results on disk: an HDF5 file that grows while the simulation runs.

Layout (format 2)::

    rows      (n, 1 + k) float64   one row per output instant, time first
    columns   (1 + k,) text        "time", "crank.position.x", "energy.kinetic", ...
    layout    text, JSON           [[signal, width or 0 for a scalar, unit], ...]
    model     text                 the model file that was run, if known
    ending    (m,) bytes, JSON     rows, units, status, audit, how it was made; empty until
                                   all rows are there: the mark that the file is whole

so that ``pandas.DataFrame(f["rows"][:], columns=f["columns"].asstr()[:])`` is
the whole run.  The file is in single-writer-multiple-readers mode while it
grows: a second process may read it at any time, and whatever kills the
writer, all rows up to the last append can be read afterwards; the ending is
appended in the same mode.  Other programs must open a file whose writer was killed
in the same mode (`swmr=True`).  One process writes a file; a second one is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from vbg.errors import UsageError, VbgError
from vbg.io.runs import trust, unclosed
from vbg.io.runs.ending import from_plain, to_plain
from vbg.platform.files import is_other_than_file
from vbg.platform.locks import OneWriter
from vbg.platform.text import escaped
from vbg.plumbing.components import component_names
from vbg.solution import Solution, Status

FORMAT = 2
# Aimed at: large enough for the disk, small enough that one row is cheap to add.
CHUNK_BYTES = 1 << 18

_SYSTEM_SAID = re.compile(r"error message = '([^']*)'")

Layout = list[tuple[str, int, str]]


class Writer:
    """Appends blocks of output rows to a new file.

    The file comes to be with the first block, which fixes names and widths.
    Every `append` is flushed: what was appended survives a kill.  Use as a
    context manager, and hand `append` to the simulation as its sink.
    """

    def __init__(self, path: str | Path, units: Mapping[str, str] | None = None, model: str = ""):
        self.path = Path(path)
        self._units = dict(units or {})
        self._model = model
        self._file: h5py.File | None = None
        self._layout: Layout = []
        self._refused = False
        self._right = OneWriter(self.path)

    def __enter__(self) -> Self:
        """Takes the right to write; raises UsageError where another process has it."""
        self._right.take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def know(self, units: Mapping[str, str]) -> None:
        """Units of signals, known before the first block, so that a run that is killed
        leaves them too."""
        self._units |= units

    def append(self, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> None:
        """Add rows: time (m,) [s], every signal (m,) or (m, k), and flush."""
        if self._file is None:
            self._layout = _layout(signals, self._units)
            self._right.take()
            self._file = _create(self.path, self._layout, self._model)
        _check_names(self._layout, signals)
        block = np.column_stack([time, *(signals[name] for name, _, _ in self._layout)])
        rows = self._file["rows"]
        start = rows.shape[0]
        with self._writing(rows, self._file):
            rows.resize(start + len(block), axis=0)
            rows[start:] = block
            rows.flush()

    @contextmanager
    def _writing(self, *objects: h5py.HLObject) -> Iterator[None]:
        """Tells what the disk refuses (it is full, or gone) in plain words.

        Raises VbgError; the file and the open `objects` are left as they are then: HDF5
        would try the refused block again when it closes them, and fall over it.
        """
        try:
            yield
        except (OSError, RuntimeError) as error:
            self._refused = True
            for held in objects:
                h5py.h5i.inc_ref(held.id)
            said = _SYSTEM_SAID.search(str(error))
            raise VbgError(
                f"{self.path}: cannot be written any further: {said[1] if said else error}."
                " The rows that were written before can be read."
            ) from error

    def finish(self, solution: Solution) -> None:
        """Write how the run ended; the rows are there already.  The file is whole then.

        A run that ended before its first block gets its file here.
        """
        if self._file is None:
            self._units = dict(solution.units)
            self.append(solution.time, solution.signals)
        assert self._file is not None
        # the units are known to the solution, not to the blocks it was made of
        head = {"rows": self._file["rows"].shape[0], "units": dict(solution.units)}
        mark = np.frombuffer(json.dumps(head | to_plain(solution)).encode(), dtype=np.uint8)
        ending = self._file["ending"]
        with self._writing(ending, self._file):
            ending.resize(len(mark), axis=0)
            ending[:] = mark
            ending.flush()
        self.close()

    def close(self) -> None:
        """Close the file; it stays readable without an ending."""
        try:
            if self._file is not None and not self._refused:
                with self._writing(self._file):
                    self._file.close()
        finally:
            self._file = None
            self._right.give_back()


def write(solution: Solution, path: str | Path, model: str = "") -> None:
    """Write the whole of `solution` to a new file."""
    with Writer(path, solution.units, model) as writer:
        writer.append(solution.time, solution.signals)
        writer.finish(solution)


def read(path: str | Path, start: int = 0) -> Solution:
    """The solution in a file of this format, from row `start` on.

    A file without an ending (its writer was killed, or is still at work)
    comes back with all its rows and a status that says so.

    Raises
    ------
    UsageError
        the file is not a result of vbg.
    """
    with _opened(path) as file:
        return _solution(file, start)


def read_model(path: str | Path) -> str:
    """Text of the model file whose results these are; empty if it is not known.

    Raises UsageError as `read` does.
    """
    with _opened(path) as file:
        return trust.text(file, "model")


@contextmanager
def _opened(path: str | Path) -> Iterator[h5py.File]:
    """The file, open for reading beside its writer; what is not ours is a UsageError."""
    if not Path(path).exists():
        raise UsageError(f"{path}: no such file.")
    trust.require_file(path, growth=0.0)
    try:
        with unclosed.opened(path) as file:
            yield file
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, RecursionError) as error:
        raise UsageError(
            f"{path}: not a result file of vbg ({_reason(error)})."
            " Result files are written by `vbg run MODEL -o NAME.h5`."
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return "it is not an HDF5 file, or damaged"
    if isinstance(error, KeyError):
        return "something that vbg writes is missing"
    return escaped(" ".join(str(error).split())[:200])


def _solution(file: h5py.File, start: int) -> Solution:
    made = file.attrs["vbg"]
    if not isinstance(made, np.integer) or not 0 < made <= FORMAT:
        raise ValueError(f"format {made!r}; this vbg reads up to {FORMAT}")
    table = trust.dataset(file, "rows")
    if table.ndim != 2 or table.dtype != np.float64:
        raise ValueError("'rows' is no table of numbers")
    ending = _ending(file)
    rows = table[start:]
    signals, units, column = {}, {}, 1
    for name, width, unit in trust.layout(json.loads(trust.text(file, "layout")), table.shape[1]):
        signals[name] = rows[:, column : column + width] if width else rows[:, column]
        units[name] = unit
        column += max(width, 1)
    time = rows[:, 0]
    if ending is None or ending["rows"] != table.shape[0]:
        return Solution(time, signals, units=units, status=_without_ending(time))
    units |= ending["units"]
    return Solution(time, signals, units=units, **ending["how"])


def _ending(file: h5py.File) -> dict[str, Any] | None:
    """How many rows there are, their units, and how the run ended; None without an ending."""
    if "ending" not in file:
        return None
    mark = trust.dataset(file, "ending")
    if mark.ndim != 1 or mark.dtype != np.uint8:
        raise ValueError("'ending' is no text")
    if mark.shape[0] == 0:
        return None
    plain = json.loads(mark[:].tobytes())
    units = trust.restored(Mapping[str, str], plain["units"])
    return {"rows": plain["rows"], "units": units, "how": from_plain(plain)}


def _without_ending(time: np.ndarray) -> Status:
    reach = f"the rows reach t = {time[-1]:.6g} s" if len(time) else "no row was written"
    return Status(
        "failed",
        f"The file has no ending: its run was killed or is still at work; {reach}.",
        "Everything up to there is valid; run again for the rest.",
    )


def _layout(signals: Mapping[str, np.ndarray], units: Mapping[str, str]) -> Layout:
    widths = {name: 0 if values.ndim == 1 else values.shape[1] for name, values in signals.items()}
    return [(name, width, units.get(name, "")) for name, width in widths.items()]


def _check_names(layout: Layout, signals: Mapping[str, np.ndarray]) -> None:
    expected = {name for name, _, _ in layout}
    if expected != set(signals):
        odd = sorted(expected.symmetric_difference(signals))
        raise UsageError(f"Writer.append: every block has the same signals; not in both: {odd}.")


def _create(path: Path, layout: Layout, model: str) -> h5py.File:
    columns = ["time"]
    for name, width, _ in layout:
        columns += component_names(name, width) if width else (name,)
    chunk = max(1, CHUNK_BYTES // (8 * len(columns)))
    found = is_other_than_file(path)
    if found:
        raise UsageError(f"{path}: cannot be written: it is {found}.")
    try:
        with open(path, "ab"):
            pass  # only to hear from the system, in plain words, what is in the way
        file = h5py.File(path, "w", libver="latest")
    except OSError as error:
        reason = error.strerror or "another program has it open; choose another name"
        raise UsageError(f"{path}: cannot be written: {reason}.") from error
    file.attrs["vbg"] = FORMAT
    file["columns"] = columns
    file["layout"] = json.dumps(layout)
    file["model"] = model
    file.create_dataset("ending", (0,), "u1", maxshape=(None,), chunks=(1 << 14,))
    file.create_dataset(
        "rows", (0, len(columns)), "f8", maxshape=(None, len(columns)), chunks=(chunk, len(columns))
    )
    file.swmr_mode = True
    return file
