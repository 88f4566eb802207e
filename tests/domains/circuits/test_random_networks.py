"""Networks without sense or order: each runs with a closed energy audit, or is told by a sentence
why it does not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

import vbg
from tests.domains.random_networks import circuit, driveline, oil
from tests.tail import tail
from vbg import tmm_bridge
from vbg.errors import VbgError


@pytest.mark.parametrize("make", (circuit, driveline, oil))
@pytest.mark.parametrize("seed", tail(range(0, 60, 12), 2))
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


@pytest.mark.parametrize("seed", tail((46, 2, 30), 1))
@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
def test_both_solvers_agree_on_what_sticks_in_drivelines(seed, rtol):
    """What breaks away with no acceleration to speak of is not held from there on."""
    model = vbg.Model(name=f"driveline {seed}", **driveline(seed))
    first, second = (
        run(model, rtol=rtol, atol=1e-2 * rtol) for run in (vbg.simulate, tmm_bridge.simulate)
    )
    for name in first.signals:
        if name.startswith("rotational.") and name.endswith((".angle", ".speed")):
            peak = np.abs(first[name]).max()
            assert_allclose(second[name], first[name], atol=1e3 * rtol * peak + 1e-12)


@pytest.mark.parametrize("seed", tail((15, 1, 42, 58), 1))
def test_both_solvers_agree_on_oil_nets(seed):
    """More of them: `python -m benchmarks.accuracy.networks 60`."""
    model = vbg.Model(name=f"oil {seed}", **oil(seed))
    report = vbg.validate.validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.parametrize(("seed", "node"), ((28, "n1"), (50, "n1"), (76, "n1")))
def test_a_node_between_parts_that_give_flow_only_is_refused_and_oil_mends_it(seed, node):
    """A shut valve without a leak behind a pipe, a pump against it: any pressure will do there."""
    document = oil(seed)
    with pytest.raises(VbgError, match=f"nothing gives the node '{node}' its pressure") as told:
        vbg.start(vbg.Model(name="shut", **document))
    for name, part in document["hydraulic"].items():
        assert (f"{name} ({part['kind']})" in str(told.value)) == (node in part["nodes"]), name
    remedy = {"kind": "volume", "nodes": [node], "volume": 1e-3}
    document["hydraulic"]["line"] = remedy
    found = vbg.simulate(vbg.Model(name="oil in the line", **document), t_end=0.005)
    assert found.status.code == "finished" and found.audit.energy_residual < 1e-6


def test_a_valve_that_shuts_while_oil_comes_through_a_pipe_is_named():
    """The pipe's flow must end at once: there is no pressure for that."""
    parts = {
        "supply": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 1e6},
        "pipe": {"kind": "pipe", "nodes": ["p", "n"], "length": 2.0, "diameter": 0.01},
        "valve": {"kind": "check_valve", "nodes": ["n", "tank"], "conductance": 1e-9},
    }
    parts["valve"]["cracking"] = 2e6
    with pytest.raises(
        VbgError, match=r"the node .n. its pressure.*pipe .pipe., valve .check_valv"
    ):
        vbg.simulate(vbg.Model(name="shut", hydraulic=parts))


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
    """However far above its precharge: content = volume (1 - (precharge / p)^(1/n)), both absolute,
    behind what the port takes, 1 % of the volume at a modulus of 14 kbar; below, that at p."""
    system = vbg.assemble(gas(p, n=n))
    begin = vbg.start(system)
    content = dict(zip(system.state_names, begin.state, strict=True))["gas.content"]
    air = 101325.0
    shell = 1e-3 * (1.0 - ((2e6 + air) / (max(p, 2e6) + air)) ** (1.0 / n))
    port = 1e-5 * min(p, 2e6) / 1.4e9
    assert content == pytest.approx(shell + port, rel=1e-12, abs=1e-18)
    found = begin.outputs(0.0, begin.state)
    assert found["gas.pressure"][0] == pytest.approx(p, rel=1e-12)
    assert np.isfinite(begin.rate(0.0, begin.state)).all()


GIVEN = (
    ("30e5", {}),
    ("400e5*(1 + t)", {"pressure": 6e6}),
    ("1e5*max(t - 0.005, 0)", {}),
    ("-0.7e5*sin(200*t)", {}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "written"), GIVEN)
def test_an_accumulator_on_a_given_pressure_takes_it(p, written):
    model = gas(2e6, **written)
    source = {"kind": "pressure_source", "nodes": ["n", "tank"], "pressure": p}
    model = model.edited(("hydraulic", "oil"), source)
    report = vbg.validate.validate(model.edited(("simulate", "t_end"), 0.01))
    assert report.result == "PASS", report.verdict.sentence


