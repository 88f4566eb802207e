"""What has no value any more where steps become too small: a root of less than zero, an arc sine of
more than one."""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import COORDINATE_TREE
from vbg.tmm_bridge.mechanism.mechanism import NoInertia
from vbg.tmm_bridge.motion.rate.plant import Plant

# of an output step: where laws are looked at; what has no value may be as short as rounding
AHEAD = tuple(10.0 ** (0.5 * n) for n in range(-24, -11))
REMEDY = (
    "A root or a logarithm of less than zero, asin or acos of more than 1 has no value: bound what"
    " it reads, as by asin(min(1, max(-1, ...))), where only rounding leads there."
)


def lost_ahead(plant: Plant, t: float, y: Array, output_step: float) -> str:
    """What has no value right behind (t, y), in words; empty if all has."""
    rate = plant.rate(t, y)
    for ahead in AHEAD:
        after = ahead * output_step
        try:
            found = plant.rate(t + after, y + after * np.nan_to_num(rate))
        except NoInertia:
            continue
        if not np.isfinite(found).all():
            return f"from there on {_lost(plant, found)} has no value"
    return ""


def _lost(plant: Plant, rate: Array) -> str:
    """The first output of a part, or acceleration of a joint, without a value; `rate` was just
    found."""
    mechanism, network = plant.mechanism, plant.mechanism.network
    if network is not None:
        told = zip(network.outputs, plant.outputs(), strict=False)  # energies are behind these
        for (name, _, _), value in told:
            if not np.isfinite(value):
                return name
    t = mechanism.tables
    for (joint, key), k in mechanism.coordinates.items():
        kind, place = t.coordinates[k, 0], t.coordinates[k, 3]
        if kind == COORDINATE_TREE and not np.isfinite(rate[t.sizes[0] + place]):
            return f"the acceleration of joints.{joint}.{key}"
    return "the acceleration of a body"
