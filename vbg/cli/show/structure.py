"""`vbg show structure`: mobility, structural groups, levels, exceptions of geometry."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import DRAWINGS, require_output, wrote
from vbg.cli.parser import add, add_json, add_model, count_of, names
from vbg.cli.progress import ProgressLine
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.structure import Structure
    from vbg.structure.kinematics.measured import Shared
    from vbg.structure.routes.tree import RouteTree

PLACE = 40
MEASURING = "measuring groups (kernels are compiled at their first use, half a minute)"
BEST = 10  # routes in JSON, without a number


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "structure",
        act=act,
        summary="mobility, structural groups, levels, redundancy",
        detail="Exit code 1 if a part is over-constrained.",
        examples="""vbg show structure crank.toml
            vbg show structure stewart.toml --diagram stewart.svg --workers 4
            vbg show structure crank.toml --routes 5 --measured --workers 4
            vbg show structure stewart.toml --workers 2 --measured
            vbg show structure crank.toml --json""",
    )
    add_model(parser)
    add_report(parser)
    parser.add_argument(
        "--measured",
        action="store_true",
        help="drives being functions of t: costs of --routes are processor time of each group\n"
        "over [0, t_end]; with --workers, how much faster threads solve the outputs' instants",
    )


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
        type=names,
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

    parser.add_argument(
        "--routes",
        metavar="N",
        type=count_of(1),
        default=0,
        help="rank all routes through the groups, what may be solved at the same time, and print\n"
        "the N best; --json has the tree of all",
    )
    parser.add_argument(
        "--tree", metavar="PICTURE", help="draw the tree of all routes, the best one bold"
    )


def require_pictures(arguments: argparse.Namespace) -> None:
    """Refuses pictures that could not be written."""
    require_output(arguments.tree, DRAWINGS, "--tree")
    require_output(arguments.diagram, DRAWINGS, "--diagram")
    require_output(arguments.graph, DRAWINGS, "--graph")


def library_of(arguments: argparse.Namespace) -> frozenset[str]:
    """The group types named by --library."""
    return frozenset(arguments.library)


def act(arguments: argparse.Namespace) -> int:
    from vbg.structure import analyse

    require_pictures(arguments)
    if arguments.measured and not (arguments.routes or arguments.tree or arguments.workers):
        raise UsageError(
            "--measured tells what groups cost in --routes N or --tree PICTURE, and what threads "
            "save with --workers N."
        )
    model = read_checked(arguments)
    structure = analyse(model)
    if arguments.measured:
        from vbg.structure.kinematics.measured import require_measurable
        from vbg.structure.motion import driven_linkage

        require_measurable(structure, driven_linkage(model))
    report(structure, arguments, model if arguments.measured else None)
    return int(structure.over is not None or bool(structure.stiff))


def report(
    structure: Structure, arguments: argparse.Namespace, measured: Model | None = None
) -> None:
    """Print and draw what was asked for; pictures show proposed drives where some are missing.
    Routes cost what the groups of `measured` do, else estimated operations."""
    from vbg.structure.count.diagram import draw
    from vbg.structure.kinematics.measured import sharing_text
    from vbg.structure.routes.showing import draw_tree, routes_data, routes_text
    from vbg.structure.show import proposed, structure_data, structure_text

    asked = arguments.routes or arguments.tree
    line = ProgressLine(quiet=arguments.json or measured is None)
    line.tell({"kind": "stage", "stage": MEASURING})
    try:
        tree = _tree(structure, arguments, measured) if asked else None
        shared = _shared(measured, arguments.workers) if measured and arguments.workers else None
    finally:
        line.tell({"kind": "done"})
    if arguments.json:
        data = structure_data(structure)
        if tree is not None:
            data["routes"] = routes_data(tree, best=arguments.routes or BEST)
        if shared is not None:
            data["threads"] = {**asdict(shared), "gain": shared.gain, "pays": shared.pays}
        print(json.dumps(data))
    else:
        library = library_of(arguments)
        print(structure_text(structure, library=library, workers=arguments.workers))
        if tree is not None and arguments.routes:
            print("\n" + routes_text(tree, best=arguments.routes))
        if shared is not None:
            print("\n" + sharing_text(shared))
    if tree is not None and arguments.tree:
        draw_tree(tree, arguments.tree)
        wrote(arguments.tree, "tree of routes")
    shown = structure if structure.determined else proposed(structure) or structure
    if arguments.diagram:
        draw(shown, arguments.diagram, "diagram")
        wrote(arguments.diagram, "structural diagram")
    if arguments.graph:
        draw(shown, arguments.graph, "graph")
        wrote(arguments.graph, "structural graph")


def _shared(model: Model, workers: int) -> Shared:
    """What threads save of the motion of `model` at the instants of its outputs."""
    from vbg.simulate.settings import output_grid
    from vbg.structure.kinematics.measured import measured_sharing
    from vbg.structure.motion import driven_linkage, drives_of

    settings = model.simulate
    times = output_grid(settings.t_end, settings.output_step).tolist()
    return measured_sharing(driven_linkage(model), drives_of(model), times, workers)


def _tree(structure: Structure, arguments: argparse.Namespace, measured: Model | None) -> RouteTree:
    """All routes, by estimated operations or what the groups of `measured` take."""
    from vbg.structure.kinematics.measured import handover_cost, measured_costs
    from vbg.structure.motion import driven_linkage, drives_of
    from vbg.structure.routes.schedule import estimated_costs
    from vbg.structure.routes.tree import route_tree
    from vbg.structure.show import proposed

    workers = arguments.workers or 2
    if measured is None:
        solved = structure if structure.determined else proposed(structure) or structure
        return route_tree(solved, estimated_costs(solved), workers=workers)
    drives = drives_of(measured)
    own, costs = measured_costs(driven_linkage(measured), drives, measured.simulate.t_end)
    handover = handover_cost(workers) if workers > 1 else 0.0
    return route_tree(own, costs, workers=workers, handover=handover, unit="s")
