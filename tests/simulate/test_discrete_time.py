"""The discrete-time method against the constraint solution."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.assemble.posture import Projector
from vbg.errors import UsageError
from vbg.simulate.discrete_time import DiscreteTime

EXAMPLES = Path(__file__).parents[2] / "examples"


def system(name):
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


def test_converges_to_the_constraint_solution():
    """With w dt fixed the gap falls with dt^2 (1/w^2), the error of the motion with dt."""
    pendulum = system("double-pendulum")
    end = 0.1
    exact = vbg.simulate(pendulum, t_end=end, output_step=end, rtol=1e-10, atol=1e-12)
    at = pendulum.state_names.index("elbow.angle")
    errors, gaps = [], []
    for dt in (4e-5, 2e-5, 1e-5):
        stepper = DiscreteTime(pendulum, dt)
        stepper.advance(end)
        errors.append(abs(stepper.x[at] - exact["elbow.angle"][-1]))
        gaps.append(np.abs(Projector(pendulum).residuals(end, stepper.x)[0]).max())
    assert errors[-1] < 2e-4
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.15)
    assert_allclose(np.log2(np.divide(gaps[:-1], gaps[1:])), 2.0, atol=0.3)


def test_as_a_method_of_simulate_with_joint_forces():
    crank = system("slider-crank")
    found = vbg.simulate(crank, t_end=0.02, output_step=0.005, method="discrete-time")
    exact = vbg.simulate(crank, t_end=0.02, output_step=0.005)
    assert found.status.code == "finished" and "real-time factor" in found.status.sentence
    assert_allclose(found["A.angle"], exact["A.angle"], atol=1e-4)
    largest = np.abs(exact["A.force"]).max()
    assert_allclose(found["A.force"][-1], exact["A.force"][-1], atol=0.05 * largest)
    assert found.made_by.method == "discrete-time"


def test_rotation_is_the_exact_one_of_each_step():
    """A body that spins freely about a principal axis turns by w t, whatever the step."""
    top = vbg.Model(
        name="spinner",
        gravity=[0, 0, 0],
        bodies={
            "disc": {
                "mass": 1.0,
                "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2},
                "angular_velocity": [0, 0, 40.0],
            }
        },
        joints={"pin": {"kind": "spherical", "between": ["ground", "disc"]}},
    )
    assembled = vbg.assemble(top)
    stepper = DiscreteTime(assembled, 1e-4)
    stepper.advance(0.05)
    at = assembled.state_names.index("disc.quaternion[0]")
    assert stepper.x[at] == pytest.approx(np.cos(1.0), abs=1e-12)
    assert np.linalg.norm(stepper.x[at : at + 4]) == pytest.approx(1.0, abs=1e-12)


def test_without_joints_it_says_so():
    with pytest.raises(UsageError, match="no joints"):
        DiscreteTime(system("free-body"))
