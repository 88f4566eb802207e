"""Runs of the transfer-matrix solver end: redundant bearings on skew axes, stiff parts, watch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.steps.last_step import LastStep
from vbg.tmm_bridge.motion.steps.methods import FIRST, TRIAL, Method
from vbg.tmm_bridge.motion.steps.radau import StiffStepper, radau_rule
from vbg.tmm_bridge.notes import channels_in

REPRODUCED = Path(__file__).parents[1] / "reproduced"


@pytest.mark.parametrize("name", ["door", "hinges2"])
def test_two_bearings_on_a_skew_axis_end_and_say_what_is_not_unique(name):
    model = vbg.read(REPRODUCED / f"{name}.toml")
    run = simulate(model)
    assert run.status.code == "finished"
    assert channels_in(run.notes)
    first = next(iter(model.joints))
    assert np.ptp(run[f"{first}.angle"]) > 0.01


def leaf(kinds, axis, gap, point, scale):
    """A body on coaxial joints of these kinds, `gap` apart along `axis` through `point`."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    J, time = 0.1 * scale**2, np.sqrt(scale)
    text = f"""
vbg = 1
[bodies.leaf]
mass = 1
inertia = {{ xx = {J}, yy = {J}, zz = {J} }}
[simulate]
t_end = {0.1 * time}
output_step = {0.02 * time}
"""
    for k, kind in enumerate(kinds):
        at = [float(x) for x in np.asarray(point) + k * gap * axis]
        text += f"""
[joints.j{k}]
kind = "{kind}"
between = [{{ body = "ground", at = {at} }}, {{ body = "leaf", at = {at} }}]
axis = {[float(x) for x in axis]}
"""
    return text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_more_bearings_on_the_same_skew_axis_change_no_motion(seed, scale, tmp_path):
    rng = np.random.default_rng(seed)
    axis, point = rng.normal(size=3), scale * rng.normal(size=3)
    runs = []
    for kinds in (["revolute"], ["revolute", "point_on_line"], ["revolute"] * 3):
        file = tmp_path / f"{len(kinds)}.toml"
        file.write_text(leaf(kinds, axis, 0.7 * scale, point, scale))
        runs.append(simulate(vbg.read(file), rtol=1e-11, atol=1e-13))
    assert all(run.status.code == "finished" for run in runs)
    for run in runs[1:]:
        np.testing.assert_allclose(run["j0.angle"], runs[0]["j0.angle"], rtol=1e-9, atol=1e-13)
        # in a plane across the axis the sum over parallel bearings is determined
        total = sum(run[name] for name in run.signals if name.endswith(".force"))
        np.testing.assert_allclose(total, runs[0]["j0.force"], rtol=1e-8, atol=1e-8)


def test_radau_nodes_integrate_polynomials_of_degree_eight_and_end_at_one():
    rule = radau_rule()
    for k in range(9):
        assert rule.A[-1] @ rule.c**k == pytest.approx(1.0 / (k + 1), rel=1e-12)
    assert rule.c[-1] == 1.0


class _Linear:
    """x'' + 2 d x' + w^2 x = w^2 cos t as a plant."""

    discrete: list[int] = []  # noqa: RUF012  as a plant has it

    def __init__(self, w, d):
        self.w, self.d, self.typical, self.calls = w, d, np.full(2, 1e-5), 0

    def rate(self, t, y):
        self.calls += 1
        return np.array([y[1], self.w**2 * (np.cos(t) - y[0]) - 2.0 * self.d * y[1]])

    def rates(self, t, after, y, moved):
        return np.array([self.rate(t + a, y + z) for a, z in zip(after, moved, strict=True)])

    def noise(self, t, y, f):
        return np.zeros(2)


