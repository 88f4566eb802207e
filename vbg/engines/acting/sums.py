"""Bodies as an engine sees them, and the sums of what acts on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.engines.pose import Array, skew


@dataclass(frozen=True, slots=True, eq=False)
class Moving:
    """A body as an engine sees it now: place and velocity of its mass centre in W, its angular
    velocity in W, the Jacobian of both, (6, nv), and their rates without any acceleration of
    the coordinates."""

    p: Array
    R: Array
    v: Array
    w: Array
    jacobian: Array
    drift: Array

    def point(self, at: Array) -> tuple[Array, Array, Array]:
        """A point's place and velocity in W, and its Jacobian, (3, nv)."""
        arm = self.R @ at
        spread = self.jacobian[:3] - skew(arm) @ self.jacobian[3:]
        return self.p + arm, self.v + np.cross(self.w, arm), spread


@dataclass(slots=True)
class Acting:
    """Sums at one instant: force and moment about the mass centre of every body, in W; efforts
    on coordinates by their place among the speeds; signals of the parts."""

    wrenches: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    efforts: dict[int, float] = field(default_factory=dict)
    signals: dict[str, Any] = field(default_factory=dict)

    def push(self, body: str, now: Moving, at: Array, force: Array, torque: Array) -> None:
        """A force at a point of the body and a torque, W."""
        f, n = self.wrenches.get(body, (np.zeros(3), np.zeros(3)))
        self.wrenches[body] = f + force, n + torque + np.cross(now.R @ at, force)

    def turn(self, place: int, effort: float) -> None:
        """An effort on a coordinate."""
        self.efforts[place] = self.efforts.get(place, 0.0) + effort


Act = Callable[[float, Mapping[str, Moving], Array, Array, Acting], None]
"""(t, bodies, coordinates, speeds, sums)"""
