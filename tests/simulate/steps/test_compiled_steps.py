"""What runs many programs in compiled code does what its single calls do."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import DOP853

import vbg
from tests.simulate.called_steps import Called, called
from vbg.assemble.start.constraints.conditioning import Conditioning
from vbg.assemble.start.constraints.posture import Projector
from vbg.simulate.record.recorder import Recorder
from vbg.simulate.steppers.dormand_prince import Compiled
from vbg.simulate.steppers.explicit import SteadyDOP853
from vbg.simulate.steppers.leap import History
from vbg.simulate.steppers.stepper import FixedStep

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="module", params=["slider-crank", "excavator-arm", "spatial-four-bar"])
def start(request):
    file = EXAMPLES / f"{request.param}.toml"
    return vbg.start(vbg.read(file if file.exists() else EXAMPLES / "bennett.toml"))


def test_steps_in_compiled_code_are_those_of_the_rate_and_of_scipy(start):
    """Lengths, states and polynomials of three steps; the tolerances are not the same for all
    states."""
    rate, n = start.evaluator("rate"), start.system.size
    atol = np.geomspace(1e-9, 1e-8, n)

    def f(t, x):
        return rate(t, x)[:n].copy()

    begin = 0.0, start.state, 1e-1
    compiled = SteadyDOP853(f, *begin, step=Compiled(rate, n), rtol=1e-8, atol=atol)
    slow = called(f, *begin, rtol=1e-8, atol=atol)
    peer = DOP853(f, *begin, rtol=1e-8, atol=atol)
    for _ in range(3):
        slow.h_abs = peer.h_abs = compiled.h_abs  # where errors are rounding, so is this
        for solver in (compiled, slow, peer):
            solver.step()
        assert compiled.t == pytest.approx(slow.t, rel=1e-6)
        assert compiled.t == pytest.approx(peer.t, rel=1e-6)
        middle = compiled.t_old + 0.4 * (compiled.t - compiled.t_old)
        inside = compiled.dense_output()
        for other in (slow, peer):
            assert_allclose(inside(middle), other.dense_output()(middle), rtol=1e-9, atol=1e-11)
        assert_allclose(inside(compiled.t), compiled.y, rtol=1e-15, atol=1e-14)
        assert compiled.staged == slow.staged


def test_the_error_of_a_step_is_that_of_the_slow_twin(start):
    """Of one so long that it is no rounding."""
    rate, n = start.evaluator("rate"), start.system.size
    fast, slow = Compiled(rate, n), Called(lambda t, x: rate(t, x)[:n].copy(), n)
    for step in (fast, slow):
        step.x[:], step.atol[:] = start.state, np.geomspace(1e-9, 1e-8, n)
        step.rtol[:] = np.geomspace(1e-8, 1e-9, n)
        step.K[0] = rate(0.0, start.state)[:n]
    errors = [step.attempt(0.0, 0.05)[0] for step in (fast, slow)]
    assert errors[0] > 1e-3
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_the_condition_at_the_end_of_a_step_is_that_of_its_rate(start):
    rate, n = start.evaluator("rate"), start.system.size
    step = Compiled(rate, n)
    step.x[:], step.atol[:], step.rtol[:] = start.state, 1e-8, 1e-8
    step.K[0] = rate(0.0, start.state)[:n]
    _, condition = step.attempt(0.0, 1e-3)
    rate(1e-3, step.end)
    assert condition == pytest.approx(Conditioning(rate).worst(), rel=1e-12)
    assert step.unwatched().attempt(0.0, 1e-3)[1] == 1.0


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
    efforts = start.evaluator("recorded")(times[0], states[0])[start.system.size :].copy()
    known.add(times[0], states[0], efforts)
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


@pytest.mark.parametrize("rate", [1e2, 1e60, 1e140, 1e160, 1e300])
def test_a_first_step_goes_with_the_rate_and_says_nothing(rate):
    """Of y' = c y it is in proportion to 1/c; beyond 1e154 squares overflow, and it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = SteadyDOP853(lambda t, y: rate * y, 0.0, np.ones(3), 1.0, step=None)
    assert 0.0 <= rate * solver.h_abs < 1.001
