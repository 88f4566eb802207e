"""Relative motion of two points of two bodies, as bond graph.

Joints, bushings, springs and cylinders all begin with it.  Flows are those
of the second body against the first, so an effort that arrives at the
junctions below acts with + on the second body and with - on the first.
"""

from __future__ import annotations

from dataclasses import dataclass

from vbg.blocks import (
    Block,
    call,
    const,
    dot,
    identity,
    mul,
    norm,
    skew,
    times,
    transpose,
)
from vbg.builder import BodyNode, Builder, Domain, Node
from vbg.errors import ModelError, Problem
from vbg.fields import Attachment


@dataclass(frozen=True, slots=True)
class Relative:
    """Relative motion in the axes of the first body A.

    `translation`: 1-junction, flow = R_AW (v_M - v_F) - w_A x p_FM, the velocity of
    the second point as seen from A.  `rotation`: 1-junction, flow = w_B - w_A.
    `p_FM`: position of the second point from the first.  `R_AB`: orientation.
    """

    first: BodyNode
    second: BodyNode
    translation: Node
    rotation: Node
    p_FM: Block
    R_AB: Block


def _lever(
    name: str,
    builder: Builder,
    body: BodyNode,
    arm: Block,
    target: Node,
    R: Block,
    *,
    leaving: bool,
) -> None:
    """Adds R (w x arm) to the flows of the 0-junction `target` (leaving it or
    entering it): MTF with modulus -R skew(arm) from the body's w junction."""
    if body.angular is None or (arm.is_const and not arm.data.any()):
        return
    builder.transformer(
        name,
        body.angular,
        target,
        mul(R, -skew(arm)),
        toward="flow_side" if leaving else "effort_side",
    )


def relative_motion(
    name: str,
    builder: Builder,
    first: BodyNode,
    second: BodyNode,
    p_AF_A: Block,
    p_BM_B: Block,
    *,
    points_coincide: bool,
) -> Relative:
    """The two 1-junctions of relative motion.

    Where the joint makes the points coincide, the lever arm on the first body
    is the constant p_AF_A; else it reaches to the second point, so that the pair
    of efforts has no moment.
    """
    R_AW = transpose(first.R_WB)
    p_WM = second.p_WB + mul(second.R_WB, p_BM_B)
    p_AM_A = mul(R_AW, p_WM - first.p_WB)
    R_AB = mul(R_AW, second.R_WB)
    translation = _translation(
        name, builder, first, second, p_AF_A if points_coincide else p_AM_A, p_BM_B
    )
    rotation = _rotation(name, builder, first, second, R_AB)
    return Relative(first, second, translation, rotation, p_AM_A - p_AF_A, R_AB)


def _translation(
    name: str, builder: Builder, first: BodyNode, second: BodyNode, arm_A: Block, p_BM_B: Block
) -> Node:
    frame = "W" if first.linear is None else first.name
    in_world = builder.zero(f"{name}.dv_W", 3, "W", "translation")
    if second.linear is not None:
        builder.bond(in_world, second.linear)
    _lever(f"{name}.lever2", builder, second, p_BM_B, in_world, second.R_WB, leaving=True)
    seen = builder.one(f"{name}.translation", 3, frame, "translation")
    if first.linear is None:
        builder.bond(seen, in_world)
        return seen
    builder.bond(first.linear, in_world)
    in_first = builder.zero(f"{name}.dv", 3, frame, "translation")
    R_AW = transpose(first.R_WB)
    builder.transformer(
        f"{name}.to_first", in_world, in_first, R_AW, toward="flow_side", inverse=first.R_WB
    )
    _lever(f"{name}.lever1", builder, first, arm_A, in_first, identity(3), leaving=False)
    builder.bond(seen, in_first)
    return seen


def _rotation(name: str, builder: Builder, first: BodyNode, second: BodyNode, R_AB: Block) -> Node:
    frame = "W" if first.angular is None else first.name
    difference = builder.zero(f"{name}.dw", 3, frame, "rotation")
    if second.angular is not None:
        builder.transformer(
            f"{name}.turn",
            second.angular,
            difference,
            R_AB,
            toward="flow_side",
            inverse=transpose(R_AB),
        )
    if first.angular is not None:
        builder.bond(first.angular, difference)
    seen = builder.one(f"{name}.rotation", 3, frame, "rotation")
    builder.bond(seen, difference)
    return seen


