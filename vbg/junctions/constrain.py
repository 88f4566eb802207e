"""The skeleton that every joint between two bodies is written on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from vbg.blocks import (
    Block,
    call,
    const,
    cross,
    dot,
    linear,
    mul,
    rows,
    skew,
    stack,
    times,
    transpose,
    zeros,
)
from vbg.builder import Builder, JointFrameBlocks, Node
from vbg.junctions.latch import holding
from vbg.junctions.start import Friction, Stop, TwoAngleStart
from vbg.physics.contact import contact
from vbg.physics.relative import Relative, angle_between, free_direction, project, relative_motion
from vbg.physics.stiction import friction_between, friction_law

FORCES = ("force.x", "force.y", "force.z")
TORQUES = ("torque.x", "torque.y", "torque.z")
EYE = const(np.eye(3))


@dataclass(frozen=True, slots=True)
class Pair:
    """A joint being written: frames, relative motion and the axes of frame F on
    the first body (columns in its axes), those of M seen from the first body; `holds` is 1 while
    it is closed (None: always)."""

    name: str
    frames: JointFrameBlocks
    relative: Relative
    x_F: Block
    y_F: Block
    z_F: Block
    holds: Block | None = None

    def axis_of_second(self, column: int) -> Block:
        """x, y or z (0, 1, 2) of frame M in the first body's axes."""
        unit = const(self.frames.R_BM.data[:, column])
        return mul(self.relative.R_AB, unit)


def begin(name: str, builder: Builder, *, points_coincide: bool, latch: Any = None) -> Pair:
    """Relative motion of the joint `name`; `latch` is the joint where it may open."""
    holds = None if latch is None else holding(name, builder, latch)
    frames = builder.frames(name)
    relative = relative_motion(
        name,
        builder,
        builder.body(frames.first),
        builder.body(frames.second),
        frames.p_AF_A,
        frames.p_BM_B,
        points_coincide=points_coincide,
    )
    x_F, y_F, z_F = (const(frames.R_AF.data[:, i]) for i in range(3))
    return Pair(name, frames, relative, x_F, y_F, z_F, holds)


@dataclass(frozen=True, slots=True)
class Rows:
    """Constrained directions: rows on the relative translation and rotation
    (first body's axes), the position constraints they are the rate of, which are sines of turns:
    zero half a turn off, too, where only `facing` tells (as of a `Vertex`)."""

    translation: Block | None
    rotation: Block | None
    position: Block | None
    labels: tuple[str, ...]
    facing: Block | None = None


def constrain(pair: Pair, builder: Builder, *groups: Rows) -> Block:
    """One vector constraint source for all `groups`: efforts (c x 1) that act on
    the second body; declares JOINT.force and JOINT.torque without a drive."""
    size = sum(len(group.labels) for group in groups)
    on_translation = _stacked(groups, "translation")
    on_rotation = _stacked(groups, "rotation")
    positions = [g.position for g in groups]
    node = builder.zero(
        f"{pair.name}.constrained", size, pair.relative.translation.frame, "mechanical"
    )
    project(f"{pair.name}.constrained", builder, pair.relative, node, on_translation, on_rotation)
    effort = builder.constraint(
        pair.name,
        node,
        labels=tuple(label for group in groups for label in group.labels),
        position=None if any(p is None for p in positions) else stack(*(p for p in positions if p)),
        active=pair.holds,
        facing=next((g.facing for g in groups if g.facing is not None), None),
    )
    zero = zeros(3)
    force = zero if on_translation is None else mul(transpose(on_translation), effort)
    torque = zero if on_rotation is None else mul(transpose(on_rotation), effort)
    return stack(force, torque)


def _stacked(groups: tuple[Rows, ...], kind: str) -> Block | None:
    parts: list[Block] = []
    found = False
    for group in groups:
        directions = getattr(group, kind)
        found = found or directions is not None
        parts.append(zeros(len(group.labels), 3) if directions is None else directions)
    return stack(*parts) if found else None


def coincide(pair: Pair) -> Rows:
    """The two joint points coincide: three translations, first body's axes."""
    return Rows(EYE, None, pair.relative.p_FM, FORCES)


def on_axis(pair: Pair) -> Rows:
    """The second point stays on the line of z_F: two translations."""
    normals = stack(transpose(pair.x_F), transpose(pair.y_F))
    return Rows(normals, None, mul(normals, pair.relative.p_FM), ("force.normal1", "force.normal2"))


def in_plane(pair: Pair) -> Rows:
    """The second point stays in the plane normal to z_F: one translation."""
    row = transpose(pair.z_F)
    return Rows(row, None, mul(row, pair.relative.p_FM), ("force.normal",))


