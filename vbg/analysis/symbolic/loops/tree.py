"""A tree of joints with its coordinates, and the joints that are cut.

The tree is the one with the fewest coordinates: joints are taken in the order of their freedoms
(Kruskal), and a body that no joint of the tree carries is free.  What is left over closes loops
(neweul-newsim-cad.txt, section 5, figure 11).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from vbg.errors import VbgError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.plumbing.words import with_article

GROUND = "ground"
TURN, SLIDE = "turn", "slide"
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@dataclass(frozen=True, slots=True)
class Motion:
    """One elementary motion from frame F to frame M: a turn about, or a slide along, `axis` of
    the frame reached so far; `rate` names its speed.  `lead`: slide per turn of a screw."""

    kind: str
    axis: tuple[int, int, int]
    name: str
    rate: str
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Carrier:
    """How a body stands on another: by a joint, followed from its first body (`forward`) or its
    second; without a joint it is free of the ground.  A spherical joint and a free body turn by
    Cardan angles against the world, `absolute`, so that no angle of another body enters."""

    body: str
    parent: str
    joint: str
    forward: bool
    motions: tuple[Motion, ...]
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """`carriers` from the ground on; `cuts`: joints that close loops."""

    carriers: tuple[Carrier, ...]
    cuts: tuple[str, ...]

    @property
    def motions(self) -> tuple[Motion, ...]:
        """All coordinates, in the order of the carriers."""
        return tuple(motion for carrier in self.carriers for motion in carrier.motions)


FREEDOMS: Mapping[str, int] = MappingProxyType(
    {
        "fixed": 0,
        "revolute": 1,
        "prismatic": 1,
        "helical": 1,
        "cylindrical": 2,
        "universal": 2,
        "planar": 3,
        "spherical": 3,
    }
)
ONLY_CUT = ("point_on_line", "point_on_plane", "distance")


def tree_of(model: Model) -> Tree:
    """The tree of the machine; raises VbgError for joints that have no symbolic form, by name."""
    between = {}
    for name, joint in model.joints.items():
        if not isinstance(joint.between[0], Attachment):
            kind = with_article(joint.kind)
            raise VbgError(f"joint {name} is {kind}, a coupling of coordinates.")
        if joint.kind not in FREEDOMS and joint.kind not in ONLY_CUT:
            raise VbgError(f"joint {name} is {joint.kind}, which has no symbolic form.")
        between[name] = (joint.between[0].body, joint.between[1].body)
    chosen = set(_fewest(model, between))
    carriers = tuple(_from_ground(model, between, chosen))
    return Tree(carriers, tuple(name for name in between if name not in chosen))


def _fewest(model: Model, between: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Joints of the tree: each joins two parts that are not joined yet."""
    group = {body: body for body in (GROUND, *model.bodies)}

    def root(body: str) -> str:
        while group[body] != body:
            body = group[body]
        return body

    carrying = [name for name in between if model.joints[name].kind in FREEDOMS]
    for name in sorted(carrying, key=lambda name: FREEDOMS[model.joints[name].kind]):
        first, second = map(root, between[name])
        if first != second:
            group[second] = first
            yield name


def _from_ground(
    model: Model, between: Mapping[str, tuple[str, str]], chosen: set[str]
) -> Iterator[Carrier]:
    reached, waiting = {GROUND}, [name for name in between if name in chosen]
    while len(reached) <= len(model.bodies):
        ready = [n for n in waiting if len(reached & set(between[n])) == 1]
        if not ready:
            body = next(name for name in model.bodies if name not in reached)
            yield Carrier(body, GROUND, "", True, _free(body), absolute=True)
            reached.add(body)
            continue
        name = ready[0]
        waiting.remove(name)
        first, second = between[name]
        forward = first in reached
        body, parent = (second, first) if forward else (first, second)
        kind = model.joints[name].kind
        motions = motions_of(name, kind)
        yield Carrier(body, parent, name, forward, motions, absolute=kind == "spherical")
        reached.add(body)


def _free(body: str) -> tuple[Motion, ...]:
    slides = zip((X, Y, Z), "xyz", strict=True)
    moves = tuple(Motion(SLIDE, axis, f"{body}.{n}", f"{body}.{n}_speed") for axis, n in slides)
    return moves + _cardan(body)


def _cardan(name: str) -> tuple[Motion, ...]:
    """Turns about x, y and z one after the other: R = Rx(alpha) Ry(beta) Rz(gamma)."""
    turns = zip((X, Y, Z), ("alpha", "beta", "gamma"), strict=True)
    return tuple(Motion(TURN, axis, f"{name}.{n}", f"{name}.{n}_speed") for axis, n in turns)


def motions_of(name: str, kind: str) -> tuple[Motion, ...]:
    """The elementary motions of a joint from F to M, see `vbg.model.placing.frames`."""
    turn = Motion(TURN, Z, f"{name}.angle", f"{name}.speed")
    match kind:
        case "fixed":
            return ()
        case "revolute":
            return (turn,)
        case "helical":
            return (Motion(TURN, Z, f"{name}.angle", f"{name}.speed", lead=True),)
        case "prismatic":
            return (Motion(SLIDE, Z, f"{name}.slide", f"{name}.speed"),)
        case "cylindrical":
            return (Motion(SLIDE, Z, f"{name}.slide", f"{name}.slide_speed"), turn)
        case "universal":  # Rz(angle) Rx(-90 deg) Rz(angle2) = Rz(angle) Ry(angle2) Rx(-90 deg)
            return (turn, Motion(TURN, Y, f"{name}.angle2", f"{name}.speed2"))
        case "planar":
            x = Motion(SLIDE, X, f"{name}.x", f"{name}.x_speed")
            y = Motion(SLIDE, Y, f"{name}.y", f"{name}.y_speed")
            return (x, y, turn)
        case _:
            return _cardan(name)


def cardan_angles(R: Any) -> tuple[float, float, float]:
    """alpha, beta, gamma of R = Rx(alpha) Ry(beta) Rz(gamma), (3, 3) numbers."""
    return (
        math.atan2(-R[1, 2], R[2, 2]),
        math.atan2(R[0, 2], math.hypot(R[0, 0], R[0, 1])),
        math.atan2(-R[0, 1], R[0, 0]),
    )
