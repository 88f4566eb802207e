"""method = "auto" changes over where implicit steps are less work, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from vbg.simulate.steppers.choice import FIRST, STILL
from vbg.simulate.steppers.implicit.implicit import TOO_SMALL, Implicit

T_END = 2.0


def pair(seed: int, *, scale: float = 1.0, fast: float = 4e4, push: str = "") -> vbg.Model:
    """Two masses on a soft spring, held together by one without damping that a slow force hardly
    excites; `scale` of masses, springs and forces; `fast`: its frequency [rad/s]."""
    random = np.random.default_rng(seed)
    m, M = scale * random.uniform(0.5, 2.0, 2)
    slow, size = random.uniform(2.0, 5.0), scale * random.uniform(0.5, 2.0)
    push = push or f"{size}*(1 - cos({slow}*t))"
    parts = {
        "m": {"kind": "mass", "nodes": ["a"], "m": m},
        "M": {"kind": "mass", "nodes": ["b"], "m": M},
        "held": {"kind": "spring", "nodes": ["b", "a"], "k": fast**2 * m * M / (m + M)},
        "soft": {"kind": "spring", "nodes": ["frame", "a"], "k": scale * random.uniform(3, 30)},
        "F": {"kind": "force", "nodes": ["b"], "force": push},
    }
    return vbg.Model(vbg=1, translational=parts)


def run(made, **how):
    found = vbg.simulate(made, t_end=T_END, output_step=0.02, **how)
    assert found.status.code == "finished" and not found.audit.failures
    return found


@pytest.fixture
def implicit_steps(monkeypatch):
    """Times at which implicit steps began."""
    times, step = [], Implicit.step

    def told(self):
        times.append(self.t)
        return step(self)

    monkeypatch.setattr(Implicit, "step", told)
    return times


@pytest.mark.parametrize("seed", range(3))
def test_fast_waves_that_nobody_excites_change_over(seed):
    for start in shaken(vbg.start(pair(seed)), 2):
        found = run(start)
        assert found.made_by.method == "radau" and found.made_by.n_steps < 3 * FIRST


@pytest.mark.parametrize("seed", range(3))
def test_what_is_smooth_is_not_tried(seed, implicit_steps):
    """A trial would be as much work as what lies ahead."""
    run(vbg.start(pair(seed, fast=300.0)))
    assert not implicit_steps


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_motion_is_that_of_tight_steps(scale):
    start = vbg.start(pair(5, scale=scale, fast=1e4))
    found = run(start, rtol=1e-7, atol=1e-10)
    tight = run(start, rtol=1e-11, atol=1e-13, method="dop853")
    assert found.made_by.method == "radau"
    for name in ("soft.force", "m.speed", "M.speed"):
        largest = np.abs(tight[name]).max()
        assert np.abs(found[name] - tight[name]).max() <= 1e-6 * largest


def test_implicit_steps_that_fail_are_left(monkeypatch, implicit_steps):
    """The run comes to its end by explicit ones, and as near to the motion."""
    start = vbg.start(pair(7, fast=3000.0))
    before = run(start, method="dop853")
    monkeypatch.setattr(Implicit, "_accepted", lambda self: TOO_SMALL)
    found = run(start)
    assert found.made_by.method == "dop853" and implicit_steps
    largest = np.abs(before["soft.force"]).max()
    assert np.abs(found["soft.force"] - before["soft.force"]).max() <= 1e-6 * largest


def test_nothing_is_tried_near_what_switches(implicit_steps):
    """Between two reversals of a force there are fewer than STILL steps."""
    period = 1e-2
    start = vbg.start(pair(7, fast=3000.0, push=f"sign(sin({np.pi / period}*t))"))
    found = vbg.simulate(start, t_end=T_END, output_step=0.02)
    assert found.status.code == "finished"
    assert FIRST < found.made_by.n_steps < STILL * T_END / period
    assert not implicit_steps
