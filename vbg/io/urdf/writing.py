"""A tree machine as a URDF file.

A body becomes a link whose frame is that of the joint which carries it: M of the joint (F where
the joint is written the other way round), z along its axis.  A joint's origin is its other
frame in the parent link's.  What the format has no element for is refused by name; what it
only leaves open, as where a run begins, is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from vbg.engines.rotors import Rotor, rotors_of
from vbg.errors import UsageError
from vbg.fields import Attachment, Shape
from vbg.io.mechanism import besides_joints, refuse
from vbg.io.urdf.robot import Place
from vbg.junctions.latch import opens
from vbg.model import Model
from vbg.model.placing.frames import JointFrame
from vbg.model.placing.placed import Placed, place
from vbg.platform.files import write_text
from vbg.spatial import Array, rotation_matrix

GROUND = "ground"
KINDS = ("revolute", "prismatic", "fixed", "planar")
SOLIDS = ("box", "cylinder", "sphere")
FREE = 1e6  # effort and velocity that the format asks for where nothing limits them


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A body below its parent: the joint that carries it ("" where it floats), the joint's
    frames on both, and whether it is written from the parent to the body."""

    body: str
    parent: str
    joint: str
    on_parent: Place
    on_body: Place
    forward: bool


def write(model: Model, path: str | Path) -> tuple[str, ...]:
    """Write `model` as a URDF file; what of it the file does not say.

    Raises UsageError for loops and for parts that the format does not know.
    """
    text, left_out = to_urdf(model)
    write_text(path, text)
    return left_out


def to_urdf(model: Model) -> tuple[str, tuple[str, ...]]:
    """The text of the file, and what of the model it does not say."""
    _require_known(model)
    placed = place(model)
    branches = tuple(_branches(model, placed))
    link_frames = {branch.body: branch.on_body for branch in branches}
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(model.name)}>"]
    lines.append(f'  <link name="{GROUND}"/>')
    for branch in branches:
        lines += _link(branch.body, model.bodies[branch.body], branch.on_body)
    followers = _followers(model)
    for branch in branches:
        above = link_frames.get(branch.parent, Place())
        lines += _joint(model, branch, _inverse(above) @ branch.on_parent, followers)
    for rotor in rotors_of(model):
        lines += _transmission(rotor)
    return "\n".join([*lines, "</robot>", ""]), tuple(_left_out(model))


def _require_known(model: Model) -> None:
    """Refuse what the format has no element for, all of it at once."""
    rotors = {f"rotational.{part}" for rotor in rotors_of(model) for part in rotor.parts}
    unknown = [part for part in besides_joints(model) if part not in rotors]
    for name, joint in model.joints.items():
        if joint.kind == "gear" and all(end.startswith("joints.") for end in joint.between):
            continue
        if joint.kind not in KINDS:
            unknown.append(f"joints.{name} ({joint.kind})")
        if getattr(joint, "drive", None) is not None:
            unknown.append(f"joints.{name}.drive")
        if opens(joint):
            unknown.append(f"joints.{name}.release")
        friction, stop = getattr(joint, "friction", None), getattr(joint, "stop", None)
        for key in ("static", "coulomb_back", "static_back", "viscous_back"):
            if getattr(friction, key, None) is not None:
                unknown.append(f"joints.{name}.friction.{key}")
        if stop is not None and None in (stop.lower, stop.upper):
            unknown.append(f"joints.{name}.stop with one end")
    holds = f"bodies, {', '.join(KINDS)} joints with friction and stops, gears between joints"
    holds += ", and rotors behind gears on revolute joints"
    refuse("a URDF file", unknown, holds)


def _branches(model: Model, placed: Placed) -> Iterator[_Branch]:
    """Every body below its parent, parents first; a part of the machine that no joint holds
    begins with a body that floats."""
    frames = dict(placed.frames)
    reached, waiting = {GROUND}, [GROUND]
    rest = list(model.bodies)
    while rest or waiting:
        if not waiting:
            body = rest[0]
            pose = placed.poses[body]
            yield _Branch(body, GROUND, "", Place(pose.R_WB, pose.p_WB), Place(), True)
            reached.add(body)
            waiting.append(body)
            rest.remove(body)
        parent = waiting.pop(0)
        for name, frame in list(frames.items()):
            if parent not in (frame.first, frame.second):
                continue
            del frames[name]
            branch = _branch(name, frame, parent)
            if branch.body in reached:
                raise UsageError(
                    f"joints.{name} closes a loop, and a URDF file holds trees. Export the "
                    "machine without it, and say the loop beside the file."
                )
            yield branch
            reached.add(branch.body)
            waiting.append(branch.body)
            rest.remove(branch.body)


def _branch(name: str, frame: JointFrame, parent: str) -> _Branch:
    F, M = Place(frame.R_AF, frame.p_AF_A), Place(frame.R_BM, frame.p_BM_B)
    if frame.first == parent:
        return _Branch(frame.second, parent, name, F, M, True)
    return _Branch(frame.first, parent, name, M, F, False)


def _inverse(X: Place) -> Place:
    return Place(X.R.T, -X.R.T @ X.p)


