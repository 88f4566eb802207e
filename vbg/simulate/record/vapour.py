"""Pressures that oil does not have: below its vapour pressure it breaks off from the walls.

Stores of oil follow their law p(content) at any content.  Pressures count from the atmosphere
and the vapour pressure of oil is nearly zero, so that what falls below -1 atm is no oil any more
(H. Merritt, Hydraulic Control Systems, 1967, section 2-5): a model of such a chamber holds where
real oil lets go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from vbg.errors import Problem
from vbg.model import Model
from vbg.model.located import located

VAPOUR = -101325.0  # of oil, against the atmosphere [Pa]
CLEAR = 1e-3  # of an atmosphere: what is less below it is rounding
CHAMBERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "cylinder": (("pressure_a", "in chamber A"), ("pressure_b", "in chamber B")),
    "volume": (("pressure", ""),),
    "accumulator": (("pressure", ""),),
}
REMEDY = (
    "Forces there are too large and what follows may be wrong. Real machines draw oil in through a "
    "check valve from the tank, or have a start pressure or a back pressure that is high enough."
)


def below_vapour(
    model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]
) -> tuple[Problem, ...]:
    """A warning for each store of oil whose pressure falls below the vapour pressure, with its
    least value and the first instant; `signals` are those of a run of `model`."""
    return located(model, _found(model, time, signals))


def _found(model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    for name, part in model.hydraulic.items():
        for quantity, where in CHAMBERS.get(part.kind, ()):
            pressure = signals.get(f"{name}.{quantity}")
            if pressure is None:
                continue
            low = pressure < VAPOUR * (1.0 + CLEAR)
            if low.any():
                place = f"the pressure {where}".rstrip()
                what = (
                    f"{place} falls to {np.nanmin(pressure) / 1e5:.4g} bar, first below the vapour "
                    f"pressure of oil (-1 bar) at t = {time[int(np.argmax(low))]:.4g} s."
                )
                yield Problem("warning", f"hydraulic.{name}", what, REMEDY)
