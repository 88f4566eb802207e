"""Starts that the second solver is handed: nodes, controllers and parts of included files begin
where they did in the first one's run, and nothing has to be replayed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge.solver import simulate
from vbg.validate.poses import first_poses
from vbg.validate.starting import held_at_start, not_handed, with_starts

EXAMPLES = Path(__file__).parents[2] / "examples"
AXIS = """
vbg = 1
[include.axis]
file = "geared-axis.toml"
parameters = { swing = "20 deg", move = "0.1 s", start = "0.02 s" }
[bodies.arm]
mass = 20
inertia = { xx = 0.1, yy = 2, zz = 2 }
points = { A = [-0.5, 0, 0] }
[joints.j]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
[rotational.flex]
kind = "spring"
nodes = ["axis.wave", "joint:j"]
k = 1e5
[rotational.loss]
kind = "damper"
nodes = ["axis.wave", "joint:j"]
c = 100
[simulate]
t_end = 0.06
output_step = 2e-3
start = "equilibrium"
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("axis") / "axis.toml"
    (path.parent / "geared-axis.toml").write_text((EXAMPLES / "parts/geared-axis.toml").read_text())
    path.write_text(AXIS)
    return vbg.read(path)


@pytest.fixture(scope="module")
def first(model):
    return vbg.simulate(model)


def both(model, first):
    held = held_at_start(model, first)
    poses = first_poses(first, tuple(model.bodies))
    began = with_starts(model, held)
    return simulate(began, poses=poses, held=held, t_end=float(first.time[-1]))


def close(first, second):
    compared = [name for name in first.signals if name in second.signals and "resid" not in name]
    assert {"axis_command.integral", "flex.torque", "axis_M.current"} <= set(compared)
    for name in compared:
        size = max(float(np.abs(first[name]).max()), 1e-3)
        assert np.abs(second[name] - first[name]).max() <= 1e-5 * size, name


def test_a_geared_axis_rests_with_its_load_in_the_gear_and_the_motor(first):
    """The gear holds m g l, the motor the 100th of it, its current is that over K, the voltage
    that of the integral: R i."""
    load = 20 * 9.81 * 0.5
    assert abs(first["flex.torque"][0]) == pytest.approx(load, rel=1e-4)
    assert abs(first["axis_M.current"][0]) == pytest.approx(load / 100 / 0.3, rel=1e-4)
    assert first["axis_command.integral"][0] == pytest.approx(0.5 * first["axis_M.current"][0])
    assert np.abs(first["j.speed"][first.time < 0.02]).max() < 1e-8


def test_nodes_controllers_and_included_parts_are_handed(model, first):
    assert not_handed(model) == ()
    close(first, both(model, first))


def test_a_start_in_the_midst_of_a_motion_is_handed(model, first):
    """The motor has turned by more than half a turn, the controller's filter is not at rest."""
    later = vbg.simulate(model, start=first, at=0.05)
    assert abs(later["axis_command.filtered"][0]) > 0.0
    assert later["axis_command.integral"][0] == pytest.approx(
        first["axis_command.integral"][first.time.searchsorted(0.0499)], rel=1e-6
    )
    close(later, both(model, later))


def test_the_model_itself_stays_as_it_is(model, first):
    began = with_starts(model, held_at_start(model, first))
    assert began.simulate.start == "written" and model.simulate.start == "equilibrium"
    assert model.electric["axis_M"].current is None
    assert began.electric["axis_M"].current == first["axis_M.current"][0]
