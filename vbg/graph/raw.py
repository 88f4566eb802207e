"""Bonds of a model's own list: between raw vertices, nodes of parts and coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from vbg.blocks import leaf
from vbg.errors import ModelError, Problem
from vbg.graph.bondgraph import Bond, BondGraph, Output, Vertex
from vbg.graph.placeholders import BOND_FLOW, EFFORT

ONE_PORTS = ("I", "C", "R", "Se", "Sf")


def check_raw_bond(
    tail: str, head: str, ends: tuple[Vertex, Vertex], incident: Mapping[str, list[Bond]]
) -> int:
    """The size of the bond.

    Raises ModelError where sizes differ or power does not run as it must: into I, C
    and R, out of Se and Sf, once into and once out of TF and GY.
    """
    for end, outward in zip(ends, (True, False), strict=True):
        inward_only = end.kind in ("I", "C", "R")
        if (inward_only and outward) or (end.kind in ("Se", "Sf") and not outward):
            way = "into" if inward_only else "out of"
            what = f"power runs {way} {end.name}, which is of kind {end.kind}."
            raise _refused(tail, head, what, "Write the bond the other way round.")
        if end.kind in ONE_PORTS and incident[end.name]:
            what = f"{end.name} has one bond already, and is of kind {end.kind}."
            raise _refused(tail, head, what, "Join both to a junction, and it to that.")
    domains = [end.domain for end in ends]
    if "any" not in domains and domains[0] != domains[1] and two_port_of(ends) is None:
        what = f"it joins different domains, {domains[0]} and {domains[1]}."
        raise _refused(tail, head, what, "Put a transformer TF or a gyrator GY between them.")
    sizes = [_size(end, outward) for end, outward in zip(ends, (True, False), strict=True)]
    if sizes[0] != sizes[1]:
        what = f"sizes {sizes[0]} and {sizes[1]} differ."
        raise _refused(tail, head, what, "Give both ends as many components, by size or by law.")
    return sizes[0]


def _size(end: Vertex, outward: bool) -> int:
    """Of a bond out of `end` or into it: of a two-port the rows or the columns of its ratio."""
    if end.kind in ("TF", "GY") and end.law is not None:
        return end.law.rows if outward else end.law.cols
    return end.size


def _refused(tail: str, head: str, what: str, remedy: str) -> ModelError:
    return ModelError.of([Problem("error", f"bonds: {tail} -> {head}", what, remedy)])


def mixed_domains(graph: BondGraph) -> Iterator[Problem]:
    """Raw junctions that set an effort or flow of one domain equal to that of another: a
    voltage to a force.  Transformers and gyrators part domains."""
    seen: set[str] = set()
    for start, vertex in graph.vertices.items():
        if start in seen or vertex.domain != "any" or vertex.kind not in ("0", "1"):
            continue
        domains: dict[str, str] = {}
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for bond in graph.incident[name]:
                other = graph.vertices[bond.tail if bond.head == name else bond.head]
                if other.domain != "any":
                    domains.setdefault(other.domain, other.name)
                elif other.kind in ("0", "1"):
                    waiting.append(other.name)
        if len(domains) > 1:
            found = " and ".join(f"{name} ({domain})" for domain, name in domains.items())
            yield Problem(
                "error",
                vertex.part,
                f"joins different domains: {found}.",
                "Put a transformer TF or a gyrator GY between them, whose ratio carries the units.",
            )


def raw_signals(graph: BondGraph, names: Iterable[str]) -> Iterator[Output]:
    """Effort and flow of the bond of every raw one-port, the shared variable of a junction."""
    for name in names:
        vertex, bonds = graph.vertices[name], graph.incident[name]
        if vertex.kind in ("TF", "GY"):
            continue
        if vertex.kind != "1":
            yield Output(f"{name}.effort", leaf(f"{EFFORT}{bonds[0].name}", vertex.size), "1")
        if vertex.kind != "0":
            yield Output(f"{name}.flow", leaf(f"{BOND_FLOW}{bonds[0].name}", vertex.size), "1")


def two_port_of(ends: tuple[Vertex, Vertex]) -> Vertex | None:
    """The transformer or gyrator among the ends."""
    return next((v for v in ends if v.kind in ("TF", "GY")), None)


def raw_end(
    bond: str,
    end: str,
    vertices: Mapping[str, Vertex],
    terminal: Callable[[str], str | None],
    coordinates: Mapping[str, str],
) -> str:
    """The vertex that an end of a raw `bond` names: a vertex, TABLE.NODE or JOINT.angle."""
    if end in vertices:
        return end
    node = terminal(end)
    if node is not None:
        return node
    path = f"joints.{end}"
    if path in coordinates:
        return coordinates[path]
    problem = Problem(
        "error",
        bond,
        f"it ends at {end!r}, which is no vertex, no node TABLE.NAME and no free coordinate "
        "JOINT.angle or JOINT.slide.",
        "Name one of these.",
    )
    raise ModelError.of([problem])