def test_stiff_steps_follow_the_slow_motion_with_little_work():
    w, d = 1e6, 3e6
    plant = _Linear(w, d)
    gain = w**2 / (w**2 - 1.0 + 2.0j * d)

    def exact(t):
        z = gain * np.exp(1j * t)
        return np.array([z.real, (1j * z).real])

    marks = np.linspace(0.0, 5.0, 6)
    stepper = StiffStepper(plant, 0.0, exact(0.0), 5.0, 1e-11, np.full(2, 1e-13), marks, 1e-3)
    while stepper.t < 5.0:
        assert stepper.step() == ""
        np.testing.assert_allclose(stepper.y, exact(stepper.t), atol=1e-9)
    assert plant.calls < 3000


def test_a_method_that_gets_farther_goes_on_and_one_that_does_not_goes_back():
    for pace, stays in ((10.0, True), (0.1, False)):
        method, t, n = Method(), 0.0, 0
        method.begun(t, n)
        for _ in range(FIRST + TRIAL):
            t, n = t + (pace if method.stiff else 1.0), n + 12
            method.stepped(t, n)
        assert method.stiff is stays
        assert method.used is stays


STIFF = """
vbg = 1
[bodies.arm]
mass = 1
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
[bodies.ring]
mass = 0.05
inertia = { xx = 1e-3, yy = 1e-3, zz = 1e-3 }
position = [0.5, 0, 0]
[joints.guide]
kind = "prismatic"
between = [{ body = "arm", at = [0.5, 0, 0] }, "ring"]
axis = [1, 0, 0]
[forces.bush]
kind = "spring"
on = "joints.guide"
k = 1e8
[forces.loss]
kind = "damper"
on = "joints.guide"
c = 1e5
[simulate]
t_end = 1.0
output_step = 0.05
"""


def test_a_stiff_damped_spring_is_passed_by_implicit_steps(tmp_path):
    file = tmp_path / "stiff.toml"
    file.write_text(STIFF)
    run = simulate(vbg.read(file), rtol=1e-11, atol=1e-13)
    assert run.status.code == "finished" and "radau" in run.made_by.method
    assert run.made_by.n_rates < 40_000  # explicit steps take 6e6
    # the slide is what the spring needs for weight and centripetal force of the ring
    angle, speed, slide = run["hinge.angle"], run["hinge.speed"], run["guide.slide"]
    needed = 0.05 * (9.81 * np.sin(angle) + speed**2 * (1.0 + slide))
    np.testing.assert_allclose(slide[5:], needed[5:] / 1e8, rtol=0.05, atol=1e-11)


def test_a_run_without_end_is_ended_by_the_watch_and_keeps_what_it_has(tmp_path):
    file = tmp_path / "spin.toml"
    file.write_text(STIFF.replace("c = 1e5", "c = 0"))
    run = simulate(vbg.read(file), rtol=1e-11, atol=1e-13, patience=20_000)
    assert run.status.code == "failed"
    assert "evaluations took the run through" in run.status.sentence
    assert 0 < len(run.time) < 21


def test_an_event_right_behind_the_begin_of_an_implicit_step_is_on_its_polynomial():
    """No step is short enough to end there."""
    mechanism = lay_out(vbg.read(REPRODUCED / "door.toml"))
    plant, y = Plant(mechanism), start(mechanism).y
    plant.settle(0.1, y)
    solver = StiffStepper(plant, 0.1, y, 0.2, 1e-9, np.full(len(y), 1e-11), np.zeros(0), 1e-3)
    assert solver.step() == ""
    at = LastStep(solver).precise(np.nextafter(0.1, 1.0))
    assert np.abs(at - y).max() < 1e-12


def test_what_sticks_keeps_its_mode_in_implicit_steps():
    """Elimination leaves rounding in states without a rate, and a mode of 1e-40 slips."""
    model = vbg.read(Path(vbg.__file__).parents[1] / "examples" / "ball-screw-axis.toml")
    run = simulate(model, t_end=1.25, output_step=0.05, rtol=1e-11, atol=1e-13)
    assert run.status.code == "finished"
    stuck = run.time > 1.22
    assert np.abs(run["translational.table.speed"][stuck]).max() < 1e-12
    assert sum(event.where == "translational.guide" for event in run.audit.events) == 2
