"""Rates of momenta of the written motion: of a machine that keeps the speeds that are written.

On a table that turns, a slide that stands still is accelerated to the middle: what carries it has
a force to give.  The rates c of the momenta p are those at which no speed s of a joint changes and
all joints and drives are followed,

    ds/dt = s_p c + s_q q' + s_t = 0,    dg/dt = g_p c + g_q q' + g_t = 0,

g being the residuals of velocities and q' the rates of the posture; of all such rates the least
one, 0 of what stands and of a body that no joint guides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.assemble import System
from vbg.errors import AssemblyError, Problem
from vbg.model.located import located

Array = NDArray[np.float64]
Places = NDArray[np.intp]

RANK = 1e-10  # of the largest singular value: a smaller one is none
KEPT = 1e-8  # of what the motion accelerates by: a smaller miss is rounding


def carrying(system: System, probe: Probe, x: Array, moving: Places, where: str) -> Array:
    """c at t = 0, of the momenta at the places `moving`.

    Raises AssemblyError, told at `where`, for a loop of joints that cannot all keep their speeds.
    """
    speeds, held = _speeds(probe), _held(system, probe)
    if not speeds.size:
        return np.zeros(moving.size)
    J = probe.jacobian(0.0, x)
    rate = probe.values(0.0, x)[probe.spans["rate"]].copy()
    rate[moving] = 0.0
    bends = J[:, : x.size] @ rate + probe.drift(0.0, x)
    size = _lightest(J[np.concatenate([speeds, held])][:, moving])
    G, b = _scaled(J[held][:, moving] * size, bends[held])
    c = -np.linalg.pinv(G, rcond=RANK) @ b
    free = np.eye(moving.size) - np.linalg.pinv(G, rcond=RANK) @ G
    S, b = _scaled(J[speeds][:, moving] * size, bends[speeds])
    left, ways = S @ c + b, S @ free
    c = c - free @ (np.linalg.pinv(ways, rcond=RANK) @ left)
    able = np.abs(ways).max(axis=1, initial=0.0) > RANK  # the others are driven
    if float(np.abs((S @ c + b)[able]).max(initial=0.0)) > KEPT * float(np.abs(b).max(initial=0.0)):
        raise AssemblyError.of(located(system.model, [_changing(where)]))
    return np.asarray(size * c)


def _scaled(A: Array, b: Array) -> tuple[Array, Array]:
    """The rows in which momenta are, each of height 1."""
    height = np.abs(A).max(axis=1, initial=0.0)
    rows = height > 0.0
    return A[rows] / height[rows, None], b[rows] / height[rows]


def _lightest(A: Array) -> Array:
    """A momentum counts by what moves with it: light things move fast."""
    slope = np.abs(A).max(axis=0, initial=0.0)
    return np.asarray(np.divide(1.0, slope, out=np.ones(slope.size), where=slope > 0.0))


def _speeds(probe: Probe) -> Places:
    """Rows of the probe: speeds of joints."""
    spans = [probe.spans[f"rate {s.state.name}"] for s in probe.measured]
    return _joined([(one.start, one.stop) for one in spans])


def _held(system: System, probe: Probe) -> Places:
    """Rows of the probe: residuals of the velocities of joints and drives."""
    first = probe.spans["velocity"].start
    found = [c for c in system.equations.constraints if c.part.startswith("joints.")]
    return _joined([(first + c.first, first + c.first + len(c.labels)) for c in found])


def _joined(spans: list[tuple[int, int]]) -> Places:
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(*one) for one in spans)])


def _changing(where: str) -> Problem:
    return Problem(
        "error",
        where,
        "cannot balance the machine as it moves: its joints close a loop and cannot all keep the "
        "speeds that they begin with, so that no load is that of the written motion.",
        "Start it at rest, or write the value itself.",
    )
