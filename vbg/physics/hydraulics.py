"""Laws that several hydraulic parts share: oil, chambers with a moving wall, orifices."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

from vbg.blocks import Block, call, const, divide, times
from vbg.builder import Builder, Node


def signed_root(p: Block, laminar: float) -> Block:
    """p / (p^2 + laminar^2)^(1/4): sign(p) sqrt|p| far out, slope laminar^(-1/2) at zero."""
    square = times(p, p) + const(laminar * laminar)
    return times(call("power", square, const(-0.25)), p)


def inverse_root(y: Block, laminar: float) -> Block:
    """p with signed_root(p) = y: p^2 = y^2 (y^2 + sqrt(y^4 + 4 laminar^2)) / 2."""
    square = times(y, y)
    inner = call("sqrt", times(square, square) + const(4.0 * laminar * laminar))
    return times(call("sqrt", 0.5 * (square + inner)), y)


@dataclass(frozen=True, slots=True)
class Oil:
    """Bulk modulus K = bulk + growth p.  With e the content per volume that has been
    pressed in,  p = bulk e  for growth = 0, else  p = bulk (exp(growth e) - 1) / growth,
    from dp/de = bulk + growth p;  the energy per volume is the integral of p de.
    """

    bulk: float
    growth: float = 0.0

    def pressure(self, e: Block) -> Block:
        if self.growth == 0.0:
            return self.bulk * e
        power = call("exp", self.growth * e)
        return (self.bulk / self.growth) * (power - const(1.0))

    def energy(self, e: Block) -> Block:
        if self.growth == 0.0:
            return 0.5 * self.bulk * times(e, e)
        power = (1.0 / self.growth) * (call("exp", self.growth * e) - const(1.0))
        return (self.bulk / self.growth) * (power - e)

    def strain(self, pressure: float) -> float:
        """e at a pressure."""
        if self.growth == 0.0:
            return pressure / self.bulk
        return log1p(self.growth * pressure / self.bulk) / self.growth


@dataclass(frozen=True, slots=True)
class Chamber:
    """Oil behind a wall that moves: volume V(s) = `dead` + `area` s (`area` is negative
    where s shrinks it), or constant where `volume` is given.

    A C-field with two ports, its state is the content m (volume the oil has at p = 0),
    m' = flow into it:

        E(m, s) = K (m log(m / V) - m + V),   p = dE/dm = K log(m / V),
        -dE/ds = K (m / V - 1) area = (p + e) area,  e = K (exp(p / K) - 1 - p / K) = p^2 / (2 K)..

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
        K, p_start = self.oil.bulk, start or 0.0
        if self.volume is not None:
            first = const(self.volume * p_start / K) + self.area * s
        else:
            first = (1.0 + expm1(p_start / K)) * self._volume(s)

        def pressure(m: Block) -> Block:
            if self.volume is not None:
                return (K / self.volume) * (m - self.area * s)
            return K * call("log", divide(m, self._volume(s)))

        def energy(m: Block) -> Block:
            if self.volume is not None:
                p = pressure(m)
                return (0.5 * self.volume / K) * times(p, p)
            V = self._volume(s)
            return K * (times(call("log", divide(m, V)), m) - m + V)

        m = builder.compliance(
            name,
            port,
            effort=pressure,
            energy=energy,
            initial=first,
            state="content",
            written=start is not None,
        )
        p = pressure(m)
        force = self.area * p
        field = force
        if self.volume is None:
            field = (K * self.area) * (divide(m, self._volume(s)) - const(1.0))
            builder.effort_source(f"{name}.carried", wall, force - field)
        builder.potential(f"{name}.wall", wall, effort=-field, energy=const(0.0))
        return force, p

    def _volume(self, s: Block) -> Block:
        return const(self.dead) + self.area * s