def axes_parallel(pair: Pair) -> Rows:
    """z_M stays parallel to z_F: rotations about x_F and y_F.  Position: the
    components of z_F x z_M, whose rates these are at the constraint."""
    normals = stack(transpose(pair.x_F), transpose(pair.y_F))
    z_M = pair.axis_of_second(2)
    position = stack(-dot(pair.y_F, z_M), dot(pair.x_F, z_M))
    R_FA, R_BM = pair.frames.R_AF.data.T, pair.frames.R_BM.data
    facing = mul(const(R_FA), mul(pair.relative.R_AB, const(R_BM[:, [0, 2]])))
    return Rows(None, normals, position, ("torque.normal1", "torque.normal2"), facing)


def no_rotation(pair: Pair) -> Rows:
    """All rotations: half of the sum of (axis of F) x (axis of M), the sine of the
    rotation vector, whose rate is w_B - w_A at the constraint."""
    terms = []
    for column, axis in enumerate((pair.x_F, pair.y_F, pair.z_F)):
        axis_M = pair.axis_of_second(column)
        terms.append((0.5, mul(skew(axis), axis_M)))
    facing = mul(pair.relative.R_AB, const(pair.frames.R_BM.data @ pair.frames.R_AF.data.T))
    return Rows(None, EYE, linear(*terms), TORQUES, facing)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A free coordinate: 1-junction of its speed, its value, world direction rows
    of what an effort on it is on the second body (force, torque; first's axes),
    whether a drive prescribes it."""

    path: str
    node: Node
    value: Block
    wrench: Block
    driven: bool


def turning(
    pair: Pair,
    builder: Builder,
    angle: float | None,
    speed: float | None,
    *,
    driven: bool = False,
    names: tuple[str, str] = ("angle", "speed"),
) -> Coordinate:
    """The angle of M against F about z_F, counting turns."""
    node = free_direction(
        f"{pair.name}.{names[0]}.free", builder, pair.relative, None, transpose(pair.z_F)
    )
    measured = angle_between(pair.x_F, pair.axis_of_second(0), pair.z_F)
    return _coordinate(
        pair,
        builder,
        node,
        names,
        angle,
        speed,
        driven,
        measured,
        2.0 * pi,
        stack(zeros(3), pair.z_F),
    )


def sliding(
    pair: Pair,
    builder: Builder,
    slide: float | None,
    speed: float | None,
    *,
    driven: bool = False,
    names: tuple[str, str] = ("slide", "speed"),
) -> Coordinate:
    """The position of M from F along z_F."""
    node = free_direction(
        f"{pair.name}.{names[0]}.free", builder, pair.relative, transpose(pair.z_F), None
    )
    measured = dot(pair.z_F, pair.relative.p_FM)
    return _coordinate(
        pair, builder, node, names, slide, speed, driven, measured, 0.0, stack(pair.z_F, zeros(3))
    )


def _coordinate(
    pair: Pair,
    builder: Builder,
    node: Node,
    names: tuple[str, str],
    start: float | None,
    speed: float | None,
    driven: bool,
    measured: Block,
    period: float,
    wrench: Block,
) -> Coordinate:
    value_name, speed_name = names
    turns = period > 0.0
    about, rate = _turning_free(pair) if turns and pair.holds is not None else (node, None)
    value = builder.displacement(
        f"{pair.name}.{value_name}",
        about,
        rate=rate,
        size=1,
        initial=const(pair.frames.coordinates[value_name]),
        unit="rad" if turns else "m",
        measured=measured,
        period=period,
    )
    builder.output(f"{pair.name}.{value_name}", value, "rad" if turns else "m")
    builder.output(f"{pair.name}.{speed_name}", builder.flow(node), "rad/s" if turns else "m/s")
    builder.register_coordinate(f"joints.{pair.name}.{value_name}", node, value)
    builder.register_coordinate(f"joints.{pair.name}", node, value)
    if not driven:
        builder.hold(f"{pair.name}.{value_name}", node, value, start, speed)
    return Coordinate(f"joints.{pair.name}", node, value, wrench, driven)


def _turning_free(pair: Pair) -> tuple[Node, Callable[[Block, Block], Block]]:
    """The rate of the angle of x_M about z_F, whether z_M is parallel to z_F or not:
    q = atan2(s, c), s = y_F . x_M, c = x_F . x_M, x_M' = w x x_M, w = w_B - w_A, so
    q' = (x_M x (c y_F - s x_F)) . w / (s^2 + c^2)."""
    x_M = pair.axis_of_second(0)
    s, c = dot(pair.y_F, x_M), dot(pair.x_F, x_M)
    across = cross(x_M, times(c, pair.y_F) - times(s, pair.x_F))
    along = times(call("reciprocal", times(s, s) + times(c, c)), across)
    return pair.relative.rotation, lambda _, w: dot(along, w)


def drive(
    pair: Pair, builder: Builder, coordinate: Coordinate, signal: float | str | None
) -> Block | None:
    """Prescribes the coordinate: a constraint source on speed - f'(t), position
    coordinate - f(t); the flow source f' supplies the power.  Returns the wrench
    (6 x 1, first's axes) on the second body; declares JOINT.drive."""
    if signal is None:
        return None
    target = builder.signal(signal)
    node = builder.zero(f"{pair.name}.driven", 1, "scalar", coordinate.node.domain)
    builder.bond(node, coordinate.node)
    builder.flow_source(f"{pair.name}.drive", node, builder.time_derivative(target))
    effort = builder.constraint(
        f"{pair.name}.drive",
        node,
        labels=("drive",),
        position=coordinate.value - target,
    )
    builder.output(f"{pair.name}.drive", effort, coordinate.node.effort_unit)
    return mul(coordinate.wrench, effort)


def reaction(pair: Pair, builder: Builder, wrench: Block) -> None:
    """Declares JOINT.force and JOINT.torque: `wrench` on the second body at its
    joint point, turned into world axes."""
    R_WA = pair.relative.first.R_WB
    builder.output(f"{pair.name}.force", mul(R_WA, rows(wrench, 0, 3)), "N")
    builder.output(f"{pair.name}.torque", mul(R_WA, rows(wrench, 3, 6)), "N*m")


def friction(
    pair: Pair, builder: Builder, coordinate: Coordinate, law: Friction | None, limits: Stop | None
) -> None:
    """Friction and unilateral stops on the free coordinate."""
    if law is not None:
        effort = _friction(f"{pair.name}.friction", builder, coordinate, law, pair.holds)
        builder.output(f"{pair.name}.friction", effort, coordinate.node.effort_unit)
    if limits is not None:
        _stops(pair, builder, coordinate, limits)


def _friction(
    name: str, builder: Builder, coordinate: Coordinate, law: Friction, holds: Block | None
) -> Block:
    """Effort of the friction on the second body: viscous only, or dry as well."""
    if law.coulomb == 0.0:
        viscous = const(law.viscous) if holds is None else law.viscous * holds
        return -builder.effort(
            builder.resistor(name, coordinate.node, effort=lambda flow: times(viscous, flow))
        )
    given = builder.given_speed(coordinate.path) if coordinate.driven else None
    speeds = () if given is None else (given,)
    return friction_between(name, builder, coordinate.node, speeds, friction_law(law))


def _stops(pair: Pair, builder: Builder, coordinate: Coordinate, limits: Stop) -> None:
    q, total = coordinate.value, const(0.0)
    for side, limit, sign in (("lower", limits.lower, -1.0), ("upper", limits.upper, 1.0)):
        if limit is None:
            continue
        depth = sign * (q - const(limit))
        if pair.holds is not None:
            depth = call("select", pair.holds, depth, const(-1.0))
        name = f"{pair.name}.stop.{side}"
        total = total + contact(
            name, builder, coordinate.node, depth, limits.k, limits.c, sign=sign
        )
        builder.event(f"{pair.name}.{side} stop", depth, f"{pair.name} at its {side} stop")
    builder.output(f"{pair.name}.stop", total, coordinate.node.effort_unit)


def two_angles(pair: Pair, builder: Builder, start: TwoAngleStart) -> None:
    """The angles of a universal joint: `angle` of the cross about z_F, `angle2` of
    the second body about z_M.  R_FM = Rz(angle) Rx(-90 deg) Rz(angle2), so
    z_M = (-sin, cos, 0)(angle) in F and the cross's axis is Rz(angle) x_F.
    """
    z_M = pair.axis_of_second(2)
    # z_F . z_M = 0 on the constraint, so each speed is a projection of w_B - w_A
    first_angle = angle_between(pair.y_F, z_M, pair.z_F)
    second_angle = angle_between(cross(z_M, pair.z_F), pair.axis_of_second(0), z_M)
    for names, axis, measured, value, speed in (
        (("angle", "speed"), pair.z_F, first_angle, start.angle, start.speed),
        (("angle2", "speed2"), z_M, second_angle, start.angle2, start.speed2),
    ):
        node = free_direction(
            f"{pair.name}.{names[0]}.free", builder, pair.relative, None, transpose(axis)
        )
        wrench = stack(zeros(3), axis)
        _coordinate(pair, builder, node, names, value, speed, False, measured, 2.0 * pi, wrench)
