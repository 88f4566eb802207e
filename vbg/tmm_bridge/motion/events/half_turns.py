"""Elastic ends that are turned by half a turn against each other: beyond it their law has no twist.

The rotation vector theta of such a law is known by the rotation, so |theta| <= pi: at half a turn
theta = pi n becomes -pi n.  Of two instants on both sides the vectors are both long and point
against each other.  Where no effort jumps there, n being an axis that nothing holds, a body may
turn on.  That holds of instants between which nothing turns by more than FAR: a step in which
something may, by its angular speeds, is looked at in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import SIX_MIDDLE, Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.rate.plant import Plant

Motion = Callable[[float], Array]  # states by the time [s]

FAR = 0.5 * np.pi  # below it a step does not pass half a turn
TILT = 1e-7  # [rad, or lengths of the mechanism]: so far steps know an axis, or a displacement


class Twisted(ArithmeticError):
    """A law of six dimensions is beyond half a turn."""

    def __init__(self, t: float, part: str):
        self.t, self.part = t, part
        super().__init__(f"t = {t}")

    @property
    def sentence(self) -> str:
        """What is to be told."""
        return (
            f"at about t = {self.t:.6g} s the ends of {self.part} are turned by half a turn "
            "against each other, beyond which its law has no twist."
        )

    @property
    def remedy(self) -> str:
        """What can be done."""
        return (
            "Hold with more stiffness or a stop what is not to turn so far; share a real twist out "
            "among a chain of such parts with bodies between them, or let a hinge carry it with a "
            "torsion spring, whose angle counts on."
        )


@dataclass
class Twists:
    """The rotation vectors (n, 3) at the last step, first of laws between bodies, then of elastic
    hinges, its time [s] and the largest of their angular speeds there."""

    before: Array = field(default_factory=lambda: np.zeros((0, 3)))
    time: float = 0.0
    speed: float = 0.0

    def look(self, plant: Plant, t: float, y: Array, inside: Motion | None = None) -> None:
        """Raises Twisted where the step to y, with the states `inside` it, has passed half a
        turn."""
        if not has_twists(plant.mechanism):
            return
        found, speed = _vectors(plant.scratch), _speed(plant.scratch)  # of a rate near y
        far = not len(self.before) or _longest([*found, *self.before]) > FAR
        turns = (t - self.time) * max(speed, self.speed)
        if inside is not None and len(self.before) and turns > 0.5 * FAR:
            self._look_inside(plant, inside, (self.time, self.speed), (t, speed))
            far = True
        if far:
            plant.settle(t, y)
            self.passed(plant.mechanism, plant.scratch, t)
        else:
            self.before = found
        self.time, self.speed = t, speed

    def _look_inside(
        self, plant: Plant, inside: Motion, begin: tuple[float, float], end: tuple[float, float]
    ) -> None:
        """The same of the instants between two, each with its angular speed, that are as close as
        these ask for."""
        (t, speed), (t_end, speed_end) = begin, end
        middle = 0.5 * (t + t_end)
        if not t < middle < t_end:
            return
        plant.settle(middle, inside(middle))
        there = middle, _speed(plant.scratch)
        parts = (t_end - t) * max(speed, there[1], speed_end) > FAR
        if parts:
            self._look_inside(plant, inside, begin, there)
            plant.settle(middle, inside(middle))
        self.passed(plant.mechanism, plant.scratch, middle)
        if parts:
            self._look_inside(plant, inside, there, end)

    def step(self, mechanism: Mechanism, s: Scratch, t: float) -> None:
        """The same of a step of which no more is known than its end, in s.  Raises Twisted, too,
        where it has turned what is held by more than half a turn."""
        speeds = _speeds(s)
        turns = (t - self.time) * np.linalg.norm(speeds, axis=1)
        for k in np.flatnonzero(turns > 2.0 * FAR) if len(self.before) else ():
            if _jumps(mechanism.tables, s, int(k), speeds[k]):
                raise Twisted(t, _name(mechanism, int(k)))
        self.passed(mechanism, s, t)
        self.time = t

    def passed(self, mechanism: Mechanism, s: Scratch, t: float) -> None:
        """Raises Twisted where half a turn is between the posture of s and the last one."""
        found = _vectors(s)
        # at half a turn itself the side is that of before, or of the first step away from there
        undecided = np.linalg.norm(found, axis=1) > np.pi - TILT
        found[undecided] = self.before[undecided] if len(self.before) else 0.0
        if len(self.before):
            far = np.minimum(*(np.linalg.norm(x, axis=1) for x in (found, self.before))) > FAR
            turned = far & (np.sum(found * self.before, axis=1) < 0.0)
            for k in np.flatnonzero(turned):
                if _jumps(mechanism.tables, s, int(k), self.before[k]):
                    raise Twisted(t, _name(mechanism, int(k)))
        self.before = found


def has_twists(mechanism: Mechanism) -> bool:
    """Whether there are laws of six dimensions."""
    return len(mechanism.tables.bushes) + len(mechanism.tables.elastics) > 0


def _vectors(s: Scratch) -> Array:
    return np.concatenate([s.bush[:, 11:14], s.strain[:, 3:6]])


def _speeds(s: Scratch) -> Array:
    """Angular velocities, F axes."""
    return np.concatenate([s.bush[:, 14:17], s.strain[:, 9:12]])


def _speed(s: Scratch) -> float:
    """The largest of the angular speeds."""
    return _longest(_speeds(s))


def _longest(vectors: Array | Sequence[Array]) -> float:
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))


def jump(K: Array, d: Array, n: Array) -> tuple[Array, float, Array]:
    """Half of what a bushing's force, its torque about the axis n and that across it jump by at
    half a turn about n, the displacement being d: with K = [[., B], [B^T, T]] and Jl^-T(pi n) =
    n n^T + (pi/2) n^, those before less those behind are twice

        pi B n,    pi (n . T n) n,    (pi/2) n x (B^T d).
    """
    B, T = K[:3, 3:], K[3:, 3:]
    return np.pi * B @ n, float(np.pi * n @ T @ n), 0.5 * np.pi * np.cross(n, B.T @ d)


def is_held(K: Array, d: Array, n: Array, length: float) -> bool:
    """Whether an effort jumps by more than it would about another axis within TILT, or at another
    displacement within that share of the length, where it does not at one of them.  Each effort is
    measured by its own: a soft twist beside stiff bending is held, which n . T n tells to the
    second order in the tilt."""
    B, T = K[:3, 3:], K[3:, 3:]
    force, about, across = (np.abs(effort) / np.pi for effort in jump(K, d, n))
    stiff = np.linalg.norm(B)
    return bool(
        (force > TILT * np.linalg.norm(B, axis=1)).any()
        or about > TILT * (2.0 * np.linalg.norm(T @ n) + TILT * np.linalg.norm(T))
        or np.linalg.norm(across) > 0.5 * TILT * stiff * (np.linalg.norm(d) + length)
    )


def _jumps(t: Tables, s: Scratch, k: int, vector: Array) -> bool:
    bushes = len(t.bushes)
    if k < bushes:
        law, K, d = t.bushes[k, 2], t.bush[k, 24:60], s.bush[k, 8:11]
    else:
        law, K, d = t.elastics[k - bushes, 1], t.elastic[k - bushes, :36], s.strain[k - bushes, :3]
    if law == SIX_MIDDLE:
        return True  # an element of a beam holds all axes
    return is_held(K.reshape(6, 6), d, vector / np.linalg.norm(vector), float(t.length[0]))


def _name(mechanism: Mechanism, k: int) -> str:
    bushes = len(mechanism.tables.bushes)
    row = ("bush", k) if k < bushes else ("elastic", k - bushes)
    return next(name for name, place in mechanism.parts.items() if place == row)
