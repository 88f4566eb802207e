"""The pace of a machine: the unit of time [1/s] of its bodies, and what is natural for them in it.

What is heavy falls FALLS of its sizes l in a unit of time: p = sqrt(|g| / (2 FALLS l)), which is
1 /s of a machine of 1 m on the earth.  Without weights what holds it tells, p^2 the largest slope
of an acceleration by a place, in sizes and radians; but no more than (1 /s)^2: what is stiff is to
hide no soft part.  Where there are no bodies, or nothing tells, p = 1 /s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.plumbing.once import once
from vbg.simulate.steppers.machine_size import machine_size

Array = NDArray[np.float64]

FALLS = 5.0
FLOWS = {"momentum": "velocity", "angular_momentum": "angular_velocity"}


@once
def pace(system: System) -> float:
    """p [1/s]."""
    if not system.causal.graph.bodies:
        return 1.0
    weight = float(np.linalg.norm(system.model.gravity))
    if weight > 0.0:
        return float(np.sqrt(weight / (2.0 * FALLS * machine_size(system))))
    probe = Probe(system)
    try:
        jacobian = probe.jacobian(0.0, probe.start.state)
    except UsageError:  # a law divides by zero at the start
        return 1.0
    found, moving = body_units(probe, jacobian)
    placed = (found > 0.0) & ~moving
    slopes = jacobian[probe.spans["rate"], : probe.size][np.ix_(moving, placed)]
    steepest = np.abs(slopes * found[placed] / found[moving][:, None]).max(initial=0.0)
    return float(np.sqrt(min(steepest, 1.0))) if np.isfinite(steepest) and steepest > 0.0 else 1.0


def body_units(probe: Probe, jacobian: Array) -> tuple[Array, NDArray[np.bool_]]:
    """What moves the machine by its size l, or by a radian, and what does so in a second: l of
    positions, 1 of quaternions, m l/s and J/s of momenta; 0 of all other unknowns.  Second, which
    are momenta of these."""
    length, found = machine_size(probe.system), np.zeros(probe.size)
    moving = np.zeros(probe.size, dtype=bool)
    for s in probe.system.slices:
        at, (owner, _, what) = slice(s.first, s.last), s.state.name.rpartition(".")
        if s.state.kind in ("position", "quaternion"):
            found[at] = length if s.state.kind == "position" else 1.0
        elif (flow := f"signal {owner}.{FLOWS.get(what, '')}") in probe.spans:
            at = slice(s.first, s.first + 3)  # of the body; behind them of its shapes
            flows = np.linalg.norm(jacobian[probe.spans[flow], at], axis=0)
            moving[at] = np.isfinite(flows) & (flows > 0.0)
            unit = length if what == "momentum" else 1.0
            found[at] = np.where(moving[at], unit / np.where(moving[at], flows, 1.0), 0.0)
    return found, moving
