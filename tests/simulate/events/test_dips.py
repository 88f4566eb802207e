"""Dips of a switching function below zero between the looks at a step, however large it was
before: an ideal diode that has blocked 1000 V conducts with 1e-5 V for an ampere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate as second

BLOCKED, PERIODS = 0.1, 4  # s; of the sine behind


def circuit(below: float, scale: float, phase: float) -> vbg.Model:
    """A diode, 1 ohm and 1 uH at a source that is -1000 for 0.1 s, from then on
    1 + (1 + below) sin(2 pi t + phase), all times `scale` [V]."""
    wave = f"{scale}*(1 + {1.0 + below}*sin(2*pi*t + {phase}))"
    electric = {
        "U": {
            "kind": "voltage_source",
            "nodes": ["a", "gnd"],
            "voltage": f"if(t < {BLOCKED}, {-1000.0 * scale}, {wave})",
        },
        "D": {"kind": "diode", "law": "ideal", "nodes": ["a", "b"]},
        "R": {"kind": "resistor", "nodes": ["b", "c"], "R": 1.0},
        "L": {"kind": "inductor", "nodes": ["c", "gnd"], "L": 1e-6},
    }
    settings = {"t_end": BLOCKED + PERIODS, "output_step": 0.02}
    return vbg.Model(name="dips", electric=electric, simulate=settings)


@pytest.mark.parametrize("seed", tail(range(20), 4))
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_an_ideal_diode_that_has_blocked_much_lets_nothing_back(seed, method):
    """In each period the source is below zero for 2 sqrt(2 below) of 2 pi, or a little less."""
    rng = np.random.default_rng(seed)
    below, scale = 10.0 ** rng.uniform(-4, -2), 10.0 ** rng.uniform(-3, 3)
    model = circuit(below, scale, rng.uniform(0.0, 2.0 * np.pi))
    run = vbg.simulate(model, method=method)
    assert run.status.code == "finished"
    behind = [event.time for event in run.audit.events if event.time > BLOCKED + 1e-3]
    assert len(behind) >= 2 * PERIODS - 1
    assert run["D.current"][run.time > BLOCKED + 1e-3].min() > -1e-6 * scale
    shut = np.arccos(1.0 / (1.0 + below)) / np.pi  # of a period, as a time [s]
    lengths = np.diff(behind)
    assert_allclose(lengths[lengths < 0.5], shut, atol=2e-5)


@pytest.mark.parametrize(
    "seed, scale", tail([(0, 0.03), (3, 1e-3), (1, 1.0), (2, 1e3), (5, 1e-6)], 2)
)
def test_the_second_solver_waits_for_the_current_of_a_coil(seed, scale):
    """One dip, by the same closed form: a root of a step's polynomial is none before the current
    is zero, or the diode switches endlessly."""
    rng = np.random.default_rng(seed)
    below, _ = 10.0 ** rng.uniform(-4, -2), rng.uniform()
    run = second(circuit(below, scale, rng.uniform(0.0, 2.0 * np.pi)), t_end=BLOCKED + 1.0)
    assert run.status.code == "finished"
    behind = [event.time for event in run.audit.events if event.time > BLOCKED + 1e-3]
    assert_allclose(np.diff(behind), [np.arccos(1.0 / (1.0 + below)) / np.pi], atol=2e-5)
    assert run["D.current"][run.time > BLOCKED + 1e-3].min() > -1e-6 * scale
