"""A topology that is being entered, as rows: its pairs, its structural graph, its groups.

The picture is the structural graph of Celdran, Saura and Dopico (2022), Fig. 8: bodies, joined by
their pairs; a driven pair is marked.  Bodies of one structural group have its number.
"""

from __future__ import annotations

from collections import deque

from vbg.draw.text import bonds
from vbg.draw.text.bonds import Bond, Drawing, Vertex
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows
from vbg.errors import ModelError
from vbg.structure.count.diagram import roman
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.topology.entry import Entry, Line

INKS = 7
GAP = 3  # cells between bodies and pairs


def structure_of(entry: Entry) -> Structure | None:
    """The analysis of what is entered, once all bodies are joined and as many freedoms driven as
    there are; None before, and where the pairs are no mechanism."""
    if entry.loose or entry.driven != entry.mobility:
        return None
    try:
        return analyse_topology(entry.topology())
    except ModelError:
        return None


def pair_rows(entry: Entry, width: int, height: int, marks: Marks) -> Rows:
    """The pairs, the last ones if there are many; the newest is marked."""
    rows: list[Row] = []
    for number, pair in enumerate(entry.pairs, 1):
        newest = number == len(entry.pairs)
        sign = marks.cursor if newest else " "
        words = f"{sign}{pair.first} {pair.second} {pair.code}{_driven(pair)}"
        rows.append(((words, "focus" if newest else ""),))
    return tuple(rows[-height:])


def graph_rows(entry: Entry, width: int, height: int, marks: Marks) -> Rows:
    """The structural graph in so many cells, the newest pair in sight."""
    drawing = graph_of(entry)
    newest = len(drawing.vertices) - 1 if entry.pairs else 0
    look = bonds.centred(drawing, newest, width, height)
    return bonds.draw(drawing, width, height, bonds.Look(look.left, look.top), marks)


def graph_of(entry: Entry) -> Drawing:
    """Bodies and pairs as vertices, from the frame outwards."""
    structure = structure_of(entry)
    group_of = {
        body + 1: group.number
        for group in (structure.groups if structure else ())
        for body in group.bodies
    }
    bodies = tuple(_body(entry, body, group_of) for body in range(1, entry.bodies + 1))
    pairs = tuple(_pair(pair, newest=pair is entry.pairs[-1]) for pair in entry.pairs)
    depth = _depths(entry)
    lines: list[Bond] = []
    for number, pair in enumerate(entry.pairs, entry.bodies):
        near, far = sorted((pair.first, pair.second), key=lambda body: (depth[body], body))
        lines.append(Bond(near - 1, number, size=pair.driven + 1, arrow=""))
        lines.append(Bond(number, far - 1, size=pair.driven + 1, arrow=""))
    return bonds.laid_out((*bodies, *pairs), tuple(lines), GAP)


def _body(entry: Entry, body: int, group_of: dict[int, int]) -> Vertex:
    if body == 1:
        return Vertex("1 frame", "title")
    if body in group_of:
        number = group_of[body]
        return Vertex(f"{body} {roman(number)}", f"ink{(number - 1) % INKS}")
    return Vertex(f"{body} ?", "warn") if body in entry.loose else Vertex(str(body))


def _pair(pair: Line, *, newest: bool) -> Vertex:
    return Vertex(f"{pair.code}{_driven(pair)}", "focus" if newest else "dim")


def _driven(pair: Line) -> str:
    return f"*{pair.driven}" if pair.driven else ""


def _depths(entry: Entry) -> dict[int, int]:
    """Pairs between each body and the frame; bodies that hang on nothing come behind all."""
    depth, queue = {1: 0}, deque([1])
    while queue:
        body = queue.popleft()
        for pair in entry.pairs:
            if body in (pair.first, pair.second):
                other = pair.first + pair.second - body
                if other not in depth:
                    depth[other] = depth[body] + 1
                    queue.append(other)
    return {body: depth.get(body, entry.bodies) for body in range(1, entry.bodies + 1)}


def verdict(entry: Entry) -> tuple[str, str]:
    """What the pairs make of the bodies so far, in words, and their style."""
    structure = structure_of(entry)
    if structure is None:
        return "", ""
    if not structure.determined:
        return "; ".join(str(problem) for problem in structure.problems), "warn"
    groups = (
        f"SG-{roman(group.number)} {group.type_name} /{', '.join(structure.names(group))}/"
        for group in structure.groups
    )
    return "determined: " + ", ".join(groups), "ok"
