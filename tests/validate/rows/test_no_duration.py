"""Runs of no duration: their start is all there is, in every method and every column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.simulate.record.audit import limits_of
from vbg.tmm_bridge import simulate as transfer_matrices
from vbg.tmm_bridge.discrete.method import simulate as discrete_time
from vbg.validate import validate

EXAMPLES = Path(__file__).parents[3] / "examples"
SCHEMES = ("dt", "dt-houbolt", "dt-wilson")


def read(name: str) -> vbg.Model:
    return vbg.read(EXAMPLES / f"{name}.toml")


@pytest.mark.parametrize("name", ["pendulum", "hydraulic-arm"])
@pytest.mark.parametrize("output_step", [1e-3, 7.0])
def test_a_verdict_has_all_its_columns(name, output_step):
    report = validate(
        read(name), t_end=0.0, output_step=output_step, also=SCHEMES, in_children=False
    )
    assert report.result == "PASS", report.verdict.sentence
    assert set(report.also) == set(SCHEMES)
    for scheme, column in report.also.items():
        assert report.solutions[scheme].time.tolist() == [0.0]
        assert column.result == "PASS", (scheme, column.sentence)


def test_what_one_row_cannot_tell_is_said():
    """The effort of a motor on a joint without what its rotor takes: J times a slope."""
    report = validate(read("motor-slider-crank"), t_end=0.0, also=("dt",), in_children=False)
    assert report.also["dt"].result == "INCONCLUSIVE"
    assert "no duration" in report.also["dt"].sentence


@pytest.mark.parametrize("t_end", [5e-324, 1e-300, 1e-100, 1e-15, 1e-9, 2.5e-4])
def test_however_short_a_run_is_it_ends(t_end):
    """Shorter than its output step: two rows, or one where both are at the same instant."""
    model = read("pendulum")
    for run in (
        discrete_time(model, t_end=t_end),
        vbg.simulate(model, t_end=t_end),
        vbg.simulate(model, t_end=t_end, formulation="minimal"),
        transfer_matrices(model, t_end=t_end),
    ):
        assert run.status.code == "finished" and not run.audit.failures
        assert run.time[0] <= t_end
        if t_end >= 1e-9:
            assert run.time[1:] == pytest.approx([t_end], rel=1e-9)


@pytest.mark.parametrize("t_end", [1e-300, 1e-13])
def test_a_run_far_below_its_output_step_is_verified_at_its_start(t_end):
    report = validate(read("pendulum"), t_end=t_end, also=SCHEMES, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert all(solution.time.tolist() == [0.0] for solution in report.solutions.values())


@pytest.mark.parametrize(
    "settings",
    [{"method": m} for m in ("auto", "dop853", "rk4", "radau", "discrete-time")]
    + [{"formulation": "minimal"}, {"formulation": "minimal", "method": "adams"}],
)
def test_the_start_is_the_run(settings):
    start = vbg.start(vbg.assemble(read("pendulum")))
    with np.errstate(all="raise"):
        run = vbg.simulate(start, t_end=0.0, **settings)
    assert run.status.code == "finished" and run.time.tolist() == [0.0]
    assert not run.audit.failures


def test_a_method_without_limits_has_none_at_rest_either():
    with np.errstate(all="raise"):
        limits = limits_of("discrete-time", 1e-8, 1e-12, 1e-9)
        assert limits.velocity_beside(np.float64(0.0)) == np.inf
