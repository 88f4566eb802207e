"""Cavities in oil, and pressures that it does not have.

Pressures count from the atmosphere and the vapour pressure of oil is nearly zero, so that what
falls below -1 atm is no oil any more.  Oil with `air` gives it off before
(`vbg.physics.hydraulics.Oil`): that a chamber is not full is told.  A model of oil without holds
where real oil lets go: a fault of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from vbg.errors import Problem
from vbg.model import Model
from vbg.model.located import located
from vbg.physics.hydraulics import ATMOSPHERE, RELEASE

VAPOUR = -101325.0  # of oil, against the atmosphere [Pa]
HOLLOW = 0.9 * VAPOUR  # below it is a cavity
CLEAR = 1e-3  # of an atmosphere: what is less below it is rounding
CHAMBERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "cylinder": (("pressure_a", "in chamber A"), ("pressure_b", "in chamber B")),
    "volume": (("pressure", ""),),
    "accumulator": (("pressure", ""),),
}
REMEDY = (
    "Forces there are too large and what follows may be wrong. Leave air out or write what the oil "
    "gives off there, air = 0.005; real machines draw oil in through a check valve from the tank."
)

DRAWN = (
    "Oil is not drawn by more than one atmosphere: less flow comes there, and what follows is "
    "wrong. A larger bore or opening before it, less flow, a pressure on the tank; a volume at the "
    "node shows how its cavity grows."
)


def below_vapour(
    model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]
) -> tuple[Problem, ...]:
    """A warning for each store of oil, and for each node without one, whose pressure falls below
    the vapour pressure, with its least value and the first instant; `signals` are those of a run
    of `model`."""
    found = (*_found(model, time, signals), *_drawn(model, time, signals))
    return located(model, found)


def _found(model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    for name, part in model.hydraulic.items():
        for quantity, where in CHAMBERS.get(part.kind, ()):
            pressure = signals.get(f"{name}.{quantity}")
            if pressure is None:
                continue
            air = getattr(part, "air", 0.0)
            low = pressure < (HOLLOW if air > 0.0 else VAPOUR * (1.0 + CLEAR))
            if low.any():
                at = float(time[int(np.argmax(low))])
                told = _cavity if air > 0.0 else _pulled
                what, remedy = told(where, float(np.nanmin(pressure)), at, air)
                yield Problem("warning", f"hydraulic.{name}", what, remedy)


def _drawn(model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    """Nodes between lines, valves and sources; a store's pressure is told with the store."""
    at_node: dict[str, str] = {}
    stores: set[str] = set()
    for name, part in model.hydraulic.items():
        for node in part.nodes:
            at_node.setdefault(node, name)
            stores |= {node} if part.kind in CHAMBERS else set()
    for node, name in at_node.items():
        pressure = signals.get(f"hydraulic.{node}.pressure")
        if pressure is None or node in stores:
            continue
        low = pressure < VAPOUR * (1.0 + CLEAR)
        if low.any():
            at, least = float(time[int(np.argmax(low))]), float(np.nanmin(pressure))
            told, _ = _pulled(f"at node {node}", least, at, 0.0)
            yield Problem("warning", f"hydraulic.{name}", told, DRAWN)


def _pulled(where: str, least: float, at: float, _air: float) -> tuple[str, str]:
    place = f"the pressure {where}".rstrip()
    return (
        f"{place} falls to {least / 1e5:.4g} bar, first below the vapour "
        f"pressure of oil (-1 bar) at t = {at:.4g} s.",
        REMEDY,
    )


def _cavity(where: str, least: float, at: float, air: float) -> tuple[str, str]:
    """With the bubbles' share of the volume, x / (1 + x), x = air (1 - q)^2 / q, q = P / P_s."""
    q = (least + ATMOSPHERE) / (RELEASE + ATMOSPHERE)
    x = air * (1.0 - q) ** 2 / q
    place = f"the oil {where}".rstrip()
    return (
        f"{place} cavitates, first at t = {at:.4g} s: it falls to {least / 1e5:.4g} bar, and its "
        f"air fills up to {100.0 * x / (1.0 + x):.2g} % of the volume.",
        "The run goes on with it. Where it should not be: a check valve that draws oil in from "
        "the tank, a start pressure, a back pressure.",
    )
