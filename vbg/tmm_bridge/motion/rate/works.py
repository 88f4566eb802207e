"""Tolerance of the works: what was supplied and what was lost, sums over a motion that they do not
drive.

Their measure is what the largest power so far may do in the whole run, or a small part of what the
machine's size says and of what it moves with at the start: the power that a stop without losses
takes is rounding.  What was exchanged and held until now is a closer one, and no good: tried, it
took audits of stops that are touched for a thousandth of the run from 3e-4 to 8e-7, and let a
driveline of shafts without inertia creep (6000 steps for 38) and free bodies come back from a stop
3e-6 off for 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_MASS
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import model_size

LEAST = 1e-9  # of a natural energy: less does not count
CIRCUIT = 1e-2  # [W] of a circuit


@dataclass
class Works:
    """Of one run of `duration` [s]: `places` of the works in its state, `natural` [J] what the
    machine's size and the start say of energies, `power` [W] the largest so far."""

    places: list[int]
    natural: float
    duration: float
    power: float = 0.0

    def look(self, rate: Array) -> None:
        """Take note of the rate of a state that the motion came to."""
        self.power = max(self.power, float(np.abs(rate[self.places]).max()))

    def allowed(self, rtol: float) -> float:
        """What they may err by in a step [J]; anything where there is no energy at all."""
        return rtol * max(self.power * self.duration, LEAST * self.natural) or np.inf


def works_of(mechanism: Mechanism, duration: float) -> Works:
    """Of a run of this duration [s] that has not begun."""
    t, network, own = mechanism.tables, mechanism.network, mechanism.size
    places, size = [own - 2, own - 1], model_size(mechanism)
    mass, g = float(t.link[:, LINK_MASS].sum()), float(np.linalg.norm(t.gravity))
    natural = mass * g * size
    if duration > 0.0:
        natural += mass * (size / duration) ** 2
    if network is not None:
        places += [own + network.works, own + network.works + 1]
        natural += CIRCUIT * duration
    return Works(places, natural, duration)
