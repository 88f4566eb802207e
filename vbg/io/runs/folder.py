"""The results and studies of a folder: what they are, found again, tagged.

What is known of every file is kept in ``.vbg-results.sqlite`` beside them.  It is an index
only: a file that is newer than its entry is read again, one that is gone is forgotten,
and without the index all is read anew.  Tags are no part of it: they stand in
``vbg-tags.toml`` in the folder of the files, one line for each file.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vbg.errors import UsageError, VbgError
from vbg.io.runs.names import RESULT_ENDINGS
from vbg.io.runs.trust import restored
from vbg.platform.files import remove_link, write_text
from vbg.platform.text import escaped

INDEX = ".vbg-results.sqlite"
TAGS = "vbg-tags.toml"
FORMAT = 2  # of the index: another one is built anew
_GROWING = ".part"

_TABLES = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE IF NOT EXISTS entry (
    file TEXT PRIMARY KEY, stamp INTEGER NOT NULL, size INTEGER NOT NULL,
    kind TEXT NOT NULL, model TEXT NOT NULL, status TEXT NOT NULL, data TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A result or the table of a study.

    `file` from the folder that was asked for; `kind` "run", "study", or "" for a file that is
    neither.  Of a study `rows` are its runs, `parameters` what varies (its lowest value) and
    `measures` the smallest of each.  `parameters` are in SI, `measures` in their `units` ("" for
    SI, where it is not known).
    """

    file: str
    kind: str = ""
    model: str = ""
    status: str = ""
    sentence: str = ""
    rows: int = 0
    t_end: float = math.nan
    solver: str = ""
    method: str = ""
    energy: float = math.nan
    parameters: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    modified: float = 0.0


def entries(folder: str | Path, *, rebuild: bool = False) -> tuple[Entry, ...]:
    """All results and studies in `folder` and below it, by their names.

    The index is brought up to date, `rebuild` makes it anew; where the folder cannot be
    written it is done without.  Raises UsageError where there is no such folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: there is no such folder.")
    if rebuild:
        (root / INDEX).unlink(missing_ok=True)
    with closing(_opened(root)) as base:
        known = {file: (stamp, size, data) for file, stamp, size, data in base.execute(_KNOWN)}
        found: dict[str, Entry] = {}
        for path in _files(root):
            name = path.relative_to(root).as_posix()
            told = path.stat()
            stamp, size, data = known.pop(name, (-1, -1, ""))
            same = (stamp, size) == (told.st_mtime_ns, told.st_size)
            kept = _restored(data) if same else None
            if kept is not None:
                found[name] = kept
                continue
            found[name] = entry = describe(path, name)
            row = (name, told.st_mtime_ns, told.st_size, entry.kind, entry.model, entry.status)
            base.execute(_KEEP, (*row, json.dumps(asdict(entry))))
        base.executemany("DELETE FROM entry WHERE file = ?", [(name,) for name in known])
        base.commit()
    tags = _all_tags(root, found)
    return tuple(
        _with(entry, tags.get(name, ()), root)
        for name, entry in sorted(found.items())
        if entry.kind
    )


_KNOWN = "SELECT file, stamp, size, data FROM entry"
_KEEP = "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)"


def _opened(root: Path) -> sqlite3.Connection:
    """The index, empty where it is damaged or of another format; in memory where it cannot be
    kept."""
    path = root / INDEX
    for _ in range(2):
        try:
            remove_link(path)
            base = sqlite3.connect(path, timeout=30.0)
            (version,) = base.execute("PRAGMA user_version").fetchone()
            if version in (0, FORMAT):
                base.executescript(_TABLES)
                base.execute(_KNOWN)
                return base
            base.close()
            path.unlink(missing_ok=True)
        except sqlite3.OperationalError:
            break  # the folder cannot be written, or another process holds the index
        except (sqlite3.DatabaseError, OSError):
            path.unlink(missing_ok=True)
    base = sqlite3.connect(":memory:")
    base.executescript(_TABLES)
    return base


def _files(root: Path) -> Iterator[Path]:
    """Files that may be results, in this folder and below, links and hidden ones left out."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix not in RESULT_ENDINGS or name.startswith("."):
                continue
            if path.is_file() and not path.is_symlink() and _GROWING not in path.suffixes:
                yield path


