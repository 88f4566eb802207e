"""Written speeds that contradict joints, drives or each other: both solvers take them alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

import vbg
from benchmarks.verdict import false_alarms
from tests.tail import tail
from vbg.tmm_bridge.mechanism import start as second_start
from vbg.validate import validate

SHORT = {"t_end": 0.05, "output_step": 0.01, "rtol": 1e-9, "atol": 1e-11}


def drawn(seed: int) -> vbg.Model:
    draw = random.Random(f"written speeds {seed}")
    return vbg.Model(**false_alarms.started(false_alarms.mechanism(draw), draw))


def pendulum(**written: object) -> vbg.Model:
    """Two rods on hinges of skew axes; the joint `knee` and the second rod have written speeds."""
    inertia = {"xx": 0.01, "yy": 0.05, "zz": 0.06}
    ends = {"A": [-0.3, 0, 0], "B": [0.3, 0, 0]}
    rod = {"mass": 2.0, "inertia": inertia, "points": ends}
    return vbg.Model(
        name="skew double pendulum",
        bodies={"upper": rod, "lower": {**rod, **written}},
        joints={
            "hip": {"kind": "revolute", "axis": [0, 1, 0], "between": ["ground", "upper.A"]},
            "knee": {"kind": "revolute", "axis": [0, 1, 0.3], "between": ["upper.B", "lower.A"],
                     "initial": {"angle": 0.4, "speed": 1.7}},
        },
    )  # fmt: skip


@pytest.mark.parametrize("seed", tail(range(40), 8))
def test_random_written_speeds_are_no_false_alarm(seed):
    report = validate(drawn(seed), in_children=False, **SHORT)
    assert report.result in ("PASS", "INCONCLUSIVE"), report.verdict.sentence
    assert not any("other speeds" in note for note in report.verdict.notes)
    assert all(len(run.time) > 1 for run in report.solutions.values())


def test_the_speed_of_a_joint_is_kept_before_those_of_bodies():
    """The hip's speed w is what makes the lower rod's spin, w e + 1.7 k with e and k the axes,
    miss the written one least in kinetic energy: e J (w e + 1.7 k - spin) = 0."""
    spin = np.array([0.5, -1.0, 2.0])
    model = pendulum(angular_velocity=spin.tolist())
    found = vbg.start(model)
    hip, knee = (found.outputs(0.0, found.state)[f"{j}.speed"][0] for j in ("hip", "knee"))
    J = np.diag([0.01, 0.05, 0.06])
    k = np.array([0.0, 1.0, 0.3]) / np.hypot(1.0, 0.3)
    R_WB = vbg.place(model).poses["lower"].R_WB
    e = R_WB.T @ [0.0, 1.0, 0.0]
    k = R_WB.T @ k
    assert knee == pytest.approx(1.7, rel=1e-12)
    assert hip == pytest.approx(e @ J @ (spin - 1.7 * k) / (e @ J @ e), rel=1e-9)
    report = validate(model, in_children=False, **SHORT)
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.parametrize("factor", [0.0, 2.0, 1.0 + 1e-5])
def test_a_wrong_start_is_not_excused_by_written_speeds_that_contradict(monkeypatch, factor):
    sound = second_start._close_speeds

    def faulty(mechanism, y, *others):
        left = sound(mechanism, y, *others)
        n_q, n_v = int(mechanism.tables.sizes[0]), int(mechanism.tables.sizes[1])
        y[n_q : n_q + n_v] *= factor
        return left

    monkeypatch.setattr(second_start, "_close_speeds", faulty)
    model = pendulum(angular_velocity=[0.5, -1.0, 2.0], velocity=[1.0, 2.0, 3.0])
    report = validate(model, in_children=False, **SHORT)
    assert report.result == "FAIL", report.verdict.sentence
    assert "starts differ" in report.verdict.sentence
