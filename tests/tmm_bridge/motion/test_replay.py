"""Parts without a twin in the transfer-matrix solver: their recorded effort is replayed."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import UsageError
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.formulas.timefunctions import constant
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


COIL = {"kind": "torsion_spring", "on": "joints.hinge", "k": 2.0}
RUBBING = HINGE | {"friction": {"viscous": 0.5}}
# What a joint's own friction exerts is no state: the transfer-matrix solver cannot read it.
UNKNOWN = "6*sin(8*t) - 0.2*hinge.friction"


def reading_an_effort(model: vbg.Model) -> vbg.Model:
    """The same motor with a supply that has no twin in the transfer-matrix solver."""
    parts = {"U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": UNKNOWN}}
    return vbg.Model(
        name="motor and coil",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={"hinge": RUBBING},
        forces={"coil": COIL},
        electric=parts | {"M": model.electric["M"]},
    )


def test_motor_is_integrated_by_both_and_the_verdict_says_so():
    report = validate(motor_driven(), t_end=0.5, output_step=1e-3, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert {c.source for c in report.channels} == {"integrated"}
    assert any(c.name == "M.current" and c.result == "PASS" for c in report.channels)
    assert any("Integrated by the transfer-matrix solver too" in n for n in report.verdict.notes)


def test_motor_without_twin_is_replayed_and_the_verdict_says_so():
    model = reading_an_effort(motor_driven())
    with pytest.raises(UsageError, match=r"hinge\.friction"):
        simulate(model, t_end=0.1)
    report = validate(model, t_end=0.5, output_step=1e-3, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    sources = {c.name: c.source for c in report.channels}
    assert sources["hinge.force.x"] == "replayed"
    assert sources["rod.position.x"] == "integrated"
    assert any("Replayed" in note and "hinge.friction" in note for note in report.verdict.notes)


def pulled(force: list[str]) -> vbg.Model:
    """A rod pulled by a part between two points and by a force on its body."""
    return vbg.Model(
        name="pulled",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={"hinge": RUBBING},
        forces={"coil": COIL, "push": {"kind": "force", "on": "rod", "force": force}},
        translational={
            "rope": {
                "kind": "force",
                "between": [{"body": "ground", "at": [0.1, 0.2, 0.5]}, "rod.A"],
                "force": "3*sin(4*t) - hinge.friction",
            },
            "strap": {
                "kind": "spring",
                "between": [{"body": "ground", "at": [0.1, 0.2, 0.5]}, "rod"],
                "k": 20.0,
                "length": 0.4,
            },
        },
    )


def test_two_point_parts_and_loads_on_bodies_are_replayed():
    model = pulled(["2*hinge.friction", "0", "1"])
    report = validate(model, t_end=0.5, output_step=1e-3, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    (note,) = [n for n in report.verdict.notes if "Replayed" in n]
    for key in ("translational.rope", "translational.strap", "forces.push[0]"):
        assert key in note
    replayed = {c.name.partition(".")[0] for c in report.channels if c.source == "replayed"}
    assert "push" in replayed


def test_a_part_that_no_replay_stands_for_is_refused():
    with pytest.raises(UsageError, match=r"translational\.strap"):
        simulate(
            pulled(["0", "0", "1"]),
            t_end=0.1,
            replays={"translational.rope": constant(0.0)},
        )


def test_feedback_torque_is_integrated_by_both():
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
    assert {c.source for c in report.channels} == {"integrated"}


def test_recorded_effort_is_a_smooth_function():
    time = np.linspace(0.0, 1.0, 201)
    recorded = Recorded(time, np.sin(7 * time))
    value, slope, _ = recorded.function().rates(0.4321)
    assert value == pytest.approx(np.sin(7 * 0.4321), abs=1e-8)
    assert slope == pytest.approx(7 * np.cos(7 * 0.4321), abs=1e-4)
    assert 0.0 < recorded.spline_error() < 1e-6


def braked(bonds: list[str], **vertices: dict[str, object]) -> vbg.Model:
    """A pendulum with raw vertices on its hinge."""
    return vbg.Model(
        name="braked",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={"hinge": HINGE},
        bonds=bonds,
        bondgraph=vertices,
    )


def test_a_raw_inertia_at_a_ratio_that_reads_a_body_is_refused_not_forgotten():
    """It depends on the motion of a body, of which the network knows no rate."""
    model = braked(
        ["hinge.angle -> ratio", "ratio -> wheel"],
        ratio={"kind": "TF", "ratio": "1 + rod.position.z"},
        wheel={"kind": "I", "value": 0.02},
    )
    with pytest.raises(UsageError, match="motion of a body"):
        simulate(model, t_end=0.1)
    report = validate(model, t_end=0.1, output_step=1e-3, in_children=False)
    assert report.result == "INCONCLUSIVE"
    told = ("hinge.angle -> ratio", "motion of a body", "Write a store on a joint as")
    assert all(said in report.verdict.sentence for said in told)


@pytest.mark.parametrize("speed", ["sin(3*t)", "cos(3*t)"])
def test_a_speed_source_between_a_joint_and_a_braked_train_is_replayed_not_forgotten(speed):
    """Its joint stands among its nodes: once the run without it was compared, and failed.  What it
    strikes at the start its effort does not tell."""
    model = vbg.Model(
        name="servo",
        bodies={"rod": ROD},
        joints={"hinge": HINGE},
        rotational={
            "W": {"kind": "speed", "nodes": ["m", "joint:hinge"], "speed": speed},
            "G": {"kind": "gear", "nodes": ["m", "n"], "ratio": 0.5},
            "J": {"kind": "inertia", "nodes": ["n"], "J": 0.1},
            # shares with a shaft of given speed: no twin
            "rub": {"kind": "friction", "nodes": ["m", "frame"], "coulomb": 0.1},
        },
    )
    report = validate(model, t_end=0.3, output_step=2e-3, in_children=False)
    if speed.startswith("cos"):
        assert report.result == "INCONCLUSIVE"
        assert "rotational.W" in report.verdict.sentence
        assert "Begin with speed 0" in report.verdict.sentence
        return
    assert report.verdict.word.startswith("PASS (1 part replayed: W"), report.verdict.sentence
    assert {"J", "rotational.m"} <= set(report.verdict.once)