def emptied(p, n, dead):
    """An accumulator that an orifice empties and a flow fills again from t = 9 s on."""
    part = {"kind": "accumulator", "nodes": ["n"], "volume": 1e-3, "precharge": 2e6, "n": n}
    parts = {
        "gas": {**part, "pressure": p, "dead": dead},
        "out": {"kind": "laminar_resistance", "nodes": ["n", "tank"], "conductance": 4e-11},
        "fill": {"kind": "flow_source", "nodes": ["tank", "n"], "flow": "if(t < 9, 0, 2e-4)"},
    }
    return vbg.Model(name="emptied", hydraulic=parts, simulate={"t_end": 10, "output_step": 0.01})


@pytest.mark.parametrize("shake", tail((0.0, 1e-13), 1))
@pytest.mark.parametrize(("n", "dead"), ((1.0, 1e-5), (1.4, 1e-4)))
def test_an_empty_accumulator_gives_nothing_and_begins_where_it_ended(shake, n, dead):
    """dp/dt = -G p / C: the gas with C = volume / (n p) (precharge / p)^(1/n) where pressures are
    written against vacuum, so that p^-(1 + 1/n) grows evenly down to the precharge; then the port
    with C = dead / bulk, and filled from nothing it meets the precharge again before any oil comes
    into the shell."""
    p, low, G = 3e6 * (1.0 + shake), 2e6, 4e-11
    model = emptied(p, n, dead).edited(("hydraulic", "gas", "ambient"), 0.0)
    found = vbg.simulate(model, rtol=1e-9)
    assert found.status.code == "finished"
    assert found.audit.energy_residual < 1e-8
    q = 1.0 + 1.0 / n
    even = q * n * G / (1e-3 * low ** (1.0 / n))
    closes = (low**-q - p**-q) / even
    quick = dead / 1.4e9 / G
    opens = 9.0 - quick * np.log(1.0 - G * low / 2e-4)
    times = [event.time for event in found.audit.events if event.where == "gas.closes"]
    np.testing.assert_allclose(times, [closes, opens], rtol=1e-7)
    time, pressure = found.time, found["gas.pressure"]
    gas = time < closes
    slow = (p**-q + even * time[gas]) ** (-1.0 / q)
    np.testing.assert_allclose(pressure[gas], slow, rtol=1e-7)
    port = (time > closes) & (time < 9.0)
    np.testing.assert_allclose(
        pressure[port], low * np.exp(-(time[port] - closes) / quick), rtol=1e-5, atol=1.0
    )


def behind(p, n, low, air):
    """The oil in 1e-3 m^3 at p, by the law of its gas, pressures absolute [m^3]."""
    return 1e-3 * (1.0 - ((low + air) / (p + air)) ** (1.0 / n))


@pytest.mark.parametrize("shake", tail((0.0, 1e-13), 1))
@pytest.mark.parametrize(("n", "air"), ((1.0, 101325.0), (1.4, 101325.0), (1.2, 3e6), (1.4, 0.0)))
def test_a_gas_counts_from_vacuum_and_gauges_from_the_air_around(shake, n, air):
    """A flow that was known empties it: pressure and energy of the gas law with P = p + air, and
    of the work int p dV = int P dV - air V; 5 % of the oil at 20 bar."""
    p, low, flow = 6e6 * (1.0 + shake), 2e6, 2e-5
    gas = {"kind": "accumulator", "nodes": ["n"], "volume": 1e-3, "precharge": low, "n": n}
    written = {} if air == 101325.0 else {"ambient": air}
    out = {"kind": "flow_source", "nodes": ["n", "tank"], "flow": flow}
    run = {"t_end": 10, "output_step": 0.5}
    parts = {"gas": {**gas, **written, "pressure": p}, "out": out}
    found = vbg.simulate(vbg.Model(name="gas", hydraulic=parts, simulate=run))
    left = behind(p, n, low, air) - flow * found.time
    P = (low + air) / (1.0 - left / 1e-3) ** n
    np.testing.assert_allclose(found["gas.pressure"], P - air, rtol=1e-7)
    start = (p + air) * (1e-3 - behind(p, n, low, air)) ** n  # P V^n
    work = [quad(lambda V: start / V**n - air, 1e-3 - left[0], 1e-3 - rest)[0] for rest in left]
    np.testing.assert_allclose(-found["energy.supplied"], work, atol=1e-4)
    assert found.audit.energy_residual < 1e-8


@pytest.mark.slow
def test_both_solvers_agree_on_an_accumulator_that_runs_empty_and_fills_again():
    # the long run loses 2.5e-6 of the gas's energy in one solver: more than 1e-6 is no fault here
    report = vbg.validate.validate(emptied(2.2e6, 1.4, 1e-5), tolerance=1e-5)
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.parametrize("kind", ("volume", "accumulator"))
def test_no_store_takes_a_pressure_that_there_is_not(kind):
    part = {"kind": kind, "nodes": ["n"], "volume": 1e-3}
    part |= {"precharge": 1e6} if kind == "accumulator" else {}
    source = {"kind": "pressure_source", "nodes": ["n", "tank"], "pressure": -2e5}
    model = vbg.Model(name="vacuum", hydraulic={"part": part, "source": source})
    with pytest.raises(VbgError, match="no state of it has the pressure"):
        vbg.simulate(model)
