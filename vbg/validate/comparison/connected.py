"""What hangs together in a machine, so that it has scales of its own.

A slow shaft is no rounding beside a rotor at 1000 rad/s with which it has nothing to do.  Parts
hang together over bodies, joints, nodes and whatever they read; the ground, the frame, the tank
and gravity connect nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vbg.fields import Attachment, declared
from vbg.model import Model
from vbg.model.catalogue import JOINT_NODE, REFERENCE_NODES
from vbg.plumbing.groups import joined

_TABLES = (
    "bodies", "frames", "beams", "joints", "forces", "electric", "hydraulic", "rotational",
    "translational", "signals",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def owner_of(signal: str) -> str:
    """The part of a signal, or the node with its table."""
    words = signal.split(".")
    return ".".join(words[:2]) if words[0] in REFERENCE_NODES else words[0]


def groups_of(model: Model) -> list[frozenset[str]]:
    """The owners of signals that hang together, group by group; one group, empty, where raw bonds
    or FMUs may connect anything."""
    if model.bondgraph or model.fmu:
        return [frozenset()]
    parts = {name: part for table in _TABLES for name, part in getattr(model, table).items()}
    pairs, owners = [], set(parts)
    for name, part in parts.items():
        for other in _reached(part):
            owners.add(other)
            pairs.append((name, other))
    found = joined(owners, ((a, b) for a, b in pairs if b in parts or "." in b))
    return [frozenset(group) for group in found if not parts.keys().isdisjoint(group)]


def _reached(part: Any) -> Iterator[str]:
    """Names of what a part is at, acts on or reads, nodes with their tables."""
    table = getattr(part, "table", "")
    for key in declared(type(part)):
        value = getattr(part, key)
        if key == "nodes" and table in REFERENCE_NODES:
            for node in value or ():
                if node.startswith(JOINT_NODE):
                    yield node.removeprefix(JOINT_NODE)
                elif node != REFERENCE_NODES[table]:
                    yield f"{table}.{node}"
        else:
            yield from _names(value)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Attachment):
        yield value.body
    elif isinstance(value, str):
        for name in _NAME.findall(value):
            first, *others = name.split(".")
            yield owner_of(name)
            if others and first not in REFERENCE_NODES:
                yield others[0]
            yield first
    elif isinstance(value, tuple):
        for inner in value:
            yield from _names(inner)
