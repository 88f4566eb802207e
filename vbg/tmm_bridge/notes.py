"""How the solver words what a verdict reads back from the notes of its solutions."""

from __future__ import annotations

from collections.abc import Iterable

from vbg.errors import Problem

APART = "not solved: "
NOT_UNIQUE = "redundant constraints: not unique are "


def channels_in(notes: Iterable[Problem]) -> frozenset[str]:
    """The components that are noted as not unique."""
    found: set[str] = set()
    for note in notes:
        if note.what.startswith(NOT_UNIQUE):
            joint = note.where.partition(".")[2]
            listed = note.what[len(NOT_UNIQUE) :].rstrip(".")
            found |= {f"{joint}.{component}" for component in listed.split(", ")}
    return frozenset(found)
