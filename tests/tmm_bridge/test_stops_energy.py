"""Stops with dampers in the second solver: what is lost in them is what is missing.

A stop never pulls.  Where its damper outweighs its spring on the way out it lets go, and until the
body has left its depth the spring gives the damper what it holds: the power that is lost bends at
both ends of that, though no force does at the second.
"""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge.solver import simulate


def swinging(kind: str, seed: int, shake: int) -> vbg.Model:
    """A body on a spring that swings against a stop beside its rest, on its joint or between two
    points, of any size and speed."""
    random = np.random.default_rng(seed)
    mass, w, v = (float(10 ** random.uniform(*between)) for between in ((-1, 2), (0, 2), (-1, 1)))
    damping, stiffer = float(random.uniform(0.3, 1.5)), float(10 ** random.uniform(0.5, 2))
    v *= 1.0 + 1e-13 * float(np.random.default_rng(shake).uniform(-1, 1)) * (shake > 0)
    k = mass * w**2
    law = {"k": stiffer * k, "c": 2.0 * damping * mass * w * stiffer**0.5}
    rest, gap = 0.3 * v / w, 0.7 * v / w
    slide = {
        "kind": "prismatic",
        "between": ["ground", "b"],
        "axis": [1, 0, 0],
        "initial": {"speed": v},
    }
    forces = {"spring": {"kind": "spring", "on": "joints.p", "k": k}}
    if kind == "joint":
        slide["stop"] = {"upper": rest, **law}
    else:
        ends = [{"body": "ground", "at": [rest + gap, 0, 0]}, "b"]
        forces["s"] = {"kind": "stop", "between": ends, "gap": gap, **law}
    return vbg.Model(
        name="swinging",
        gravity=[0, 0, 0],
        bodies={"b": {"mass": mass, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={"p": slide},
        forces=forces,
        simulate={"t_end": 12 / w, "output_step": 0.05 / w, "rtol": 1e-9, "atol": 1e-12},
    )


CASES = [(kind, seed) for seed in range(8) for kind in ("joint", "points")]


@pytest.mark.parametrize(("kind", "seed"), tail(CASES, 1))
def test_energy_that_a_stop_loses_is_accounted_for(kind, seed):
    for shake in range(10):
        solution = simulate(swinging(kind, seed, shake))
        assert len(solution.audit.events) >= 2  # it is touched and left
        assert solution.audit.energy_residual < 5e-8, shake
