"""The pace of a machine: the unit of time [1/s] of its bodies, and what is natural for them in it.

What is heavy falls FALLS of its sizes l in a unit of time: p = sqrt(|g| / (2 FALLS l)), which is
1 /s of a machine of 1 m on the earth.  Without weights what holds it tells: p^2 is the largest of

    |dp_i'/dy| |dy'/dp_j| u_j / u_i,   y places, coordinates of joints, contents, fluxes,

of momenta p in their units u (`body_units`): an acceleration by what an own speed fills, whatever
the units of y are.  Where there are no bodies, or nothing tells, p = 1 /s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.plumbing.once import once
from vbg.simulate.steppers.machine_size import extent, machine_size

Array = NDArray[np.float64]

FALLS = 5.0
BESIDE = 1e-9  # of sizes and radians: slopes are the same there, rounding is not
FLOWS = {"momentum": "velocity", "angular_momentum": "angular_velocity"}


def pace(system: System) -> float:
    """p [1/s] by which rests are judged: without weights no more than 1 /s, since what is stiff is
    to hide no soft part there."""
    falls = float(np.linalg.norm(system.model.gravity)) > 0.0
    return quickness(system) if falls else min(quickness(system), 1.0)


@once
def quickness(system: System) -> float:
    """p [1/s] by which momenta are compared with places, however stiff the machine is."""
    if not system.causal.graph.bodies:
        return 1.0
    weight = float(np.linalg.norm(system.model.gravity))
    if weight > 0.0:
        return float(np.sqrt(weight / (2.0 * FALLS * machine_size(system))))
    probe, places = Probe(system), np.random.default_rng(3)
    x, rates = probe.start.state, probe.spans["rate"]
    try:
        jacobian = probe.jacobian(0.0, x)
        found, moving = body_units(probe, jacobian)
        way = BESIDE * np.where(moving, 0.0, found) * places.standard_normal(probe.size)
        beside = probe.jacobian(0.0, x + way)
    except UsageError:  # a law divides by zero at the start
        return 1.0
    A, B = (one[rates, : probe.size] for one in (jacobian, beside))
    A = np.where(np.abs(A - B) <= 0.5 * np.abs(A), np.abs(A), 0.0)  # rounding is another there
    held = A[np.ix_(moving, ~moving)] @ A[np.ix_(~moving, moving)] * found[moving]
    steepest = (held / found[moving][:, None]).max(initial=0.0)
    return float(np.sqrt(steepest)) if np.isfinite(steepest) and steepest > 0.0 else 1.0


def bending_of(system: System) -> NDArray[np.bool_]:
    """Which components of x are momenta and shapes of flexible bodies."""
    found = np.zeros(system.size, dtype=bool)
    names = {s.state.name for s in system.slices}
    for s in system.slices:
        is_pose = s.state.kind in ("position", "quaternion")
        found[s.first : s.last] = (
            f"{s.state.name.rpartition('.')[0]}.modal" in names and not is_pose
        )
    return found


def body_units(probe: Probe, jacobian: Array) -> tuple[Array, NDArray[np.bool_]]:
    """What moves the machine by its size l, or by a radian, and what does so in a second: l of
    positions, 1 of quaternions, m l/s and J/s of momenta of rigid bodies; 0 of all other unknowns:
    momenta of flexible ones move these together with the momenta of their shapes.  Second, which
    are momenta of these."""
    length, found = extent(probe.system), np.zeros(probe.size)
    bending, moving = bending_of(probe.system), np.zeros(probe.size, dtype=bool)
    for s in probe.system.slices:
        at, (owner, _, what) = slice(s.first, s.last), s.state.name.rpartition(".")
        if s.state.kind in ("position", "quaternion"):
            found[at] = length if s.state.kind == "position" else 1.0
        elif bending[s.first]:
            continue
        elif (flow := f"signal {owner}.{FLOWS.get(what, '')}") in probe.spans:
            flows = np.linalg.norm(jacobian[probe.spans[flow], at], axis=0)
            moving[at] = np.isfinite(flows) & (flows > 0.0)
            unit = length if what == "momentum" else 1.0
            found[at] = np.where(moving[at], unit / np.where(moving[at], flows, 1.0), 0.0)
    return found, moving
