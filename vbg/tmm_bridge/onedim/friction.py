"""Dry friction of a shaft against the frame, with sticking.

The mode is a state without rate: 1 and -1 slip forward and backward, 0 sticks.  It
changes where the integration starts anew: a slipping speed has passed zero, or the
effort that holds a sticking shaft has passed `static` (B. Armstrong-Helouvry et al.,
Automatica 30, 1994, eq. 5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.onedim.working import Output, Port, Working
from vbg.tmm_bridge.rotation import Array
from vbg.tmm_bridge.tape import Number, choose, exp, size

MOVING = 1e-7  # a speed above this [m/s or rad/s] is one, at the start of a run


@dataclass(frozen=True)
class DryFriction:
    """Slipping: coulomb + (static - coulomb) exp(-|speed| / stribeck) + viscous |speed|, against
    the motion.  Sticking: what the other efforts on the shaft leave, so this part acts last.

    `shaft` with the state `speed` moves the port by the factor `c`.
    """

    name: str
    port: Port
    shaft: int
    c: float
    speed: int
    coulomb: float
    static: float
    stribeck: float
    viscous: float
    mode: int
    place: int
    turns: bool

    def act(self, w: Working) -> None:
        mode, v = w.x[self.mode], self.port.speed(w)
        decay = exp(-size(v) / self.stribeck)
        dry = self.coulomb + (self.static - self.coulomb) * decay
        slipping = -mode * dry - self.viscous * v
        sticking = -w.efforts[self.shaft] / self.c
        w.through[self.place] = choose(size(mode), slipping, sticking)
        self.port.push(w, w.through[self.place])

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Falls through zero where the mode ends."""
        mode = w.x[self.mode]
        left = self.static - size(w.through[self.place])
        return (choose(size(mode), mode * self.port.speed(w), left),)

    def stop(self, x: Array, v: float, *, first: bool) -> None:
        """A slipping shaft whose speed v has passed zero sticks; at the start of a run every
        shaft has the mode of its speed."""
        if first:
            x[self.mode] = math.copysign(1.0, v) if abs(v) > MOVING else 0.0
        elif x[self.mode] * v <= 0.0 or abs(v) < MOVING * MOVING:
            x[self.mode] = 0.0
        if x[self.mode] == 0.0:
            x[self.speed] = 0.0

    def release(self, x: Array, held: float) -> None:
        """A sticking shaft that is held by more than `static` slips where the load pushes."""
        if x[self.mode] == 0.0 and abs(held) > self.static:
            x[self.mode] = -math.copysign(1.0, held)

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, lambda w: w.through[self.place]
        yield f"{self.name}.power", "W", lambda w: w.through[self.place] * self.port.speed(w)
