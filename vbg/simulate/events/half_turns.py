"""Bushings and elements of beams that are twisted by half a turn.

Their law counts the rotation vector between two bodies, which is unique below half a turn only:
there the torque k pi becomes -k pi, with the same energy, so that no audit sees it, and what a real
part would do beyond (wind on, tear) is not in the law.  So a run ends there.

Of the angle a between the bodies, against their written posture, the scalar part of the quaternion
is cos(a/2): it goes through zero there, and steps, which follow quaternions, do not pass two zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.elements.beam_element import BeamElement
from vbg.elements.bushing import Bushing
from vbg.elements.flexible import FlexiblePoint
from vbg.fields import Attachment
from vbg.physics.axes import axes_in_body
from vbg.spatial import quaternion_from_matrix, quaternion_product

Array = NDArray[np.float64]
Turn = Callable[[Array], Array]

KINDS = ("bushing", "beam_element")
UNHELD = 1e-9  # of the stiffness: rounding, about an axis that nothing holds
CLOSE = 1e-2  # rad below half a turn, where what ends the integration is the law


class HalfTurns:
    """Watches the cosines of all half angles through a run."""

    def __init__(self, system: System, x: Array):
        self._watched = tuple(_watched(system))
        self._signs = [np.sign(each.turn(x)[0]) for each in self._watched]

    def passed(self, x: Array) -> str:
        """The part that is beyond half a turn in the state x, where its load jumps; empty where
        none is.  About an axis that it does not hold a part may turn on."""
        for k, each in enumerate(self._watched):
            turn = each.turn(x)
            if self._signs[k] * turn[0] < 0.0:
                if each.jumps(turn[1:]):
                    return each.name
                self._signs[k] = -self._signs[k]
        return ""

    def near(self, x: Array) -> str:
        """The part that is about to be."""
        for each in self._watched:
            turn = each.turn(x)
            if abs(turn[0]) < 0.5 * CLOSE and each.jumps(turn[1:]):
                return each.name
        return ""


@dataclass(frozen=True, slots=True)
class _Watched:
    """turn: quaternion of the second body against the first, beside the written posture, in axes
    of the first; stiffness (6, 3): efforts by the rotation vector, there."""

    name: str
    turn: Turn
    stiffness: Array

    def jumps(self, axis: Array) -> bool:
        """Whether the efforts are others for half a turn about `axis` and about its opposite."""
        jump = np.linalg.norm(self.stiffness @ axis)
        return bool(jump > UNHELD * np.linalg.norm(self.stiffness))


def _watched(system: System) -> Iterator[_Watched]:
    for name, part in system.model.forces.items():
        if part.kind not in KINDS:
            continue
        held = _held(part)
        if held.any():
            first, second = (_turned(system, end) for end in part.between)
            yield _Watched(name, _between(first, second, _written(system, part.between)), held)


def _held(part: Bushing | BeamElement) -> Array:
    if isinstance(part, BeamElement):
        return np.eye(6)[:, 3:]  # about all axes
    axes = np.kron(np.eye(2), axes_in_body(part.between[0]).data)
    return np.asarray(axes @ part.stiffness @ axes.T)[:, 3:]


def _between(first: Turn, second: Turn, written: Array) -> Turn:
    back = _conjugate(written)
    return lambda x: quaternion_product(quaternion_product(_conjugate(first(x)), second(x)), back)


def _written(system: System, between: tuple[Attachment, Attachment]) -> Array:
    poses = system.causal.graph.placed.poses
    first, second = (np.eye(3) if end.body == "ground" else poses[end.body].R_WB for end in between)
    return quaternion_from_matrix(first.T @ second)


def _turned(system: System, end: Attachment) -> Turn:
    """The quaternion of a body, of a point of a flexible one, or of the ground."""
    body = system.model.bodies.get(end.body)
    if body is None:
        return lambda _: np.array([1.0, 0.0, 0.0, 0.0])
    if not isinstance(body, FlexiblePoint):
        return _state(system, f"{end.body}.quaternion")
    base = _state(system, f"{body.on.body}.quaternion")
    modal, half = _state(system, f"{body.on.body}.modal"), 0.5 * body.shapes[3:]

    def point(x: Array) -> Array:
        bent = np.r_[1.0, half @ modal(x)]
        return np.asarray(quaternion_product(base(x), bent / np.linalg.norm(bent)))

    return point


def _state(system: System, name: str) -> Turn:
    found = next(s for s in system.slices if s.state.name == name)
    return lambda x: x[found.first : found.last]


def _conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])
