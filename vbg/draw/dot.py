"""A causal bond graph as a drawing of pydot, and as text in the DOT language.

Half arrows point along positive power; the causal stroke is the bar at the end
that receives the effort.  Vector bonds are double lines with their dimension,
scalar bonds single lines.  Parts are clusters that open into their inside; between
closed parts one line stands for all bonds that are alike (3+3: two of dimension 3).
Constraint sources are double octagons, algebraic loops dashed orange boxes,
conflicts red diamonds: each told by colour and by shape.

The drawing is the same for the same graph: everything is added in its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vbg.causality import CausalGraph
from vbg.errors import UsageError
from vbg.graph.bondgraph import Bond, Vertex

if TYPE_CHECKING:
    import pydot

LEVELS = ("word", "full")

# fill of a part's box by the table it is written in; light, so that print stays legible
FILLS = {
    "bodies": "#dbe9f6",
    "joints": "#e8e3f3",
    "forces": "#fbe6cf",
    "rotational": "#e3f1dd",
    "translational": "#e3f1dd",
    "electric": "#fdf3c7",
    "hydraulic": "#d5f0ee",
    "signals": "#eeeeee",
    "fmu": "#eeeeee",
    "bondgraph": "#eeeeee",
}
CONFLICT, LOOP, CONSTRAINT = "#c62828", "#e07b00", "#6a3d9a"
LEGEND = "half arrow: positive power   bar: end that receives the effort   double line: vector bond"


@dataclass(frozen=True, slots=True)
class _Marks:
    """Bonds in conflict and vertices of algebraic loops."""

    conflicts: frozenset[str]
    loops: frozenset[str]


def to_pydot(causal: CausalGraph, level: str = "full") -> pydot.Dot:
    """The drawing at `level`: "word" (parts as boxes), "full" (all parts open) or the
    name of one part ("crank", "joints.A"), which is opened among its neighbours.

    A graph of the package pydot, to change, to write as text, or to draw with `dot` on the
    PATH.  Raises UsageError if there is no such part.
    """
    import pydot

    parts = _parts(causal)
    opened = parts_opened(parts, level)
    marks = _Marks(
        frozenset(c.bond for c in causal.conflicts),
        frozenset(name for loop in causal.loops for name in loop.vertices),
    )
    shown = set(parts) if level in LEVELS else _neighbourhood(causal, opened)
    drawing = pydot.Dot("vbg", graph_type="digraph", **_head(causal, level))
    drawing.set_node_defaults(
        fontname="Helvetica", fontsize="10", margin=_quoted("0.06,0.03"), width="0", height="0.25"
    )
    drawing.set_edge_defaults(fontname="Helvetica", fontsize="8", arrowsize="0.8")
    for number, part in enumerate(p for p in parts if p in shown):
        _add_part(drawing, part, parts[part], number, part in opened, marks)
    for bonds in _drawn_together(causal, opened, shown, marks):
        drawing.add_edge(_edge(causal, bonds, opened, marks))
    return drawing


def dot(causal: CausalGraph, level: str = "full") -> str:
    """The drawing of `to_pydot` as text."""
    text: str = to_pydot(causal, level).to_string()
    return text


def _parts(causal: CausalGraph) -> dict[str, list[Vertex]]:
    parts: dict[str, list[Vertex]] = {}
    for vertex in causal.graph.vertices.values():
        parts.setdefault(vertex.part, []).append(vertex)
    return parts


def parts_opened(parts: Mapping[str, object], level: str) -> frozenset[str]:
    """The parts whose vertices are shown at `level`; UsageError if it names none."""
    if level == "word":
        return frozenset()
    if level == "full":
        return frozenset(parts)
    hits = [part for part in parts if level in (part, part.partition(".")[2])]
    if not hits:
        raise UsageError(
            f"there is no part {level!r} to open; levels are word, full, or one of "
            f"{', '.join(part.partition('.')[2] for part in parts)}."
        )
    return frozenset(hits)


def _neighbourhood(causal: CausalGraph, opened: frozenset[str]) -> set[str]:
    """The opened parts and all that share a bond with them."""
    vertices, found = causal.graph.vertices, set(opened)
    for bond in causal.graph.bonds.values():
        ends = {vertices[bond.tail].part, vertices[bond.head].part}
        if ends & opened:
            found |= ends
    return found


def _head(causal: CausalGraph, level: str) -> dict[str, Any]:
    name = causal.graph.model.name or "bond graph"
    return {
        "label": _quoted(f"{name}  ({level})"),
        "labelloc": "t",
        "fontname": "Helvetica",
        "fontsize": "14",
        "rankdir": "LR",
        "splines": "true",
        "nodesep": "0.22",
        "ranksep": "0.45",
        "compound": "true",
        "tooltip": _quoted(LEGEND),
    }


def _add_part(
    drawing: pydot.Dot,
    part: str,
    vertices: list[Vertex],
    number: int,
    is_open: bool,
    marks: _Marks,
) -> None:
    import pydot

    table, _, name = part.partition(".")
    if not is_open:
        drawing.add_node(_closed(part, vertices, marks))
    elif table == "bondgraph" and len(vertices) == 1:
        drawing.add_node(_vertex(vertices[0], "", marks))
    else:
        cluster = pydot.Subgraph(
            f"cluster_{number}",
            label=_quoted(name or "model"),
            style=_quoted("filled,rounded"),
            color=_quoted("#888888"),
            fillcolor=_quoted(FILLS.get(table, "#eeeeee")),
            fontsize="11",
            labeljust="l",
        )
        for vertex in vertices:
            cluster.add_node(_vertex(vertex, name, marks))
        drawing.add_subgraph(cluster)


def _closed(part: str, vertices: list[Vertex], marks: _Marks) -> pydot.Node:
    """A part as a box."""
    import pydot

    table, _, name = part.partition(".")
    in_loop = any(v.name in marks.loops for v in vertices)
    constrained = sum(v.size for v in vertices if v.kind == "Sc")
    label = name if not constrained else f"{name}\\n{constrained} constraints"
    return pydot.Node(
        _quoted(part),
        shape="box",
        style=_quoted("filled,rounded,dashed" if in_loop else "filled,rounded"),
        fillcolor=_quoted(FILLS.get(table, "#eeeeee")),
        color=_quoted(LOOP if in_loop else "#444444"),
        label=_quoted(label),
        tooltip=_quoted(part),
    )


def _vertex(vertex: Vertex, part: str, marks: _Marks) -> pydot.Node:
    """Junctions in an oval, everything else as bare text; with its name in the part."""
    import pydot

    kind: str = vertex.kind
    if kind in ("TF", "GY") and vertex.law is not None and not vertex.law.is_const:
        kind = f"M{kind}"
    own = vertex.name.removeprefix(f"{part}.").removesuffix(f".{vertex.kind}")
    own = own.removeprefix(f"{vertex.part.partition('.')[0]}.")
    tip = f"{vertex.kind} {vertex.name}  [{vertex.size}], axes {vertex.frame}"
    label = f"{kind} : {own}" if own and own != kind else kind
    attributes: dict[str, Any] = {"label": label, "tooltip": tip, "shape": "plaintext"}
    if vertex.kind in ("0", "1"):
        attributes |= {"shape": "box", "style": "filled,rounded", "fillcolor": "white"}
    if vertex.kind == "Sc":
        attributes |= {"shape": "doubleoctagon", "color": CONSTRAINT, "fontcolor": CONSTRAINT}
    if vertex.name in marks.loops:
        attributes |= {"shape": "box", "style": "dashed", "color": LOOP, "fontcolor": LOOP}
    return pydot.Node(_quoted(vertex.name), **_all_quoted(attributes))


def _drawn_together(
    causal: CausalGraph, opened: frozenset[str], shown: set[str], marks: _Marks
) -> list[list[Bond]]:
    """The bonds to draw, those of one line together: between two closed parts all that
    have the same direction, the same stroke and the same end of it."""
    vertices = causal.graph.vertices
    groups: dict[tuple[str, ...], list[Bond]] = {}
    for bond in causal.graph.bonds.values():
        tail, head = (vertices[end].part for end in (bond.tail, bond.head))
        if not {tail, head} <= shown or (tail == head and tail not in opened):
            continue
        if tail in opened or head in opened or bond.name in marks.conflicts:
            groups[(bond.name,)] = [bond]
        else:
            stroke = causal.strokes.get(bond.name) or ""
            kind = "vector" if bond.size > 1 else "scalar"
            groups.setdefault((tail, head, stroke, kind), []).append(bond)
    return list(groups.values())


def _edge(
    causal: CausalGraph, bonds: list[Bond], opened: frozenset[str], marks: _Marks
) -> pydot.Edge:
    """One line for `bonds`: vector bonds double, with their dimensions."""
    import pydot

    bond, vertices = bonds[0], causal.graph.vertices
    parts = [vertices[end].part for end in (bond.tail, bond.head)]
    tail, head = (
        end if part in opened else part
        for end, part in zip((bond.tail, bond.head), parts, strict=True)
    )
    stroke = causal.strokes.get(bond.name)
    attributes: dict[str, Any] = {
        "dir": "both",
        "arrowtail": "tee" if stroke == "tail" else "none",
        "arrowhead": "teelvee" if stroke == "head" else "lvee",
        "tooltip": "; ".join(f"{b.name}  [{b.size}] {b.domain}, axes {b.frame}" for b in bonds),
    }
    colour = "#222222"
    if bond.name in marks.conflicts:
        colour = CONFLICT
        attributes |= {"label": "conflict", "fontcolor": CONFLICT, "style": "bold"}
        attributes["arrowtail"] = attributes["arrowhead"] = "diamond"
    elif bond.size > 1 or len(bonds) > 1:
        attributes["label"] = "+".join(str(b.size) for b in bonds)
    double = f"{colour}:invis:{colour}" if bond.size > 1 else colour
    attributes["color"] = double
    return pydot.Edge(_quoted(tail), _quoted(head), **_all_quoted(attributes))


def _all_quoted(attributes: Mapping[str, str]) -> dict[str, Any]:
    return {key: _quoted(value) for key, value in attributes.items()}


def _quoted(text: str) -> str:
    """In quotes, as DOT has names with dots and colons."""
    return '"' + text.replace('"', '\\"').replace("\n", " ") + '"'
