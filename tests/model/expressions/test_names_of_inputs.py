"""Names that a program's inputs have besides."""

import pytest
from numpy.testing import assert_array_equal

import vbg


def pendulum(pin: str) -> vbg.Model:
    """Its hinge sticks where it turns round."""
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}, "points": {"A": [0, 0, 1]}}
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "friction": {"coulomb": 2.0, "static": 2.5}}
    return vbg.Model(
        name="named",
        gravity=[0, 0, -9.81],
        bodies={"bob": body},
        joints={pin: {**hinge, "between": ["ground", "bob.A"], "initial": {"angle": 0.5}}},
        simulate={"t_end": 1.0, "output_step": 0.01},
    )


@pytest.mark.parametrize("name", ["t", "x", "correction", "state", "effort"])
def test_a_joint_may_have_the_name_of_an_input(name):
    named, pin = (vbg.simulate(pendulum(one)) for one in (name, "pin"))
    for signal in ("angle", "force.z", "friction"):
        assert_array_equal(named[f"{name}.{signal}"], pin[f"pin.{signal}"])
