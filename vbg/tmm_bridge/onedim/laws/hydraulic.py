"""Laws of hydraulic parts: flows between nodes, contents behind node pressures.

The pressure of a node with stores is the state; with the content m(p, s) of each of
them, s the travel of a wall, the balance of the node is

    (sum dm/dp) p' = flow into the node - sum (dm/ds) s'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from vbg.tmm_bridge.formulas.tape import Number, choose, least, log, most, power
from vbg.tmm_bridge.formulas.tape import root as square_root
from vbg.tmm_bridge.onedim.laws.electric import HYDRAULIC, Ends
from vbg.tmm_bridge.onedim.laws.oil import Oil
from vbg.tmm_bridge.onedim.laws.signals import StateOf, places_of
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Value, Working

Law = Callable[[Working, Number], Number]
Liquid = tuple[float, float]  # density [kg/m^3], viscosity [Pa s]

# of two pressures, or of the currents around: their difference is rounding; the square of that, of
# an atmosphere or a volt, is what Newton's method leaves where there is none
NO_SIGN = 2.0**-42
STILL = 1e-3  # Reynolds number below which the friction factor is not asked for


def level_of(node: int) -> Value:
    """Reads the level of a node."""
    return lambda w: w.levels[node]


def root(p: Number, laminar: float) -> Number:
    """sqrt|p| with the sign of p, linear through zero: p / (p^2 + laminar^2)^(1/4)."""
    return p / square_root(square_root(p * p + laminar * laminar))


def orifice(gain: float, laminar: float) -> Law:
    """flow = gain root(p)."""
    return lambda w, p: gain * root(p, laminar)


def opening_valve(opens_at: float, conductance: float, leakage: float) -> Law:
    """leakage p, and conductance (p - opens_at) more above that."""
    return lambda w, p: leakage * p + conductance * most(p - opens_at, 0.0)


def beyond(ends: Ends, opens_at: float, natural: float, w: Working) -> Number:
    """How far a valve is beyond its opening pressure: zero, which is no change of sign, where that
    is rounding of the pressures on both sides, and what Newton's method leaves of a `natural`."""
    p, q = w.levels[ends.first], w.levels[ends.second]
    size = most(p, -p) + most(q, -q) + opens_at + NO_SIGN * natural
    over = p - q - opens_at
    return choose(NO_SIGN * size - most(over, -over), 0.0, over)


def edge(spool: Value, sign: float, overlap: float, leakage: float, law: Law) -> Law:
    """An edge of a spool valve: opening max(0, sign spool - overlap) + leakage."""
    return lambda w, p: (most(sign * spool(w) - overlap, 0.0) + leakage) * law(w, p)


@dataclass(frozen=True)
class Store:
    """A content behind the pressure of its node: `capacity(p)` = dm/dp, `energy(p)` = int p dm."""

    ends: Ends
    capacity: Callable[[Any], Any]
    energy: Callable[[Any], Any]

    def act(self, w: Working) -> None:
        found = self.capacity(w.levels[self.ends.first])
        w.through[self.ends.place] = found
        w.capacity[self.ends.first] += found

    def energies(self, w: Working) -> Energies:
        return Energies(potential=self.energy(w.levels[self.ends.first]))

    def outputs(self) -> Iterator[Output]:
        node, place, name = self.ends.first, self.ends.place, self.ends.name
        level, level_unit, flow, flow_unit = HYDRAULIC

        def into(w: Working) -> Number:
            return w.through[place] * w.slopes[node]

        yield f"{name}.{level}", level_unit, self.ends.difference
        yield f"{name}.{flow}", flow_unit, into
        yield f"{name}.power", "W", lambda w: self.ends.difference(w) * into(w)


@dataclass(frozen=True)
class Bladder:
    """A gas in a shell with a port full of oil.  From the precharge on oil comes into the shell,
    m = volume (1 - (P_0 / P)^(1/n)) with P = p + outside, P_0 = precharge + outside: a gas knows
    absolute pressures only; below, it has the shell to itself and the oil in the `port` is all
    that a pressure changes."""

    volume: float
    precharge: float
    outside: float
    n: float
    port: float
    oil: Oil

    def capacity(self, p: Number) -> Number:
        """dm/dp."""
        P = most(p, self.precharge) + self.outside
        P_0 = self.precharge + self.outside
        gas = self.volume / (self.n * P) * power(P_0 / P, 1.0 / self.n)
        return choose(p - self.precharge, gas, self.oil.capacity(self.port)(p))

    def energy(self, p: Number) -> Number:
        """int p dm from p = 0 on: of the oil, then int P dm, the work of a polytropic change of
        state, without the part `outside` m that the air around does."""
        P_0 = self.precharge + self.outside
        work, x = P_0 * self.volume, (most(p, self.precharge) + self.outside) / P_0
        pressed = self.oil.energy(self.port)(least(p, self.precharge))
        around = self.outside * self.volume * (1.0 - power(x, -1.0 / self.n))
        if self.n == 1.0:
            return pressed + work * log(x) - around
        grown = power(x, (self.n - 1.0) / self.n) - 1.0
        return pressed + work / (self.n - 1.0) * grown - around


