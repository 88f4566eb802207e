"""`vbg show structure`: mobility, structural groups, levels, exceptions of geometry."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import DRAWINGS, require_output, wrote
from vbg.cli.parser import add, add_json, add_model, count_of

if TYPE_CHECKING:
    from vbg.structure import Structure

PLACE = 40


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "structure",
        act=act,
        summary="mobility, structural groups, levels, redundancy",
        detail="Exit code 1 if a part is over-constrained.",
        examples="""vbg show structure crank.toml
            vbg show structure stewart.toml --diagram stewart.svg --workers 4
            vbg show structure crank.toml --json""",
    )
    add_model(parser)
    add_report(parser)


def add_report(parser: argparse.ArgumentParser) -> None:
    """What may be asked of the report of a structure."""
    add_json(parser)
    parser.add_argument(
        "--diagram", metavar="PICTURE", help="draw the structural diagram (.svg, .png, .pdf, .dot)"
    )
    parser.add_argument(
        "--graph", metavar="PICTURE", help="draw the structural graph, driven lines bold"
    )
    parser.add_argument(
        "--library",
        metavar="TYPES",
        default="",
        help="group types that you can solve, as 1R3D,1P1U1S3D; the table then marks them",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=count_of(1),
        default=0,
        help="print in which order N workers would solve the groups, in estimated operations",
    )


def require_pictures(arguments: argparse.Namespace) -> None:
    """Refuses pictures that could not be written."""
    require_output(arguments.diagram, DRAWINGS, "--diagram")
    require_output(arguments.graph, DRAWINGS, "--graph")


def library_of(arguments: argparse.Namespace) -> frozenset[str]:
    """The group types named by --library."""
    return frozenset(name.strip() for name in arguments.library.split(",") if name.strip())


def act(arguments: argparse.Namespace) -> int:
    from vbg.structure import analyse

    require_pictures(arguments)
    structure = analyse(read_checked(arguments))
    report(structure, arguments)
    return int(structure.over is not None or bool(structure.stiff))


def report(structure: Structure, arguments: argparse.Namespace) -> None:
    """Print and draw what was asked for; pictures show proposed drives where some are missing."""
    from vbg.structure.count.diagram import draw
    from vbg.structure.show import proposed, structure_data, structure_text

    if arguments.json:
        print(json.dumps(structure_data(structure)))
    else:
        library = library_of(arguments)
        print(structure_text(structure, library=library, workers=arguments.workers))
    shown = structure if structure.determined else proposed(structure) or structure
    if arguments.diagram:
        draw(shown, arguments.diagram, "diagram")
        wrote(arguments.diagram, "structural diagram")
    if arguments.graph:
        draw(shown, arguments.graph, "graph")
        wrote(arguments.graph, "structural graph")
