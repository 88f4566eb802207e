"""Frequency and step responses against closed forms and python-control."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import (
    frequency_response,
    linearise,
    operating_point,
    root_locus,
    step_response,
    transfer_function,
)


def pendulum(damping=0.4):
    """J a'' + d a' + m g h a = M with J = 1/3 + small, about hanging."""
    return vbg.Model(
        name="pendulum",
        gravity=[0, 0, -9.81],
        parameters={"d": damping},
        bodies={
            "rod": {
                "mass": 1.0,
                "inertia": {"xx": 1e-3, "yy": 1 / 12, "zz": 1 / 12},
                "points": {"A": [-0.5, 0, 0]},
            }
        },
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 1.2, "speed": 0.0},
                "friction": {"viscous": "d"},
            }
        },
        forces={"motor": {"kind": "torque", "on": "joints.hinge", "torque": [0.0]}},
    )


J, STIFFNESS, DAMPING = 1 / 3, 9.81 / 2, 0.4


def linear(damping=DAMPING):
    system = vbg.assemble(pendulum(damping))
    return linearise(system, operating_point(system), ["motor"], ["hinge.angle"])


def test_frequency_response_is_that_of_an_oscillator():
    found = frequency_response(linear())
    s = 1j * found.frequency
    assert_allclose(found.value, 1 / (J * s**2 + DAMPING * s + STIFFNESS), rtol=1e-8)
    assert found.phase[0] == pytest.approx(0.0, abs=0.05)
    assert found.phase[-1] == pytest.approx(-np.pi, abs=0.2)
    assert found.decibel[0] == pytest.approx(-20 * np.log10(STIFFNESS), abs=0.1)


def test_step_response_is_that_of_an_oscillator():
    time, value = step_response(linear(), t_end=8.0)
    decay = DAMPING / (2 * J)
    w = np.sqrt(STIFFNESS / J - decay**2)
    exact = np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
    assert_allclose(value, (1 - exact) / STIFFNESS, atol=1e-9)


def test_transfer_function_has_no_zero_and_its_gain():
    found = transfer_function(linear())
    assert len(found.zeros) == 0 and len(found.poles) == 2
    assert found.gain == pytest.approx(1 / J, rel=1e-8)
    assert found.at(0.0).real == pytest.approx(1 / STIFFNESS, rel=1e-8)


@pytest.mark.slow
def test_root_locus_meets_at_critical_damping():
    critical = 2 * np.sqrt(STIFFNESS * J)
    values = np.linspace(0.0, 2 * critical, 9)
    poles = root_locus(linear, values)
    for value, pair in zip(values, poles, strict=True):
        expected = np.roots([J, value, STIFFNESS])
        assert_allclose(np.sort_complex(pair), np.sort_complex(expected), rtol=1e-5, atol=1e-6)


def test_python_control_agrees():
    control = pytest.importorskip("control")
    found = linear()
    system = found.to_control()
    assert_allclose(np.sort_complex(control.poles(system)), np.sort_complex(found.eigenvalues))
    ours = frequency_response(found, frequency=[1.0, 5.0]).value
    assert_allclose([system(1j), system(5j)], ours, rtol=1e-10)
