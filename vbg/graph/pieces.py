"""What the builder puts together: terminals, poses, gradients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    const,
    dependencies,
    leaf,
    quaternion_rate,
    rotation,
    transpose,
    zeros,
)
from vbg.builder import Domain, Node, Start
from vbg.errors import ModelError, Problem
from vbg.graph.bondgraph import Configuration
from vbg.model.catalogue import JOINT_NODE
from vbg.spatial import rotation_matrix

# table of one-dimensional parts -> reference node, domain, junction, coordinate and its unit
TERMINALS: Mapping[str, tuple[str, Domain, str, str, str]] = {
    "electric": ("gnd", "electric", "0", "voltage", "V"),
    "hydraulic": ("tank", "hydraulic", "0", "pressure", "Pa"),
    "rotational": ("frame", "rotation", "1", "angle", "rad"),
    "translational": ("frame", "translation", "1", "position", "m"),
}


def require_alike(part: str, tail: Node, head: Node) -> None:
    """ModelError for a bond of `part` between nodes of different size, frame or domain."""
    if (tail.size, tail.frame, tail.domain) == (head.size, head.frame, head.domain):
        return
    for what in ("size", "frame", "domain"):
        a, b = getattr(tail, what), getattr(head, what)
        if a != b:
            told = f"in {tail.name} -> {head.name} the {what}s of the ends differ, {a} and {b}."
            remedy = "Put a transformer between them."
            raise ModelError.of([Problem("error", part, told, remedy)])


def gradient(energy: Block, state: Block) -> Block:
    """d energy / d state as a column."""
    direction = leaf("direction", state.rows)
    slope = Coefficients([direction])(Tangent({state: direction})(energy)).get(direction)
    return zeros(state.rows) if slope is None else transpose(slope)


def at_start(value: Block, configurations: Iterable[Configuration]) -> Block:
    """A function of the posture at the written one."""
    if value.is_const:
        return value
    read = set(dependencies([value]))
    known: dict[Block, Block] = {}
    for c in configurations:
        if c.state not in read:
            continue
        known[c.state] = c.initial
        if c.kind == "quaternion":
            known[rotation(c.state)] = const(rotation_matrix(c.initial.data[:, 0]))
    return Substitution(known)(value)


def pose_states(
    name: str, linear: tuple[str, Block], angular: tuple[str, Block], start: Start
) -> tuple[Configuration, Configuration]:
    """The pose of a body: p_WB' = v, quat_WB' = 1/2 quat o (0, w_B); of the junctions of
    v and w their names and flows."""
    position, quaternion = leaf(f"{name}.position", 3), leaf(f"{name}.quaternion", 4)
    v_node, v = linear
    w_node, w = angular
    p_WB, quat_WB = const(start.p_WB), const(start.quat_WB)
    turning = quaternion_rate(quaternion, w)
    return (
        Configuration(f"{name}.position", position, v_node, v, v, p_WB, "m", kind="position"),
        Configuration(
            f"{name}.quaternion", quaternion, w_node, w, turning, quat_WB, "1", kind="quaternion"
        ),
    )


def joint_path(path: str) -> str:
    """The path of a coordinate, TABLE.joint:NAME as joints.NAME."""
    _, named, joint = path.partition(f".{JOINT_NODE}")
    return f"joints.{joint}" if named else path
