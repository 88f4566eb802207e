"""Speeds that drives and sources prescribe, also through gears, belts and screws.

Dry friction cannot stick where the speed is given: what gives it holds the load.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from vbg.graph.pieces import joint_path

if TYPE_CHECKING:
    from vbg.model import Model

RIGID = ("gear", "belt", "ball_screw", "rack_pinion")
FRAME = "frame"  # the node that stands still


def prescribed(model: Model) -> frozenset[str]:
    """Paths ("joints.NAME", "rotational.NODE") of the coordinates whose speed is given."""
    given = {
        f"joints.{name}"
        for name, joint in model.joints.items()
        if getattr(joint, "drive", None) is not None
    }
    pairs = set(_pairs(model))
    for part in _line(model):
        if part.kind == "speed":
            moving = [path for path in _ends(part) if not path.endswith(f".{FRAME}")]
            given |= set(moving) if len(moving) == 1 else set()
    while more := {b for pair in pairs for a, b in (pair, pair[::-1]) if a in given} - given:
        given |= more
    return frozenset(given)


def _line(model: Model) -> Iterator[Any]:
    return chain(model.rotational.values(), model.translational.values())


def _ends(part: Any) -> tuple[str, ...]:
    """Paths of the coordinates that a part of one dimension or a coupling of joints names."""
    if hasattr(part, "shaft"):
        return joint_path(part.shaft), joint_path(part.slide)
    if getattr(part, "on", None) is not None:
        return (joint_path(part.on),)
    if part.table == "joints":
        return tuple(joint_path(end) for end in part.between)
    return tuple(joint_path(f"{part.table}.{node}") for node in part.nodes or ())


def _pairs(model: Model) -> Iterator[tuple[str, ...]]:
    """Coordinates of which the one fixes the other."""
    for part in chain(_line(model), model.joints.values()):
        if part.kind in RIGID:
            yield _ends(part)
