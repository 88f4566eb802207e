"""Speeds that drives and sources prescribe, also through gears, belts and screws.

Dry friction cannot stick where the speed is given: what gives it holds the load.  Which way it
goes is told by what gives it: the speed of the bodies has rounding where that is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from vbg.graph.pieces import joint_path

if TYPE_CHECKING:
    from vbg.blocks import Block
    from vbg.builder import Builder
    from vbg.model import Model

RIGID = ("gear", "belt", "ball_screw", "rack_pinion")
FRAME = "frame"  # the node that stands still


@dataclass(frozen=True, slots=True)
class Given:
    """A speed: `factor` times `signal` in `unit`, or times its rate where the signal is a place."""

    signal: float | str
    unit: str
    is_place: bool
    factor: float = 1.0


def prescribed(model: Model) -> Mapping[str, Given]:
    """By paths ("joints.NAME", "rotational.NODE") of the coordinates whose speed is given."""
    given = {
        f"joints.{name}": Given(joint.drive, "", is_place=True)
        for name, joint in model.joints.items()
        if getattr(joint, "drive", None) is not None
    }
    for part in _line(model):
        if part.kind == "speed":
            ends = _ends(part)
            moving = [path for path in ends if not path.endswith(f".{FRAME}")]
            if len(moving) == 1:
                sign = 1.0 if moving[0] == ends[-1] else -1.0
                unit = "rad/s" if part.table == "rotational" else "m/s"
                given.setdefault(moving[0], Given(part.speed, unit, is_place=False, factor=sign))
    pairs = list(_pairs(model))
    ways = [*pairs, *((b, a, 1.0 / ratio) for a, b, ratio in pairs if ratio != 0.0)]
    while more := {b: (a, k) for a, b, k in ways if a in given and b not in given}:
        for path, (known, ratio) in more.items():
            given[path] = replace(given[known], factor=ratio * given[known].factor)
    return given


def given_speed(given: Given | None, builder: Builder) -> Block | None:
    """Its block; None for none."""
    if given is None:
        return None
    value = builder.signal(given.signal, given.unit)
    return given.factor * (builder.time_derivative(value) if given.is_place else value)


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


def _pairs(model: Model) -> Iterator[tuple[str, str, float]]:
    """Coordinates of which the one fixes the other, and the second's speed over the first's."""
    for part in chain(_line(model), model.joints.values()):
        if part.kind in RIGID:
            first, second = _ends(part)
            yield first, second, _ratio(part)


def _ratio(part: Any) -> float:
    if hasattr(part, "lead"):
        return float(part.lead)
    return float(part.ratio if hasattr(part, "ratio") else part.radius1 / part.radius2)
