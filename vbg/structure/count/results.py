"""A structure as the paper tabulates it: Results_SA, Tables 8 and 9, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.errors import counted
from vbg.structure.count.groups import Group
from vbg.structure.count.report import Part, Structure
from vbg.structure.topology.pairs import PLANAR
from vbg.structure.topology.topology import Topology


def results_matrix(structure: Structure) -> NDArray[np.int64]:
    """Results_SA (N, N), eq. 11 and 16 of the paper.

    Row 1: the number of the group of each body.  Below, entry (y, j) says
    that body j hands freedoms to body y: 1 from the frame, n + 1 from a body
    of group n, which is then solved.
    """
    topology = structure.topology
    count = len(topology.bodies)
    of_body = group_numbers(structure)
    matrix = np.zeros((count, count), dtype=np.int64)
    matrix[0] = of_body
    for pair in topology.pairs:
        for giver in pair.ends:
            for taker in pair.ends:
                if of_body[giver] < of_body[taker]:
                    matrix[taker, giver] = of_body[giver] + 1
    return matrix


def group_numbers(structure: Structure) -> list[int]:
    """The number of the group of each body; 0 for the frame and where there is none."""
    of_body = [0] * len(structure.topology.bodies)
    for group in structure.groups:
        for body in group.bodies:
            of_body[body] = group.number
    return of_body


def external_pairs(topology: Topology, group: Group) -> str:
    """Such as ``10&1U.13&1P.``: freedoms received, the group's body first."""
    return _listed(_seen_from(topology, group, group.external))


def internal_pairs(topology: Topology, group: Group) -> str:
    """Such as ``9&10S.9&13R.``"""
    pairs = (topology.pairs[index] for index in group.internal)
    rows = sorted((*sorted(pair.ends), pair.code) for pair in pairs)
    return _listed(_named(topology, rows))


def handed_pairs(topology: Topology, group: Group) -> str:
    """Such as ``9&6S.9&8R.``: freedoms given to groups solved later."""
    return _listed(_seen_from(topology, group, group.handed))


def _seen_from(topology: Topology, group: Group, indices: Iterable[int]) -> list[tuple]:
    rows = []
    for index in indices:
        pair = topology.pairs[index]
        own = [body for body in pair.ends if body in group.bodies]
        rest = [body for body in pair.ends if body not in group.bodies]
        rows.append((*own, *rest, pair.code))
    return _named(topology, sorted(rows))


def _named(topology: Topology, rows: Iterable[tuple]) -> list[tuple]:
    return [(*(topology.bodies[body] for body in row[:-1]), row[-1]) for row in rows]


def _listed(rows: Iterable[tuple]) -> str:
    text = ""
    for *ends, code in rows:
        mark = "" if ends[-1].isdigit() else ":"  # keeps a name apart from the code
        text += "&".join(ends) + f"{mark}{code}."
    return text or "-"


# what the columns of the table of groups mean
LEGEND = (
    "A group is solved at once, after the groups it needs; groups of one level need none of each",
    "other.  n_c: driven freedoms in it.  type: its free pairs, counted (2R1P: two revolutes and a",
    "prismatic), and 2D or 3D.  external: pairs to what is solved before; internal: between its",
    "own bodies; handed on: to groups solved later, as BODY&BODY:PAIR.",
)


@dataclass(frozen=True, slots=True)
class TypeCount:
    """One row of the paper's Table 9."""

    type_name: str
    groups: int
    in_library: bool


def type_counts(structure: Structure, library: Collection[str] = ()) -> tuple[TypeCount, ...]:
    """Group types with their number, and whether `library` names them."""
    counts = Counter(group.type_name for group in structure.groups)
    return tuple(TypeCount(name, n, name in library) for name, n in counts.items())


def table_text(structure: Structure, library: Collection[str] = ()) -> str:
    """The analysis as text: summary, Table 8 with levels, Table 9, or what is wrong."""
    topology = structure.topology
    kind = "planar" if topology.dimension == PLANAR else "spatial"
    lines = [
        f"{kind} mechanism: {len(topology.bodies) - 1} bodies and the frame "
        f"{topology.bodies[0]!r}, {counted(len(topology.pairs), 'pair')}",
        f"mobility {structure.mobility}, driven freedoms {structure.driven}: {structure.state}",
    ]
    lines += [str(problem) for problem in structure.problems]
    lines += [f"note: {finding}" for finding in structure.findings]
    if structure.groups:
        lines += ["", *_columns(_group_rows(structure)), "", *LEGEND]
        lines += ["", *_columns(_type_rows(structure, library))]
    return "\n".join(lines)


def _type_rows(structure: Structure, library: Collection[str]) -> list[tuple[str, ...]]:
    """Table 9; whether a type is at hand only where a library was named."""
    counts = type_counts(structure, library)
    if not library:
        return [("group type", "groups"), *((c.type_name, str(c.groups)) for c in counts)]
    return [
        ("group type", "groups", "in library"),
        *((c.type_name, str(c.groups), "yes" if c.in_library else "no") for c in counts),
    ]


def _group_rows(structure: Structure) -> list[tuple[str, ...]]:
    topology = structure.topology
    head = ("group", "level", "bodies", "n_c", "type", "external", "internal", "handed on")
    rows: list[tuple[str, ...]] = [head]
    for group in structure.groups:
        rows.append(
            (
                str(group.number),
                str(group.level),
                "/" + ", ".join(structure.names(group)) + "/",
                str(group.driven),
                group.type_name,
                external_pairs(topology, group),
                internal_pairs(topology, group),
                handed_pairs(topology, group),
            )
        )
    return rows


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    rows = [tuple(_cut(cell) for cell in row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cut(cell: str, most: int = 60) -> str:
    """A cell of a table that stays readable; the JSON form has everything."""
    return cell if len(cell) <= most else cell[: most - 4] + " ..."


def as_data(structure: Structure) -> dict:
    """The analysis as plain values for JSON; bodies and pairs by name."""
    topology = structure.topology
    return {
        "dimension": topology.dimension,
        "bodies": list(topology.bodies),
        "pairs": [
            {
                "name": pair.name,
                "between": [topology.bodies[body] for body in pair.ends],
                "type": pair.code,
                "grade": pair.grade,
                "driven": pair.driven,
            }
            for pair in topology.pairs
        ],
        "mobility": structure.mobility,
        "driven": structure.driven,
        "determined": structure.determined,
        "groups": [_group_data(structure, group) for group in structure.groups],
        "over_constrained": _part_data(topology, structure.over),
        "over_constrained_in_themselves": [_part_data(topology, part) for part in structure.stiff],
        "under_driven": _part_data(topology, structure.under),
        "drives_that_fix": {topology.pairs[d.pair].name: d.count for d in structure.fixes},
        "findings": [asdict(finding) for finding in structure.findings],
        "problems": [str(problem) for problem in structure.problems],
    }


def _group_data(structure: Structure, group: Group) -> dict:
    names = [pair.name for pair in structure.topology.pairs]
    return {
        "number": group.number,
        "level": group.level,
        "bodies": list(structure.names(group)),
        "type": group.type_name,
        "driven": group.driven,
        "external": [names[i] for i in group.external],
        "internal": [names[i] for i in group.internal],
        "handed": [names[i] for i in group.handed],
        "needs": list(group.needs),
    }


def _part_data(topology: Topology, part: Part | None) -> dict | None:
    if part is None:
        return None
    return {
        "bodies": [topology.bodies[body] for body in part.bodies],
        "pairs": [topology.pairs[index].name for index in part.pairs],
        "surplus": part.surplus,
    }
