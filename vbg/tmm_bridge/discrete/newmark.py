"""Newmark's step for MS-DT-TMM, in joint coordinates.

    q_(n+1)  = q_n + h q'_n + h^2 ((1/2 - beta) q''_n + beta q''_(n+1)),
    q'_(n+1) = q'_n + h ((1 - gamma) q''_n + gamma q''_(n+1)),

with beta = 1/4, gamma = 1/2 (constant mean acceleration): second order, no
numerical damping.  The elements are linearised about the posture that q''_(n+1)
= 2 q''_n - q''_(n-1) predicts: x'' = x''_p + dx / (beta h^2) there.  The turn of
a ball is a rotation vector in the node's axes, so that the step is that of
Arnold, Bruls and Cardona (Numer. Math. 129 (2015) 149) on the rotation group.

The rows of loops are closed in acceleration, then the state returns to their
positions and speeds: closed in position only, this step would let the cut
efforts swing from step to step (index 3).

N. M. Newmark, J. Eng. Mech. Div. ASCE 85 (1959) 67.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.discrete.linearised import Gains, Solved, on_rows, solve
from vbg.tmm_bridge.discrete.march import Found, body_motion, node_accelerations
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import displace, drive_rates
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.overall.transfer import loads_of_bodies

ORDER = 2
STARTS = 1  # states that the first step needs
BETA, GAMMA = 0.25, 0.5


@dataclass(frozen=True)
class Balance:
    """The linearised solution about a prediction: what was solved, hinge accelerations
    (n_v,) of the prediction, accelerations of its nodes (n, 6) with the correction."""

    solved: Solved
    hinges: Array
    nodes: Array


def with_drives(mechanism: Mechanism, y: Array, hinges: Array, time: float) -> tuple[Array, Array]:
    """State and hinge accelerations with the driven ones as their drives say."""
    t = mechanism.tables
    n_q = int(t.sizes[0])
    y, hinges = y.copy(), hinges.copy()
    for (v, q), rates in zip(t.drives, drive_rates(mechanism, time), strict=True):
        if v >= 0:
            y[q], y[n_q + v], hinges[v] = rates
    return y, hinges


def balance_about(
    mechanism: Mechanism, y: Array, hinges: Array, time: float, gains: Gains
) -> Balance:
    """Balance of all elements, linear about the state y with hinge accelerations `hinges`."""
    t = mechanism.tables
    s, loads = loads_of_bodies(mechanism, y, time)
    nodes = node_accelerations(t, s, hinges)
    motions = [body_motion(t, s, i, nodes[i]) for i in range(len(t.links))]
    lacking = on_rows(t, s, nodes[:, :, None], hinges[:, None])[:, 0] + s.row_state[:, 2]
    solved = solve(t, s, loads, motions, gains, lacking / gains.acceleration)
    corrected = hinges + gains.acceleration * solved.hinges
    return Balance(solved, corrected, node_accelerations(t, s, corrected))


def moved(mechanism: Mechanism, y: Array, step: Array, speeds: Array) -> Array:
    """The state y with its hinges displaced by `step` and with hinge speeds `speeds`."""
    t = mechanism.tables
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    found = displace(t, y, step)
    found[n_q : n_q + n_v] = speeds
    return found


class Newmark:
    """Steps of equal length h [s] from one state."""

    def __init__(self, mechanism: Mechanism, h: float):
        self.mechanism, self.h = mechanism, h
        self._plant = Plant(mechanism)
        self._y = self._now = self._before = np.zeros(0)

    def begin(self, time: float, y: Array) -> None:
        """Take the state of the start; its accelerations are those of the Riccati solver."""
        self._y = self._plant.evaluate(time, y)
        self._now = self._before = self._plant.scratch.acceleration.copy()

    def step(self, time: float) -> Found:
        """The step that ends at `time`.

        Raises Singular where the loops cannot be followed.
        """
        h, mechanism = self.h, self.mechanism
        n_q, n_v = int(mechanism.tables.sizes[0]), int(mechanism.tables.sizes[1])
        v = self._y[n_q : n_q + n_v]
        ahead = 2.0 * self._now - self._before

        def state(new: Array) -> Array:
            step = h * v + h * h * ((0.5 - BETA) * self._now + BETA * new)
            speeds = v + h * ((1.0 - GAMMA) * self._now + GAMMA * new)
            return moved(mechanism, self._y, step, speeds)

        y, ahead = with_drives(mechanism, state(ahead), ahead, time)
        gains = Gains(1.0 / (BETA * h * h), GAMMA / (BETA * h))
        found = balance_about(mechanism, y, ahead, time, gains)
        y, _ = with_drives(mechanism, state(found.hinges), found.hinges, time)
        self._y = self._plant.project(time, y)
        self._before, self._now = self._now, found.hinges
        return Found(self._y, found.nodes, found.solved.force, found.solved.effort)
