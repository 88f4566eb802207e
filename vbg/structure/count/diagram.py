"""Structural graph and structural diagram (Figs. 8b, 8g and 13 of the paper) as pictures.

The graph has one line for each freedom of a pair, thin where free and bold
where driven, and a dashed border around each structural group.  The diagram
has one circle for each group with (N_m, n_c), arrows from giver to taker, and
the frame as 0; groups of one level stand side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vbg.errors import UsageError, not_installed
from vbg.platform.files import write_text
from vbg.structure.count.report import Structure

if TYPE_CHECKING:
    import pydot

Picture = Literal["graph", "diagram"]

_FORMATS = ("svg", "png", "pdf")
_ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman(number: int) -> str:
    """The paper numbers its groups SG-I, SG-II, ..."""
    if number >= 40:
        return str(number)
    text = ""
    for value, sign in _ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def structural_graph(structure: Structure) -> pydot.Dot:
    """Bodies, with one line for each freedom of a pair; groups within dashed borders."""
    import pydot

    topology = structure.topology
    drawing = pydot.Dot("structure", graph_type="graph", nodesep="0.4")
    drawing.set_node_defaults(shape="circle")
    drawing.add_node(_body(structure, 0, shape="doublecircle"))
    for group in structure.groups:
        border = pydot.Subgraph(
            f"cluster_{group.number}", label=_quoted(f"SG-{roman(group.number)}"), style="dashed"
        )
        for body in group.bodies:
            border.add_node(_body(structure, body))
        drawing.add_subgraph(border)
    placed = {0, *(body for group in structure.groups for body in group.bodies)}
    for body in range(len(topology.bodies)):
        if body not in placed:
            drawing.add_node(_body(structure, body))
    for pair in topology.pairs:
        ends = (f"b{pair.ends[0]}", f"b{pair.ends[-1]}")
        for n in range(max(pair.grade, 1)):
            attributes: dict[str, Any] = {"penwidth": "4" if n < pair.driven else "1"}
            if n == pair.grade - 1:
                attributes["label"] = _quoted(pair.code)
            drawing.add_edge(pydot.Edge(*ends, **attributes))
    return drawing


def _body(structure: Structure, body: int, **attributes: Any) -> pydot.Node:
    import pydot

    return pydot.Node(f"b{body}", label=_quoted(structure.topology.bodies[body]), **attributes)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def structural_diagram(structure: Structure) -> pydot.Dot:
    """Groups, with arrows from giver to taker; those of one level side by side."""
    import pydot

    pairs = structure.topology.pairs
    drawing = pydot.Dot("structure", graph_type="digraph", rankdir="TB")
    drawing.set_node_defaults(shape="circle")
    drawing.add_node(pydot.Node("g0", label=_quoted("0")))
    for level in structure.levels:
        side_by_side = pydot.Subgraph(rank="same")
        for group in level:
            label = f"SG-{roman(group.number)}\n({len(group.bodies)}, {group.driven})"
            tip = ", ".join(structure.names(group))
            side_by_side.add_node(
                pydot.Node(f"g{group.number}", label=_quoted(label), tooltip=_quoted(tip))
            )
        drawing.add_subgraph(side_by_side)
    for group in structure.groups:
        of_frame = [0] if any(0 in pairs[index].ends for index in group.external) else []
        for giver in (*of_frame, *group.needs):
            drawing.add_edge(pydot.Edge(f"g{giver}", f"g{group.number}"))
    return drawing


def draw(structure: Structure, path: str | Path, picture: Picture = "diagram") -> None:
    """Write a picture to `path`: .svg, .png or .pdf, or .dot for the text.

    Raises `UsageError` for another ending, for a diagram of what has no
    groups, or where Graphviz is not installed.
    """
    if picture == "diagram" and not structure.groups:
        raise UsageError("a mechanism that is not determined has no structural diagram")
    drawing = structural_diagram if picture == "diagram" else structural_graph
    write_drawing(drawing(structure), path)


def write_drawing(drawing: pydot.Dot, path: str | Path) -> None:
    """Write a drawing as its ending says; raises `UsageError` as `draw` does."""
    target = Path(path)
    text: str = drawing.to_string()
    ending = target.suffix.lower().removeprefix(".")
    if ending in ("dot", "gv"):
        write_text(target, text)
        return
    if ending not in _FORMATS:
        raise UsageError(f"cannot draw {target.name}: use .svg, .png, .pdf or .dot")
    try:
        import pygraphviz
    except ImportError as missing:
        otherwise = "A .dot file can be written without."
        raise not_installed(f"drawing {target.name}", "pygraphviz", "draw", otherwise) from missing
    pygraphviz.AGraph(string=text).draw(str(target), format=ending, prog="dot")
