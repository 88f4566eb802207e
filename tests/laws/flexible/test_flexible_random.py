"""Flexible bodies in machines at random, by both solvers, at several scales; and where they start:
they bend only where no joint can move instead."""

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.laws.flexible_random import (
    KINDS,
    flexible,
    machine,
    modes_of,
    parallelogram,
    plain,
    rigid,
)
from tests.tail import tail
from vbg.tmm_bridge import simulate

SCALES = ((1.0, 1.0, 1.0), (1e-2, 1e-6, 1e-3), (1e2, 1e4, 10.0))
CASES = [(kind, 10 * n + k, SCALES[k]) for k in range(3) for n, kind in enumerate(KINDS)]


def told(model):
    """Groups of signals of one unit, each compared with the largest of them."""
    held = [f"{name}.{{}}" for name in model.joints]
    moved = [f"{name}.{{}}" for name in model.bodies]
    for names, each in ((held, ("force", "torque")), (moved, ("position", "velocity"))):
        yield from ([name.format(one) for name in names] for one in each)
    yield [f"{name}.modal" for name, b in model.bodies.items() if b.flexible is not None]


@pytest.mark.parametrize(("kind", "seed", "scales"), tail(CASES, 5))
def test_both_solvers_agree(kind, seed, scales):
    """Forces, torques, motion and modal coordinates over some periods of the fastest mode."""
    model = machine(kind, seed, scales)
    t_end = 150.0 / modes_of(model).max()
    run = {"t_end": t_end, "output_step": t_end / 8, "rtol": 1e-9, "atol": 1e-13}
    one, two = vbg.simulate(vbg.assemble(model), **run), simulate(model, **run)
    assert one.status.code == two.status.code == "finished"
    for names in told(model):
        peak = max((np.abs(one[name]).max() for name in names), default=0.0)
        for name in names:
            np.testing.assert_allclose(two[name], one[name], atol=1e-5 * peak, err_msg=name)


@pytest.mark.parametrize("seed", tail(range(9), 3))
def test_a_drive_that_jumps_strikes_modes_too(seed):
    """A hinge that turns from one instant on moves what hangs on it by an impulse, which bends the
    arm as it turns it: both solvers have it by laws of their own, and the audit counts it."""
    scales, random = SCALES[seed % 3], np.random.default_rng(seed)
    arm, span = flexible(random, scales)
    across = np.cross(span, random.normal(size=3))
    hinge = {"kind": "revolute", "between": ["ground", "arm.A"]}
    fixed = {"kind": "fixed", "between": ["arm.B", "load.P"]}
    parts = {
        "gravity": [0, 0, 0],
        "bodies": {"arm": arm, "load": rigid(random, scales)},
        "joints": {"j": hinge | {"axis": plain(across / np.linalg.norm(across))}, "k": fixed},
    }
    t_end = float(100.0 / modes_of(vbg.Model(**parts)).max())
    turned = f"if(t < {0.3 * t_end!r}, 0, {0.1 / t_end!r}*(t - {0.3 * t_end!r}))"
    parts["joints"]["j"]["drive"] = turned
    run = {"t_end": t_end, "output_step": t_end / 7, "rtol": 1e-9, "atol": 1e-13}
    one, two = (solve(vbg.Model(**parts), **run) for solve in (vbg.simulate, simulate))
    for found in (one, two):
        assert found.status.code == "finished" and not found.audit.failures
    for name in ("arm.modal", "arm.modal_speed", "load.velocity", "load.angular_velocity"):
        peak = np.abs(one[name]).max()
        assert peak > 0.0
        np.testing.assert_allclose(two[name], one[name], atol=1e-5 * peak, err_msg=name)


@pytest.mark.parametrize("kind", tail(["hinged", "two", "both ends"], 1))
def test_rounding_of_the_start_is_no_motion(kind):
    """Starts that differ by 1e-13 end alike."""
    model = machine(kind, 3)
    t_end = 100.0 / modes_of(model).max()
    ends = []
    for start in shaken(vbg.start(vbg.assemble(model))):
        run = vbg.simulate(start, t_end=t_end, output_step=t_end / 2, rtol=1e-9, atol=1e-13)
        assert run.status.code == "finished" and not run.audit.failures
        ends.append(np.concatenate([run["arm.modal"][-1], run["arm.position"][-1]]))
    assert np.ptp(ends, axis=0).max() < 1e-9


@pytest.mark.parametrize("scales", SCALES)
def test_coupler_starts_without_bending_on(scales):
    """A four-bar with the speed of one crank written turns as rigid bars do, w2 = w1 L1 / L2."""
    length, _, time = scales
    model = parallelogram(speed=2.0, scales=scales)
    signals = vbg.start(vbg.assemble(model))
    first = signals.outputs(0.0, signals.state)
    second = simulate(model, t_end=1e-6 * time, output_step=1e-6 * time)
    for value in (first.__getitem__, lambda name: second[name][0]):
        assert value("other.angular_velocity")[1] * time == pytest.approx(2.0 / 1.5, rel=1e-4)
        at = np.linalg.norm(value("coupler_B.velocity") - value("coupler_A.velocity"))
        assert at < 1e-4 * length / time


@pytest.mark.parametrize("scales", SCALES)
def test_gaps_are_closed_by_joints(scales):
    """A bearing 1 % away from where the parts are: cranks turn, and the coupler hardly bends;
    closed by bending alone it would take the whole gap."""
    length = scales[0]
    model = parallelogram(gap=0.01 * length, scales=scales)
    start = vbg.start(vbg.assemble(model))
    first = start.outputs(0.0, start.state)
    second = simulate(model, t_end=1e-6 * scales[2], output_step=1e-6 * scales[2])
    for value in (first.__getitem__, lambda name: second[name][0]):
        bent = [value(f"coupler_{end}.displacement") for end in "AB"]
        assert np.abs(bent).max() < 1e-5 * length


@pytest.mark.slow
def test_verdict_takes_a_start_that_leaves_a_choice():
    """A bearing out of the plane, so that the start bends the coupler, and a crank that turns: the
    second solver starts from the first one's posture, speeds and deflections."""
    document = dict(parallelogram(speed=2.0).document)
    joints = document["joints"] | {
        "d": dict(document["joints"]["d"])
        | {"between": [{"body": "ground", "at": [1.0, 1e-4, -0.15]}, "other.O"]}
    }
    run = {"t_end": 0.002, "output_step": 2e-4, "rtol": 1e-8, "atol": 1e-12}
    verdict = vbg.validate(vbg.Model(**document | {"joints": joints, "simulate": run})).verdict
    assert verdict.result == "PASS", verdict.sentence
