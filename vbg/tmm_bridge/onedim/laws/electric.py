"""Laws of electric parts for nodal analysis: currents out of the first node into the second.

Stores keep what they store (the charge's voltage, the flux' current); a capacitor and a
voltage source bring their current as an unknown and their voltage as its equation
(modified nodal analysis, C. W. Ho, A. Ruehli, P. Brennan, IEEE Trans. CAS 22, 1975).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Number, Slot, choose, expm1, least, most
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Value, Working

ELECTRIC = ("voltage", "V", "current", "A")
HYDRAULIC = ("pressure", "Pa", "flow", "m^3/s")
HUGE = 1e4  # A: no diode carries as much, and the balance stays regular
Words = tuple[str, str, str, str]


@dataclass(frozen=True)
class Ends:
    """Two nodes, the place in `through`, and how outputs are called."""

    name: str
    first: int
    second: int
    place: int
    words: Words = ELECTRIC

    def difference(self, w: Working) -> Number:
        """Level of the first node against the second."""
        return w.levels[self.first] - w.levels[self.second]

    def carry(self, w: Working, flow: Number) -> None:
        """A flow from the first node through the part to the second."""
        w.through[self.place] = flow
        w.net[self.first] -= flow
        w.net[self.second] += flow

    def power(self, w: Working) -> Number:
        """What the part takes."""
        return self.difference(w) * w.through[self.place]

    def outputs(self) -> Iterator[Output]:
        """Difference, through flow, and the power that the part takes."""
        level, level_unit, flow, flow_unit = self.words
        yield f"{self.name}.{level}", level_unit, self.difference
        yield f"{self.name}.{flow}", flow_unit, lambda w: w.through[self.place]
        yield f"{self.name}.power", "W", self.power


@dataclass(frozen=True)
class Conductor:
    """flow = law(difference): resistors, diodes, valves, orifices."""

    ends: Ends
    law: Callable[[Working, Number], Number]
    silent: bool = False

    def act(self, w: Working) -> None:
        self.ends.carry(w, self.law(w, self.ends.difference(w)))

    def energies(self, w: Working) -> Energies:
        return Energies(lost=self.ends.power(w))

    def outputs(self) -> Iterator[Output]:
        return iter(()) if self.silent else self.ends.outputs()


@dataclass(frozen=True)
class Capacitor:
    """voltage = x, x' = current / C."""

    ends: Ends
    C: float
    state: int
    unknown: int

    def act(self, w: Working) -> None:
        current = w.z[self.unknown]
        w.residual[self.unknown] = self.ends.difference(w) - w.x[self.state]
        w.rates[self.state] = current / self.C
        self.ends.carry(w, current)

    def energies(self, w: Working) -> Energies:
        return Energies(potential=0.5 * self.C * w.x[self.state] * w.x[self.state])

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class Inductor:
    """L current' = voltage."""

    ends: Ends
    L: float
    state: int

    def act(self, w: Working) -> None:
        w.rates[self.state] = self.ends.difference(w) / self.L
        self.ends.carry(w, w.x[self.state])

    def energies(self, w: Working) -> Energies:
        return Energies(kinetic=0.5 * self.L * w.x[self.state] * w.x[self.state])

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class LevelSource:
    """difference = value; its flow is an unknown (or None: found from its node's balance)."""

    ends: Ends
    value: Value
    unknown: int

    def act(self, w: Working) -> None:
        w.residual[self.unknown] = self.ends.difference(w) - self.value(w)
        self.ends.carry(w, w.z[self.unknown])

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=-self.ends.power(w))

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class Rail:
    """A level source from `node` to the reference: the level is given, the flow is what
    the others leave.  `sign` is -1 where the reference is the first terminal; `slope` is the
    rate of the value, None where that is not known beforehand."""

    ends: Ends
    node: int
    sign: float
    value: Value
    slope: Value | None = None

    def level(self, w: Working) -> Number:
        """Of the node."""
        return self.sign * self.value(w)

    def act(self, w: Working) -> None:
        """Nothing: `close` runs after all others."""

    def stores(self, w: Working) -> bool:
        """Whether stores on its node take a flow as its level changes."""
        return self.slope is not None and isinstance(w.capacity[self.node], Slot)

    def close(self, w: Working) -> None:
        """The flow through the source is what flows into its node and stays in no store there."""
        if self.slope is not None and self.stores(w):
            rate = self.sign * self.slope(w)
            w.slopes[self.node] = rate
            w.net[self.node] -= w.capacity[self.node] * rate
        w.through[self.ends.place] = self.sign * w.net[self.node]

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=-self.ends.power(w))

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class FlowSource:
    """flow = value."""

    ends: Ends
    value: Value

    def act(self, w: Working) -> None:
        self.ends.carry(w, self.value(w))

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=-self.ends.power(w))

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class Transformer:
    """v1 = ratio v2, current out of the secondary = ratio times the one into the primary."""

    primary: Ends
    secondary: Ends
    ratio: float
    unknown: int

    def act(self, w: Working) -> None:
        current = w.z[self.unknown]
        across = self.ratio * self.secondary.difference(w)
        w.residual[self.unknown] = self.primary.difference(w) - across
        self.primary.carry(w, current)
        self.secondary.carry(w, -self.ratio * current)

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class Gyrator:
    """v2 = r current into the first pair, v1 = r current out of the second."""

    primary: Ends
    secondary: Ends
    r: float

    def act(self, w: Working) -> None:
        into, out = self.secondary.difference(w) / self.r, self.primary.difference(w) / self.r
        self.primary.carry(w, into)
        self.secondary.carry(w, -out)

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class OpAmp:
    """out = gain (plus - minus) within the supplies; no input current.

    Solved as median(out - lower, out - upper, out / gain - (plus - minus)) = 0, which is the
    same and lets Newton's method leave the supplies again.
    """

    ends: Ends
    plus: int
    minus: int
    gain: float
    lower: float
    upper: float
    unknown: int

    def act(self, w: Working) -> None:
        out = self.ends.difference(w)
        inside = out / self.gain - (w.levels[self.plus] - w.levels[self.minus])
        w.residual[self.unknown] = most(least(inside, out - self.lower), out - self.upper)
        self.ends.carry(w, w.z[self.unknown])

    def energies(self, w: Working) -> Energies:
        return Energies(supplied=-self.ends.power(w))

    def outputs(self) -> Iterator[Output]:
        return self.ends.outputs()


