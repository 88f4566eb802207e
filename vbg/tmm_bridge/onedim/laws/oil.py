"""Oil by its pressure: what a volume holds of it, how that grows, what energy it keeps.

Pressures count from the tank's, an atmosphere.  Between half an atmosphere and any pressure oil
is a liquid; below, bubbles of air grow in it at constant temperature, by Boyle's law for the part
of the air that has come out: in a volume V of it air V (1 - P / P_s)^2 P_s / P, P absolute and P_s
half an atmosphere.  Since P stays above zero, no wall can pull at it: what lacks is a cavity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vbg.tmm_bridge.formulas.tape import Number, choose, exp, expm1, least, log, most

FROM = 101325.0  # [Pa], absolute: where pressures count from
BUBBLES = 0.5 * FROM  # [Pa], absolute: where they begin to grow


@dataclass(frozen=True)
class Oil:
    """dp = (bulk + growth p) de above, e the share of the volume that is pressed in;
    dp = de / (1 / bulk + air (P_s / P^2 - 1 / P_s)) below."""

    bulk: float
    growth: float
    air: float

    def capacity(self, volume: float) -> Callable[[Any], Any]:
        """de/dp of a `volume` that does not change [m^3/Pa]."""
        return lambda p: self._either(
            p, volume / (self.bulk + self.growth * p), volume * self._soft(p)
        )

    def energy(self, volume: float) -> Callable[[Any], Any]:
        """int p de of it: V p^2 / (2 K), or with x = growth p / K  V K (x - log(1 + x)) / growth^2;
        below, on from there."""

        def liquid(p: Number) -> Number:
            if self.growth == 0.0:
                return (0.5 / self.bulk) * p * p
            x = self.growth / self.bulk * p
            return self.bulk / self.growth**2 * (x - log(1.0 + x))

        return lambda p: volume * (liquid(self._liquid(p)) + self._foam(p))

    def density(self, p: Number) -> Number:
        """rho, of which a volume at p = 0 has 1: exp(p / K), and less by the bubbles below."""
        liquid = exp(self._liquid(p) / self.bulk)
        if self.air == 0.0:
            return liquid
        P = least(p, BUBBLES - FROM) + FROM
        bubbles = self.air * (1.0 - P / BUBBLES) * (1.0 - P / BUBBLES) * BUBBLES / P
        return liquid + (P - BUBBLES) / self.bulk - bubbles

    def densing(self, p: Number) -> Number:
        """drho/dp."""
        return self._either(p, exp(p / self.bulk) / self.bulk, self._soft(p))

    def held(self, p: Number) -> Number:
        """int p drho from p = 0: with x = p / K  K (x e^x - e^x + 1), and on below."""
        x = self._liquid(p) / self.bulk
        return self.bulk * (x + (x - 1.0) * expm1(x)) + self._foam(p)

    def _liquid(self, p: Number) -> Number:
        return p if self.air == 0.0 else most(p, BUBBLES - FROM)

    def _soft(self, p: Number) -> Number:
        """1 / K + air (P_s / P^2 - 1 / P_s)."""
        P = p + FROM
        return 1.0 / self.bulk + self.air * (BUBBLES / (P * P) - 1.0 / BUBBLES)

    def _either(self, p: Number, liquid: Number, foam: Number) -> Number:
        return liquid if self.air == 0.0 else choose(p - (BUBBLES - FROM), liquid, foam)

    def _foam(self, p: Number) -> Number:
        """int p (1 / K + air (P_s / P^2 - 1 / P_s)) dp from P_s down to p, p = P - FROM."""
        if self.air == 0.0:
            return 0.0
        P = least(p, BUBBLES - FROM) + FROM
        squares = 0.5 * ((P - FROM) * (P - FROM) - (BUBBLES - FROM) ** 2)
        pressed = squares / self.bulk - self.air * squares / BUBBLES
        grown = log(P / BUBBLES) + FROM / P - FROM / BUBBLES
        return pressed + self.air * BUBBLES * grown