def project(
    name: str,
    builder: Builder,
    relative: Relative,
    target: Node,
    on_translation: Block | None,
    on_rotation: Block | None,
) -> None:
    """flow of `target` = on_translation @ translation + on_rotation @ rotation."""
    for suffix, rows, node in (
        ("translation", on_translation, relative.translation),
        ("rotation", on_rotation, relative.rotation),
    ):
        if rows is not None:
            builder.transformer(f"{name}.{suffix}", node, target, rows, toward="flow_side")


def free_direction(
    name: str,
    builder: Builder,
    relative: Relative,
    on_translation: Block | None,
    on_rotation: Block | None,
) -> Node:
    """1-junction of one free speed: motors, springs and friction act on it,
    a positive effort on the second body."""
    domain: Domain = "translation" if on_rotation is None else "rotation"
    node = builder.one(name, 1, "scalar", domain)
    if on_translation is not None and on_rotation is not None:
        summed = builder.zero(f"{name}.sum", 1, "scalar", domain)
        project(name, builder, relative, summed, on_translation, on_rotation)
        builder.bond(node, summed)
    else:
        project(name, builder, relative, node, on_translation, on_rotation)
    return node


def point_of(name: str, builder: Builder, body: BodyNode, at: tuple[float, float, float]) -> Node:
    """1-junction of the velocity of a point of a body, W: v + R (w x at)."""
    if body.linear is None:
        what = "it acts on a point of the ground, which does not move."
        raise ModelError.of([Problem("error", name, what, "Name a point of a body.")])
    summed = builder.zero(f"{name}.point", 3, "W", "translation")
    builder.bond(summed, body.linear)
    _lever(f"{name}.lever", builder, body, const(at), summed, body.R_WB, leaving=True)
    node = builder.one(f"{name}.at", 3, "W", "translation")
    builder.bond(node, summed)
    return node


@dataclass(frozen=True, slots=True)
class Line:
    """The line between two points: `stretch` is the 1-junction of the rate of
    its length (an effort there pushes the points apart), `length` its length [m],
    `direction` the unit vector from the first to the second point, W."""

    stretch: Node
    length: Block
    direction: Block
    p_WF: Block
    p_WM: Block


def line_between(name: str, builder: Builder, ends: tuple[Attachment, Attachment]) -> Line:
    """rate of length = u . (v_M - v_F) with u = (p_WM - p_WF) / length."""
    first, second = (builder.body(end.body) for end in ends)
    p_AF, p_BM = (const(end.at) for end in ends)
    p_WF = first.p_WB + mul(first.R_WB, p_AF)
    p_WM = second.p_WB + mul(second.R_WB, p_BM)
    across = p_WM - p_WF
    length = norm(across)
    direction = times(call("reciprocal", length), across)
    in_world = builder.zero(f"{name}.dv_W", 3, "W", "translation")
    for body, at, leaving, lever in (
        (first, p_AF, False, f"{name}.lever1"),
        (second, p_BM, True, f"{name}.lever2"),
    ):
        if body.linear is None:
            continue
        tail, head = (in_world, body.linear) if leaving else (body.linear, in_world)
        builder.bond(tail, head)
        _lever(lever, builder, body, at, in_world, body.R_WB, leaving=leaving)
    seen = builder.one(f"{name}.across", 3, "W", "translation")
    builder.bond(seen, in_world)
    stretch = builder.one(f"{name}.stretch", 1, "scalar", "translation")
    builder.transformer(f"{name}.along", seen, stretch, transpose(direction), toward="flow_side")
    return Line(stretch, length, direction, p_WF, p_WM)


def angle_between(first: Block, second: Block, normal: Block) -> Block:
    """Angle from `first` to `second` about `normal` (columns), in (-pi, pi]."""
    return call("atan2", dot(mul(skew(normal), first), second), dot(first, second))


__all__ = [
    "Line",
    "Relative",
    "angle_between",
    "free_direction",
    "line_between",
    "point_of",
    "project",
    "relative_motion",
]