@dataclass(frozen=True)
class Chamber:
    """Oil behind a moving wall, volume V(s) = dead + area s (constant where `volume` is given).

    m = V rho(p), or with a constant volume m = volume e(p) + area s; force p area.
    """

    node: int
    area: float
    dead: float
    volume: float | None
    oil: Oil

    def act(self, w: Working, s: Number, s_dot: Number) -> Number:
        """Adds capacity and displaced flow to the node; returns the force along s."""
        p = w.levels[self.node]
        if self.volume is not None:
            w.capacity[self.node] += self.oil.capacity(self.volume)(p)
            w.net[self.node] -= self.area * s_dot
            return p * self.area
        V = self.dead + self.area * s
        V = choose(V, V, math.nan)  # no step leaps past its end
        w.capacity[self.node] += V * self.oil.densing(p)
        w.net[self.node] -= self.area * self.oil.density(p) * s_dot
        return p * self.area

    def energies(self, w: Working, s: Number, s_dot: Number) -> Energies:
        """With g = int p drho:  E = V g, and what oil that flows in brings of energy beside p flow,
        rho p - g - p for each volume that the wall clears:
        E' = p flow - p area s' - (rho p - g - p) area s'."""
        p = w.levels[self.node]
        if self.volume is not None:
            return Energies(potential=self.oil.energy(self.volume)(p))
        g = self.oil.held(p)
        brought = (self.oil.density(p) - 1.0) * p - g
        held = (self.dead + self.area * s) * g
        return Energies(potential=held, supplied=-brought * self.area * s_dot)


@dataclass(frozen=True)
class Stops:
    """End stops of a cylinder at s = 0 and s = stroke: springs with dampers that never pull."""

    stroke: float
    k: float
    c: float

    def force(self, s: Number, s_dot: Number) -> Number:
        """On the second end, along s."""
        beyond = s - self.stroke
        lower = most(-self.k * s - self.c * s_dot, 0.0)
        upper = least(-self.k * beyond - self.c * s_dot, 0.0)
        return choose(-s, lower, choose(beyond, upper, 0.0))

    def energies(self, s: Number, s_dot: Number) -> Energies:
        """Of the springs; what their dampers take, and what a spring gives that may not pull."""
        depth = choose(-s, s, choose(s - self.stroke, s - self.stroke, 0.0))
        lost = -(self.force(s, s_dot) + self.k * depth) * s_dot
        return Energies(potential=0.5 * self.k * depth * depth, lost=lost)

    def changes(self, s: Number, s_dot: Number) -> tuple[Number, ...]:
        """What changes sign where a stop is touched, or would begin to pull."""
        beyond = s - self.stroke
        changes = (-s, beyond)
        if self.c == 0.0:
            return changes
        return (*changes, self.c * s_dot + self.k * s, self.k * beyond + self.c * s_dot)


