"""Dry friction on a shaft without inertia, whose speed follows from the efforts at once."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail

C, COULOMB, LOAD, W = 0.5, 1.0, 3.0, 5.0  # N*m*s/rad, N*m, N*m, rad/s


def model(torque, time, dry):
    """A damper and the dry parts under a sine: LOAD, C and COULOMB in units of torque and time."""
    parts = {
        "c": {"kind": "damper", "nodes": ["b"], "c": C * torque * time},
        "T": {"kind": "torque", "nodes": ["b"], "torque": f"{LOAD * torque!r}*sin({W / time!r}*t)"},
        "k": {"kind": "spring", "nodes": ["b", "a"], "k": 1e-3 * torque},
        "J": {"kind": "inertia", "nodes": ["a"], "J": 1e6 * torque * time**2},
    }
    for i, share in enumerate(dry):
        parts[f"f{i}"] = {"kind": "friction", "nodes": ["b"], "coulomb": share * COULOMB * torque}
    run = {"t_end": 3.0 * time, "output_step": 0.02 * time}
    return vbg.Model(rotational=parts, simulate=run)


UNITS = [(1e-9, 1e5), (1.0, 1.0), (1e6, 1e-6), (1e-9, 1e-6), (1e6, 1e5), (1.0, 1e-6), (1.0, 1e5)]


@pytest.mark.parametrize(("torque", "time"), tail([*UNITS, (1e-9, 1.0), (1e6, 1.0)], 1))
@pytest.mark.parametrize("dry", [(1.0,), (0.3, 0.7), (0.2, 0.5, 0.3)])
def test_it_moves_by_what_the_load_is_beyond_the_friction(torque, time, dry):
    """C speed = max(|T| - COULOMB, 0) sign(T) but for 1e-3 of the torques by a soft spring."""
    start = vbg.start(model(torque, time, dry))
    for one in shaken(start, size=1e-13 * min(1.0, torque * time)):
        found = vbg.simulate(one)
        assert found.status.code == "finished", found.status
        load = LOAD * np.sin(W * found.time / time)
        expected = np.sign(load) * np.maximum(np.abs(load) - COULOMB, 0.0) / C
        speed = found["rotational.b.speed"] * time
        np.testing.assert_allclose(speed, expected, atol=2e-2)
        held = np.abs(load) < COULOMB - 0.01
        np.testing.assert_allclose(speed[held], 0.0, atol=1e-9)
        taken = sum(found[f"f{i}.torque"] for i in range(len(dry))) / torque
        np.testing.assert_allclose(-taken[held], load[held], atol=1e-2)
        assert found.audit.energy_residual < 1e-5
