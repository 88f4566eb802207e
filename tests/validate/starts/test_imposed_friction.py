"""Dry friction on a speed that is given: what gives it holds the load, and at rest the friction
exerts nothing, whichever part it is and through whatever gears."""

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.errors import AssemblyError
from vbg.io.toml import parse
from vbg.validate import validate

AT = 0.3  # [s] from where it moves, by 3 (t - AT)^2
SPEED = f"3*max(t - {AT}, 0)^2"
SHAFT = f"""vbg = 1
[rotational.rotor]
kind = "inertia"
nodes = ["m"]
J = 0.1
[rotational.load]
kind = "torque"
nodes = ["m"]
torque = 1.0
[rotational.source]
kind = "speed"
nodes = ["m"]
speed = "{SPEED}"
"""
GEARED = """[rotational.gear]
kind = "gear"
nodes = ["m", "n"]
ratio = 2.0
"""
ARM = f"""vbg = 1
[bodies.arm]
mass = 1
inertia = {{ xx = 0.01, yy = 0.02, zz = 0.02 }}
points = {{ A = [-0.2, 0, 0] }}
[joints.j]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
drive = "0.3 + max(t - {AT}, 0)^3"
"""
BRAKE = """[rotational.brake]
kind = "friction"
coulomb = 0.2
"""
CLUTCH = """[rotational.brake]
kind = "clutch"
nodes = ["frame", "m"]
capacity = 0.2
"""
MACHINES = {
    "shaft": SHAFT + BRAKE + 'nodes = ["m"]',
    "behind a gear": SHAFT + GEARED + BRAKE + 'nodes = ["n"]',
    "clutch": SHAFT + CLUTCH,
    "part on a joint": ARM + BRAKE + 'on = "joints.j"',
    "of the joint": ARM + "friction = { coulomb = 0.2 }",
}


@pytest.mark.parametrize("name", tail(MACHINES, 2))
def test_friction_on_a_given_speed_exerts_nothing_at_rest(name):
    model = parse(MACHINES[name])
    found = vbg.simulate(model, t_end=0.6, output_step=0.05)
    assert found.status.code == "finished", found.status
    told = next(n for n in ("brake.torque", "j.friction") if n in found)
    moving = found.time > AT - 1e-9  # the row at the start holds what is behind it
    np.testing.assert_allclose(found[told], np.where(moving, -0.2, 0.0), atol=1e-12)
    report = validate(model, t_end=0.6, output_step=0.05)
    assert report.result == "PASS", report.verdict.sentence


def test_friction_that_can_hold_nothing_is_refused_by_name():
    rotor = '[rotational.rotor]\nkind = "inertia"\nnodes = ["m"]\nJ = 0.1\n'
    back = '[rotational.back]\nkind = "gear"\nnodes = ["n", "m"]\nratio = 3.0\n'
    locked = "vbg = 1\n" + rotor + GEARED + back + BRAKE + 'nodes = ["n"]'
    with pytest.raises(AssemblyError, match=r"brake\.grip is to hold depends on no inertia"):
        vbg.simulate(parse(locked))
