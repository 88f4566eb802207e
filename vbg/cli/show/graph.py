"""`vbg show graph`: vertices and bonds of the bond graph, part by part."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
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
        detail="The number after a bond is its dimension; power is positive along the arrow.\n"
        "-o draws it, with causal strokes: parts as boxes (word), open (full), or one open.",
        examples="""vbg show graph crank.toml
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

    graph = vbg.expand(read_checked(arguments))
    if arguments.output is not None:
        from vbg.draw.graph import draw_graph

        draw_graph(vbg.assign(graph), arguments.output, arguments.level)
        return 0
    if arguments.json:
        print(json.dumps(as_plain(graph)))
    else:
        print(as_text(graph))
    return 0


def as_plain(graph: BondGraph) -> dict[str, Any]:
    vertices = ("name", "kind", "size", "part", "domain", "frame")
    bonds = ("name", "tail", "head", "size", "domain", "frame")
    return {
        "vertices": [{k: getattr(v, k) for k in vertices} for v in graph.vertices.values()],
        "bonds": [{k: getattr(b, k) for k in bonds} for b in graph.bonds.values()],
    }


def as_text(graph: BondGraph) -> str:
    parts: dict[str, list[str]] = {}
    for vertex in graph.vertices.values():
        lines = parts.setdefault(vertex.part, [])
        lines.append(f"  {vertex.kind:3} {vertex.name}  [{vertex.size}, {vertex.frame}]")
        lines += [
            f"        --{bond.size}--> {graph.vertices[bond.head].kind} {bond.head}"
            for bond in graph.bonds.values()
            if bond.tail == vertex.name
        ]
    head = f"{count(len(graph.vertices), 'vertex')}, {count(len(graph.bonds), 'bond')}"
    blocks = [f"{part or 'model'}\n" + "\n".join(lines) for part, lines in parts.items()]
    return "\n\n".join([head, *blocks])
