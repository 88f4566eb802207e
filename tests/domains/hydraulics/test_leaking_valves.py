"""What valves let through as their pages say it, shut and open, in both solvers: a leak is a way
beside the seat, there at any opening, and nothing jumps where a valve begins to open."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import tmm_bridge
from vbg.io import toml

PUSHED = """vbg = 1
[hydraulic.line]
kind = "pressure_source"
nodes = ["p", "tank"]
pressure = "{mean!r} + {swing!r}*sin(7*t)"
[hydraulic.valve]
kind = "{kind}"
nodes = ["p", "tank"]
leakage = {leakage!r}
{keys}
[simulate]
t_end = 1
output_step = 0.01
"""


def at_random(seed):
    """(opening pressure, conductance, leakage, mean and swing of the pressure) [SI]."""
    random = np.random.default_rng(seed)
    opens = 10.0 ** random.uniform(4, 8)
    conductance = 10.0 ** random.uniform(-14, -8)
    leakage = conductance * 10.0 ** random.uniform(-4, 0)
    drawn = opens, conductance, leakage, opens * random.uniform(-0.5, 0.9), 1.7 * opens
    return tuple(map(float, drawn))


@pytest.mark.parametrize("kind", ["relief_valve", "check_valve"])
@pytest.mark.parametrize("seed", range(3))
def test_a_leak_is_beside_the_seat(kind, seed):
    opens, conductance, leakage, mean, swing = at_random(seed)
    keys = f"setting = {opens!r}\nslope = {1.0 / conductance!r}"
    if kind == "check_valve":
        keys = f"cracking = {opens!r}\nconductance = {conductance!r}"
    text = PUSHED.format(kind=kind, mean=mean, swing=swing, leakage=leakage, keys=keys)
    model = toml.parse(text)
    for run in (vbg.simulate(model), tmm_bridge.simulate(model)):
        p = mean + swing * np.sin(7 * run.time)
        assert (p > opens).any() and (p < opens).any() and (p < 0.0).any()
        flow = leakage * p + conductance * np.maximum(p - opens, 0.0)
        assert_allclose(run["valve.flow"].ravel(), flow, rtol=1e-9, atol=1e-12 * abs(flow).max())


SPOOL = """vbg = 1
[hydraulic.P]
kind = "pressure_source"
nodes = ["p", "tank"]
pressure = {supply!r}
[hydraulic.A]
kind = "pressure_source"
nodes = ["a", "tank"]
pressure = {one!r}
[hydraulic.B]
kind = "pressure_source"
nodes = ["b", "tank"]
pressure = {other!r}
[hydraulic.valve]
kind = "proportional_valve"
nodes = ["p", "tank", "a", "b"]
opening = "sin(7*t)"
qn = {qn!r}
overlap = {overlap!r}
laminar = 1
leakage = {leakage!r}
[simulate]
t_end = 1
output_step = 0.01
"""


@pytest.mark.parametrize("seed", range(2))
def test_an_open_edge_of_a_spool_leaks_too(seed):
    random = np.random.default_rng(seed)
    supply, qn = 10.0 ** random.uniform(6.5, 8), 10.0 ** random.uniform(-5, -2)
    one, other = (float(part) * supply for part in random.uniform(0.2, 0.8, 2))
    overlap, leakage = random.uniform(0.02, 0.3), random.uniform(1e-4, 0.2)
    text = SPOOL.format(
        supply=supply, one=one, other=other, qn=qn, overlap=overlap, leakage=leakage
    )
    model = toml.parse(text)
    for run in (vbg.simulate(model), tmm_bridge.simulate(model)):
        u = np.sin(7 * run.time)
        for edge, sign, p in (
            ("PA", 1.0, supply - one),
            ("BT", 1.0, other),
            ("PB", -1.0, supply - other),
            ("AT", -1.0, one),
        ):
            opening = np.maximum(sign * u - overlap, 0.0) + leakage
            flow = qn * opening * np.sqrt(p / 5e5)
            assert_allclose(run[f"valve.{edge}.flow"].ravel(), flow, rtol=1e-9)
