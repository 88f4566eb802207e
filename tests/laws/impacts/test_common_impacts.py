"""Joints that close at one instant close in one impact: wagons whose gaps all close at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import only
from vbg.tmm_bridge import simulate as second

SEEDS = range(10)


def train(seed: int) -> tuple[vbg.Model, Any, Any, float]:
    """Wagons with points for buffers; the masses, the speeds, and when they meet."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 6))
    length, time, mass = (10.0 ** random.uniform(-3, 3, 3)).tolist()
    m = mass * random.uniform(0.3, 3.0, n)
    v = np.sort(random.uniform(-1.0, 1.0, n))[::-1] * length / time
    meet = 0.4 * time
    # rear and front at distances `length` when they meet
    x = length * np.arange(n) - v * meet
    bodies, joints = {}, {}
    for i in range(n):
        inertia = dict.fromkeys(("xx", "yy", "zz"), float(m[i]) * length**2)
        ends = {"front": [0.5 * length, 0, 0], "rear": [-0.5 * length, 0, 0]}
        bodies[f"w{i}"] = {"mass": float(m[i]), "inertia": inertia, "points": ends}
        joints[f"t{i}"] = {
            "kind": "prismatic",
            "between": ["ground", f"w{i}"],
            "axis": [1, 0, 0],
            "initial": {"slide": float(x[i]), "speed": float(v[i])},
        }
    for i in random.permutation(n - 1).tolist():
        joints[f"c{i}"] = {
            "kind": "fixed",
            "between": [f"w{i}.front", f"w{i + 1}.rear"],
            "engage": f"t{i + 1}.slide - t{i}.slide < {length!r}",
        }
    settings = {"t_end": time, "output_step": time / 20.0}
    return vbg.Model(bodies=bodies, joints=joints, gravity=[0, 0, 0], simulate=settings), m, v, meet


@pytest.mark.parametrize("seed", only([0, 1], SEEDS))
@pytest.mark.parametrize("solve", [vbg.simulate, second])
def test_wagons_that_meet_at_once_share_one_impact(solve, seed):
    """Behind it all have V = sum m v / sum m; a coupling passes on what those on its left gain,
    sum m (V - v), and has an equal share of the energy that is gone."""
    model, m, v, meet = train(seed)
    run = solve(model)
    assert run.status.code == "finished", run.status
    assert_allclose([event.time for event in run.audit.events], meet, rtol=1e-9)
    V = float(m @ v / m.sum())
    gone = 0.5 * float(m @ (v - V) ** 2)
    for i in range(len(m) - 1):
        impulse = float(m[: i + 1] @ (v[: i + 1] - V))
        assert_allclose(run[f"c{i}.impulse.x"][-1], impulse, rtol=1e-8, err_msg=f"c{i}")
        assert_allclose(run[f"c{i}.lost"][-1], gone / (len(m) - 1), rtol=1e-8)
    assert_allclose(run["t0.speed"][-1], V, rtol=1e-8, atol=1e-8 * np.abs(v).max())
