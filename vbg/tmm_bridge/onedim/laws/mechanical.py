"""Laws of one-dimensional springs, dampers, sources; shafts and what moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Value, Working

FREE, MASSLESS, DRIVEN, JOINT, PAIR = range(5)


@dataclass(frozen=True)
class Shaft:
    """Nodes that gears, belts and screws hold together move as one shaft.

    FREE: states position and speed, mass speed' = efforts.  MASSLESS: the speed is an
    unknown with efforts = 0.  DRIVEN: the speed is a function of time, `factor` that of the
    source's node.  JOINT: a coordinate of the mechanism, whose hinge carries `mass`.
    `written`: (speed over the shaft's, inertia, start speed) of those on a JOINT that have one;
    `guessed`: (inertia, speed of the joint at which it would rest) of those that run ahead.
    PAIR: the distance of two points.  `state` is the position's, the speed's is the next.
    """

    kind: int
    mass: float = 0.0
    state: int = -1
    unknown: int = -1
    place: int = -1
    start_speed: float = 0.0
    drive: TimeFunction | None = None
    factor: float = 1.0
    written: tuple[tuple[float, float, float], ...] = ()
    guessed: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class SpringDamper:
    """effort = -k (value - length) - c speed on the second end."""

    name: str
    port: Port
    k: float
    length: float
    c: float
    place: int

    def act(self, w: Working) -> None:
        effort: Number = -self.c * self.port.speed(w)
        if self.k:
            effort -= self.k * (self.port.value(w) - self.length)
        w.through[self.place] = effort
        self.port.push(w, effort)

    def energies(self, w: Working) -> Energies:
        stretch, speed = self.port.value(w) - self.length, self.port.speed(w)
        held = 0.5 * self.k * stretch * stretch if self.k else 0.0
        return Energies(potential=held, lost=self.c * speed * speed)

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.port.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, lambda w: w.through[self.place]
        if not self.port.turns:
            yield f"{self.name}.length", "m", self.port.value


@dataclass(frozen=True)
class Effort:
    """An effort that a signal gives."""

    name: str
    port: Port
    value: Value
    turns: bool

    def act(self, w: Working) -> None:
        self.port.push(w, self.value(w))

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=self.value(w) * self.port.speed(w))

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, self.value
        yield f"{self.name}.power", "W", lambda w: self.value(w) * self.port.speed(w)


@dataclass(frozen=True)
class Mass:
    """An inertia: it is part of its shaft, here it only tells its speed."""

    name: str
    port: Port
    turns: bool

    def act(self, w: Working) -> None:
        """Nothing: the shaft carries it."""

    def outputs(self) -> Iterator[Output]:
        yield f"{self.name}.speed", "rad/s" if self.turns else "m/s", self.port.speed


@dataclass(frozen=True)
class Prescribed:
    """The speed source of a driven shaft; its effort is what the shaft's motion needs."""

    name: str
    shaft: int
    mass: float
    factor: float
    drive: TimeFunction
    turns: bool
    place: int

    def act(self, w: Working) -> None:
        """Nothing: `close` runs after all others."""

    def close(self, w: Working) -> None:
        """mass speed' = efforts + factor * effort, in the shaft's own motion."""
        slope = w.timed(self.drive, 1) / self.factor
        w.through[self.place] = (self.mass * slope - w.efforts[self.shaft]) / self.factor

    def power(self, w: Working) -> Number:
        """What it brings in."""
        return w.through[self.place] * w.timed(self.drive, 0)

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=self.power(w))

    def outputs(self) -> Iterator[Output]:
        exerted, unit = ("torque", "N*m") if self.turns else ("force", "N")
        yield f"{self.name}.{exerted}", unit, lambda w: w.through[self.place]
        yield f"{self.name}.power", "W", self.power
