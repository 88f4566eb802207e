"""Dry friction between shafts, or a shaft and the frame, with sticking.

The mode is a state without rate: 1 and -1 slip forward and backward, 0 sticks.  It
changes where the integration starts anew: a slipping speed has passed zero, or the
effort that holds sticking shafts has passed `static` (B. Armstrong-Helouvry et al.,
Automatica 30, 1994, eq. 5).  The effort is an unknown of the network: its equation is the
law while it slips, no relative acceleration while it sticks (no relative speed, where a shaft
without inertia has none), so that several frictions may hold each other.  On coordinates of the
mechanism a friction that sticks is a row of it, idle while it slips, and the effort that holds is
the row's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Number, choose, exp, size
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.onedim.laws.mechanical import Shaft
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Value, Working

AT_REST = 1e-11  # [m/s or rad/s] of what slips, or as much of the fastest that it was: at the most
ROUNDED = 1e-15  # of the speeds of two shafts: a smaller difference between them is none
BLURRED = 1e-13  # of the speeds of two shafts one of which has no inertia: a balance tells it
FULL = 1e-12  # of what a friction without inertia holds: what it may hold beyond that is rounding
STOPPED = 1e-14  # [m/s or rad/s]: beside what stands between shafts, whatever else happens
FADED = 36.0  # Stribeck speeds: exp(-36) is rounding
DIGITS = 12  # of ratios of motions that are one
ROOM = 2  # place behind the mode: a speed beyond zero [m/s or rad/s] that is rounding yet


@dataclass(frozen=True)
class Side:
    """A shaft that a friction acts on: its factor in the relative speed, the state of its speed
    and its mass (-1 and infinite where its motion is given, -1 and zero of one without inertia)."""

    shaft: int
    c: float
    state: int
    mass: float

    @property
    def is_given(self) -> bool:
        """Whether its motion is a function of time."""
        return self.mass == math.inf


def motion_of(sides: Sequence[Side]) -> tuple[tuple[int, float], ...]:
    """The motion that a friction holds, alike for all that hold the same one: shafts, with their
    factors over the first's."""
    ordered = sorted(sides, key=lambda side: side.shaft)
    return tuple((side.shaft, round(side.c / ordered[0].c, DIGITS)) for side in ordered)


@dataclass(frozen=True)
class Way:
    """What rubs in one direction; of a clutch coulomb and static are one signal."""

    coulomb: Value
    static: Value
    viscous: float

    def against(self, w: Working, sign: float, speed: Number, stribeck: float) -> Number:
        """-sign (coulomb + (static - coulomb) exp(-|speed| / stribeck)) - viscous speed."""
        dry = self.coulomb(w)
        fall = (self.static(w) - dry) * exp(-size(speed) / stribeck)
        return -sign * (dry + fall) - self.viscous * speed


@dataclass(frozen=True)
class Dry:
    """Friction against positive speeds, `ahead`, and against negative ones, `back`; `falls` are
    the signs of the speeds at which static is more than coulomb."""

    ahead: Way
    back: Way
    stribeck: float
    falls: tuple[float, ...]

    def slipping(self, w: Working, speed: Number) -> tuple[Number, Number]:
        """What it exerts on what moves ahead, and back."""
        ahead = self.ahead.against(w, 1.0, speed, self.stribeck)
        return ahead, self.back.against(w, -1.0, speed, self.stribeck)

    def bends(self, speed: Number) -> tuple[Number, ...]:
        """What passes zero where static friction begins to be felt by what slows down: a step
        that began before it would pass the whole of it between two stages."""
        return tuple(speed - sign * FADED * self.stribeck for sign in self.falls)


