"""A model as a parameter file of MSTMMSim.

The format has bodies, seven kinds of joint, a speed that drives a hinge, gravity and the
span of a run.  What else acts in a machine is refused by name: a file without its friction
would be another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from vbg import expressions
from vbg.errors import ModelError, UsageError
from vbg.fields import Attachment
from vbg.io.mechanism import besides_joints, refuse
from vbg.io.mstmmsim.schema import WRITTEN
from vbg.junctions.latch import opens
from vbg.model import Model
from vbg.model.placing.frames import JointFrame
from vbg.model.placing.placed import Pose, place
from vbg.spatial import Array, quaternion_from_matrix

GROUND = "ground"
CONSISTENT = 1e-9  # of the machine's size: how well written positions close the joints
_TO_AXIS_2 = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rx(90 deg): in vbg the second axis of a universal joint is z of M, in the format y."""


def to_xml(model: Model) -> tuple[str, tuple[str, ...]]:
    """The file's text, and what of the model it does not hold and the machine does not need.

    Joints are written between two nodes; the ground is a static one.  Raises UsageError for
    what the format does not know.
    """
    _require_known(model)
    placed = place(model)
    poses, frames = placed.poses, placed.frames
    joints = [(name, joint, frames[name]) for name, joint in model.joints.items()]
    _require_closed(model, poses, frames)
    lines = [
        "<model>",
        f"<modelname><name>{escape(model.name)}</name></modelname>",
        "<initialvalue><initialtime>0</initialtime>"
        f"<finaltime>{model.simulate.t_end!r}</finaltime>"
        f"<timestep>{model.simulate.output_step!r}</timestep></initialvalue>",
        *_control(model),
        "<nodes>",
        f"<structural><name>node_{GROUND}</name><type>static</type>"
        "<absoluteposition>0, 0, 0</absoluteposition>"
        "<absoluteorientation>1,1,1</absoluteorientation></structural>",
        *(_node(name, pose) for name, pose in poses.items()),
        "</nodes>",
        "<elements>",
        "<bodies>",
        *(_body(name, body) for name, body in model.bodies.items()),
        "</bodies>",
        "<joints>",
        *(_joint(name, joint, frame) for name, joint, frame in joints),
        "</joints>",
        "</elements>",
        "</model>",
        "",
    ]
    return "\n".join(lines), tuple(_left_out(model))


def _require_known(model: Model) -> None:
    """Refuse what the format has no element for, all of it at once."""
    unknown = besides_joints(model)
    for name, joint in model.joints.items():
        where = f"joints.{name}"
        if joint.kind not in WRITTEN or not isinstance(joint.between[0], Attachment):
            unknown.append(f"{where} ({joint.kind})")
        unknown += [f"{where}.{k}" for k in ("friction", "stop") if getattr(joint, k, None)]
        if getattr(joint, "drive", None) is not None and _speed_of(joint) is None:
            unknown.append(f"{where}.drive")
        if opens(joint):
            unknown.append(f"{where}.release")
    holds = f"bodies, {', '.join(WRITTEN)} joints, hinges at constant speed and gravity"
    refuse("MSTMMSim's parameter file", unknown, holds)


def _speed_of(joint: Any) -> float | None:
    """Of a hinge that is driven at constant speed [rad/s]; None of any other drive."""
    if joint.kind != "revolute" or not isinstance(joint.drive, str):
        return None
    try:
        slope = expressions.derivative(expressions.parse(joint.drive), "t")
        return None if expressions.names(slope) else expressions.evaluate(slope, {})
    except ModelError:
        return None


def _require_closed(
    model: Model, poses: Mapping[str, Pose], frames: Mapping[str, JointFrame]
) -> None:
    """The file's readers start a machine where its nodes stand: its loops have to be closed
    there, and its start values be those of the posture."""
    at_rest = Pose(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3), frozenset())
    size = max((float(np.abs(pose.p_WB).max()) for pose in poses.values()), default=0.0)
    size = max([size, *(float(np.abs(f.p_AF_A).max()) for f in frames.values())])
    for name, frame in frames.items():
        first, second = poses.get(frame.first, at_rest), poses.get(frame.second, at_rest)
        R_WF = first.R_WB @ frame.R_AF
        gap = R_WF.T @ (
            second.p_WB + second.R_WB @ frame.p_BM_B - first.p_WB - first.R_WB @ frame.p_AF_A
        )
        R_FM = R_WF.T @ second.R_WB @ frame.R_BM
        off = _off(model.joints[name].kind, gap, R_FM, frame.coordinates, size)
        if off > CONSISTENT:
            raise UsageError(
                f"joints.{name} is not closed where the file puts its bodies (off by {off:.2g}):"
                " a parameter file holds positions as they are."
                " Write position and rotation of the bodies as a run begins, and no other start."
            )


