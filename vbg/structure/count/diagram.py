"""Structural graph and structural diagram (Figs. 8b, 8g and 13 of the paper) as pictures.

The graph has one line for each freedom of a pair, thin where free and bold
where driven, and a dashed border around each structural group.  The diagram
has one circle for each group with (N_m, n_c), arrows from giver to taker, and
the frame as 0; groups of one level stand side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from vbg.errors import UsageError, not_installed
from vbg.platform.files import write_text
from vbg.structure.count.report import Structure

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


def graph_dot(structure: Structure) -> str:
    """The structural graph in the DOT language."""
    topology = structure.topology
    lines = ["graph structure {", "  node [shape=circle]; nodesep=0.4;"]
    lines.append(f"  b0 [label={_quoted(topology.bodies[0])}, shape=doublecircle];")
    for group in structure.groups:
        lines.append(f"  subgraph cluster_{group.number} {{")
        lines.append(f'    label="SG-{roman(group.number)}"; style=dashed;')
        lines += [f"    {_body(structure, body)}" for body in group.bodies]
        lines.append("  }")
    placed = {body for group in structure.groups for body in group.bodies}
    lines += [
        f"  {_body(structure, body)}"
        for body in range(1, len(topology.bodies))
        if body not in placed
    ]
    for pair in topology.pairs:
        ends = f"b{pair.ends[0]} -- b{pair.ends[-1]}"
        for n in range(max(pair.grade, 1)):
            width = 4 if n < pair.driven else 1
            label = f", label={_quoted(pair.code)}" if n == pair.grade - 1 else ""
            lines.append(f"  {ends} [penwidth={width}{label}];")
    return "\n".join([*lines, "}", ""])


def _body(structure: Structure, body: int) -> str:
    return f"b{body} [label={_quoted(structure.topology.bodies[body])}];"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def diagram_dot(structure: Structure) -> str:
    """The structural diagram in the DOT language."""
    pairs = structure.topology.pairs
    lines = ["digraph structure {", "  rankdir=TB; node [shape=circle];", '  g0 [label="0"];']
    for group in structure.groups:
        inside = f"SG-{roman(group.number)}\n({len(group.bodies)}, {group.driven})"
        label = _quoted(inside).replace("\n", "\\n")
        tip = _quoted(", ".join(structure.names(group)))
        lines.append(f"  g{group.number} [label={label}, tooltip={tip}];")
        if any(0 in pairs[index].ends for index in group.external):
            lines.append(f"  g0 -> g{group.number};")
        lines += [f"  g{earlier} -> g{group.number};" for earlier in group.needs]
    for level in structure.levels:
        lines.append("  {rank=same; " + " ".join(f"g{g.number};" for g in level) + "}")
    return "\n".join([*lines, "}", ""])


def draw(structure: Structure, path: str | Path, picture: Picture = "diagram") -> None:
    """Write a picture to `path`: .svg, .png or .pdf, or .dot for the text.

    Raises `UsageError` for another ending, for a diagram of what has no
    groups, or where Graphviz is not installed.
    """
    target = Path(path)
    if picture == "diagram" and not structure.groups:
        raise UsageError("a mechanism that is not determined has no structural diagram")
    text = diagram_dot(structure) if picture == "diagram" else graph_dot(structure)
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
