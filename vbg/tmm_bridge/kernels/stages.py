"""Kernels of a step: rates at the stages of a Runge-Kutta rule, and the error of the step."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from vbg.plumbing.kernels.native import Table
from vbg.tmm_bridge.kernels.evaluate import posture, react, state_rate
from vbg.tmm_bridge.kernels.program import at_time, gathered, solve_network, take_motion
from vbg.tmm_bridge.kernels.sources import compiled

Array = np.ndarray[Any, Any]

STAGES = 12
ROUNDS = 2  # of correcting accelerations by what the mechanism makes of the network's efforts


class _Rules(NamedTuple):
    """Coefficients: A (16, 16) with the row of the result at 12 and those of dense output
    behind, C (16,), error weights E3 and E5 (13,), and room: `at` for a state, `error` (1,)."""

    A: Array
    C: Array
    E3: Array
    E5: Array
    at: Array
    error: Array


class Rules(_Rules, Table):
    """As the kernels get them."""


def standstill(n: int) -> Rules:
    """Rules of a single stage at the state itself."""
    none = np.zeros(0)
    return Rules(np.zeros((1, 1)), np.zeros(1), none, none, np.zeros(n), np.zeros(1))


@compiled
def state_size(t):
    """States of the mechanism, before those of its network."""
    return t.sizes[0] + t.sizes[1] + t.sizes[2]


@compiled
def mobilities(t, s, p, y, inputs, drive):
    """a_0 and Y of the accelerations that the network asks for.  Returns the faulty node or -1."""
    for n in range(p.fed.shape[0]):
        inputs[p.fed[n, 0]] = 0.0
    faulty = react(t, s, inputs, drive)
    for k in range(p.asked.shape[0]):
        p.memory[p.given[k]] = s.acceleration[p.asked[k, 0]]
    for n in range(p.fed.shape[0]):
        if faulty >= 0:
            break
        inputs[p.fed[n, 0]] = 1.0
        posture(t, s, y, drive)
        faulty = react(t, s, inputs, drive)
        inputs[p.fed[n, 0]] = 0.0
        for k in range(p.asked.shape[0]):
            p.memory[p.yields[k, n]] = s.acceleration[p.asked[k, 0]] - p.memory[p.given[k]]
    posture(t, s, y, drive)
    return faulty


@compiled
def together(t, s, p, y, inputs, drive):
    """Network and mechanism where the first needs accelerations of the second.

    Y is a small difference of accelerations; what rounding leaves of it is made good by a_0, from
    the accelerations that come out.  Returns the faulty node or -1."""
    faulty = mobilities(t, s, p, y, inputs, drive)
    for turn in range(ROUNDS + 1):
        if faulty >= 0:
            break
        solve_network(p, y[state_size(t) :], inputs)
        if turn > 0:
            posture(t, s, y, drive)
        faulty = react(t, s, inputs, drive)
        if turn < ROUNDS:
            for k in range(p.asked.shape[0]):
                missed = s.acceleration[p.asked[k, 0]] - p.memory[p.asked[k, 1]]
                p.memory[p.given[k]] += missed
    return faulty


@compiled
def instant(t, s, p, y, time, late, inputs, drive):
    """Everything at (time, y), drives `late` [s] behind it as they go on from there: where inputs
    jump they are looked at from inside.  Returns the faulty node or -1."""
    at_time(p, time, inputs, drive)
    for d in range(drive.shape[0]):
        drive[d, 0] += late * (drive[d, 1] + 0.5 * late * drive[d, 2])
        drive[d, 1] += late * drive[d, 2]
    posture(t, s, y, drive)
    if p.x.shape[0] + p.fed.shape[0] + p.outputs.shape[0] > 0:
        take_motion(p, s)
        if p.asked.shape[0] > 0:
            return together(t, s, p, y, inputs, drive)
        solve_network(p, y[state_size(t) :], inputs)
    return react(t, s, inputs, drive)


@compiled
def stages(t, s, p, now, h, y, K, rules, first, last, span, inputs, drive):
    """Rows first ... last - 1 of K: rates at now + C h, y + h A K.

    Leaves everything of the last of them in the workspace, and its state in `rules.at`.
    Returns the faulty node or -1.
    """
    own = state_size(t)
    at, faulty = rules.at, -1
    s.rank[0] = 0
    for i in range(first, last):
        for j in range(y.shape[0]):
            at[j] = y[j]
        for k in range(i):
            weight = h * rules.A[i, k]
            if weight != 0.0:
                for j in range(y.shape[0]):
                    at[j] += weight * K[k, j]
        time = now + h * rules.C[i]
        inside = min(max(time, span[0]), span[1])
        faulty = instant(t, s, p, at, inside, time - inside, inputs, drive)
        if faulty >= 0:
            break
        state_rate(t, s, at[:own], drive, K[i, :own])
        gathered(p.memory, p.rates, K[i, own:])
    return faulty


@compiled
def errors(K, rules, h, y, end, rtol, absolute):
    """The estimate of the error over the tolerance (II.5, eq. 10.17 with orders 5 and 3)
    into `rules.error`."""
    fifth, third = 0.0, 0.0
    for j in range(y.shape[0]):
        scale = absolute[j] + rtol * max(abs(y[j]), abs(end[j]))
        e5, e3 = 0.0, 0.0
        for k in range(STAGES + 1):
            e5 += rules.E5[k] * K[k, j]
            e3 += rules.E3[k] * K[k, j]
        fifth += (e5 / scale) ** 2
        third += (e3 / scale) ** 2
    rules.error[0] = 0.0
    if fifth != 0.0 or third != 0.0:
        rules.error[0] = abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * y.shape[0])
