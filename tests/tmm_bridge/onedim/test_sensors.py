# ruff: noqa: E501 -- a fault is one line of the table
"""Signals that read bodies, springs and stops, evaluated by the transfer-matrix solver itself."""

from __future__ import annotations

from typing import Any

import pytest

import vbg
from tests.tmm_bridge.faults import exchanged
from vbg.validate import validate

CUBE = {"xx": 1.0, "yy": 2.0, "zz": 1.5}
# attitude control by the quaternion, a boom with a load cell and a tip that is steered
SATELLITE: dict[str, Any] = {
    "gravity": [0, 0, 0],
    "bodies": {
        "sat": {
            "mass": 10.0,
            "inertia": CUBE,
            "position": [0, 0, 0],
            "rotation": {"axis": [1, 1, 0], "angle": "40 deg"},
            "angular_velocity": [0.3, 0.1, 0.2],
        },
        "boom": {
            "mass": 1.0,
            "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1},
            "points": {"A": [-0.5, 0, 0], "tip": [0.5, 0.1, 0]},
        },
    },
    "joints": {"h": {"kind": "revolute", "between": ["sat", "boom.A"], "axis": [0, 0, 1]}},
    "forces": {
        "line": {"kind": "spring", "between": ["sat", "boom.tip"], "k": 20, "length": 0.8},
        "T": {
            "kind": "torque",
            "on": "sat",
            "axes": "body",
            "torque": [f"-2*sat.rotation.{x} - 3*sat.angular_velocity.{x}" for x in "xyz"],
        },
        "F": {
            "kind": "force",
            "on": "boom.tip",
            "force": [
                "-0.5*line.force + 3*(line.length - 0.9)",
                "-5*boom.tip.velocity[1]",
                "-3*boom.tip.position[2] - boom.rotation[0] + boom.angular_velocity.z",
            ],
        },
    },
    "simulate": {"t_end": 1.0, "output_step": 0.05},
}
# a hoist: motor voltage by the height of the load, a buffer's force by its gap
HOIST: dict[str, Any] = {
    "bodies": {
        "car": {"mass": 5.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
        "load": {
            "mass": 1.0,
            "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.01},
            "points": {"hook": [0, 0, 0.4]},
        },
    },
    "joints": {
        "rail": {"kind": "prismatic", "between": ["ground", "car"], "axis": [1, 0, 0]},
        "swing": {
            "kind": "revolute",
            "between": ["car", "load.hook"],
            "axis": [0, 1, 0],
            "initial": {"angle": 0.4},
        },
    },
    "signals": {
        "sway": {
            "kind": "pid",
            "demand": "0.1",
            "measured": "load.position.x - car.position.x",
            "kp": 200.0,
            "ki": 50.0,
        },
    },
    "forces": {
        "coil": {"kind": "torsion_spring", "on": "joints.swing", "k": 0.5, "rest": 0.1, "c": 0.01},
        "pull": {"kind": "force", "on": "car", "force": ["-sway - 3*coil.torque", 0, 0]},
        "air": {
            "kind": "force",
            "on": "load",
            "force": ["-0.5*abs(load.velocity.x)*load.velocity.x", 0, 0],
        },
    },
    "simulate": {"t_end": 0.6, "output_step": 0.02},
}
MACHINES = {"satellite": SATELLITE, "hoist": HOIST}


@pytest.mark.parametrize("machine", MACHINES)
def test_forces_that_read_bodies_are_solved_twice(machine):
    verdict = validate(vbg.Model(name=machine, **MACHINES[machine]), in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence
    assert not verdict.replayed


SENSORS = "tmm_bridge.onedim.sensors"
FAULTS = [
    (SENSORS, "0.5 * (a * x + c * z - d * y)", "0.5 * (a * x - c * z + d * y)", "satellite", "T.torque"),
    (SENSORS, "p = place.p_NB + place.R_NB @ at", "p = place.p_NB - place.R_NB @ at", "satellite", "F.force"),
    (SENSORS, "-k * (port.value(w) - rest)", "-k * port.value(w)", "hoist", "pull.force"),
    (SENSORS, "sensor = Sensor(what,", "sensor = Sensor(POSITION,", "hoist", "air.force"),
    ("elements.body", "v + mul(R_WB, mul(-skew(arm), w))", "v + mul(R_WB, mul(skew(arm), w))", "satellite", "F.force"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new", "machine", "channel"), FAULTS)
def test_a_fault_in_what_is_read_is_found(module, old, new, machine, channel):
    model = vbg.Model(name=machine, **MACHINES[machine])
    with exchanged(module, old, new):
        verdict = validate(model, in_children=False, t_end=0.3).verdict
    assert verdict.result == "FAIL", verdict.sentence
    assert any(c.name.startswith(channel) for c in verdict.failed())


def test_a_gap_and_a_damper_are_read():
    """A stop's gap and a damper's force, as the bond graph has them."""
    bodies = {
        "a": {"mass": 1.0, "inertia": CUBE, "position": [0, 0, 0]},
        "b": {"mass": 2.0, "inertia": CUBE, "position": [0.3, 0, 0.1], "velocity": [-1, 0, 0]},
    }
    forces = {
        "buffer": {"kind": "stop", "between": ["a", "b"], "gap": 0.2, "k": 500.0, "c": 2.0},
        "dash": {"kind": "damper", "between": ["a", "b"], "c": 3.0},
        "push": {"kind": "force", "on": "a", "force": ["buffer.gap", "0.2*dash.force", 0]},
    }
    model = vbg.Model(
        name="gap", bodies=bodies, forces=forces, simulate={"t_end": 0.3, "output_step": 0.02}
    )
    verdict = validate(model, in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence
