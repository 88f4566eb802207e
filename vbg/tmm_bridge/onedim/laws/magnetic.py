"""A coil that pulls a plunger, by its coenergy.

With the current i and the gap g as coordinates the coil is a system with the kinetic (co)energy
T(i, g) = L(g) i^2 / 2, and Lagrange's equations of charge and gap are

    d/dt dT/di = voltage - R i:   L i' = voltage - R i - L' i g',     force along g = dT/dg.

(D. C. White, H. H. Woodson, Electromechanical Energy Conversion, Wiley 1959, chapter 1.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Number, choose, most, size
from vbg.tmm_bridge.onedim.laws.electric import Ends
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Working


@dataclass(frozen=True)
class PoleFace:
    """A spring with a damper below gap = 0, which never pulls."""

    k: float
    c: float

    def force(self, gap: Number, speed: Number) -> Number:
        """Along the gap."""
        return choose(-gap, most(-self.k * gap - self.c * speed, 0.0), 0.0)

    def energies(self, gap: Number, speed: Number) -> Energies:
        """Of the spring; what the damper takes, and what a spring gives that may not pull."""
        depth = choose(-gap, gap, 0.0)
        lost = -(self.force(gap, speed) + self.k * depth) * speed
        return Energies(potential=0.5 * self.k * depth * depth, lost=lost)


@dataclass(frozen=True)
class Solenoid:
    """`closed` [H] at gap 0 falls to the half at the gap `half` [m], beside the `stray` one; the
    curve goes on below 0 as its mirror image about the point (0, closed).  `state`: current."""

    ends: Ends
    port: Port
    length: float
    R: float
    closed: float
    half: float
    stray: float
    face: PoleFace
    stop: int  # place of the force of the face, -1 without one
    state: int

    def _motion(self, w: Working) -> tuple[Number, Number]:
        return self.port.value(w) - self.length, self.port.speed(w)

    def _inductance(self, gap: Number) -> tuple[Number, Number]:
        """L and its derivative by the gap."""
        open_ = self.half / (self.half + size(gap))  # 1 where it is closed, 1/2 at `half`
        share = choose(gap, open_, 2.0 - open_)
        return self.stray + self.closed * share, -self.closed / self.half * open_ * open_

    def act(self, w: Working) -> None:
        (gap, speed), i = self._motion(w), w.x[self.state]
        L, slope = self._inductance(gap)
        w.rates[self.state] = (self.ends.difference(w) - self.R * i - slope * i * speed) / L
        self.ends.carry(w, i)
        self.port.push(w, 0.5 * slope * i * i)
        if self.stop >= 0:
            w.through[self.stop] = self.face.force(gap, speed)
            self.port.push(w, w.through[self.stop])

    def energies(self, w: Working) -> Energies:
        (gap, speed), i = self._motion(w), w.x[self.state]
        held = Energies(kinetic=0.5 * self._inductance(gap)[0] * i * i, lost=self.R * i * i)
        return held + self.face.energies(gap, speed) if self.stop >= 0 else held

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Where the curve bends and the face is touched; where that would begin to pull."""
        gap, speed = self._motion(w)
        if not self.pulls:
            return (-gap,)
        return -gap, self.face.c * speed + self.face.k * gap

    @property
    def pulls(self) -> bool:
        """Whether the damper of the face could hold the plunger back."""
        return self.stop >= 0 and self.face.c > 0.0

    def outputs(self) -> Iterator[Output]:
        name = self.ends.name

        def force(w: Working) -> Number:
            i = w.through[self.ends.place]
            return 0.5 * self._inductance(self._motion(w)[0])[1] * i * i

        yield f"{name}.current", "A", lambda w: w.through[self.ends.place]
        yield f"{name}.voltage", "V", self.ends.difference
        yield f"{name}.force", "N", force
        yield f"{name}.gap", "m", lambda w: self._motion(w)[0]
        yield f"{name}.inductance", "H", lambda w: self._inductance(self._motion(w)[0])[0]
        yield f"{name}.power", "W", lambda w: force(w) * self._motion(w)[1]
        if self.stop >= 0:
            yield f"{name}.stop", "N", lambda w: w.through[self.stop]
