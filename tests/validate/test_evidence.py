"""Everything that a verdict rests on can spoil it: outputs that are lost, energies, audits,
what redundant joints do determine, runs that are stuck, a solver that refuses."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import vbg
from benchmarks.verdict.false_alarms import _four_bar
from tests.tmm_bridge.faults import exchanged
from vbg.errors import UsageError
from vbg.plumbing.components import split_component
from vbg.solution import FINISHED, Audit, MadeBy, Solution
from vbg.tmm_bridge import solver
from vbg.validate import text, validate
from vbg.validate.compare import _conclusion, _not_proven
from vbg.validate.comparison.pairing import carried_windows, joined
from vbg.validate.comparison.values import Channel

SHORT = {"t_end": 0.1, "output_step": 0.01, "in_children": False}
INERTIA = {"xx": 0.01, "yy": 0.02, "zz": 0.02}
AXIS = [0.0, 0.6, 0.8]


def pendulum(**more: Any) -> vbg.Model:
    rod = {"mass": 1.0, "inertia": INERTIA, "points": {"A": [-0.5, 0, 0]}}
    hinge = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0], **more}
    return vbg.Model(name="p", bodies={"rod": rod}, joints={"hinge": hinge})


def door() -> vbg.Model:
    """A leaf on two hinges along a skew axis: their forces along and across it are not unique."""
    leaf = {"mass": 2.0, "inertia": INERTIA, "position": [0.5, 0, 0]}
    ends = [["ground", {"body": "leaf", "at": [-0.5, 0, 0]}]]
    at = [0.0, 0.6, 0.8]
    ends.append([{"body": "ground", "at": at}, {"body": "leaf", "at": [-0.5, 0.6, 0.8]}])
    joints = {
        name: {"kind": "revolute", "between": between, "axis": AXIS}
        for name, between in zip(("lower", "upper"), ends, strict=True)
    }
    return vbg.Model(name="door", bodies={"leaf": leaf}, joints=joints)


@pytest.fixture
def seeded(monkeypatch) -> Callable[[Callable[[dict[str, np.ndarray]], None]], None]:
    """Puts a change of the signals into the transfer-matrix solver."""

    def put(change: Callable[[dict[str, np.ndarray]], None]) -> None:
        sound = solver.simulate

        def faulty(*given: Any, **settings: Any) -> Solution:
            solution = sound(*given, **settings)
            signals = {name: np.array(values) for name, values in solution.signals.items()}
            change(signals)
            return replace(solution, signals=signals)

        monkeypatch.setattr(solver, "simulate", faulty)

    return put


def test_an_output_of_a_joint_that_one_side_lost_is_a_fail(seeded):
    seeded(lambda signals: signals.pop("hinge.torque"))
    report = validate(pendulum(), **SHORT)
    assert report.result == "FAIL"
    assert "hinge.torque" in report.verdict.sentence


def test_an_output_of_other_components_is_a_fail(seeded):
    seeded(lambda s: s.update({"hinge.speed": np.column_stack([s["hinge.speed"]] * 2)}))
    report = validate(pendulum(), **SHORT)
    assert report.result == "FAIL"
    assert "hinge.speed" in report.verdict.sentence


def test_a_drive_that_one_side_lost_is_a_fail(seeded):
    seeded(lambda signals: signals.pop("hinge.drive"))
    report = validate(pendulum(drive="sin(3*t)"), **SHORT)
    assert report.result == "FAIL"
    assert "hinge.drive" in report.verdict.sentence


@pytest.mark.parametrize("energy", ["kinetic", "potential", "dissipated"])
def test_energies_are_channels(seeded, energy):
    name = f"energy.{energy}"

    def change(signals: dict[str, np.ndarray]) -> None:
        signals[name] *= 1.0 + 1e-4

    model = pendulum(friction={"viscous": 0.3})
    assert validate(model, **SHORT).result == "PASS"
    seeded(change)
    report = validate(model, **SHORT)
    assert report.result == "FAIL"
    assert [c.name for c in report.verdict.failed()] == [name]
    assert any(name in line for line in report.verdict.review)


def test_an_audit_that_does_not_close_is_a_fail(monkeypatch):
    sound = solver.simulate

    def faulty(*given: Any, **settings: Any) -> Solution:
        solution = sound(*given, **settings)
        signals = dict(solution.signals) | {"energy.residual": 0.1 * solution["energy.kinetic"]}
        audit = replace(solution.audit, energy_residual=0.1)
        return replace(solution, signals=signals, audit=audit)

    monkeypatch.setattr(solver, "simulate", faulty)
    report = validate(pendulum(), **SHORT)
    assert report.result == "FAIL"
    assert "energy audit of the transfer-matrix solver" in report.verdict.sentence
    assert "speaks against the transfer-matrix solver" in text(report)


def test_what_redundant_joints_determine_is_compared(seeded):
    report = validate(door(), **SHORT)
    assert report.result == "PASS", report.verdict.sentence
    marks: Mapping[str, str] = {c.name: c.result for c in report.channels}
    assert "NOT UNIQUE" in marks.values()
    assert marks["leaf.joints.force.z"] == "PASS"
    loose = [name for name, mark in marks.items() if mark == "NOT UNIQUE" and ".force" in name]

    def change(signals: dict[str, np.ndarray]) -> None:
        name, letter = split_component(loose[0])
        signals[name][:, "xyz".index(letter)] += 1e-3

    seeded(change)
    report = validate(door(), **SHORT)
    assert report.result == "FAIL"
    assert any(".joints." in c.name for c in report.verdict.failed())


def test_a_self_stress_is_no_fault(seeded):
    """Equal and opposite forces along the axis of both hinges: no motion feels them."""

    def change(signals: dict[str, np.ndarray]) -> None:
        signals["lower.force"] += 3.0 * np.array(AXIS)
        signals["upper.force"] -= 3.0 * np.array(AXIS)

    seeded(change)
    assert validate(door(), **SHORT).result == "PASS"


def test_a_run_that_gets_no_further_is_ended_with_the_reason():
    report = validate(pendulum(), patience=1e-9, **SHORT)
    assert report.result == "INCONCLUSIVE"
    assert "processor time" in report.verdict.sentence
    assert "--patience" in report.verdict.sentence


def test_a_refusal_of_one_solver_is_inconclusive(monkeypatch):
    def refuse(*given: Any, **settings: Any) -> Solution:
        raise UsageError("joints.hinge: no twin of this.")

    monkeypatch.setattr(solver, "simulate", refuse)
    report = validate(pendulum(), **SHORT)
    assert report.result == "INCONCLUSIVE"
    assert "joints.hinge" in report.verdict.sentence
    assert text(report).startswith("INCONCLUSIVE")
    assert report.solutions.keys() == {"vbg"}


def test_a_fail_says_since_when_and_whose_law(seeded):
    def change(signals: dict[str, np.ndarray]) -> None:
        signals["coil.torque"][5:] *= 1.01

    coil = {"kind": "torsion_spring", "on": "joints.hinge", "k": 2.0, "rest": 0.3}
    document = {**pendulum().document, "forces": {"coil": coil}}
    seeded(change)
    said = " ".join(validate(vbg.Model(**document), **SHORT).verdict.review)
    assert "t = 0.05 s" in said
    assert "forces.coil is the first" in said
    assert "--also dt" in said


def test_a_side_without_numbers_is_told(seeded):
    def change(signals: dict[str, np.ndarray]) -> None:
        signals["hinge.speed"][5:] = np.nan

    seeded(change)
    verdict = validate(pendulum(), **SHORT).verdict
    assert verdict.result == "FAIL"
    assert "hinge.speed has no value (nan) from t = 0.05 s on" in verdict.sentence
    said = " ".join(verdict.review)
    assert "The difference begins at t = 0.05 s" in said
    assert "solver has no value of hinge.speed where the other has one." in said
    assert "The evidence speaks against the transfer-matrix solver." in said


def test_the_third_method_tells_the_sides_apart(seeded):
    def change(signals: dict[str, np.ndarray]) -> None:
        signals["hinge.force"] *= 1.01

    seeded(change)
    report = validate(pendulum(), also=("dt",), **SHORT)
    assert report.result == "FAIL"
    assert "The column dt agrees with the bond-graph solver" in " ".join(report.verdict.review)


def test_in_the_plane_of_a_tilted_loop_joint_forces_are_compared(seeded):
    """Only what acts along the axes, and about axes across, is not unique."""
    draw, written = random.Random(1), None
    while written is None or any(j["kind"] != "revolute" for j in written["joints"].values()):
        written = _four_bar(draw, np.random.default_rng(3))
    model = vbg.Model(**written)
    report = validate(model, **SHORT)
    assert report.result == "PASS", report.verdict.sentence
    marks = {c.name: c.result for c in report.channels}
    for name in model.joints:
        assert {marks[f"{name}.force_F.{k}"] for k in "xy"} == {"PASS"}
        assert f"{name}.force_F.z" not in marks
        assert marks[f"{name}.free_effort[0]"] == "VACUOUS"

    def push(signals: dict[str, np.ndarray]) -> None:
        signals["j1.force"] = signals["j1.force"] * 1.001

    seeded(push)
    failed = {c.name for c in validate(model, **SHORT).verdict.failed()}
    assert {"j1.force_F.x", "j1.force_F.y"} & failed


def test_joints_that_bear_where_they_are_free_fail_even_at_rest(seeded):
    """Two hinges of a door that turn it one against the other: in balance, and without power."""
    at = {"body": "leaf", "at": [0, 0, 0]}
    push = {"kind": "force", "on": at, "force": [0.0, 0.8, -0.6]}
    model = vbg.Model(**door().document, gravity=[0, 0, 0], forces={"push": push})
    assert validate(model, **SHORT).result != "FAIL"

    def twist(signals: dict[str, np.ndarray]) -> None:
        for name, sign in (("lower", 1.0), ("upper", -1.0)):
            signals[f"{name}.torque"] = signals[f"{name}.torque"] + 0.1 * sign * np.array(AXIS)

    seeded(twist)
    failed = {c.name for c in validate(model, **SHORT).verdict.failed()}
    assert {"lower.free_effort[0]", "upper.free_effort[0]"} <= failed


def test_a_leap_is_left_out_only_where_the_other_solver_is_near_a_singular_posture():
    time, near = np.linspace(0.0, 1.0, 11), np.ones(11)
    near[4:7] = 1e-4
    spans = ((0.38, 0.62), (0.7, 0.9), (0.55, 0.75), (0.91, 0.99))
    leaps = Solution(time, {}, Audit(carried=spans), MadeBy(), FINISHED)
    other = replace(leaps, audit=Audit(), signals={"residual.nearness": near})
    assert carried_windows(leaps, other) == ((0.38, 0.62),)
    assert joined((2.0, 3.0), (0.0, 1.0), (0.5, 0.7), (2.5, 4.0)) == ((0.0, 1.0), (2.0, 4.0))


SHAFT: dict[str, Any] = {
    "J": {"kind": "inertia", "nodes": ["a"], "J": 0.1, "speed": 3.0},
    "G": {"kind": "gear", "nodes": ["a", "b"], "ratio": -0.5},
    "d": {"kind": "damper", "nodes": ["b", "frame"], "c": 0.2},
    "T": {"kind": "torque", "nodes": ["a"], "torque": "-0.5*d.torque"},
}


def test_the_law_that_differs_is_told_without_those_that_follow_from_it():
    """A damper 2 % off; a gear passes its torque on, a source reads it."""
    model = vbg.Model(name="shaft", rotational=SHAFT, simulate={"t_end": 0.1, "output_step": 0.01})
    with exchanged(
        "tmm_bridge.onedim.laws.mechanical", "= -self.c * self", "= -1.02 * self.c * self"
    ):
        said = " ".join(validate(model, in_children=False).verdict.review)
    assert "the law of rotational.d is the first" in said


def test_the_friction_of_a_joint_is_a_law_and_losses_that_give_back_speak_against_their_side():
    document = pendulum().document
    joint = {
        **document["joints"]["hinge"],
        "drive": "0.3*sin(9*t)",
        "friction": {"coulomb": 0.3},
        "initial": {},
    }
    model = vbg.Model(**{**document, "joints": {"hinge": joint}})
    with exchanged(
        "physics.stiction",
        'moves = call("sign", speed)',
        'moves = -call("sign", speed)',
    ):
        verdict = validate(model, **SHORT).verdict
    said = " ".join(verdict.review)
    assert verdict.result == "FAIL", verdict.sentence
    assert "the law of joints.hinge.friction is the first" in said
    assert "In the bond-graph solver losses give back" in said
    assert "The evidence speaks against the bond-graph solver." in said


def test_a_raw_law_is_no_motion():
    model = vbg.Model(
        name="raw",
        bonds=["s -> R", "s -> C"],
        bondgraph={
            "s": {"kind": "0"},
            "R": {"kind": "R", "value": 2.0},
            "C": {"kind": "C", "value": 0.5, "initial": [1.0]},
        },
        simulate={"t_end": 0.2, "output_step": 0.02},
    )
    fault = "_linear(_square(part), flow)", "_linear(1.01 * _square(part), flow)"
    with exchanged("tmm_bridge.onedim.bonded", *fault):
        said = " ".join(validate(model, in_children=False).verdict.review)
    assert "Motions still agree there: the law of bondgraph.R" in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("1.02 * self.k", "a law has moved them since the row before"), ("-self.k", "a law")],
)
def test_where_a_law_moves_what_was_at_rest_the_start_is_not_blamed(wrong, said):
    """A spring without tension at the start: in the next row motions differ with its effort."""
    model = vbg.Model(
        rotational={
            "J": {"kind": "inertia", "nodes": ["a"], "J": 1.0},
            "k": {"kind": "spring", "nodes": ["a", "frame"], "k": 30.0},
            "T": {"kind": "torque", "nodes": ["a"], "torque": 0.9},
        }
    )
    with exchanged(
        "tmm_bridge.onedim.laws.mechanical", "effort -= self.k *", f"effort -= {wrong} *"
    ):
        told = text(validate(model, **SHORT))
    assert said in told and "rotational.k" in told and "--output-step" in told
    assert "the start, or a speed given" not in told


def test_an_inconclusive_says_what_explains_its_differences():
    """Not a step that changes 1e-13 where the tolerance of the runs is the reason."""
    channel = Channel(
        "A.torque.z", "N*m", 2.0, 6e-6, 0.1, 3e-6, 1e-6, 1e-13, "integrated", "INCONCLUSIVE", 0.05
    )
    by_rtol = _not_proven([channel], 1e-4)
    assert "A.torque.z differs by 3e-06 of its peak" in by_rtol
    assert "relative tolerance of 0.0001" in by_rtol
    by_step = _not_proven([replace(channel, integration=1e-6)], 1e-4)
    assert "a step twice as long changes A.torque.z by 1e-06 of its peak" in by_step
    early = _not_proven([replace(channel, integration=np.nan)], 1e-4)
    assert "the runs with twice the step ended early" in early
    assert all("tighten its tolerance" in said for said in (by_rtol, by_step, early))


def test_parts_that_nothing_is_compared_of_are_told_with_a_remedy():
    """Dry friction on two of three shafts, each ahead of the one before: named, and what can be
    done."""
    inertias = {f"J{n}": {"kind": "inertia", "nodes": [n], "J": 0.1} for n in "abc"}
    sources = {
        f"s{n}": {"kind": "speed", "nodes": list(n), "speed": "sin(t)"} for n in ("ab", "bc")
    }
    dry = {f"f{n}": {"kind": "friction", "nodes": [n], "coulomb": 0.1} for n in "ab"}
    report = validate(vbg.Model(name="m", rotational={**inertias, **sources, **dry}), **SHORT)
    assert report.result == "INCONCLUSIVE"
    assert "rotational.fa" in report.verdict.sentence
    assert "Take that part out of a copy" in report.verdict.sentence


def test_a_pass_says_what_allows_its_worst_channel():
    """By itself where it is above what is allowed anyway, in no other case."""
    channel = Channel("A.torque.z", "N*m", 2.0, 6e-6, 0.1, 3e-6, 4e-6, 1e-6, "integrated", "PASS")
    _, loose = _conclusion((channel,), (), "", 1e-8)
    assert loose.endswith("A.torque.z: 3e-06 of its peak, where steps twice as long change 1e-06.")
    _, tight = _conclusion((replace(channel, max_error=2e-9),), (), "", 1e-8)
    assert tight.endswith("A.torque.z: 1e-09 of its peak.")