@dataclass(frozen=True)
class Cylinder:
    """Chambers A (None on the tank) and B, leak between the ports, friction, stops."""

    ends: Ends
    port: Port
    length: float
    chambers: tuple[Chamber | None, Chamber | None]
    leakage: float
    friction: float
    stops: Stops | None

    def act(self, w: Working) -> None:
        s, s_dot = self.port.value(w) - self.length, self.port.speed(w)
        force: Number = -self.friction * s_dot
        for chamber in self.chambers:
            if chamber is not None:
                force += chamber.act(w, s, s_dot)
        if self.leakage > 0.0:
            self.ends.carry(w, self.leakage * self.ends.difference(w))
        if self.stops is not None:
            force += self.stops.force(s, s_dot)
        w.through[self.ends.place] = force
        self.port.push(w, force)

    def energies(self, w: Working) -> Energies:
        s, s_dot = self.port.value(w) - self.length, self.port.speed(w)
        across = self.ends.difference(w)
        found = Energies(lost=self.friction * s_dot * s_dot + self.leakage * across * across)
        for chamber in self.chambers:
            if chamber is not None:
                found = found + chamber.energies(w, s, s_dot)
        return found if self.stops is None else found + self.stops.energies(s, s_dot)

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Of the stops."""
        if self.stops is None:
            return ()
        return self.stops.changes(self.port.value(w) - self.length, self.port.speed(w))

    def outputs(self) -> Iterator[Output]:
        name, place = self.ends.name, self.ends.place
        nodes = ((self.ends.first, "a"), (self.ends.second, "b"))
        for chamber, (node, side) in zip(self.chambers, nodes, strict=True):
            if chamber is not None:
                yield f"{name}.pressure_{side}", "Pa", level_of(node)
        yield f"{name}.force", "N", lambda w: w.through[place]
        yield f"{name}.stroke", "m", lambda w: self.port.value(w) - self.length
        yield f"{name}.power", "W", lambda w: w.through[place] * self.port.speed(w)


@dataclass(frozen=True)
class Displacer:
    """A pump (sign -1: its flow leaves at the first node) or a motor (+1) on a shaft.

    motor: flow = D speed + leakage p, torque on the shaft D p, p of the first node against
    the second.  pump, nodes [pressure, suction]: the same with -D; what is told of it is
    the flow it delivers and the torque it takes.  `speed` replaces the shaft.
    """

    ends: Ends
    port: Port | None
    speed: Value | None
    displacement: float
    leakage: float
    sign: float

    def _speed(self, w: Working) -> Number:
        if self.port is not None:
            return self.port.speed(w)
        assert self.speed is not None  # a pump has a shaft or a speed
        return self.speed(w)

    def act(self, w: Working) -> None:
        p, D = self.ends.difference(w), self.sign * self.displacement
        self.ends.carry(w, D * self._speed(w) + self.leakage * p)
        if self.port is not None:
            self.port.push(w, D * p)

    def energies(self, w: Working) -> Energies:
        p = self.ends.difference(w)
        lost = self.leakage * p * p
        if self.port is not None:
            return Energies(lost=lost)
        return Energies(supplied=-p * self.sign * self.displacement * self._speed(w), lost=lost)

    def outputs(self) -> Iterator[Output]:
        name, place, sign = self.ends.name, self.ends.place, self.sign

        def torque(w: Working) -> Number:
            return self.displacement * self.ends.difference(w)

        def taken(w: Working) -> Number:
            return self.ends.difference(w) * sign * w.through[place]

        yield f"{name}.pressure", "Pa", self.ends.difference
        yield f"{name}.flow", "m^3/s", lambda w: sign * w.through[place]
        yield f"{name}.torque", "N*m", torque
        yield f"{name}.power", "W", taken


@dataclass(frozen=True)
class Pipe:
    """Pieces of inertance I with the pressure that each loses, `loss(flow)`, and capacities C
    between them.

    States: flow of every piece, pressure between the pieces.
    """

    ends: Ends
    pieces: int
    I: float
    loss: Callable[[Number], Number]
    C: float
    state: int

    def act(self, w: Working) -> None:
        n, x, at = self.pieces, w.x, self.state
        before = w.levels[self.ends.first]
        for i in range(n):
            flow = x[at + i]
            after = x[at + n + i] if i + 1 < n else w.levels[self.ends.second]
            w.rates[at + i] = (before - after - self.loss(flow)) / self.I
            if i + 1 < n:
                w.rates[at + n + i] = (flow - x[at + i + 1]) / self.C
            before = after
        w.net[self.ends.first] -= x[at]
        w.net[self.ends.second] += x[at + n - 1]

    def energies(self, w: Working) -> Energies:
        n, x, at = self.pieces, w.x, self.state
        flows = squares(x[at : at + n])
        lost = sum_of(self.loss(flow) * flow for flow in x[at : at + n])
        levels = squares(x[at + n : at + 2 * n - 1])
        return Energies(0.5 * self.I * flows, 0.5 * self.C * levels, 0.0, lost)

    def outputs(self) -> Iterator[Output]:
        name, at, last = self.ends.name, self.state, self.state + self.pieces - 1
        yield f"{name}.flow", "m^3/s", lambda w: w.x[at]
        yield f"{name}.flow_out", "m^3/s", lambda w: w.x[last]
        inner = self.pieces - 1
        if inner:
            for i, one in enumerate(places_of(f"{name}.pressures", inner)):
                yield one, "Pa", StateOf(last + 1 + i).value
            for i, one in enumerate(places_of(f"{name}.flows", self.pieces)):
                yield one, "m^3/s", StateOf(at + i).value


def squares(values: Iterable[Number]) -> Number:
    """Sum of squares."""
    return sum_of(value * value for value in values)


def sum_of(values: Iterable[Number]) -> Number:
    """Sum."""
    total: Number = 0.0
    for value in values:
        total = total + value
    return total


def laminar(length: float, bore: float, viscosity: float) -> Callable[[Number], Number]:
    """Pressure lost in a round pipe where layers slide on each other: 8 mu l Q / (pi r^4)."""
    return lambda flow: 8.0 * viscosity * length / (math.pi * (0.5 * bore) ** 4) * flow


def darcy(length: float, bore: float, rough: float, liquid: Liquid) -> Callable[[Number], Number]:
    """Pressure lost by Darcy and Weisbach, f (l/d) rho v |v| / 2 = (f Re) mu l v / (2 d^2).

    f by Churchill (1977) of Re = rho |v| d / mu; below Re = STILL it is 64 / Re to rounding,
    so that f Re is that of STILL there.
    """
    density, viscosity = liquid

    def lost(flow: Number) -> Number:
        v = flow / (0.25 * math.pi * bore * bore)
        speed = most(v, -1.0 * v)
        re = most(density * bore / viscosity * speed, STILL)
        turbulent = power(2.457 * log(1.0 / (power(7.0 / re, 0.9) + 0.27 * rough / bore)), 16.0)
        between = power(37530.0 / re, 16.0)
        f = 8.0 * power(power(8.0 / re, 12.0) + power(turbulent + between, -1.5), 1.0 / 12.0)
        return f * re * viscosity * length / (2.0 * bore * bore) * v

    return lost


def as_hydraulic(ends: Ends) -> Ends:
    """The same with hydraulic words."""
    return replace(ends, words=HYDRAULIC)
