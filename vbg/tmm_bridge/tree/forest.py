"""The spanning tree: which joints and elastic hinges carry bodies and which are cut.

Every loop is opened at one joint.  Kept are, best first, joints whose coordinate
somebody uses (a drive, a coupling, a spring, a written start), then joints with
few freedoms, then elastic hinges; rods and rolling discs are always cut.  What of an
elastic hinge closes a loop is a force between two bodies.  A body that nothing in the
tree holds floats: it gets six coordinates of its own.  So does the frame of a flexible body,
which carries its points and what hangs on them: joints from there to ground are cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vbg.elements.beam_element import BeamElement
from vbg.elements.bushing import Bushing
from vbg.model import Model
from vbg.tmm_bridge.tree.pairs import can_be_in_tree, worth_in_tree

GROUND = "ground"
DRIVEN, COUPLED, LOADED, STARTED = 1000.0, 500.0, 250.0, 120.0


@dataclass(frozen=True)
class Carrier:
    """How the tree carries a body: from `parent` through `joint`, a joint or an elastic hinge
    in [forces] ("" if it floats, or is a point of a flexible body, its parent);
    `backward` if the joint's first body is the one that is carried."""

    body: str
    parent: str
    joint: str
    backward: bool


@dataclass(frozen=True)
class Forest:
    """Carriers from the root to the tips, parents first; names of the cut joints."""

    carriers: tuple[Carrier, ...]
    cut: tuple[str, ...]


def ends_of(joint: Any) -> tuple[str, str]:
    """Names of the two bodies of a joint between bodies."""
    return joint.between[0].body, joint.between[1].body


def is_elastic(part: Any) -> bool:
    """Whether a part in [forces] holds two bodies in all six directions."""
    return isinstance(part, Bushing | BeamElement)


def hinge_of(model: Model, name: str) -> Any:
    """The joint, or the elastic hinge, that is called so."""
    return model.joints[name] if name in model.joints else model.forces[name]


def is_coupling(joint: Any) -> bool:
    """Whether the joint relates two coordinates and not two bodies."""
    return isinstance(joint.between[0], str)


def coordinate_joint(reference: str) -> str:
    """The joint of "joints.NAME" or "joints.NAME.angle"; empty for other coordinates."""
    table, _, rest = reference.partition(".")
    return rest.partition(".")[0] if table == "joints" else ""


def coordinate_key(model: Model, reference: str) -> str:
    """Name of the coordinate that "joints.NAME" or "joints.NAME.angle" means.

    A joint with two answers with its first: a cylinder's slide, a universal's angle.
    """
    if reference.count(".") == 2:
        return reference.rsplit(".", 1)[1]
    kind = model.joints[coordinate_joint(reference)].kind
    return "slide" if kind in ("prismatic", "cylindrical", "point_on_line", "guide") else "angle"


def used_joints(model: Model) -> dict[str, float]:
    """Joints whose coordinate somebody uses, with what that is worth."""
    worth: dict[str, float] = {}

    def count(name: str, value: float) -> None:
        worth[name] = max(worth.get(name, 0.0), value)

    for name, joint in model.joints.items():
        if is_coupling(joint):
            for reference in joint.between:
                count(coordinate_joint(reference), COUPLED)
            continue
        if getattr(joint, "drive", None) is not None:
            count(name, DRIVEN)
        if getattr(joint, "friction", None) or getattr(joint, "stop", None):
            count(name, LOADED)
        initial = getattr(joint, "initial", None)
        if initial is not None and any(
            getattr(initial, key) is not None for key in initial.__slots__
        ):
            count(name, STARTED)
    tables = (model.forces, model.electric, model.hydraulic, model.rotational, model.translational)
    for table in tables:
        for part in table.values():
            on = getattr(part, "on", None)
            if isinstance(on, str):
                count(coordinate_joint(on), LOADED)
    return worth


def carried_points(model: Model) -> dict[str, str]:
    """The flexible body of each of the points that such bodies carry."""
    return {n: b.on.body for n, b in model.bodies.items() if b.kind == "flexible_point"}


def plant(model: Model) -> Forest:
    """The spanning tree of the model, heaviest joints first."""
    used = used_joints(model)
    candidates = [
        name
        for name, joint in model.joints.items()
        if not is_coupling(joint) and can_be_in_tree(joint)
    ]
    candidates.sort(key=lambda name: -used.get(name, 0.0) - worth_in_tree(model.joints[name]))
    candidates += [name for name, part in model.forces.items() if is_elastic(part)]
    cluster = {body: body for body in (GROUND, *model.bodies)}
    cluster |= dict.fromkeys((*carried_points(model), *carried_points(model).values()), GROUND)

    def root(body: str) -> str:
        while cluster[body] != body:
            cluster[body] = cluster[cluster[body]]
            body = cluster[body]
        return body

    kept = []
    for name in candidates:
        a, b = (root(body) for body in ends_of(hinge_of(model, name)))
        if a != b:
            cluster[a] = b
            kept.append(name)
    tree = set(kept)
    cut = tuple(
        name for name, joint in model.joints.items() if not is_coupling(joint) and name not in tree
    )
    return Forest(_carriers(model, kept), cut)


def _carriers(model: Model, kept: list[str]) -> tuple[Carrier, ...]:
    """Walk the kept joints from the ground, then from the heaviest body of what floats."""
    around: Mapping[str, list[str]] = {body: [] for body in (GROUND, *model.bodies)}
    for name in kept:
        for body in ends_of(hinge_of(model, name)):
            around[body].append(name)
    carriers: list[Carrier] = []
    seen = {GROUND}

    def walk(start: str) -> None:
        stack = [(name, start) for name in reversed(around[start])]
        while stack:
            name, parent = stack.pop()
            first, second = ends_of(hinge_of(model, name))
            backward = parent == second
            body = first if backward else second
            if body in seen:
                continue
            seen.add(body)
            carriers.append(Carrier(body, parent, name, backward))
            stack.extend((further, body) for further in reversed(around[body]) if further != name)

    points = carried_points(model)
    for body in dict.fromkeys(points.values()):
        carriers.append(Carrier(body, GROUND, "", backward=False))
    carriers += [Carrier(point, body, "", backward=False) for point, body in points.items()]
    seen |= {*points, *points.values()}
    for start in (GROUND, *points):
        walk(start)
    for body in sorted(model.bodies, key=lambda name: -(model.bodies[name].mass or 0.0)):
        if body not in seen:
            seen.add(body)
            carriers.append(Carrier(body, GROUND, "", backward=False))
            walk(body)
    return tuple(carriers)
