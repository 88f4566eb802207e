"""Joints that open and close, frames on frames, a law that is a function: judged by `validate`."""

from __future__ import annotations

from pathlib import Path

import pytest

import vbg
from vbg.simulate.events.impulses import latches as first
from vbg.tmm_bridge.motion.events import latches as second
from vbg.validate import validate

DOCKING = Path(__file__).parents[1] / "tmm_bridge/docking.toml"


def judged():
    return validate(vbg.read(DOCKING), output_step=0.05, in_children=False).verdict


def test_the_moment_of_a_ball_that_docks_is_zero():
    """It is 1e-17 N m s by rounding, the only channel of its unit: no FAIL."""
    verdict = judged()
    assert verdict.result == "PASS", verdict.sentence
    zero = {c.name for c in verdict.channels if c.result == "VACUOUS"}
    assert "hook.moment.x" in zero


def _turned(monkeypatch):
    """The impulse of the wrong body."""
    sound = second._of_joint
    monkeypatch.setattr(second, "_of_joint", lambda *given: tuple(-x for x in sound(*given)))


def _kept(monkeypatch):
    """A closing that leaves the speeds as they are."""
    monkeypatch.setattr(first.Latches, "strike", lambda self, t, x, closed: None)


@pytest.mark.parametrize("fault", [_turned, _kept])
def test_a_fault_in_the_impact_is_a_fail(fault, monkeypatch):
    fault(monkeypatch)
    verdict = judged()
    assert verdict.result == "FAIL", verdict.sentence
