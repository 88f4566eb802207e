"""Networks without sense or order: each runs with a closed energy audit, or is told by a sentence
why it does not."""

import numpy as np
import pytest

import vbg
from tests.domains.random_networks import circuit, driveline
from vbg.errors import VbgError


@pytest.mark.parametrize("make", (circuit, driveline))
@pytest.mark.parametrize("seed", range(0, 60, 12))
def test_each_runs_or_says_why_not(make, seed):
    for one in range(seed, seed + 12):
        try:
            found = vbg.simulate(vbg.Model(name=f"{make.__name__} {one}", **make(one)))
        except VbgError as error:
            assert str(error)
            continue
        if found.status.code == "finished":
            assert found.audit.energy_residual < 1e-6, one
        else:
            assert found.status.sentence and found.status.remedy, one


@pytest.mark.parametrize("L", (0.0, 1e-3))
@pytest.mark.parametrize("U", (12.0, "12*sin(30*t)"))
def test_a_motor_without_load_turns_as_its_voltage_says(U, L):
    """Without inertia the torque is zero, so is the current: speed = U / K."""
    motor = {"kind": "dc_motor", "nodes": ["a", "gnd"], "on": "rotational.m", "R": 1, "K": 0.05}
    source = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": U}
    model = vbg.Model(name="free", electric={"motor": {**motor, "L": L}, "source": source})
    found = vbg.simulate(model, t_end=0.1, output_step=0.01)
    assert found.status.code == "finished", found.status
    np.testing.assert_allclose(found["motor.speed"], found["source.voltage"] / 0.05, atol=1e-9)
    np.testing.assert_allclose(found["motor.current"], 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ("volume", "accumulator"))
def test_the_tank_fills_nothing(kind):
    part = {"kind": kind, "nodes": ["tank"], "volume": 1e-3}
    part |= {"precharge": 1e6} if kind == "accumulator" else {}
    with pytest.raises(VbgError, match="the tank keeps its pressure"):
        vbg.Model(name="full", hydraulic={"part": part})
