"""Drives whose speed jumps: the motion behind an ideal impulse, in the second solver by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.motion.rate.instants import stops_of
from vbg.validate import validate

M, L = 0.8, 0.5  # of the rod, hung at a quarter of its length
J = M * L**2 / 12.0
KICK = "max(0, t - 0.3)"


def hung(drive: str, signals: dict | None = None, **joint: object) -> vbg.Model:
    """A rod on a driven cart."""
    return vbg.Model(
        signals=signals or {},
        name="hung",
        bodies={
            "cart": {"mass": 2.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
            "rod": {
                "mass": M,
                "inertia": {"xx": 1e-4, "yy": J, "zz": J},
                "points": {"A": [-L / 4, 0, 0]},
            },
        },
        joints={
            "rail": {
                "kind": "prismatic",
                "between": ["ground", "cart"],
                "axis": [1, 0, 0],
                "drive": drive,
            },
            "hinge": {
                "kind": "revolute",
                "between": ["cart", "rod.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 1.1},
                **joint,
            },
        },
        simulate={"t_end": 0.5, "output_step": 0.01},
    )


def slider_crank(redundant: bool = False) -> vbg.Model:
    """A crank that is struck, with a rotor on it, a rod and a slider."""
    r, length, angle = 0.2, 0.6, 0.9
    A = np.array([r * math.cos(angle), 0.0, r * math.sin(angle)])
    slider = A[0] + math.sqrt(length**2 - A[2] ** 2)
    return vbg.Model(
        name="struck",
        bodies={
            "crank": {
                "mass": 0.4,
                "inertia": {"xx": 1e-3, "yy": 4e-3, "zz": 4e-3},
                "position": (A / 2).tolist(),
                "points": {"O": (-A / 2).tolist(), "A": (A / 2).tolist()},
            },
            "rod": {
                "mass": 0.9,
                "inertia": {"xx": 1e-3, "yy": 3e-2, "zz": 3e-2},
                "position": [(A[0] + slider) / 2, 0.0, A[2] / 2],
                "points": {
                    "A": [(A[0] - slider) / 2, 0.0, A[2] / 2],
                    "B": [(slider - A[0]) / 2, 0.0, -A[2] / 2],
                },
            },
            "slide": {
                "mass": 1.5,
                "inertia": {"xx": 1e-2, "yy": 1e-2, "zz": 1e-2},
                "position": [slider, 0.0, 0.0],
            },
        },
        joints={
            "O": {
                "kind": "revolute",
                "between": ["ground", "crank.O"],
                "axis": [0, -1, 0],
                "drive": "3*abs(t - 0.05) - 0.15",
            },
            "A": {
                "kind": "revolute" if redundant else "spherical",
                "between": ["crank.A", "rod.A"],
                **({"axis": [0, -1, 0]} if redundant else {}),
            },
            "B": {"kind": "revolute", "between": ["rod.B", "slide"], "axis": [0, -1, 0]},
            "rail": {"kind": "prismatic", "between": ["ground", "slide"], "axis": [1, 0, 0]},
        },
        rotational={"wheel": {"kind": "inertia", "on": "joints.O", "J": 0.02}},
        simulate={"t_end": 0.12, "output_step": 0.005},
    )


def test_a_struck_pivot_leaves_the_angular_momentum_about_it():
    """J_A w = m l sin(angle) V in the moment of the kick: the impulse at the pivot has no arm."""
    run = simulate(hung(KICK), t_end=0.3, output_step=0.3)
    just_before = simulate(hung("0*t"), t_end=0.3, output_step=0.3)
    angle, l = float(run["hinge.angle"][-1]), L / 4
    change = float(run["hinge.speed"][-1] - just_before["hinge.speed"][-1])
    assert change == pytest.approx(M * l * math.sin(angle) / (J + M * l**2), rel=1e-9)
    assert run["cart.velocity"][-1, 0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        hung(KICK),
        hung("0.1*abs(sin(20*t))"),
        hung(KICK, friction={"coulomb": 1.0, "stribeck": 0.1}),
        slider_crank(),
        slider_crank(redundant=True),
    ],
    ids=["kink", "many", "sticking", "loop", "redundant"],
)
def test_both_solvers_agree_on_impulses_and_their_work(model):
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert any("impulse" in e.what for e in report.solutions["mstmm"].audit.events)
    assert all(left < 1e-8 for left in report.verdict.audits.values() if not math.isnan(left))


@pytest.mark.parametrize(
    ("text", "instants"),
    [
        ("max(0, t - 0.3)", [0.3]),
        ("abs(cos(2*pi*t))", [0.25, 0.75]),
        ("if(t < 0.25, 1, if(t*t > 0.5, 2, 3))", [0.25, math.sqrt(0.5)]),
        ("min(t, 0.4, 1 - t)", [0.4, 0.5, 0.6]),
        ("max(0, half - 0.3)", [0.6]),
        ("within", [0.2, 0.8]),
        ("bent", [0.4]),
    ],
)
def test_expressions_of_time_tell_where_they_may_jump(text, instants):
    signals = {
        "half": {"kind": "expression", "expression": "0.5*t"},
        "within": {"kind": "limiter", "input": "t", "lower": 0.2, "upper": 0.8},
        "bent": {"kind": "curve", "input": "half", "rows": [[0, 0], [0.2, 1], [2, 3]]},
    }
    stops = stops_of(lay_out(hung(text, signals)), 0.0, 1.0)
    found = [stop for stop in stops if stop.jumps]
    inner = [0.5 * (s.first + s.last) for s in found if 0.0 < s.first < 1.0]
    assert inner == pytest.approx(instants, rel=1e-15)


@pytest.mark.parametrize("name", ["limited", "bent", "smooth"])
def test_bounded_and_bent_functions_of_time_have_their_derivatives(name):
    rows = [[-0.9, 0.0], [-0.2, 0.5], [0.1, 0.7], [0.8, -0.4]]
    signals = {
        "sine": {"kind": "sine", "amplitude": 1.0, "frequency": 7.0, "phase": 0.3},
        "limited": {"kind": "limiter", "input": "sine", "lower": -0.5, "upper": 0.8},
        "bent": {"kind": "curve", "input": "sine", "rows": rows},
        "smooth": {"kind": "curve", "input": "sine", "rows": rows, "interpolation": "cubic"},
    }
    f, h = function_of(vbg.Model(signals=signals), name), 1e-5
    for t in (0.03, 0.11, 0.29, 0.47, 0.71):
        before, now, after = (f.rates(t + k * h) for k in (-1, 0, 1))
        assert now[1] == pytest.approx((after[0] - before[0]) / (2 * h), rel=1e-6, abs=1e-6)
        assert now[2] == pytest.approx((after[1] - before[1]) / (2 * h), rel=1e-6, abs=1e-6)
