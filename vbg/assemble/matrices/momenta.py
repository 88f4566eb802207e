"""How large the momenta are of which those of one body are a share.

Velocities of bodies that joints connect are solved for together, so that each is known to the last
digits of the largest among them: a piston that only slides turns with 1e-48 of its crank's speed.
A machine at rest has velocities that would not move the last digit of its posture in a whole run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.matrices.symbolic import NEGLIGIBLE
from vbg.assemble.system import System
from vbg.blocks import leaf

Array = NDArray[np.float64]
GROUND = "ground"


def momentum_sizes(system: System, x: Array) -> dict[bytes, Array]:
    """By the key of the leaf of a momentum, m V and |J| W (3, 1), with V and W the largest speeds
    [m/s, rad/s] among the bodies that joints connect to this one; at least such that what is
    negligible beside them is eps L / T and eps / T, with L the extent of all positions, T the end
    of the run."""
    places = {s.state.name: slice(s.first, s.last) for s in system.slices}
    solid = {name: body for name, body in system.model.bodies.items() if body.mass > 0.0}
    inertias, speeds = {}, {}
    for name, body in solid.items():
        xx, yy, zz, xy, yz, zx = body.inertia
        J = inertias[name] = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        p, h = (x[places[f"{name}.{one}"]][:3] for one in ("momentum", "angular_momentum"))
        speeds[name] = np.linalg.norm(p) / body.mass, np.linalg.norm(np.linalg.solve(J, h))
    at = [x[places[f"{name}.position"]][:3] for name in solid]
    extent = float(np.ptp(np.vstack([*at, np.zeros(3)]), axis=0).max())
    least = np.finfo(float).eps / NEGLIGIBLE / system.model.simulate.t_end
    found: dict[bytes, Array] = {}
    for together in _connected(system):
        own = [name for name in together if name in solid]
        V = max([speeds[name][0] for name in own] + [least * extent])
        W = max([speeds[name][1] for name in own] + [least])
        for name in own:
            size = np.abs(inertias[name]).sum(axis=1, keepdims=True) * W
            found[leaf(f"{name}.momentum", 3).key] = np.full((3, 1), solid[name].mass * V)
            found[leaf(f"{name}.angular_momentum", 3).key] = size
    return found


def _connected(system: System) -> list[set[str]]:
    """Bodies by joints, but not through the ground."""
    groups = {name: {name} for name in system.model.bodies}
    for frame in system.causal.graph.placed.frames.values():
        if GROUND not in (frame.first, frame.second):
            one = groups[frame.first] | groups[frame.second]
            groups |= dict.fromkeys(one, one)
    return list({id(group): group for group in groups.values()}.values())
