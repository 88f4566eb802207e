"""Pipes, filters and samplers go on where they stood: what they keep are signals, in both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from vbg.analysis.begin import instant_of
from vbg.validate import validate

PRESS = Path(__file__).with_name("press.toml")
KEPT = ("line.flows", "line.pressures", "short.flow", "filtered.state", "late.state", "mixed.state")
STEADY = {"p0": 60e5, "swing": 0.0}


def press(**parameters: float) -> vbg.Model:
    return vbg.read(PRESS).with_parameters(**parameters)


@pytest.fixture(scope="module")
def whole():
    return vbg.simulate(press(**STEADY), t_end=0.12, output_step=2e-3)


@pytest.mark.parametrize("length", [0.06, 6.0])
@pytest.mark.parametrize("bore", [4e-4, 1e-2])
def test_a_start_from_a_result_is_its_state(length, bore):
    """Momenta of oil and its contents differ by twenty orders: each is found from the signals."""
    model = press(length=length, bore=bore)
    run = vbg.simulate(model, t_end=0.02, output_step=2e-3)
    start = vbg.start(model, run, at=0.02)
    shown = start.outputs(0.0, start.state)
    for name in KEPT:
        size = np.abs(run[name]).max()
        assert size > 0.0
        assert np.abs(np.ravel(shown[name]) - np.ravel(run[name][-1])).max() <= 1e-9 * size, name


def test_a_run_that_goes_on_is_the_run_that_did_not_stop(whole):
    """Nothing in the machine reads the time but the sampler, whose clock is on a beat then."""
    begin = vbg.start(press(**STEADY), whole, at=0.06)
    rows = whole.time >= 0.06 - 1e-9
    for start in shaken(begin, 3):
        later = vbg.simulate(start, t_end=0.06, output_step=2e-3)
        for name in (*KEPT, "late", "guide.slide"):
            size = np.abs(whole[name]).max()
            assert np.abs(later[name] - whole[name][rows]).max() <= 1e-6 * size, name


@pytest.mark.parametrize("begin", ["equilibrium", "result"])
def test_such_starts_are_solved_twice(whole, begin):
    model = press(**STEADY)
    start = "equilibrium" if begin == "equilibrium" else instant_of(whole, 0.06)
    span = {"t_end": 0.03, "output_step": 1e-3}
    told = vbg.simulate(model, start=start, **span)["line.pressures"]
    assert told.shape[1] == 3 and np.all(told[0] > 1e5)
    verdict = validate(model, start=start, in_children=False, **span).verdict
    assert verdict.word == "PASS", (verdict.sentence, verdict.notes)
    told_twice = {c.name for c in verdict.channels if c.result in ("PASS", "VACUOUS")}
    assert {"late.state.w", "line.pressures.x", "line.flows.z"} <= told_twice
