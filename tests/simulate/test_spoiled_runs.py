"""Runs at loosened tolerances are told by their audit, whatever the joints bear meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import SHAKES, SIZE
from tests.tail import tail

TURNS = 3.0
ALLOWED = 1e-4  # error relative to the peak that has to be told
DEFAULT = {"rtol": 1e-8, "atol": 1e-10}


def pressed(seed: int, moved: float = 0.0) -> tuple[vbg.System, float, float, float]:
    """An arm that swings on a torsion spring, pressed along its hinge by a force whose work along
    the arm is some decades more than the spring's, `moved` by so much of its angle; w [1/s],
    its amplitude, and the time of TURNS [s]."""
    random = np.random.default_rng(seed)
    mass, arm, w = 10.0 ** random.uniform([-6, -4, -1], [3, 1, 4])
    amplitude = random.uniform(0.2, 1.5) * (1.0 + moved)
    own = 0.1 * mass * arm**2
    k = (own + mass * arm**2) * w**2
    F = 10.0 ** random.uniform(3, 6) * 0.5 * k * amplitude**2 / arm
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    across = np.cross(axis, random.normal(size=3))
    across *= arm / np.linalg.norm(across)
    inertia = {"xx": own, "yy": own, "zz": own}
    model = vbg.Model(
        vbg=1,
        gravity=[0, 0, 0],
        bodies={"arm": {"mass": mass, "inertia": inertia, "points": {"A": list(-across)}}},
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "arm.A"],
                "axis": list(axis),
                "initial": {"angle": amplitude},
            }
        },
        forces={
            "spring": {"kind": "torsion_spring", "on": "joints.hinge", "k": k},
            "load": {"kind": "force", "on": "arm", "force": list(F * axis), "axes": "world"},
        },
    )
    return vbg.assemble(model), w, amplitude, TURNS * 2.0 * np.pi / w


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("looser", [1e4, 1e5, 1e6])
def test_no_load_on_a_joint_excuses_what_a_loose_run_loses(seed, looser):
    """theta(t) = theta(0) cos(w t); what is off by more than ALLOWED fails its audit."""
    system, w, amplitude, T = pressed(seed)
    loose = {name: looser * value for name, value in DEFAULT.items()}
    run = vbg.simulate(system, t_end=T, output_step=T / 50, **loose)
    error = np.abs(run["hinge.angle"] / amplitude - np.cos(w * run.time)).max()
    assert error < ALLOWED or run.audit.failures, (error, run.audit)


@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_what_is_right_under_a_load_passes(seed):
    for moved in SIZE * np.arange(SHAKES):
        system, w, amplitude, T = pressed(seed, moved)
        run = vbg.simulate(system, t_end=T, output_step=T / 50)
        assert np.abs(run["hinge.angle"] / amplitude - np.cos(w * run.time)).max() < 1e-6
        assert not run.audit.failures
