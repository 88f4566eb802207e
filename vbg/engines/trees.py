"""What an engine is asked: the dynamics of a tree without its loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import BALL, COORDINATES, FREE, Branch, Ends, Machine
from vbg.engines.pose import Array, Place, of_quaternion


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """M a + h = efforts: the inertia of the tree (nv, nv), what gravity and speed ask (nv,),
    and every body, the ground among them."""

    M: Array
    h: Array
    bodies: Mapping[str, Moving]


class Tree(Protocol):
    """A tree in an engine: nv speeds v, and nq coordinates q of the engine's own kind."""

    nq: int
    nv: int
    version: str

    def place_of(self, branch: str, element: int) -> int:
        """Of an element of the branch of this body among the speeds."""
        ...

    def begin(self, starts: Mapping[str, tuple[Start, ...]]) -> tuple[Array, Array]:
        """q and v, from the starts of the elements of every body's branch."""
        ...

    def rate(self, q: Array, v: Array) -> Array:
        """q'."""
        ...

    def values(self, q: Array) -> Array:
        """(nv,) coordinates of the elements that have one, 0 for the others."""
        ...

    def see(self, q: Array, v: Array) -> Seen:
        """The dynamics there."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """One element: a coordinate and its rate; or a place with its velocity in the axes before
    it, and its angular velocity in its own."""

    value: float = 0.0
    speed: float = 0.0
    place: Place = field(default_factory=Place)
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    turning: Array = field(default_factory=lambda: np.zeros(3))


Begin = Mapping[str, Array]  # signals of the first instant, as a Solution names them


def starts_of(machine: Machine, begin: Begin) -> dict[str, tuple[Start, ...]]:
    """Where every element begins: at the joints' own coordinates where they have some, so that
    places are worked out here, and relative to where the bodies are, where not."""
    return {branch.body: _start(machine, branch, begin) for branch in machine.branches}


def _start(machine: Machine, branch: Branch, begin: Begin) -> tuple[Start, ...]:
    ends = machine.joints.get(branch.joint)
    if ends is not None and ends.kind in COORDINATES:
        found = [_coordinate(ends, names, begin) for names in COORDINATES[ends.kind]]
        if ends.kind == "universal" and branch.parent == ends.second:
            found.reverse()
        return tuple(found)
    if not branch.elements:
        return ()
    A, B = _moving(branch.parent, begin), _moving(branch.body, begin)
    X = branch.before.inverse() @ A[0].inverse() @ B[0] @ branch.after.inverse()
    X_WF, X_WL = A[0] @ branch.before, B[0] @ branch.after.inverse()
    v = B[1] + np.cross(B[2], X_WL.p - B[0].p) - A[1] - np.cross(A[2], X_WL.p - A[0].p)
    velocity, turning = X_WF.R.T @ v, X_WL.R.T @ (B[2] - A[2])
    if branch.elements[0].kind in (BALL, FREE):
        return (Start(place=X, velocity=velocity, turning=turning),)
    angle = float(np.arctan2(X.R[1, 0], X.R[0, 0]))
    return (
        Start(X.p[0], velocity[0]),
        Start(X.p[1], velocity[1]),
        Start(angle, float(turning[2])),
    )


def _coordinate(ends: Ends, names: tuple[str, str], begin: Begin) -> Start:
    value, rate = (float(np.ravel(begin[f"{ends.name}.{n}"])[0]) if n else 0.0 for n in names)
    if not names[1]:  # a screw slides as it turns
        rate = ends.part.lead * float(np.ravel(begin[f"{ends.name}.speed"])[0])
    return Start(value, rate)


def _moving(body: str, begin: Begin) -> tuple[Place, Array, Array]:
    """Place, velocity and angular velocity in W."""
    if f"{body}.position" not in begin:
        return Place(), np.zeros(3), np.zeros(3)
    R = of_quaternion(np.ravel(begin[f"{body}.rotation"]))
    p, v, w = (np.ravel(begin[f"{body}.{k}"]) for k in ("position", "velocity", "angular_velocity"))
    return Place(R, p), v, R @ w
