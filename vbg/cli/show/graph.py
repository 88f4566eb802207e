"""`vbg show graph`: vertices and bonds of the bond graph, part by part."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import DRAWINGS, require_output, wrote
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.text import count

if TYPE_CHECKING:
    from vbg.graph import BondGraph

PLACE = 10


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "graph",
        act=act,
        summary="vertices and bonds, part by part",
        detail="The number in an arrow is the dimension of the bond; power is positive along it.\n"
        "After a vertex: [components, frame of its axes], W the world or a body.\n"
        "--level: parts as boxes (word), all open (full), or one part (its name).\n"
        "-o draws it, with causal strokes.",
        examples="""vbg show graph crank.toml
            vbg show graph crank.toml --level A
            vbg show graph crank.toml -o crank.svg --level word
            vbg show graph crank.toml -o hinge.png --level A
            vbg show graph crank.toml --json""",
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help="drawing: .svg, .png, .pdf or .dot")
    parser.add_argument(
        "--level", default="full", help="word, full, or the part to open (default: full)"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    import vbg

    require_output(arguments.output, DRAWINGS)
    graph = vbg.expand(read_checked(arguments))
    if arguments.output is not None:
        from vbg.assemble.derive.jumping import as_assembled
        from vbg.draw.graph import draw_graph

        draw_graph(as_assembled(vbg.assign(graph)), arguments.output, arguments.level)
        wrote(arguments.output, f"bond graph of {count(len(graph.vertices), 'vertex')}")
        return 0
    chosen = at_level(graph, arguments.level)
    print(json.dumps(as_plain(graph, chosen)) if arguments.json else as_text(graph, chosen))
    return 0


def at_level(graph: BondGraph, level: str) -> frozenset[str] | None:
    """The parts whose vertices are listed; None for parts alone, without their vertices."""
    from vbg.draw.dot import parts_opened

    parts = {vertex.part: None for vertex in graph.vertices.values()}
    chosen = parts_opened(parts, level)
    return None if level == "word" else chosen


def as_plain(graph: BondGraph, chosen: frozenset[str] | None) -> dict[str, Any]:
    if chosen is None:
        return {
            "parts": list(dict.fromkeys(v.part for v in graph.vertices.values())),
            "bonds": [
                {"tail": tail, "head": head, "size": size}
                for tail, head, size in between_parts(graph)
            ],
        }
    vertices = ("name", "kind", "size", "part", "domain", "frame")
    bonds = ("name", "tail", "head", "size", "domain", "frame")
    shown = {name: v for name, v in graph.vertices.items() if v.part in chosen}
    return {
        "vertices": [{k: getattr(v, k) for k in vertices} for v in shown.values()],
        "bonds": [
            {k: getattr(b, k) for k in bonds}
            for b in graph.bonds.values()
            if b.tail in shown or b.head in shown
        ],
    }


def between_parts(graph: BondGraph) -> list[tuple[str, str, int]]:
    """(part, part, dimension) of every bond from one part to another."""
    part = {name: vertex.part or "model" for name, vertex in graph.vertices.items()}
    return [
        (part[b.tail], part[b.head], b.size)
        for b in graph.bonds.values()
        if part[b.tail] != part[b.head]
    ]


def as_text(graph: BondGraph, chosen: frozenset[str] | None) -> str:
    head = f"{count(len(graph.vertices), 'vertex')}, {count(len(graph.bonds), 'bond')}"
    if chosen is None:
        bonds = Counter(f"{tail} --{size}--> {head}" for tail, head, size in between_parts(graph))
        lines = [line if number == 1 else f"{line}  ({number})" for line, number in bonds.items()]
        return "\n".join([f"{head}; those between parts:", "", *lines])
    parts: dict[str, list[str]] = {}
    for vertex in graph.vertices.values():
        if vertex.part not in chosen:
            continue
        lines = parts.setdefault(vertex.part, [])
        lines.append(f"  {vertex.kind:3} {vertex.name}  [{vertex.size}, {vertex.frame}]")
        lines += [
            f"        --{bond.size}--> {graph.vertices[bond.head].kind} {bond.head}"
            for bond in graph.bonds.values()
            if bond.tail == vertex.name
        ]
    blocks = [f"{part or 'model'}\n" + "\n".join(lines) for part, lines in parts.items()]
    return "\n\n".join([head, *blocks])