def describe(path: Path, name: str = "") -> Entry:
    """What the file `path` is; of no kind where it is neither a result nor a study."""
    from vbg.analysis.studies.table import is_study

    try:
        return _study(path, name) if is_study(path) else _run(path, name)
    except (VbgError, OSError, ValueError) as error:
        return Entry(name, sentence=" ".join(str(error).split()))


def _run(path: Path, name: str) -> Entry:
    from vbg.io.runs.results import read

    solution = read(path)
    if not solution.made_by.solver and not solution.signals:
        return Entry(name)
    parameters, measures, units = _of_model(path, solution)
    made = solution.made_by
    return Entry(
        name,
        "run",
        made.model,
        solution.status.code,
        solution.status.sentence,
        len(solution.time),
        float(solution.time[-1]) if len(solution.time) else math.nan,
        made.solver,
        made.method,
        float(solution.audit.energy_residual),
        parameters,
        measures,
        units,
    )


def _of_model(
    path: Path, solution: Any
) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    """Parameters of the model that an HDF5 result keeps, its measures and their units."""
    from vbg.io import toml
    from vbg.io.runs import hdf5
    from vbg.measures import measured

    text = hdf5.read_model(path) if path.suffix in (".h5", ".hdf5") else ""
    if not text:
        return {}, {}, {}
    try:
        model = toml.parse(text, str(path))
    except VbgError:
        return {}, {}, {}
    known = model.parameters, model.functions, model.parameter_units
    found = [measured(n, m, solution, *known) for n, m in model.measures.items()]
    values = {one.name: one.value for one in found if one.value is not None}
    units = {one.name: one.unit for one in found if one.name in values}
    return {name: float(value) for name, value in model.parameters.items()}, values, units


def _study(path: Path, name: str) -> Entry:
    from vbg.analysis.studies.table import read_table

    table = read_table(path)
    measures = {name: [v for v in column if v == v] for name, column in table.measures.items()}
    runs = len(next(iter(table.parameters.values()), []))
    done = max((len(column) for column in measures.values()), default=0)
    return Entry(
        name,
        "study",
        table.model,
        status="finished" if done == runs else f"{runs - done} of {runs} failed",
        rows=runs,
        parameters={name: min(column) for name, column in table.parameters.items() if column},
        measures={name: min(column) for name, column in measures.items() if column},
        units=table.units,
    )


def _restored(data: str) -> Entry | None:
    """The entry that the index keeps; None where it is damaged."""
    try:
        entry: Entry = restored(Entry, {**json.loads(data), "tags": []})
        return replace(
            entry,
            parameters=dict(entry.parameters),
            measures=dict(entry.measures),
            units=dict(entry.units),
        )
    except (ValueError, TypeError):
        return None


def _with(entry: Entry, tags: Sequence[str], root: Path) -> Entry:
    return replace(entry, tags=tuple(tags), modified=(root / entry.file).stat().st_mtime)


def _all_tags(root: Path, names: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    found = {}
    for folder in {Path(name).parent for name in names}:
        for name, tags in read_tags(root / folder).items():
            found[(folder / name).as_posix()] = tags
    return found


def read_tags(folder: str | Path) -> dict[str, tuple[str, ...]]:
    """Tags of the files in `folder` itself.  Raises UsageError where their file is damaged."""
    path = Path(folder) / TAGS
    if not path.is_file():
        return {}
    try:
        plain = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        return {name: restored(tuple[str, ...], tags) for name, tags in plain.items()}
    except (TOMLKitError, UnicodeDecodeError, OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"{path}: no file of tags ({escaped(' '.join(str(error).split()))}); it has lines as"
            ' "run.h5" = ["baseline"]. Mend or remove it.'
        ) from error


def change_tags(
    file: str | Path, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> tuple[str, ...]:
    """Give the file these tags, take those from it; the tags it has then, in their order.

    Raises UsageError where there is no such file.
    """
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"{file}: no such file.")
    tags = read_tags(path.parent)
    own = [tag for tag in tags.get(path.name, ()) if tag not in remove]
    own += [tag for tag in dict.fromkeys(add) if tag not in own]
    kept = {name: list(of) for name, of in {**tags, path.name: tuple(own)}.items() if of}
    write_text(path.parent / TAGS, tomlkit.dumps(dict(sorted(kept.items()))), follow=False)
    return tuple(own)
