"""Tolerances of ways and speeds by the size of the motion so far.

What a state may err by is `atol` in its unit, a turn or the length of the machine.  A motion of
1e-5 of that swings with 1e-5 of these speeds, and `atol` is 1e5 times as much of it.  So a state
is held to what rtol is of the largest that it has had, as it is where it passes zero:

    |error| <= clip(rtol max(S, SHARE S_all), LEAST atol, atol)

S is its largest, S_all that of all ways, or speeds, of the machine, all in their units: what
moves next to nothing beside them moves by their rounding.  Less than LEAST of `atol` is rounding
of a machine at rest.

A way is the integral of its speed, and as uncertain in a step h as that: of a motion that begins
from rest the way says nothing yet, and where it counted as exact beside its speed the estimate of
an error (in which the way has a power of h more than the speed, at a turning point, so that it
is the way that tells) would let a first step pass that is ten thousand times off.  So a way may
err by

    min(atol, max(rtol S, ROOM h times what the speed may))
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_KIND, LINK_Q, LINK_V, PRISMATIC, REVOLUTE, SCREW
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import state_units
from vbg.tmm_bridge.onedim.laws.mechanical import DRIVEN, FREE, MASSLESS

SHARE = 1e-2
LEAST = 1e-3
ROOM = 10.0  # steps are a tenth of the time in which a speed changes by itself, or less


@dataclass
class Sizes:
    """Of one run: `units` (n,) of all its states; (ways, speeds) (k, 2) are the places of what
    has both, `lone` those of ways whose speed is no state; `largest` (n,) so far."""

    units: Array
    pairs: Array
    lone: Array
    _all_ways: Array
    _all_speeds: Array
    largest: Array = field(init=False)

    def __post_init__(self) -> None:
        self.largest = np.zeros(len(self.units))

    def look(self, y: Array) -> None:
        """Take note of a state."""
        np.maximum(self.largest, np.abs(y / self.units), out=self.largest)

    def allowed(self, rtol: float, atol: float, h: float) -> Array:
        """(n,): what every state may err by in a step of h [s]."""
        values = atol * self.units
        size, (ways, speeds) = self.largest, self.pairs.T
        most = size[self._all_ways].max(initial=0.0), size[self._all_speeds].max(initial=0.0)
        for places, of_all in ((self.lone, most[0]), (speeds, most[1])):
            own = rtol * np.maximum(size[places], SHARE * of_all)
            values[places] *= np.clip(own / atol, LEAST, 1.0)
        own = rtol * self.units[ways] * np.maximum(size[ways], SHARE * most[0])
        values[ways] = np.minimum(values[ways], np.maximum(own, ROOM * h * values[speeds]))
        return values


def sizes_of(mechanism: Mechanism, duration: float) -> Sizes:
    """Of a run of this duration [s] in which nothing has moved yet."""
    t, network = mechanism.tables, mechanism.network
    n_q, own = int(t.sizes[0]), mechanism.size
    of_hinges = state_units(t, duration)
    units = np.ones(own + (0 if network is None else len(network.start)))
    units[: len(of_hinges)] = of_hinges
    single = np.isin(t.links[:, LINK_KIND], (REVOLUTE, PRISMATIC, SCREW))
    hinges = t.links[single][:, [LINK_Q, LINK_V]] + [0, n_q]
    shafts = () if network is None else network.shafts
    free = [own + shaft.state for shaft in shafts if shaft.kind == FREE]
    lone = [own + shaft.state for shaft in shafts if shaft.kind in (MASSLESS, DRIVEN)]
    moving = np.array(free, dtype=np.int64)
    return Sizes(
        units,
        np.concatenate([hinges, np.stack([moving, moving + 1], axis=1)]),
        np.array(lone, dtype=np.int64),
        np.concatenate([np.arange(n_q), moving, lone]).astype(np.int64),
        np.concatenate([np.arange(n_q, len(of_hinges)), moving + 1]),
    )
