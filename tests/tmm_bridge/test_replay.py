"""Parts without a twin in the embedded solver: their recorded effort is replayed."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import UsageError
from vbg.tmm_bridge import simulate
from vbg.validate import validate
from vbg.validate.recorded import Recorded

ROD = {
    "mass": 0.6,
    "inertia": {"xx": 0.002, "yy": 0.02, "zz": 0.02},
    "points": {"A": [-0.3, 0, 0]},
}
HINGE = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}


def motor_driven() -> vbg.Model:
    return vbg.Model(
        name="motor",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={"hinge": HINGE},
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "6*sin(8*t)"},
            "M": {
                "kind": "dc_motor",
                "nodes": ["a", "gnd"],
                "on": "joints.hinge",
                "R": 1.2,
                "L": 3e-3,
                "K": 0.4,
                "B": 0.01,
            },
        },
    )


def test_motor_is_replayed_and_the_verdict_says_so():
    report = validate(motor_driven(), t_end=0.5, output_step=1e-3, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    sources = {c.name: c.source for c in report.channels}
    assert sources["hinge.force[0]"] == "replayed"
    assert sources["rod.position[0]"] == "integrated"
    assert any("Replayed" in note for note in report.verdict.notes)


def test_feedback_torque_is_replayed():
    model = vbg.Model(
        name="servo",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={"hinge": HINGE},
        signals={
            "back": {"kind": "expression", "expression": "3*(0.4 - hinge.angle) - 0.3*hinge.speed"}
        },
        forces={"servo": {"kind": "torque", "on": "joints.hinge", "torque": ["back"]}},
    )
    report = validate(model, t_end=0.5, output_step=1e-3, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


def test_a_part_that_nothing_stands_for_is_refused():
    with pytest.raises(UsageError, match=r"electric\.M"):
        simulate(motor_driven(), t_end=0.1)


def test_recorded_effort_is_a_smooth_function():
    time = np.linspace(0.0, 1.0, 201)
    recorded = Recorded(time, np.sin(7 * time))
    value, slope, _ = recorded.rates(0.4321)
    assert value == pytest.approx(np.sin(7 * 0.4321), abs=1e-8)
    assert slope == pytest.approx(7 * np.cos(7 * 0.4321), abs=1e-4)
    assert 0.0 < recorded.spline_error() < 1e-6