@dataclass(frozen=True)
class DryFriction:
    """A `law` against the motion of a port while it slips; `sides` are its shafts.

    `row` is that of the mechanism that holds it, -1 for none: `lever` times the row's motion is
    the port's, and the states behind the mode are where it sticks and its ROOM; `index` among all
    frictions."""

    name: str
    port: Port
    sides: tuple[Side, ...]
    law: Dry
    mode: int
    unknown: int
    place: int
    capacity: tuple[int, int]
    turns: bool
    row: int = -1
    lever: float = 1.0
    index: int = 0

    @property
    def has_no_inertia(self) -> bool:
        """Whether the speed follows from what is exerted on a shaft without inertia."""
        return any(side.mass == 0.0 for side in self.sides)

    def act(self, w: Working) -> None:
        for place, way in zip(self.capacity, (self.law.ahead, self.law.back), strict=True):
            w.through[place] = way.static(w)
        effort: Number
        if self.row < 0:
            effort = w.z[self.unknown]
        else:
            effort = choose(size(w.x[self.mode]), self.slipping(w), 0.0)
        w.through[self.place] = effort
        self.port.push(w, effort)

    def slipping(self, w: Working) -> Number:
        """The law."""
        return choose(w.x[self.mode], *self.law.slipping(w, self.port.speed(w)))

    def most(self, w: Working) -> Number:
        """What it can hold of its load, which would move it ahead where it is held back."""
        ahead, back = (w.through[place] for place in self.capacity)
        return choose(-self.told(w), ahead, back)

    def told(self, w: Working) -> Number:
        """What it exerts, when the mechanism was solved."""
        effort = w.through[self.place]
        if self.row < 0:
            return effort
        return choose(size(w.x[self.mode]), effort, w.held[self.index])

    def close(self, w: Working, shafts: Sequence[Shaft]) -> None:
        """The equation of the effort, when the efforts on all shafts are known."""
        mode, slipping = w.x[self.mode], self.slipping(w)
        if self.has_no_inertia:
            slips = w.z[self.unknown] - slipping
            w.residual[self.unknown] = choose(size(mode), slips, self.port.speed(w))
            return
        moved: Number = 0.0
        for side in self.sides:
            drive = shafts[side.shaft].drive
            if drive is None:
                moved = moved + side.c * w.efforts[side.shaft] / side.mass
            else:
                moved = moved + side.c * w.timed(drive, 1) / shafts[side.shaft].factor
        lightness = sum(side.c**2 / side.mass for side in self.sides)
        w.residual[self.unknown] = choose(
            size(mode), w.z[self.unknown] - slipping, moved / lightness
        )

    def hold(self, w: Working) -> None:
        """A shaft that sticks to the frame stays at rest, rounding of the effort or not."""
        if len(self.sides) == 1 and self.sides[0].state >= 0 and self.row < 0:
            state = self.sides[0].state
            w.rates[state] = choose(size(w.x[self.mode]), w.rates[state], 0.0)

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Falls through zero where the mode ends; rounding is no motion where another row of the
        mechanism may hold what slips here, nor where the speed is that of a balance."""
        mode, most = w.x[self.mode], self.most(w)
        left = most - size(self.told(w))
        room: Number = w.x[self.mode + ROOM] if self.row >= 0 else 0.0
        if self.has_no_inertia:
            speeds = (size(side.c * w.speeds[side.shaft]) for side in self.sides)
            left, room = left + FULL * most, BLURRED * sum(speeds, start=0.0)
        return (choose(size(mode), mode * self.port.speed(w) + room, left),)

    @property
    def lightness(self) -> float:
        """How its effort accelerates the speed between its shafts [1/kg or 1/(kg m^2)]; 0 where a
        shaft has no inertia, whose speed follows without delay."""
        if self.has_no_inertia:
            return 0.0
        return sum(side.c**2 / side.mass for side in self.sides)

    def stop(self, x: Array, v: float, idle: float, *, first: bool) -> None:
        """Between shafts alone: a slipping friction whose speed v has passed zero sticks, the
        shafts' momentum kept; at the start of a run every one has the mode of its speed, if that
        is more than `idle`."""
        if first:
            x[self.mode] = math.copysign(1.0, v) if abs(v) > idle else 0.0
        elif x[self.mode] * v <= 0.0 or abs(v) < min(STOPPED, idle):
            x[self.mode] = 0.0
        if x[self.mode] == 0.0 and not self.has_no_inertia:
            for side in self.sides:
                if side.state >= 0:
                    left = side.c / side.mass / self.lightness * v
                    x[side.state] = x[side.state] - left if len(self.sides) > 1 else 0.0

    def release(self, x: Array, held: float, static: float) -> None:
        """A sticking friction that holds more than `static` slips where the load pushes."""
        if x[self.mode] == 0.0 and abs(held) > static:
            x[self.mode] = -math.copysign(1.0, held)

    def energies(self, w: Working) -> Energies:
        return Energies(lost=-w.through[self.place] * self.port.speed(w))

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, self.told
        yield f"{self.name}.power", "W", lambda w: self.told(w) * self.port.speed(w)


@dataclass(frozen=True)
class Rubbing:
    """A `law` against a motion that is given, as of a driven joint: it holds nothing, and at rest
    it exerts nothing.  Its direction is that of the `sources`, speeds of the shafts in the port's,
    for what the mechanism makes of them is rounded."""

    name: str
    port: Port
    sources: tuple[Value, ...]
    law: Dry
    place: int
    turns: bool

    def act(self, w: Working) -> None:
        v, ahead, back = self.given(w), *self.law.slipping(w, self.port.speed(w))
        slack: Number = 0.0
        if len(self.sources) > 1:
            slack = ROUNDED * sum((size(source(w)) for source in self.sources), start=0.0)
        effort = choose(v - slack, ahead, choose(-v - slack, back, 0.0))
        w.through[self.place] = effort
        self.port.push(w, effort)

    def given(self, w: Working) -> Number:
        """The speed that the sources make."""
        return sum((source(w) for source in self.sources), start=0.0)

    def told(self, w: Working) -> Number:
        """What it exerts."""
        return w.through[self.place]

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Changes its sign with the motion."""
        return (self.given(w),)

    def energies(self, w: Working) -> Energies:
        return Energies(lost=-w.through[self.place] * self.port.speed(w))

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, self.told
        yield f"{self.name}.power", "W", lambda w: self.told(w) * self.port.speed(w)
