"""Dry friction whose static part is felt for an instant only, and loads that swing while all is
stuck: reversals and breaking away at the times of closed forms, in both solvers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.io import toml

DISC = """
[rotational.disc{i}]
kind = "inertia"
nodes = ["a{i}"]
J = {J}
speed = {speed}
[rotational.push{i}]
kind = "torque"
nodes = ["a{i}"]
torque = "{torque}"
[rotational.brake{i}]
kind = "friction"
nodes = ["a{i}"]
coulomb = {coulomb}
static = {static}
stribeck = {stribeck}
"""
RUN = "vbg = 1\n[simulate]\nt_end = 1.0\noutput_step = 0.1\n"
SOLVERS = (vbg.simulate, tmm_bridge.simulate)


def stops_at(J: float, speed: float, coulomb: float, static: float, stribeck: float) -> float:
    """J dv/dt = -coulomb - (static - coulomb) exp(-v / stribeck), from `speed` to rest."""
    more = static - coulomb
    last = np.log((coulomb + more * np.exp(-speed / stribeck)) / static)
    return float(J / coulomb * (speed + stribeck * last))


@pytest.mark.parametrize("discs", [1, 12])
def test_a_disc_stops_when_the_law_says(discs):
    """With many states beside it the first step from where static friction is felt is longer."""
    rng, text, expected = np.random.default_rng(discs), RUN, []
    for i in range(6 if discs == 1 else 12):
        coulomb, J = rng.uniform(1.0, 3.0), 10.0 ** rng.uniform(-2.0, 1.0)
        law = {"coulomb": coulomb, "static": coulomb * rng.uniform(1.5, 4.0)}
        law |= {"J": J, "stribeck": 10.0 ** rng.uniform(-6.0, -1.0)}
        law["speed"] = rng.uniform(0.2, 0.9) * coulomb / J
        expected.append(stops_at(**law))
        text += DISC.format(i=i, torque=0, **law)
    texts = [text] if discs > 1 else [RUN + "[rotational.disc" + one for one in _parts(text)]
    for run in SOLVERS:
        found: dict[str, float] = {}
        for model in map(toml.parse, texts):
            solution = run(model, rtol=1e-10, atol=1e-12)
            found |= {e.where.partition("brake")[2].partition(".")[0]: e.time
                      for e in solution.audit.events}  # fmt: skip
            assert solution.audit.energy_residual < 1e-8
        assert_allclose([found[str(i)] for i in range(len(expected))], expected, rtol=1e-7)


def _parts(text: str) -> list[str]:
    return text.split("[rotational.disc")[1:]


@pytest.mark.parametrize("seed", tail(range(4, 8), 2))
def test_a_swinging_load_breaks_loose_what_sticks(seed):
    """The first peak beyond the static friction, after many below it, in one output step."""
    rng = np.random.default_rng(seed)
    w, phase, static = rng.uniform(20.0, 250.0), rng.uniform(0.0, 6.0), rng.uniform(0.2, 0.9)
    law = {"J": 1.0, "speed": 0.0, "coulomb": 0.5 * static, "static": static, "stribeck": 0.01}
    model = toml.parse(RUN + DISC.format(i=0, torque=f"t*sin({w}*t + {phase})", **law))
    t = np.linspace(0.0, 1.0, 1_000_001)
    expected = t[np.argmax(np.abs(t * np.sin(w * t + phase)) > static)]
    for run in SOLVERS:
        first = run(model, rtol=1e-10, atol=1e-12).audit.events[0]
        assert_allclose(first.time, expected, atol=2e-6)
