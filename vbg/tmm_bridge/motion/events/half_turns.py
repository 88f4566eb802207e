"""Elastic ends that are turned by half a turn against each other: beyond it their law has no twist.

The rotation vector theta of such a law is known by the rotation, so |theta| <= pi: at half a turn
theta = pi n becomes -pi n.  Of two steps on both sides the vectors are both long and point against
each other.  Where the efforts K theta do not jump, n being an axis that nothing holds, a body may
turn on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.motion.rate.plant import Plant

FAR = 0.5 * np.pi  # below it a step does not pass half a turn
UNHELD = 1e-9  # of the stiffness: rounding, about an axis that nothing holds


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


@dataclass
class Twists:
    """The rotation vectors (n, 3) at the last step, first of laws between bodies, then of elastic
    hinges."""

    before: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def look(self, plant: Plant, t: float, y: Array) -> None:
        """Raises Twisted where the step to y has passed half a turn."""
        if not len(plant.tables.bushes) + len(plant.tables.elastics):
            return
        found = _vectors(plant)  # of a rate near y
        if len(self.before) and np.linalg.norm([*found, *self.before], axis=1).max() <= FAR:
            self.before = found
            return
        plant.settle(t, y)
        found = _vectors(plant)
        if len(self.before):
            far = np.minimum(*(np.linalg.norm(x, axis=1) for x in (found, self.before))) > FAR
            turned = far & (np.sum(found * self.before, axis=1) < 0.0)
            for k in np.flatnonzero(turned):
                if _jumps(plant, int(k), self.before[k]):
                    raise Twisted(t, _name(plant, int(k)))
        self.before = found


def _vectors(plant: Plant) -> Array:
    scratch = plant.scratch
    return np.concatenate([scratch.bush[:, 11:14], scratch.strain[:, 3:6]])


def _jumps(plant: Plant, k: int, vector: Array) -> bool:
    t, bushes = plant.tables, len(plant.tables.bushes)
    stiffness = t.bush[k, 24:60] if k < bushes else t.elastic[k - bushes, :36]
    held = stiffness.reshape(6, 6)[:, 3:]
    jump = np.linalg.norm(held @ vector) / np.linalg.norm(vector)
    return bool(jump > UNHELD * np.linalg.norm(held))


def _name(plant: Plant, k: int) -> str:
    bushes = len(plant.tables.bushes)
    row = ("bush", k) if k < bushes else ("elastic", k - bushes)
    return next(name for name, place in plant.mechanism.parts.items() if place == row)
