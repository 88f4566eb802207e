"""The list of raw bonds, ``"a -> b"``: power is positive from a to b."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vbg.errors import Problem, counted
from vbg.expressions import shown
from vbg.model.places import Path
from vbg.model.reading import Reading, Scope, described

if TYPE_CHECKING:
    from vbg.model.model import Model

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
        reading.fail(path, f"{tail} is bonded to itself.")
        return None
    return f"{tail} -> {head}"


def vertices_without_bonds(model: Model) -> Iterator[Problem]:
    """Raw vertices that lack bonds, or have them the wrong way round: one bond into I, C
    and R, one out of Se and Sf, one into and one out of TF and GY, any on junctions."""
    into: dict[str, int] = dict.fromkeys(model.bondgraph, 0)
    out = dict(into)
    for bond in model.bonds:
        tail, head = bond.split(" -> ")
        if tail in out:
            out[tail] += 1
        if head in into:
            into[head] += 1
    for name, vertex in model.bondgraph.items():
        found = (into[name], out[name])
        if vertex.kind in ("0", "1"):
            if sum(found) == 0:
                yield _lacks_bonds(model, name, "the junction has no bond.", "any number of them")
            continue
        wanted, words = _WANTED[vertex.kind]
        if found != wanted:
            bonds = f"{counted(found[0], 'bond')} into it and {found[1]} out of it."
            what = f"this {vertex.kind} has {bonds}"
            if sum(found) == sum(wanted):
                words += ", the other way round"
            yield _lacks_bonds(model, name, what, words)


_WANTED = {
    **dict.fromkeys(("I", "C", "R"), ((1, 0), "one into it")),
    **dict.fromkeys(("Se", "Sf"), ((0, 1), "one out of it")),
    **dict.fromkeys(("TF", "GY"), ((1, 1), "one into it and one out of it")),
}


def _lacks_bonds(model: Model, name: str, what: str, wanted: str) -> Problem:
    file, line, column = model.where(("bondgraph", name))
    remedy = f'It needs {wanted}, in the list bonds = ["a -> b"] above the first table.'
    return Problem("error", f"bondgraph.{name}", what, remedy, file, line, column)