def _off(kind: str, gap: Array, R_FM: Array, coordinates: tuple[float, ...], size: float) -> float:
    """How far a posture is from what the joint and its start values ask; lengths as parts
    of the machine's `size`."""
    free = {"prismatic": (0, 1), "point_on_line": (0, 1), "point_on_plane": (2,)}.get(
        kind, (0, 1, 2)
    )
    off = float(np.abs(gap[list(free)]).max()) / (size or 1.0)
    turned = {
        "revolute": R_FM[:2, 2],
        "universal": R_FM[2:, 2],
        "prismatic": R_FM - np.eye(3),
        "fixed": R_FM - np.eye(3),
    }.get(kind)
    if turned is not None:
        off = max(off, float(np.abs(turned).max()))
    if kind == "prismatic":
        off = max(off, abs(float(gap[2]) - coordinates[0]) / (size or 1.0))
    if kind == "revolute":
        off = max(off, _turn(R_FM[1, 0], R_FM[0, 0], coordinates[0]))
    if kind == "universal":
        off = max(off, _turn(-R_FM[0, 2], R_FM[1, 2], coordinates[0]))
    return off


def _turn(sine: float, cosine: float, angle: float) -> float:
    """How far the direction (cosine, sine) is from `angle`, whole turns aside [rad]."""
    return float(np.hypot(cosine - np.cos(angle), sine - np.sin(angle)))


def _control(model: Model) -> Iterator[str]:
    size = float(np.linalg.norm(model.gravity))
    direction = np.array(model.gravity) / (size or 1.0)
    yield "<controldata>"
    yield f"<structuralnodes>{len(model.bodies) + 1}</structuralnodes>"
    yield f"<rigidbodies>{len(model.bodies)}</rigidbodies><joints>{len(model.joints)}</joints>"
    yield f"<gravity>{_numbers(direction)}, const, {size!r}</gravity>"
    yield "</controldata>"


def _numbers(values: Any) -> str:
    return ", ".join(repr(float(v)) for v in values)


def _node(name: str, pose: Pose) -> str:
    quaternion = quaternion_from_matrix(pose.R_WB)
    same = np.array_equal(pose.R_WB, np.eye(3))
    orientation = "1,1,1" if same else f"quat, {_numbers(quaternion)}"
    return (
        f"<structural><name>node_{name}</name><type>dynamic</type>"
        f"<absoluteposition>{_numbers(pose.p_WB)}</absoluteposition>"
        f"<absoluteorientation>{orientation}</absoluteorientation>"
        f"<absolutevelocity>{_numbers(pose.v_WB)}</absolutevelocity>"
        f"<absoluteangularvelocity>{_numbers(pose.R_WB @ pose.w_WB_B)}</absoluteangularvelocity>"
        "</structural>"
    )


def _body(name: str, body: Any) -> str:
    xx, yy, zz, xy, yz, zx = body.inertia
    products = any((xy, yz, zx))
    inertia = (
        f"sym, {_numbers((xx, xy, zx, yy, yz, zz))}"
        if products
        else f"diag, {_numbers((xx, yy, zz))}"
    )
    return (
        f"<body><name>{name}</name><node>node_{name}</node><mass>{body.mass!r}</mass>"
        f"<relativecentermass>null</relativecentermass>"
        f"<inertiamatrix>{inertia}</inertiamatrix></body>"
    )


def _joint(name: str, joint: Any, frame: JointFrame) -> str:
    tag, speed = WRITTEN[joint.kind], ""
    if getattr(joint, "drive", None) is not None:
        tag = "axialrotation"
        speed = f"<angularvelocity>{_speed_of(joint)!r}</angularvelocity>"
    R_BM = frame.R_BM @ _TO_AXIS_2 if joint.kind == "universal" else frame.R_BM
    axes = joint.kind not in ("spherical", "fixed")
    first, second = (
        f"<name>node_{end.body}</name><relativeoffset>{_numbers(end.at)}</relativeoffset>"
        + (f"<relativeaxisorientation>{_hinge(R)}</relativeaxisorientation>" if axes else "")
        for end, R in zip(joint.between, (frame.R_AF, R_BM), strict=True)
    )
    return f"<{tag}><name>{name}</name><node1>{first}</node1><node2>{second}</node2>{speed}</{tag}>"


def _hinge(R: Array) -> str:
    return f"hinge, 1, {_numbers(R[:, 0])}, 3, {_numbers(R[:, 2])}"


def _left_out(model: Model) -> Iterator[str]:
    if model.parameters:
        yield "parameters: their values are written"
    if any(body.shape for body in model.bodies.values()):
        yield "shapes: mass and inertia are written"
    if any(body.points for body in model.bodies.values()):
        yield "names of points: the joints' offsets are written"
    if model.description:
        yield "the description"