def _followers(model: Model) -> Mapping[str, tuple[str, float]]:
    """joint -> the joint that it follows, and how fast."""
    found = {}
    for joint in model.joints.values():
        if isinstance(joint.between[0], Attachment):
            continue
        leader, follower = (end.removeprefix("joints.") for end in joint.between)
        found[follower] = (leader, joint.ratio)
    return found


def _link(name: str, body: Any, on_body: Place) -> Iterator[str]:
    """The body in the frame `on_body`, which counts from its mass centre in its axes."""
    X = _inverse(on_body)
    xx, yy, zz, xy, yz, zx = body.inertia
    yield f"  <link name={quoteattr(name)}>"
    yield f"    <inertial>{_origin(X)}<mass value={_number(body.mass)}/>"
    yield (
        f"      <inertia ixx={_number(xx)} iyy={_number(yy)} izz={_number(zz)}"
        f" ixy={_number(xy)} iyz={_number(yz)} ixz={_number(zx)}/></inertial>"
    )
    for shape in body.shape:
        if shape.kind in SOLIDS:
            at = X @ Place(rotation_matrix(shape.rotation), np.array(shape.position))
            yield f"    <visual>{_origin(at)}<geometry>{_geometry(shape)}</geometry></visual>"
    yield "  </link>"


def _geometry(shape: Shape) -> str:
    s = shape.sizes
    if shape.kind == "box":
        return f'<box size="{_numbers([s["x"], s["y"], s["z"]])}"/>'
    sizes = " ".join(f"{key}={_number(value)}" for key, value in s.items())
    return f"<{shape.kind} {sizes}/>"


def _joint(
    model: Model, branch: _Branch, origin: Place, followers: Mapping[str, tuple[str, float]]
) -> Iterator[str]:
    joint = model.joints.get(branch.joint)
    stop = getattr(joint, "stop", None)
    kind = "floating" if joint is None else joint.kind
    if kind == "revolute" and stop is None:
        kind = "continuous"
    name = branch.joint or f"{branch.body}_floats"
    yield f"  <joint name={quoteattr(name)} type={quoteattr(kind)}>"
    yield f"    {_origin(origin)}"
    yield f"    <parent link={quoteattr(branch.parent)}/><child link={quoteattr(branch.body)}/>"
    if kind not in ("fixed", "floating"):
        yield f'    <axis xyz="0 0 {1 if branch.forward else -1}"/>'
    if kind in ("revolute", "prismatic"):
        ends = "" if stop is None else f"lower={_number(stop.lower)} upper={_number(stop.upper)} "
        if stop is None:
            ends = f"lower={_number(-FREE)} upper={_number(FREE)} "
        yield f"    <limit {ends}effort={_number(FREE)} velocity={_number(FREE)}/>"
    friction = getattr(joint, "friction", None)
    if friction is not None:
        v, c = _number(friction.viscous), _number(friction.coulomb)
        yield f"    <dynamics damping={v} friction={c}/>"
    if branch.joint in followers:
        leader, ratio = followers[branch.joint]
        yield f"    <mimic joint={quoteattr(leader)} multiplier={_number(ratio)}/>"
    yield "  </joint>"


def _transmission(rotor: Rotor) -> Iterator[str]:
    """With the inertia that no part of the format says, as many readers look for it."""
    yield f"  <transmission name={quoteattr(f'{rotor.parts[0]}_transmission')}>"
    yield "    <type>transmission_interface/SimpleTransmission</type>"
    yield f"    <joint name={quoteattr(rotor.joint)}/>"
    yield f"    <actuator name={quoteattr(rotor.parts[0])}>"
    yield f"      <mechanicalReduction>{rotor.reduction!r}</mechanicalReduction>"
    yield f"      <motorInertia>{rotor.J!r}</motorInertia>"
    yield "    </actuator>"
    yield "  </transmission>"


def _origin(X: Place) -> str:
    """R = Rz(yaw) Ry(pitch) Rx(roll); where the pitch is a right angle, the roll is zero."""
    R = X.R
    cosine = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = float(np.arctan2(-R[2, 0], cosine))
    if cosine > 1e-12:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    return f'<origin xyz="{_numbers(X.p)}" rpy="{_numbers((roll, pitch, yaw))}"/>'


def _numbers(values: Array | Any) -> str:
    return " ".join(repr(float(value) + 0.0) for value in values)


def _number(value: float) -> str:
    return f'"{float(value)!r}"'


def _left_out(model: Model) -> Iterator[str]:
    if tuple(model.gravity) != (0.0, 0.0, -9.81):
        yield "gravity: the file's readers set their own"
    if any(_begins(joint) for joint in model.joints.values()):
        yield "start values and speeds: the file holds the machine, not its state"
    if any(getattr(joint, "stop", None) for joint in model.joints.values()):
        yield "stiffness and damping of stops: they are limits"
    if any(s.kind not in SOLIDS for body in model.bodies.values() for s in body.shape):
        yield f"shapes other than {', '.join(SOLIDS)}"
    if model.parameters:
        yield "parameters: their values are written"


def _begins(joint: Any) -> bool:
    """Whether a start value or a speed of the joint is written, other than zero."""
    initial = getattr(joint, "initial", None)
    return initial is not None and any(getattr(initial, f.name) for f in fields(initial))
