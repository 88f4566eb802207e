"""The list of raw bonds, ``"a -> b"``: power is positive from a to b."""

from __future__ import annotations

import re
from typing import Any

from vbg.expressions import shown
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope, described

_BOND = re.compile(r"\s*([^\s>]+?)\s*->\s*([^\s>]+)\s*\Z")


def read_bonds(reading: Reading, scope: Scope, raw: Any) -> tuple[str, ...]:
    """Each bond as ``"a -> b"``; an end is NAME or NAME.PORT of something that exists."""
    if not isinstance(raw, (list, tuple)):
        reading.fail(("bonds",), f'expected a list of "a -> b", found {described(raw)}.')
        return ()
    bonds = [_bond(reading, scope, ("bonds", i), entry) for i, entry in enumerate(raw)]
    return tuple(bond for bond in bonds if bond is not None)


def _bond(reading: Reading, scope: Scope, path: Path, raw: Any) -> str | None:
    text = reading.text(path, raw)
    if text is None:
        return None
    match = _BOND.match(text)
    if match is None:
        reading.fail(path, f'expected "a -> b", found {shown(text)}.')
        return None
    tail, head = match.groups()
    for end in (tail, head):
        owner = end.partition(".")[0]
        if owner not in scope.objects:
            reading.unknown(path, "unknown vertex or part", owner, scope.objects, "parts")
            return None
    if tail == head:
        reading.fail(path, f"{tail} is bonded to itself.", "Name two vertices.")
        return None
    return f"{tail} -> {head}"
