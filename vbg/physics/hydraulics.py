"""Laws that several hydraulic parts share: oil, chambers with a moving wall, orifices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log1p

from vbg.blocks import Block, call, const, divide, times
from vbg.builder import Builder, Node

ATMOSPHERE = 101325.0  # [Pa]; pressures count from it, the tank's
# parts whose flow is the same at any pressure, or while they are shut, but for a leakage
GIVEN_FLOWS = ("flow_source", "pump")
SHUT = ("check_valve", "relief_valve")
CHAMBERS = ("accumulator", "cylinder", "volume")
RELEASE = -0.5 * ATMOSPHERE  # below it oil gives off its air: not where a chamber is at rest


def signed_root(p: Block, laminar: float) -> Block:
    """p / (p^2 + laminar^2)^(1/4): sign(p) sqrt|p| far out, slope laminar^(-1/2) at zero."""
    square = times(p, p) + const(laminar * laminar)
    return times(call("power", square, const(-0.25)), p)


def inverse_root(y: Block, laminar: float) -> Block:
    """p with signed_root(p) = y: p^2 = y^2 (y^2 + sqrt(y^4 + 4 laminar^2)) / 2."""
    square = times(y, y)
    inner = call("sqrt", times(square, square) + const(4.0 * laminar * laminar))
    return times(call("sqrt", 0.5 * (square + inner)), y)


def disc(diameter: float) -> float:
    """Area of a round opening or piston [m^2]."""
    return math.pi / 4.0 * diameter * diameter


@dataclass(frozen=True, slots=True)
class Oil:
    """Oil of the bulk modulus K = `bulk` + `growth` p, and what it gives off at low pressure.

    e : content per volume that has been pressed in.  p = bulk e for growth = 0, else
    p = bulk (exp(growth e) - 1) / growth, from dp/de = bulk + growth p.

    Below p_s = RELEASE air comes out of it (models of this kind are compared by H. Gholizadeh,
    R. Burton, G. Schoenau, Fluid bulk modulus: comparison of low pressure models, Int. J. of Fluid
    Power).  P the absolute pressure, P_s that at p_s: of the air that the oil has dissolved, `air`
    of its volume at P_s, the part (1 - P / P_s)^2 is taken to have come out at P.  At constant
    temperature it fills the volume of that times P_s / P, and volumes add up:

        e - e_s = (p - p_s) / bulk - air (P_s - P)^2 / (P P_s)
        de / dp = 1 / K_e = 1 / bulk + air (P_s / P^2 - 1 / P_s)

    K_e, the effective bulk modulus of oil with bubbles, is bulk at P_s: the square was chosen so
    that there is no kink.  P stays above zero however far the walls draw
    apart: a cavity, which has to be filled before the pressure grows.  The energy per volume is
    the integral of p de.  air = 0: oil that can be pulled.
    """

    bulk: float
    growth: float = 0.0
    air: float = 0.0

    def pressure(self, e: Block) -> Block:
        if self.air == 0.0:
            return self._compressed(e)
        most, lack = self._parted(e, self.strain(RELEASE))
        return self._compressed(most) + self._released(lack)

    def energy(self, e: Block) -> Block:
        if self.air == 0.0:
            return self._stored(e)
        most, lack = self._parted(e, self.strain(RELEASE))
        return self._stored(most) + self.given_back(lack)

    def start_faults(self, key: str, pressure: float | None) -> Iterator[tuple[str, str, str]]:
        """What `faults` of a part says of its start pressure `key`: below the least that the law
        has, `strain` and `ratio` would be those of another one."""
        least = max(
            -ATMOSPHERE if self.air > 0.0 else -inf,
            -self.bulk / self.growth if self.growth > 0.0 else -inf,
        )
        if pressure is None or pressure > least:
            return
        what = f"{key} {pressure:g} Pa must be above {least:g} Pa"
        if least == -ATMOSPHERE:
            what += ": pressures count from the atmosphere, and oil with air has none below vacuum."
            yield key, what, "Look at its sign and unit; air = 0 is oil that can be pulled."
        else:
            what += ", -bulk / growth: there nothing is left of the stiffness of the oil."
            yield key, what, "Look at its sign and unit, and at those of bulk and growth."

    def strain(self, pressure: float) -> float:
        """e at a pressure."""
        if self.air > 0.0 and pressure < RELEASE:
            return self.strain(RELEASE) + self.lack(pressure)
        if self.growth == 0.0:
            return pressure / self.bulk
        return log1p(self.growth * pressure / self.bulk) / self.growth

    def ratio(self, pressure: float) -> float:
        """Content per volume behind a wall that moves, exp(p / bulk)."""
        if self.air > 0.0 and pressure < RELEASE:
            return exp(RELEASE / self.bulk) + self.lack(pressure)
        return exp(pressure / self.bulk)

    def lack(self, pressure: float) -> float:
        """e - e_s at a pressure below p_s [Pa], above -ATMOSPHERE."""
        below, P_s = pressure - RELEASE, RELEASE + ATMOSPHERE
        return below / self.bulk - self.air * below**2 / ((pressure + ATMOSPHERE) * P_s)

    def of_ratio(self, r: Block) -> tuple[Block, Block]:
        """Behind a wall that moves: p = bulk log r of r = content / volume, and the integral
        of p dr, bulk (r log r - r + 1)."""
        most, lack = (r, None) if self.air == 0.0 else self._parted(r, self.ratio(RELEASE))
        log = call("log", most)
        pressure = self.bulk * log
        # r - 1 is exact and stays a number of its own: r log r - r leaves (r - 1)^2 / 2 of 1
        beyond = call("max", most - const(1.0), const(-1.0))
        energy = self.bulk * (times(most, log) - beyond)
        if lack is None:
            return pressure, energy
        return pressure + self._released(lack), energy + self.given_back(lack)

    def given_back(self, lack: Block) -> Block:
        """The integral of p d(lack) from 0, with q = P / P_s:
        p_s lack + (P_s / bulk - air) P_s (q - 1)^2 / 2 + air P_s (log q + 1 / q - 1)."""
        P_s = RELEASE + ATMOSPHERE
        q, below = self._absolute(lack), self._below(lack)
        air = call("log", q) - divide(below, q)
        pressed = (0.5 * P_s * (P_s / self.bulk - self.air)) * times(below, below)
        return RELEASE * lack + pressed + (self.air * P_s) * air

    def _parted(self, e: Block, release: float) -> tuple[Block, Block]:
        """The part of e from `release` on, and what lacks of it (<= 0)."""
        full = call("max", e, const(release))
        return full, call("min", e - const(release), const(0.0))

    def _released(self, lack: Block) -> Block:
        """p - p_s (<= 0)."""
        return (RELEASE + ATMOSPHERE) * self._below(lack)

    def _absolute(self, lack: Block) -> Block:
        """q = P / P_s of lack <= 0:  (c - air) q^2 + b q - air = 0, the root that is 1 at 0, where
        c = P_s / bulk, b = 2 air - c - lack; 1 exactly, where energies are far below its rounding.
        """
        stiff = (RELEASE + ATMOSPHERE) / self.bulk
        first = 2.0 * self.air - stiff
        return divide(const(first + stiff), const(first) - lack + self._discriminant(lack))

    def _below(self, lack: Block) -> Block:
        """q - 1, 0 exactly at 0, where pressures are far below the rounding of P_s:
        (c - air) (q - 1)^2 + (c - lack) (q - 1) - lack = 0."""
        stiff = (RELEASE + ATMOSPHERE) / self.bulk
        return divide(2.0 * lack, const(stiff) - lack + self._discriminant(lack))

    def _discriminant(self, lack: Block) -> Block:
        """The root of b^2 + 4 (c - air) air = c^2 + lack^2 - 2 lack (2 air - c)."""
        stiff = (RELEASE + ATMOSPHERE) / self.bulk
        first = 2.0 * self.air - stiff
        return call("sqrt", times(lack, lack - const(2.0 * first)) + const(stiff * stiff))

    def _compressed(self, e: Block) -> Block:
        if self.growth == 0.0:
            return self.bulk * e
        power = call("exp", self.growth * e)
        return (self.bulk / self.growth) * (power - const(1.0))

    def _stored(self, e: Block) -> Block:
        if self.growth == 0.0:
            return 0.5 * self.bulk * times(e, e)
        power = (1.0 / self.growth) * (call("exp", self.growth * e) - const(1.0))
        return (self.bulk / self.growth) * (power - e)


def _there(volume: Block) -> Block:
    """1, and no number where there is no volume: content and volume that have both passed zero
    would have the ratio of a full chamber."""
    some = call("sqrt", volume)  # smooth as far as there is a volume
    return divide(some, some)


@dataclass(frozen=True, slots=True)
class Chamber:
    """Oil behind a wall that moves: volume V(s) = `dead` + `area` s (`area` is negative
    where s shrinks it), or constant where `volume` is given.

    A C-field with two ports, its state is the content m (volume the oil has at p = 0),
    m' = flow into it.  With r = m / V and g the integral of p(r) dr (`Oil.of_ratio`)

        E(m, s) = V g(r),   p = dE/dm = K log r,
        -dE/ds = (r p - g) area = (p + e) area,  e = K (exp(p / K) - 1 - p / K) = p^2 / (2 K)..

    so that p' = K (flow / m - V' / V), the usual law to first order in p / K.  e is the
    elastic energy per volume of the oil inside; p flow of the port does not count what the oil
    that flows in brings of it.  The force on the wall is p area, exactly: a source beside the
    field gives -e area and counts -e V' as supplied, so that the energy audit closes.  The
    start pressure is that at the assembled posture.  With a constant volume: m = content
    pressed in, p = K (m - area s) / volume, force = p area, E = volume p^2 / (2 K), e = 0.
    """

    oil: Oil
    area: float
    dead: float
    volume: float | None = None

    def expand(
        self, name: str, builder: Builder, node: str, wall: Node, s: Block, start: float | None
    ) -> tuple[Block, Block]:
        """Writes the field between the hydraulic `node` and the speed of the `wall`;
        returns the force on the wall along s and the pressure."""
        port = builder.terminal("hydraulic", node)
        assert port is not None
        if self.volume is not None:
            first = const(self.volume * self.oil.strain(start or 0.0)) + self.area * s
        else:
            first = self.oil.ratio(start or 0.0) * self._volume(s)

        m = builder.compliance(
            name,
            port,
            effort=lambda m: self._law(m, s)[0],
            energy=lambda m: self._law(m, s)[1],
            initial=first,
            state="content",
            written=start is not None,
        )
        p, held = self._law(m, s)
        force = self.area * p
        field = force
        if self.volume is None:
            V = self._volume(s)
            field = self.area * divide(times(m, p) - held, V)
            builder.effort_source(f"{name}.carried", wall, force - field)
        builder.potential(f"{name}.wall", wall, effort=-field, energy=const(0.0))
        return force, p

    def _law(self, m: Block, s: Block) -> tuple[Block, Block]:
        """Pressure and energy."""
        if self.volume is not None:
            e = (1.0 / self.volume) * (m - self.area * s)
            return self.oil.pressure(e), self.volume * self.oil.energy(e)
        V = self._volume(s)
        pressure, energy = self.oil.of_ratio(divide(m, V))
        return times(pressure, _there(V)), times(V, energy)

    def _volume(self, s: Block) -> Block:
        return const(self.dead) + self.area * s
