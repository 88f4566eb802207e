"""Structural transformations in one SQLite file, so that later queries compute nothing."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from vbg.errors import UsageError
from vbg.structure.routes.transform import Choice, Score, Transformations, rank_key
from vbg.structure.topology.topology import Topology

_TABLES = """
CREATE TABLE IF NOT EXISTS mechanism (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, bodies TEXT NOT NULL, pairs TEXT NOT NULL,
    complete INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS choice (
    mechanism TEXT NOT NULL REFERENCES mechanism (key), driven TEXT NOT NULL,
    groups INTEGER NOT NULL, largest INTEGER NOT NULL, depth INTEGER NOT NULL,
    types TEXT NOT NULL, PRIMARY KEY (mechanism, driven));
"""


# a search that was cut short does not undo that an earlier one was complete
_KEEP = """
INSERT INTO mechanism VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET name = excluded.name, complete = MAX(complete, excluded.complete)
"""


def topology_key(topology: Topology) -> str:
    """A hash of bodies and pairs; drives do not enter."""
    rows = [(pair.ends, pair.code, pair.grade, pair.dropped) for pair in topology.pairs]
    text = json.dumps([topology.dimension, len(topology.bodies), rows])
    return hashlib.sha256(text.encode()).hexdigest()


def save(path: str | Path, found: Transformations, name: str = "") -> None:
    """Add the choices found to the file `path`, made if need be; repeated ones are replaced."""
    topology = found.topology
    key = topology_key(topology)
    pairs = [pair.name for pair in topology.pairs]
    rows = [
        (
            key,
            json.dumps(choice.driven),
            choice.score.groups,
            choice.score.largest,
            choice.score.depth,
            json.dumps(choice.group_types),
        )
        for choice in found.choices
    ]
    row = (key, name, json.dumps(topology.bodies), json.dumps(pairs), int(found.complete))
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(_TABLES)
        base.execute(_KEEP, row)
        base.executemany("INSERT OR REPLACE INTO choice VALUES (?, ?, ?, ?, ?, ?)", rows)


def load(
    path: str | Path,
    topology: Topology,
    *,
    library: Collection[str] = (),
    order: Collection[str] = ("groups", "largest", "library", "depth"),
    keep: int | None = None,
) -> Transformations:
    """The stored choices of `topology`, ranked anew by `order` and `library`.

    Raises `UsageError` where the file has none.
    """
    key = rank_key(order)
    if not Path(path).exists():
        raise UsageError(f"there is no file {path}; search for transformations first")
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(_TABLES)
        mark = topology_key(topology)
        head = base.execute("SELECT complete FROM mechanism WHERE key = ?", (mark,)).fetchone()
        query = "SELECT driven, groups, largest, depth, types FROM choice WHERE mechanism = ?"
        rows = base.execute(query, (mark,)).fetchall()
    if head is None:
        raise UsageError(f"{path} has no transformations of this mechanism; search first")
    choices = []
    for driven, groups, largest, depth, types in rows:
        names = tuple(json.loads(types))
        score = Score(groups, largest, sum(name in library for name in names), depth)
        choices.append(Choice(tuple(json.loads(driven)), score, names))
    return Transformations(topology, tuple(sorted(choices, key=key)[:keep]), bool(head[0]))
