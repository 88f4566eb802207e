"""Wilson's step for MS-DT-TMM, in joint coordinates.

The acceleration is linear in time over theta h, theta = 1.4, and the elements are
balanced at its end; with tau = theta h

    q''_theta = 6/tau^2 (q_theta - q_n) - 6/tau q'_n - 2 q''_n,
    q''_(n+1) = q''_n + (q''_theta - q''_n) / theta,

and forces likewise.  Second order, damps what vibrates faster than the step.
Linearised about the linear extrapolation of q''; loops as in Newmark's step.

E. L. Wilson, I. Farhoomand, K. J. Bathe, Earthq. Eng. Struct. Dyn. 1 (1973) 241.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.discrete.linearised import Gains
from vbg.tmm_bridge.discrete.march import Found
from vbg.tmm_bridge.discrete.newmark import balance_about, moved, with_drives
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_ACC, W_FORCE
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.rate.plant import Plant

ORDER = 2
STARTS = 1  # states that the first step needs
THETA = 1.4  # unconditionally stable above 1.37


class Wilson:
    """Steps of equal length h [s] from one state."""

    def __init__(self, mechanism: Mechanism, h: float):
        self.mechanism, self.h = mechanism, h
        self._plant = Plant(mechanism)
        self._y = self._now = self._before = np.zeros(0)
        self._found = Found(self._y, self._y, self._y, self._y)

    def begin(self, time: float, y: Array) -> None:
        """Take the state of the start; its accelerations are those of the Riccati solver."""
        self._y = self._plant.evaluate(time, y)
        s = self._plant.scratch
        self._now = self._before = s.acceleration.copy()
        self._found = Found(
            self._y,
            s.work[:, W_ACC : W_ACC + 6].copy(),
            s.work[:, W_FORCE : W_FORCE + 6].copy(),
            s.effort.copy(),
        )

    def step(self, time: float) -> Found:
        """The step that ends at `time`.

        Raises Singular where the loops cannot be followed.
        """
        h, mechanism, now = self.h, self.mechanism, self._now
        tau = THETA * h
        n_q, n_v = int(mechanism.tables.sizes[0]), int(mechanism.tables.sizes[1])
        v = self._y[n_q : n_q + n_v]

        def state(new: Array, ahead: float) -> Array:
            step = ahead * v + ahead**2 / 6.0 * (new + 2.0 * now)
            return moved(mechanism, self._y, step, v + 0.5 * ahead * (new + now))

        late = time - h + tau
        expected = now + THETA * (now - self._before)
        y, expected = with_drives(mechanism, state(expected, tau), expected, late)
        found = balance_about(mechanism, y, expected, late, Gains(6.0 / tau**2, 3.0 / tau))

        def back(old: Array, at_theta: Array) -> Array:
            inside: Array = old + (at_theta - old) / THETA
            return inside

        new = back(now, found.hinges)
        y, new = with_drives(mechanism, state(new, h), new, time)
        self._y = self._plant.project(time, y)
        self._before, self._now = now, new
        last = self._found
        self._found = Found(
            self._y,
            back(last.acceleration, found.nodes),
            back(last.force, found.solved.force),
            back(last.effort, found.solved.effort),
        )
        return self._found
