"""abs, sign, min and max in expressions: their kinks and jumps are met, not smeared."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vbg
from vbg.simulate.instants.kinks import kink_instants
from vbg.simulate.settings import output_grid


def integral(expression: str, t_end: float = 2.0) -> vbg.Model:
    """A current into 1 F: the voltage is the integral."""
    return vbg.Model(
        electric={
            "I": {"kind": "current_source", "nodes": ["gnd", "a"], "current": expression},
            "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 1.0},
        },
        simulate={"t_end": t_end, "output_step": 0.05},
    )


def rectified(t: float) -> float:
    whole = math.floor(5 * t / math.pi)
    return (2 * whole + 1 - math.cos(5 * t - math.pi * whole)) / 5


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("abs(sin(5*t))", rectified),
        ("sign(t - 0.3217)", lambda t: abs(t - 0.3217) - 0.3217),
        ("sign(t - 0.35)", lambda t: abs(t - 0.35) - 0.35),  # on the output grid
        ("max(0, t - 0.777)", lambda t: max(0.0, t - 0.777) ** 2 / 2),
        ("min(t, 1.1, 3)", lambda t: min(t, 1.1) ** 2 / 2 + 1.1 * max(0.0, t - 1.1)),
    ],
)
def test_functions_of_time_are_integrated_piece_by_piece(expression, expected):
    solution = vbg.simulate(vbg.assemble(integral(expression)))
    assert solution["C.voltage"] == pytest.approx([expected(t) for t in solution.time], abs=1e-10)
    assert solution.audit.events == ()
    assert solution.made_by.n_steps < 40


def test_instants_of_a_function_of_time():
    """Zeros that are passed, wherever they lie, and none where a function stays zero."""
    system = vbg.assemble(integral("abs(sin(5*t)) + sign(max(0, t - 1)) + abs(0*t)"))
    found = kink_instants(system, output_grid(2.0, 0.05))
    expected = [0.0, math.pi / 5, 1.0, 2 * math.pi / 5, 3 * math.pi / 5]
    assert found == pytest.approx(expected, abs=1e-14)


def test_one_sided_spring_by_an_expression():
    """m x'' = -100 max(0, x - 0.1): straight, half an oscillation, straight back."""
    model = vbg.Model(
        translational={
            "M": {"kind": "mass", "nodes": ["x"], "m": 1.0, "speed": 1.0},
            "F": {
                "kind": "force",
                "nodes": ["x"],
                "force": "-100*max(0, translational.x.position - 0.1)",
            },
        },
        simulate={"t_end": 1.0, "output_step": 0.01, "rtol": 1e-10, "atol": 1e-12},
    )
    solution = vbg.simulate(vbg.assemble(model))
    t, contact = solution.time, math.pi / 10
    inside = 0.1 + np.sin(10 * (t - 0.1)) / 10
    expected = np.where(t < 0.1, t, np.where(t < 0.1 + contact, inside, 0.2 - t + contact))
    assert solution["translational.x.position"] == pytest.approx(expected, abs=1e-11)
    assert solution.audit.events == ()  # kinks are located without a word


def test_limiter_and_pid_are_met_at_their_bounds():
    """x' = clip(1 - x, -0.5, 0.5): a straight line to x = 0.5, then exponential."""
    model = vbg.Model(
        electric={
            "I": {"kind": "current_source", "nodes": ["gnd", "a"], "current": "bounded"},
            "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 1.0},
        },
        signals={
            "bounded": {"kind": "limiter", "input": "pid", "lower": -0.5, "upper": 0.5},
            "pid": {
                "kind": "pid",
                "demand": 1.0,
                "measured": "C.voltage",
                "kp": 1.0,
                "lower": -0.8,
                "upper": 0.8,
            },
        },
        simulate={"t_end": 3.0, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12},
    )
    solution = vbg.simulate(vbg.assemble(model))
    t = solution.time
    expected = np.where(t < 1.0, 0.5 * t, 1.0 - 0.5 * np.exp(1.0 - t))
    promised = 1e-10  # rtol of values up to 1
    assert solution["C.voltage"] == pytest.approx(expected, abs=promised)


def test_friction_written_with_sign_is_named_where_it_would_slide():
    model = vbg.Model(
        translational={
            "M": {"kind": "mass", "nodes": ["x"], "m": 1.0, "speed": 1.0},
            "F": {"kind": "force", "nodes": ["x"], "force": "-2*sign(translational.x.speed)"},
        },
        simulate={"t_end": 3.0, "output_step": 0.01},
    )
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "failed"
    assert "translational.F" in solution.status.sentence
    assert "friction" in solution.status.remedy
    assert solution.time[-1] == pytest.approx(0.5, abs=0.011)
