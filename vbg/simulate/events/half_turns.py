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
Places = NDArray[np.intp]
Turn = Callable[[Array], Array]

KINDS = ("bushing", "beam_element")
GROUND = np.array([1.0, 0.0, 0.0, 0.0])  # quaternion of the ground
TILT = 1e-9  # rad: how well the axis of a turn is known
ROUNDED = 64.0 * float(np.finfo(float).eps)  # of a sum of products, in a matrix that is turned
CLOSE = 1e-2  # rad below half a turn, where what ends the integration is the law


class HalfTurns:
    """Watches the cosines of all half angles through a run."""

    def __init__(self, system: System, x: Array):
        self._watched = tuple(watched(system))
        rigid = [k for k, each in enumerate(self._watched) if each.at is not None]
        self._rigid = np.array(rigid, dtype=int)
        self._bent = [k for k, each in enumerate(self._watched) if each.at is None]
        at = np.array([self._watched[k].at for k in rigid], dtype=int).reshape(-1, 2, 4)
        self._first, self._second = at[:, 0].T, at[:, 1].T
        self._pairs = at[:, :, 0].astype(np.int64).ravel()
        written = np.array([self._watched[k].written for k in rigid]).reshape(-1, 4)
        self._written = written.T
        self._signs = self._ahead = np.sign(self._cosines(x))
        self.beyond = ""

    @property
    def bent(self) -> bool:
        """Whether points of flexible bodies are watched."""
        return bool(self._bent)

    @property
    def rigid(self) -> tuple[NDArray[np.int64], Array, Array]:
        """All else, for compiled steps: where the quaternions of the first and of the second body
        begin in (x, GROUND), the written turns, and the signs of the cosines, each in a row."""
        return self._pairs, self._written.T.ravel(), self._signs[self._rigid]

    def _cosines(self, x: Array) -> Array:
        """cos(a/2) of all, q_B . (q_A o q_0), q_0 the written turn of B against A."""
        found = np.zeros(len(self._watched))
        if len(self._rigid):
            here = np.concatenate([x, GROUND])
            carried = quaternion_product(here[self._first], self._written)
            found[self._rigid] = (here[self._second] * carried).sum(axis=0)
        for k in self._bent:
            found[k] = self._watched[k].turn(x)[0]
        return found

    def passed(self, x: Array) -> bool:
        """Whether a part is `beyond` half a turn in the state x, where its load jumps; about an
        axis that it does not hold a part may turn on.  x is compared with the state before until
        a step to it is taken (`keep`)."""
        if not self._watched:
            return False
        found = np.sign(self._cosines(x))
        for k in np.flatnonzero(self._signs * found < 0.0):
            if self._watched[k].jumps(self._watched[k].turn(x)[1:]):
                self.beyond = self._watched[k].name
        self._ahead = np.where(found == 0.0, self._signs, found)
        return bool(self.beyond)

    def keep(self) -> None:
        """The state that was looked at last is taken; of one at exactly half a turn the sign is
        that of the state behind it."""
        self._signs = self._ahead

    def near(self, x: Array) -> str:
        """The part that is about to be."""
        for k in np.flatnonzero(np.abs(self._cosines(x)) < 0.5 * CLOSE):
            if self._watched[k].jumps(self._watched[k].turn(x)[1:]):
                return self._watched[k].name
        return ""


@dataclass(frozen=True, slots=True)
class Watched:
    """turn: quaternion of the second body against the first, beside the `written` one, in axes
    of the first; stiffness (6, 3): efforts by the rotation vector, in axes R_AF of the attachment,
    as written; at: where the quaternions of both stand in (x, GROUND), None of a point of a
    flexible body."""

    name: str
    between: tuple[Attachment, Attachment]
    turn: Turn
    stiffness: Array
    R_AF: Array
    written: Array
    at: tuple[Places, Places] | None

    def jumps(self, axis: Array) -> bool:
        """Whether the efforts are others for half a turn about the unit vector n = `axis` and about
        its opposite: an effort (K n)_i, or the work n . K n, which shows a torsion beside bendings
        of any stiffness whatever the axes it is written in.

        About an axis that nothing holds a tilt of n by d makes efforts of up to d times the sum of
        their row, each in a unit of its own, and a work of d^2 times the largest stiffness."""
        n, torques = self.R_AF.T @ axis, self.stiffness[3:]
        rows = np.abs(self.stiffness @ n) > TILT * np.abs(self.stiffness).sum(axis=1)
        rounding = ROUNDED * (np.abs(n) @ np.abs(torques) @ np.abs(n))
        work = n @ torques @ n > rounding + TILT**2 * np.linalg.norm(torques)
        return bool(rows.any() or work)


def watched(system: System) -> Iterator[Watched]:
    """All parts of a system whose law counts a rotation vector."""
    for name, part in system.model.forces.items():
        if part.kind not in KINDS:
            continue
        held, axes = _held(part)
        if held.any():
            first, second = (_turned(system, end) for end in part.between)
            written = _written(system, part.between)
            a, b = (_place(system, end) for end in part.between)
            at = None if a is None or b is None else (a, b)
            yield Watched(
                name, part.between, _between(first, second, written), held, axes, written, at
            )


def _held(part: Bushing | BeamElement) -> tuple[Array, Array]:
    if isinstance(part, BeamElement):
        return np.eye(6)[:, 3:], np.eye(3)  # about all axes
    return np.array(part.stiffness)[:, 3:], np.asarray(axes_in_body(part.between[0]).data)


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
        return lambda _: GROUND
    if not isinstance(body, FlexiblePoint):
        return _state(system, f"{end.body}.quaternion")
    base = _state(system, f"{body.on.body}.quaternion")
    modal, half = _state(system, f"{body.on.body}.modal"), 0.5 * body.shapes[3:]

    def point(x: Array) -> Array:
        bent = np.r_[1.0, half @ modal(x)]
        return np.asarray(quaternion_product(base(x), bent / np.linalg.norm(bent)))

    return point


def _place(system: System, end: Attachment) -> Places | None:
    """Where its quaternion stands in (x, GROUND); None where bending turns it besides."""
    body = system.model.bodies.get(end.body)
    if body is None:
        return system.size + np.arange(4)
    if isinstance(body, FlexiblePoint):
        return None
    found = next(s for s in system.slices if s.state.name == f"{end.body}.quaternion")
    return np.arange(found.first, found.last)


def _state(system: System, name: str) -> Turn:
    found = next(s for s in system.slices if s.state.name == name)
    return lambda x: x[found.first : found.last]


def _conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])
