"""Trains: paths of nodes and joint coordinates that gears, belts and screws tie together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vbg.model import Model
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.rawbonds import outer_bonds, shaft_path
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key

FRAME = "frame"
TIES = ("gear", "belt", "ball_screw")


@dataclass
class Tied:
    """A set of paths; `ratio` is the speed of each over the set's."""

    ratio: dict[str, float]


def path_to(model: Model, path: str) -> str:
    """One spelling for each coordinate: joints.NAME.KEY, or TABLE.NODE."""
    if not path.startswith("joints."):
        return path
    return f"joints.{coordinate_joint(path)}.{coordinate_key(model, path)}"


def node_path(model: Model, table: str, node: str) -> str:
    """Path of a node, which "joint:NAME" or "joint:NAME.KEY" takes from a joint."""
    if node.startswith("joint:"):
        return path_to(model, f"joints.{node.removeprefix('joint:')}")
    return f"{table}.{node}"


def paths_of(model: Model, part: Any) -> Iterator[str]:
    """Nodes and coordinates that a part acts on."""
    if part.table in ("rotational", "translational") and part.kind != "ball_screw":
        for node in part.nodes or ():
            if node != FRAME:
                yield node_path(model, part.table, node)
    for key in ("on", "shaft", "slide"):
        path = getattr(part, key, None)
        if isinstance(path, str):
            yield path_to(model, path)


def tie_of(model: Model, part: Any) -> tuple[str, str, float]:
    """(first, second, speed of the second over the first's) of a gear, belt or screw."""
    if part.kind == "ball_screw":
        return path_to(model, part.shaft), path_to(model, part.slide), part.lead
    first, second = (node_path(model, part.table, node) for node in part.nodes)
    return first, second, part.ratio if part.kind == "gear" else part.radius1 / part.radius2


def mechanical_parts(draft: Draft) -> Iterator[tuple[str, Any]]:
    """All parts of the four tables."""
    m = draft.model
    for table in (m.rotational, m.translational, m.electric, m.hydraulic):
        yield from table.items()


def tied_sets(draft: Draft) -> list[Tied]:
    """Sets of paths that move as one."""
    owner: dict[str, Tied] = {}
    for _, part in mechanical_parts(draft):
        for path in paths_of(draft.model, part):
            owner.setdefault(path, Tied({path: 1.0}))
    for outer in outer_bonds(draft.model):
        if path := shaft_path(draft.model, outer.end):
            owner.setdefault(path, Tied({path: 1.0}))
    for name, part in mechanical_parts(draft):
        if part.kind not in TIES or part.table not in ("rotational", "translational"):
            continue
        first, second, ratio = tie_of(draft.model, part)
        a, b = owner[first], owner[second]
        if a is b:
            raise no_twin(part, name, "a closed chain of gears")
        factor = ratio * a.ratio[first] / b.ratio[second]
        for path, c in b.ratio.items():
            a.ratio[path] = factor * c
            owner[path] = a
    return list({id(tied): tied for tied in owner.values()}.values())
