"""What runs many programs in compiled code does what its single calls do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.assemble.start.posture import Projector
from vbg.simulate.record.recorder import Recorder
from vbg.simulate.steppers.explicit import SteadyDOP853, stages_of
from vbg.simulate.steppers.leap import History
from vbg.simulate.steppers.stepper import FixedStep

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module", params=["slider-crank", "excavator-arm", "spatial-four-bar"])
def start(request):
    file = EXAMPLES / f"{request.param}.toml"
    return vbg.start(vbg.read(file if file.exists() else EXAMPLES / "bennett.toml"))


def test_stages_in_compiled_code_are_those_of_the_rate(start):
    rate, n = start.evaluator("rate"), start.system.size

    def one(**how):
        return SteadyDOP853(
            lambda t, x: rate(t, x)[:n].copy(),
            0.0,
            start.state,
            1e-2,
            condition=lambda: 0.0,
            rtol=1e-8,
            atol=1e-8,
            **how,
        )

    compiled, called = one(stages=stages_of(rate)), one()
    for solver in (compiled, called):
        solver.step()
    assert compiled.t == pytest.approx(called.t, rel=1e-6)
    assert compiled.nfev == called.nfev
    middle = 0.4 * compiled.t
    assert_allclose(compiled.dense_output()(middle), called.dense_output()(middle), atol=1e-12)


def test_projected_states_close_the_joints_in_the_metric_of_mass(start):
    """By single programs: posture by Newton steps, momenta in one step."""
    projector, system = Projector(start.system, start.kept), start.system
    random = np.random.default_rng(2)
    x = start.state + 1e-5 * random.uniform(-1.0, 1.0, system.size)
    slow = x.copy()
    projector.normalise(slow)
    projector.measure(0.0, slow)
    for _ in range(4):
        projector.move_posture(0.0, slow, -projector.residuals(0.0, slow)[0])
        projector.measure(0.0, slow)
    projector.move_velocity(0.0, slow, -projector.residuals(0.0, slow)[1])
    states = np.stack([x, start.state, x])
    projector.project_each(np.zeros(3), states, 1e-13, 1e-13)
    assert_allclose(states[0], slow, atol=1e-12)
    assert_allclose(states[2], states[0], atol=1e-15)
    assert np.abs(projector.residuals(0.0, states[0])[0]).max() <= 1e-12


def test_rows_written_together_are_those_written_one_by_one(start):
    times = np.array([0.0, 1e-3, 2e-3])
    states = np.stack([start.state] * 3)
    together, single = (
        Recorder(start.system, start.evaluator("recorded"), times, None) for _ in range(2)
    )
    together.add_each(times, states)
    for t, x in zip(times, states, strict=True):
        single.add(t, x)
    known = Recorder(start.system, start.evaluator("recorded"), times, None)
    known.add(times[0], states[0], known.efforts(times[0], states[0]))
    for name, values in together.signals().items():
        assert_allclose(values, single.signals()[name], rtol=0, atol=0, equal_nan=True)
        assert_allclose(known.signals()[name][0], values[0], rtol=0, atol=0)


def test_what_is_constant_stays_so_to_the_last_digit_between_steps():
    """Modes are 0 or 1: a grip of 1e-16 was once taken for a row that holds."""
    start = vbg.start(vbg.read(EXAMPLES / "slider-crank.toml"))
    still = start.evaluator("rate")
    step = FixedStep(still, 0.0, start.state, 1.0, 0.01)
    step.step()
    frozen = [s.first for s in start.system.slices if s.state.kind == "quadrature"]
    for part in np.linspace(0.0, 1.0, 37):
        between = step.between(part * step.t)
        same = step.x[frozen] == start.state[frozen]
        assert np.all(between[frozen][same] == start.state[frozen][same])
    history = History()
    for k in range(8):
        history.add(0.1 * k, np.array([1.0, np.sin(0.1 * k)]), np.array([0.0, np.cos(0.1 * k)]))
    across = history.across(0.07)
    assert all(across(part)[0] == 1.0 for part in np.linspace(0.0, 0.07, 37))
