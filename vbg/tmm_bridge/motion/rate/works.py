"""Tolerance of the works: what was supplied and what was lost, sums over a motion that they do not
drive.

Their measure is what the run has to do with so far: the largest energy that the machine has held,
and what has been exchanged, in however short a time.  A stop that is touched for a thousandth of
the run takes its power for no longer; what that would do in the whole run is a thousand times what
it does.  An error of rtol in the speeds is one of rtol in the energy held, so that the works ask
for no shorter steps than the motion does: not at the instant, either, at which a stop is touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_COM, LINK_J, LINK_MASS, W_R, W_V, W_W
from vbg.tmm_bridge.kernels.tables import Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import model_size

LEAST = 1e-9  # of a natural energy: less does not count
CIRCUIT = 1e-2  # [W] of a circuit


@dataclass
class Works:
    """Of one run: `places` of the works in its state, `natural` [J] what the machine's size says
    of energies; so far the largest energy `held` and what each has `exchanged` [J]."""

    places: list[int]
    natural: float
    held: float = 0.0
    exchanged: Array = field(init=False)
    _last: Array = field(init=False)

    def __post_init__(self) -> None:
        self.exchanged, self._last = np.zeros(len(self.places)), np.zeros(len(self.places))

    def look(self, y: Array, held: float) -> None:
        """Take note of the state y that the motion came to and of the energy held there [J]."""
        now = y[self.places]
        self.exchanged += np.abs(now - self._last)
        self._last = now
        self.held = max(self.held, held) if math.isfinite(held) else self.held

    def allowed(self, rtol: float) -> float:
        """What they may err by in a step [J]; anything where there is no energy at all."""
        most = max(self.held, float(self.exchanged.max(initial=0.0)), LEAST * self.natural)
        return rtol * most or np.inf


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
    return Works(places, natural)


def held_energy(t: Tables, s: Scratch) -> float:
    """Of bodies that move and of springs [J], at the instant that was evaluated last."""
    strained = s.law[:, 2], s.pair[:, 2], s.bush[:, 7], s.elastic[:, 7]
    return moving_energy(t, s) + sum(float(np.abs(energies).sum()) for energies in strained)


def moving_energy(t: Tables, s: Scratch) -> float:
    """1/2 m v^2 + 1/2 w J w of the nodes [J], bodies that bend taken as rigid."""
    v, w = s.work[:, W_V : W_V + 3], s.work[:, W_W : W_W + 3]
    R = s.work[:, W_R : W_R + 9].reshape(-1, 3, 3)
    arm = np.einsum("nij,nj->ni", R, t.link[:, LINK_COM : LINK_COM + 3])
    v = v + np.cross(w, arm)
    w = np.einsum("nji,nj->ni", R, w)
    xx, yy, zz, xy, yz, zx = t.link[:, LINK_J : LINK_J + 6].T
    x, y, z = w.T
    turning = xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + yz * y * z + zx * z * x)
    return 0.5 * float(t.link[:, LINK_MASS] @ np.sum(v * v, axis=1) + turning.sum())
