"""Houbolt's step for MS-DT-TMM: a cubic through the new posture and the last three.

    x''  = (2 x_(n+1) - 5 x_n + 4 x_(n-1) - x_(n-2)) / h^2,
    x'   = (11 x_(n+1) - 18 x_n + 9 x_(n-1) - 2 x_(n-2)) / (6 h),

for a mass centre directly, for a rotation through psi = log(R^T R_k), the past
seen from the predicted posture: there w = psi', alpha = psi''.  Loops are closed
in position at every step.  Second order, with strong damping of what vibrates
faster than the step; needs no accelerations of the past.

J. C. Houbolt, J. Aeronaut. Sci. 17 (1950) 540.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.discrete.linearised import Gains, Motion, solve
from vbg.tmm_bridge.discrete.march import Found, counted, turn_between
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_COM,
    LINK_KIND,
    LINK_Q,
    LINK_V,
    RIGID,
    W_P,
    W_R,
)
from vbg.tmm_bridge.kernels.tables import ROW_ROLL, Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import displace, drive_rates
from vbg.tmm_bridge.overall.transfer import loads_of_bodies

ORDER = 2
STARTS = 3  # states that the first step needs
SECOND = np.array([2.0, -5.0, 4.0, -1.0])
FIRST = np.array([11.0, -18.0, 9.0, -2.0]) / 6.0
PREDICTION = np.array([3.0, -3.0, 1.0])


def rotation_log(R: Array) -> Array:
    """Rotation vector of R, less than half a turn."""
    skew = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = float(np.linalg.norm(skew))
    angle = float(np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)))
    logarithm: Array = skew * (1.0 + angle**2 / 6.0 if sine < 1e-8 else angle / sine)
    return logarithm


@dataclass
class _Past:
    """The last three steps, newest first: states, mass centres (n, 3), rotations (n, 3, 3)."""

    states: list[Array] = field(default_factory=list)
    centres: list[Array] = field(default_factory=list)
    rotations: list[Array] = field(default_factory=list)

    def add(self, t: Tables, s: Scratch, y: Array) -> None:
        """Remember a posture that is in the workspace."""
        R = s.work[:, W_R : W_R + 9].reshape(-1, 3, 3).copy()
        c = np.einsum("nij,nj->ni", R, t.link[:, LINK_COM : LINK_COM + 3])
        for series, value in (
            (self.states, y.copy()),
            (self.centres, s.work[:, W_P : W_P + 3] + c),
            (self.rotations, R),
        ):
            series.insert(0, value)
            del series[3:]


class Houbolt:
    """Steps of equal length h [s] from three states."""

    def __init__(self, mechanism: Mechanism, h: float):
        self.mechanism, self.h = mechanism, h
        self._past = _Past()

    def begin(self, time: float, y: Array) -> None:
        """Take a state of the start, in the order of time."""
        s, _ = loads_of_bodies(self.mechanism, y, time)
        self._past.add(self.mechanism.tables, s, y)

    def step(self, time: float) -> Found:
        """The step that ends at `time`."""
        mechanism, past, h, t = self.mechanism, self._past, self.h, self.mechanism.tables
        y = _predicted(mechanism, past, h)
        for (v, q), rates in zip(t.drives, drive_rates(mechanism, time), strict=True):
            if v >= 0:
                y[q] = rates[0]
        s, loads = loads_of_bodies(mechanism, y, time)
        motions = [_body_motion(t, s, past, i, h) for i in range(len(t.links))]
        gains = Gains(SECOND[0] / h**2, FIRST[0] / h)
        # Rolling has no position: u + 11/(6 h) G d = 0.
        rolls = t.rows[:, 0] == ROW_ROLL
        rest = np.where(rolls, s.row_state[:, 1] / gains.speed, s.row_state[:, 0])
        solved = solve(t, s, loads, motions, gains, rest)
        y = displace(t, y, solved.hinges)
        n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
        y[n_q : n_q + n_v] = _speeds_at(mechanism, past, y, h)
        y = counted(mechanism, y, time)
        s, _ = loads_of_bodies(mechanism, y, time)
        a, alpha = np.zeros((len(t.links), 3)), np.zeros((len(t.links), 3))
        for i in range(len(t.links)):
            R = s.work[i, W_R : W_R + 9].reshape(3, 3)
            motion = _body_motion(t, s, past, i, h)
            c, w = R @ t.link[i, LINK_COM : LINK_COM + 3], R @ motion.w
            alpha[i] = R @ motion.alpha
            a[i] = motion.acceleration - np.cross(alpha[i], c) - np.cross(w, np.cross(w, c))
        past.add(t, s, y)
        return Found(y, np.hstack([a, alpha]), solved.force, solved.effort)


def _predicted(mechanism: Mechanism, past: _Past, h: float) -> Array:
    """State at the next step by extrapolation of the last three, third order."""
    t = mechanism.tables
    n_q = int(t.sizes[0])
    y = past.states[0].copy()
    for kind, q, v in t.links[:, [LINK_KIND, LINK_Q, LINK_V]]:
        if kind == BALL:
            new, old = (
                turn_between(past.states[k + 1][q : q + 4], past.states[k][q : q + 4])
                for k in (0, 1)
            )
            step = np.zeros(int(t.sizes[1]))
            step[v : v + 3] = 2.0 * new - old
            y[q : q + 4] = displace(t, past.states[0], step)[q : q + 4]
        elif kind == ELASTIC:
            new, old = (
                turn_between(past.states[k + 1][q + 3 : q + 7], past.states[k][q + 3 : q + 7])
                for k in (0, 1)
            )
            step = np.zeros(int(t.sizes[1]))
            step[v + 3 : v + 6] = 2.0 * new - old
            y[q + 3 : q + 7] = displace(t, past.states[0], step)[q + 3 : q + 7]
            y[q : q + 3] = PREDICTION @ [state[q : q + 3] for state in past.states]
        elif kind != RIGID:
            y[q] = PREDICTION @ [state[q] for state in past.states]
    y[n_q : n_q + int(t.sizes[1])] = _speeds_at(mechanism, past, y, h)
    return y


def _speeds_at(mechanism: Mechanism, past: _Past, y: Array, h: float) -> Array:
    """Hinge speeds at y; a ball's in its node's axes."""
    t = mechanism.tables
    speeds = np.zeros(int(t.sizes[1]))
    for kind, q, v in t.links[:, [LINK_KIND, LINK_Q, LINK_V]]:
        if kind == BALL:
            turns = [turn_between(y[q : q + 4], state[q : q + 4]) for state in past.states]
            speeds[v : v + 3] = FIRST[1:] @ np.array(turns) / h
        elif kind == ELASTIC:
            turn = y[q + 3 : q + 7]
            turns = [turn_between(turn, state[q + 3 : q + 7]) for state in past.states]
            speeds[v + 3 : v + 6] = FIRST[1:] @ np.array(turns) / h
            rate = FIRST @ [y[q : q + 3], *(state[q : q + 3] for state in past.states)] / h
            speeds[v : v + 3] = matrix_of(turn).T @ rate
        elif kind != RIGID:
            speeds[v] = FIRST @ [y[q], *(state[q] for state in past.states)] / h
    return speeds


def _body_motion(t: Tables, s: Scratch, past: _Past, i: int, h: float) -> Motion:
    """Motion of the body on node i at the posture in s."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    x = s.work[i, W_P : W_P + 3] + R @ t.link[i, LINK_COM : LINK_COM + 3]
    a = SECOND @ np.array([x, *(centre[i] for centre in past.centres)]) / h**2
    psi = np.array([rotation_log(R.T @ rotation[i]) for rotation in past.rotations])
    return Motion(a, SECOND[1:] @ psi / h**2, FIRST[1:] @ psi / h)
