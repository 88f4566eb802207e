"""Whether raw vertices have the bonds that they need."""

from __future__ import annotations

from collections.abc import Iterator

from vbg.errors import Problem, counted
from vbg.model.model import Model


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
