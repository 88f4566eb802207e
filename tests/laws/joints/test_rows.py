"""Constraint rows of drives, couplings, rolling and loaded loops against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import Machine, random_loop, random_tree
from tests.laws.parts import at_rest, coupled, loaded, rolling_disc
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.posture import Projector

H = 1e-6


def driven(seed: int) -> Machine:
    """Two joints of a tree follow functions of time, a third is free."""
    machine = at_rest(random_tree(seed, n=3, kinds=("revolute", "prismatic", "helical")))
    for joint, drive in (("joint0", "0.3*sin(2.3*t + 0.4)"), ("joint2", "0.2*t**2 + 0.7*t + 0.1")):
        machine.joints[joint].pop("initial", None)
        machine.joints[joint]["drive"] = drive
    return machine


MACHINES = {
    "gear": lambda: coupled(14, "gear"),
    "rack": lambda: coupled(14, "rack_pinion"),
    "rolling": lambda: rolling_disc(14),
    "drives": lambda: driven(14),
    "loads": lambda: loaded(random_loop(14), 14),
}


class Rows:
    """Rows of a system along a line through (t, x) in the direction of its rate."""

    def __init__(self, system: vbg.System):
        self.system = system
        self.residual = Evaluator(system.programs.residual)

    def at(self, t: float, x: np.ndarray, what: str) -> np.ndarray:
        self.residual(t, x)
        return self.residual.output(what).ravel().copy()

    def slope(self, t: float, x: np.ndarray, what: str) -> np.ndarray:
        """d/dt along the motion that starts at (t, x), time included."""
        rate = vbg.start(self.system).rate(t, x)
        after, before = (self.at(t + s * H, x + s * H * rate, what) for s in (1.0, -1.0))
        return (after - before) / (2 * H)


@pytest.mark.parametrize("name", MACHINES)
def test_position_rows_have_the_velocity_rows_as_rates(name):
    """At the start's posture with any speeds; non-holonomic rows have no position."""
    system = vbg.assemble(MACHINES[name]().model())
    rows, x = Rows(system), vbg.start(system).state
    momenta = np.array(["momentum" in n for n in system.state_names])
    faster = x + momenta * np.random.default_rng(1).normal(size=len(x))
    holonomic = np.array([".slip" not in n for n in system.constraint_names])
    velocity = rows.at(0.0, faster, "velocity")
    assert np.abs(velocity[holonomic]).max() > 0.1
    slope = rows.slope(0.0, faster, "position")
    size = 1.0 + np.abs(velocity).max()
    assert_allclose(slope[holonomic], velocity[holonomic], atol=2e-8 * size)


@pytest.mark.parametrize("name", MACHINES)
def test_constraint_efforts_keep_the_velocity_rows_constant(name):
    """G v' + gamma = 0 at a general state and time, on and beside the manifold: gamma is the
    rate of everything in the rows, drives included."""
    system = vbg.assemble(MACHINES[name]().model())
    rng = np.random.default_rng(2)
    for t, size in ((0.0, 0.0), (0.37, 1e-2)):
        rows = Rows(system)
        x = vbg.start(system).state + size * rng.normal(size=system.size)
        Projector(system).normalise(x)  # rotations are those of unit quaternions
        scale = 1.0 + np.abs(vbg.start(system).rate(t, x)).max()
        assert_allclose(rows.slope(t, x, "velocity"), 0.0, atol=1e-8 * scale)


def test_forces_on_stores_are_the_transposed_rows_times_the_efforts():
    """Power is conserved: the forces G^T e on any flows give what e gives on the rows' speeds."""
    system = vbg.assemble(MACHINES["loads"]().model())
    choice, x, random = RowChoice(system), vbg.start(system).state, np.random.default_rng(5)
    efforts = random.normal(size=len(system.constraint_names))
    forces, rows = choice.forces_at(0.0, x, efforts), choice.unscaled_at(0.0, x)
    flows = random.normal(size=len(forces))
    ends = np.cumsum([z.rows for z in system.equations.stores_of_rows])
    of_store = np.split(flows, ends[:-1])
    speeds = [sum(block @ of_store[z] for z, block in row.items()) for row in rows]
    assert_allclose(forces @ flows, efforts @ np.concatenate(speeds), rtol=1e-12)