@dataclass(frozen=True)
class Motor:
    """voltage = R i + L i' + K speed, torque or force = K i; `state` is -1 where L = 0.

    Rotor inertia belongs to the shaft; B is friction.
    """

    ends: Ends
    port: Port
    R: float
    L: float
    K: float
    B: float
    state: int

    def act(self, w: Working) -> None:
        speed = self.port.speed(w)
        left = self.ends.difference(w) - self.K * speed
        if self.state >= 0:
            current: Number = w.x[self.state]
            w.rates[self.state] = (left - self.R * current) / self.L
        else:
            current = left / self.R
        self.ends.carry(w, current)
        self.port.push(w, self.K * current - self.B * speed)

    def energies(self, w: Working) -> Energies:
        current, speed = w.through[self.ends.place], self.port.speed(w)
        lost = self.R * current * current + self.B * speed * speed
        return Energies(kinetic=0.5 * self.L * current * current, lost=lost)

    def outputs(self) -> Iterator[Output]:
        name, place = self.ends.name, self.ends.place
        yield f"{name}.current", "A", lambda w: w.through[place]
        yield f"{name}.voltage", "V", self.ends.difference
        turns = self.port.turns
        exerted, unit = ("torque", "N*m") if turns else ("force", "N")
        yield f"{name}.{exerted}", unit, lambda w: self.K * w.through[place]
        yield f"{name}.speed", "rad/s" if turns else "m/s", self.port.speed
        yield f"{name}.power", "W", lambda w: self.K * w.through[place] * self.port.speed(w)


def shockley(Is: float, Vt: float, Gmin: float) -> Callable[[Working, Number], Number]:
    """Is (exp(v / Vt) - 1), on its tangent beyond HUGE, and the leakage Gmin v."""
    top = math.log(1.0 + HUGE / Is)

    def current(w: Working, v: Number) -> Number:
        x = v / Vt
        tangent = math.exp(top) * (1.0 + x - top) - 1.0
        forward = Is * choose(x - top, tangent, expm1(x))
        return forward + Gmin * v if Gmin else forward

    return current


def switched(on: Callable[[Working, Number], Number], closed: float, opened: float) -> Callable:
    """Conductance `closed` where `on` is positive, else `opened`."""

    def current(w: Working, v: Number) -> Number:
        return choose(on(w, v), closed, opened) * v

    return current
