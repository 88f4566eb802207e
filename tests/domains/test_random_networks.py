"""Networks without sense or order: each runs with a closed energy audit, or is told by a sentence
why it does not."""

import numpy as np
import pytest

import vbg
from tests.domains.random_networks import circuit, driveline, oil
from vbg.errors import VbgError


@pytest.mark.parametrize("make", (circuit, driveline, oil))
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


def gas(p, **written):
    """On one node a volume of oil and an accumulator that is precharged to 20 bar."""
    part = {"kind": "accumulator", "nodes": ["n"], "volume": 1e-3, "precharge": 2e6}
    oil = {"kind": "volume", "nodes": ["n"], "volume": 1e-4, "pressure": p}
    out = {"kind": "orifice", "nodes": ["n", "tank"], "area": 1e-6}
    return vbg.Model(name="gas", hydraulic={"oil": oil, "gas": {**part, **written}, "out": out})


@pytest.mark.parametrize("p", np.geomspace(5e5, 4e7, 7))
@pytest.mark.parametrize("n", (1.0, 1.4))
def test_an_accumulator_begins_with_the_pressure_that_is_written_for_its_node(p, n):
    """However far from its precharge: content = volume (1 - (precharge / p)^(1/n))."""
    system = vbg.assemble(gas(p, n=n))
    begin = vbg.start(system)
    content = dict(zip(system.state_names, begin.state, strict=True))["gas.content"]
    assert content == pytest.approx(1e-3 * (1.0 - (2e6 / p) ** (1.0 / n)), rel=1e-12, abs=1e-15)
    found = begin.outputs(0.0, begin.state)
    assert found["gas.pressure"][0] == pytest.approx(p, rel=1e-12)
    assert np.isfinite(begin.rate(0.0, begin.state)).all()


@pytest.mark.parametrize(("p", "written"), (("30e5", {}), ("400e5*(1 + t)", {"pressure": 6e6})))
def test_an_accumulator_on_a_given_pressure_takes_it(p, written):
    model = gas(2e6, **written)
    source = {"kind": "pressure_source", "nodes": ["n", "tank"], "pressure": p}
    model = model.edited(("hydraulic", "oil"), source)
    report = vbg.validate.validate(model.edited(("simulate", "t_end"), 0.01))
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.parametrize("kind", ("volume", "accumulator"))
def test_no_store_takes_a_pressure_that_there_is_not(kind):
    part = {"kind": kind, "nodes": ["n"], "volume": 1e-3}
    part |= {"precharge": 1e6} if kind == "accumulator" else {}
    source = {"kind": "pressure_source", "nodes": ["n", "tank"], "pressure": -2e5}
    model = vbg.Model(name="vacuum", hydraulic={"part": part, "source": source})
    with pytest.raises(VbgError, match="no state of it has the pressure"):
        vbg.simulate(model)
