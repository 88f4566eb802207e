"""States that are kept between the rows of a run."""

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge.motion.witnesses import MOST, Witnesses


@pytest.mark.parametrize("period", [2, 16, 37, 64.5])
@pytest.mark.parametrize("steps", [3, 100, 20_000])
def test_witnesses_are_few_and_fall_on_no_period_of_the_steps(period, steps):
    """cos of steps that all fall on turning points where every other, fourth ... one is taken."""
    kept = Witnesses()
    for n in range(steps):
        kept.add(float(n), np.array([np.cos(2.0 * np.pi * (n + 0.25) / period)]))
    assert min(steps, MOST // 3) <= len(kept.kept) <= MOST
    if steps > 2 * period:
        found = np.array([seen.state[0] for seen in kept.kept])
        every = np.cos(2.0 * np.pi * (np.arange(steps) + 0.25) / period)
        assert np.ptp(found) > 0.9 * np.ptp(every)
    kept.back_to(1.0)
    assert all(seen.inside <= 1.0 for seen in kept.kept)


def test_rows_that_stand_still_tell_no_loss_of_a_body_on_a_spring():
    """A guided body let go at 0.1 m, a row in each turning point; and what is lost is told."""
    model = vbg.Model(
        gravity=[0, 0, 0],
        bodies={"b": {"mass": 2.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        joints={
            "s": {"kind": "prismatic", "between": ["ground", "b"], "axis": [1, 0, 0]}
            | {"initial": {"slide": 0.1}}
        },
        forces={"k": {"kind": "spring", "on": "joints.s", "k": 2.0 * (2.0 * np.pi) ** 2}},
    )
    run = {"t_end": 10.0, "output_step": 1.0}
    assert not vbg.tmm_bridge.simulate(model, **run).audit.failures
    loose = vbg.tmm_bridge.simulate(model, **run, rtol=1e-2, atol=1e-3)
    assert loose.audit.failures
    assert loose.audit.energy_residual < 0.9
