"""Rectifiers of exponential diodes whose output is not grounded, as each textbook draws them:
while all diodes block, leakage alone gives the output its common voltage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import exp, findroot, mpf, workdps
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg
from tests.laws.circuits import unknowns
from tests.tail import only, tail
from vbg import tmm_bridge
from vbg.assemble.program.evaluator import Evaluator
from vbg.errors import AssemblyError
from vbg.validate import validate

IS, VT, LEAK = 1e-12, 0.026, 1e-12  # of a diode as nothing is written
METHODS = ("auto", "radau", "dop853")


def parts(kind: str, **ends: str) -> dict:
    return {name: {"kind": kind, "nodes": nodes.split()} for name, nodes in ends.items()}


def source(ends: str, U: float, f: float, turns: float = 0.0) -> dict:
    wave = f"{U}*sin(2*pi*({f}*t - {turns}))"
    return {"kind": "voltage_source", "nodes": ends.split(), "voltage": wave}


def loaded(ends: str, C: float, R: float) -> dict:
    return {
        "C": {"kind": "capacitor", "nodes": ends.split(), "C": C},
        "R": {"kind": "resistor", "nodes": ends.split(), "R": R},
    }


def model(f: float, electric: dict, **simulate) -> vbg.Model:
    settings = {"t_end": 2.0 / f, "output_step": 0.02 / f} | simulate
    return vbg.Model(name="rectifier", electric=electric, simulate=settings)


def bridge(U: float, f: float, C: float, R: float) -> dict:
    diodes = parts("diode", D1="a p", D2="gnd p", D3="m a", D4="m gnd")
    return {"S": source("a gnd", U, f), **diodes, **loaded("p m", C, R)}


def drawn(seed: int) -> tuple[float, float, float, float]:
    """U, f, C, R: 1 to 300 V, 10 Hz to 100 kHz, 1 ohm to 100 kohm, R C of 0.1 to 20 periods."""
    rng = np.random.default_rng(seed)
    f, R = 10.0 ** rng.uniform(1, 5), 10.0 ** rng.uniform(0, 5)
    return 10.0 ** rng.uniform(0, 2.5), f, 10.0 ** rng.uniform(-1, 1.3) / (f * R), R


def by_hand(times: np.ndarray, U: float, f: float, C: float, R: float) -> np.ndarray:
    """The capacitor's voltage u: two equal diodes in series, C u' = Is (exp((|s| - u) / 2 Vt) - 1)
    - u / R."""

    def rate(t: float, u: np.ndarray) -> list[float]:
        ahead = abs(U * math.sin(2.0 * math.pi * f * t)) - u[0]
        return [(IS * math.expm1(min(ahead / (2.0 * VT), 60.0)) - u[0] / R) / C]

    settings = {"rtol": 1e-9, "atol": 1e-9 * U, "max_step": 0.02 / f}
    return solve_ivp(rate, (0.0, times[-1]), [0.0], "Radau", times, **settings).y[0]


@pytest.mark.parametrize("seed", tail(range(25), first=3))
def test_rates_of_diodes_that_block_are_found_from_where_a_trial_left_megaamperes(seed):
    """A stage of a step may stand where the source is far above the capacitor, 1e4 A and more in
    each diode; from there the iteration comes back to leakages of 1e-12 A."""
    U, f, C, R = drawn(seed)
    system = vbg.assemble(model(f, bridge(U, f, C, R)))
    run, random = Evaluator(system.programs.rate), np.random.default_rng([seed, 4])
    loop = unknowns(run)
    for _ in range(40):
        crossing, peak = 0.5 * random.integers(0, 4, 2)
        t, before = (crossing + random.uniform(-0.05, 0.05)) / f, (0.25 + peak) / f
        x = np.zeros(system.size)
        x[0] = C * U * random.uniform(0.35, 0.95)
        run.work[loop] = 0.0
        rates = run(t, x).copy()
        assert np.isfinite(rates).all()
        run(before, x * random.uniform(0.0, 1.0))
        assert_allclose(run(t, x), rates, rtol=1e-9)


@pytest.mark.parametrize("seed", tail(range(6), first=1))
def test_the_output_floats_half_way_between_the_sources_ends(seed):
    """Equal diodes: D1 with D4 and D2 with D3 carry the same, so that p + m = a; the charges are
    those of two diodes in series."""
    U, f, C, R = drawn(seed)
    for method in METHODS:
        run = vbg.simulate(model(f, bridge(U, f, C, R), method=method))
        assert run.status.code == "finished" and not run.audit.failures
        a, p, m = (run[f"electric.{node}.voltage"] for node in ("a", "p", "m"))
        assert_allclose(p + m, a, rtol=0.0, atol=1e-11 * U)
        assert_allclose(run["C.voltage"], by_hand(run.time, U, f, C, R), atol=1e-5 * U)


@pytest.mark.parametrize("solve", [vbg.simulate, tmm_bridge.simulate])
def test_unequal_leaks_share_the_voltage_to_the_last_digits(solve):
    """The balance of the output as a whole, in 40 digits; within it flow 0.1 A."""
    U, Is, leak = 20.0, (1e-12, 3e-13, 2e-11, 7e-12), (1e-12, 4e-12, 2e-13, 6e-12)
    electric = bridge(U, 50.0, 1e-3, 150.0)
    for name, saturation, Gmin in zip(("D1", "D2", "D3", "D4"), Is, leak, strict=True):
        electric[name] |= {"Is": saturation, "Gmin": Gmin}
    run = solve(model(50.0, electric, t_end=0.02, output_step=1e-3))
    for i in range(6, 21):
        a, u, m = (float(run[f"electric.{n}.voltage"][i]) for n in ("a", "p", "m"))
        u -= m

        def gap(level, a=a, u=u):
            across = (a - level - u, -level - u, level - a, level)
            signs = (1, 1, -1, -1)
            laws = zip(signs, across, Is, leak, strict=True)
            return sum(s * (i * (exp(v / VT) - 1) + G * v) for s, v, i, G in laws)

        with workdps(40):
            assert m == pytest.approx(float(findroot(gap, mpf(m))), rel=0.0, abs=1e-11 * U)


CIRCUITS = {
    "bridge": bridge(12.0, 50.0, 1e-3, 100.0),
    "center tap": {
        "S": source("a gnd", 12.0, 50.0),
        "T1": {"kind": "transformer", "nodes": ["a", "gnd", "x", "c"], "ratio": 2.0},
        "T2": {"kind": "transformer", "nodes": ["a", "gnd", "c", "y"], "ratio": 2.0},
        "leak": {"kind": "resistor", "nodes": ["c", "gnd"], "R": 1e6},
        **parts("diode", D1="x p", D2="y p"),
        **loaded("p c", 1e-4, 100.0),
    },
    "voltage doubler": {
        "S": source("a gnd", 12.0, 50.0),
        "K": {"kind": "capacitor", "nodes": ["a", "b"], "C": 3e-4},
        **parts("diode", D1="gnd b", D2="b p"),
        **loaded("p gnd", 1e-4, 1000.0),
    },
    "three phases": {
        **{f"S{n}": source(f"s{n} gnd", 12.0, 50.0, i / 3) for i, n in enumerate("abc")},
        **{f"R{n}": {"kind": "resistor", "nodes": [f"s{n}", n], "R": 0.2} for n in "abc"},
        **parts("diode", D1="a p", D2="b p", D3="c p", D4="m a", D5="m b", D6="m c"),
        **loaded("p m", 1e-4, 50.0),
    },
}


@pytest.mark.parametrize("name", only(["bridge", "three phases"], CIRCUITS))
def test_both_solvers_know_the_circuits_of_the_first_day(name):
    found = model(50.0, CIRCUITS[name], t_end=0.03, output_step=2e-4)
    assert validate(found, in_children=False).result == "PASS"


@pytest.mark.slow
def test_no_charge_is_stepped_over():
    """Between two charges nothing moves: a step once began behind one and ended behind the next."""
    U, f, C, R = 368.0, 1115.0, 2.6e-3, 5.3
    electric = bridge(U, f, C, R)
    runs = [vbg.simulate(model(f, electric, method=each)) for each in METHODS]
    expected = by_hand(runs[0].time, U, f, C, R)
    for run in runs:
        assert_allclose(run["C.voltage"], expected, atol=1e-5 * U)


WAVES = ["12*sin(turned)", "max(0, 1200*sin(w*t) - 1188)", "12*sin(w*t)"]


@pytest.mark.slow
@pytest.mark.parametrize("wave", WAVES)
def test_no_solver_passes_a_charge_of_a_capacitor_that_hardly_discharges(wave):
    """Of functions of time and of states, of sines and of pulses."""
    turned = {"kind": "transfer_function", "input": "w", "numerator": [1.0]}
    found = vbg.Model(
        parameters={"w": 100.0 * math.pi},
        signals={"turned": turned | {"denominator": [1.0, 0.0]}},
        electric={
            "S": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": wave},
            **parts("diode", D1="a p", D2="a p"),
            **loaded("p gnd", 1e-4, 3e4),
        },
    )
    settings = {"t_end": 0.14, "output_step": 0.01}
    runs = [solve(found, **settings) for solve in (vbg.simulate, tmm_bridge.simulate)]
    runs.append(vbg.simulate(found, formulation="minimal", **settings))

    def rate(t: float, u: np.ndarray) -> list[float]:
        sine = math.sin(100.0 * math.pi * t)
        ahead = (max(0.0, 1200.0 * sine - 1188.0) if "max" in wave else 12.0 * sine) - u[0]
        return [(2.0 * IS * math.expm1(min(ahead / VT, 60.0)) - u[0] / 3e4) / 1e-4]

    settings = {"rtol": 1e-8, "atol": 1e-9, "max_step": 2e-4}
    exact = solve_ivp(rate, (0.0, 0.14), [0.0], "LSODA", runs[0].time, **settings)
    for run in runs:
        assert_allclose(run["C.voltage"], exact.y[0], rtol=0.0, atol=2e-5)


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_current_that_a_diode_ends(method):
    """U cos(w t) - Vt ln(i / Is + 1) = R i + L i': to zero, and from then on next to nothing."""
    U, R, L, w = 10.0, 10.0, 1e-2, 100.0 * math.pi
    electric = {
        "S": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": f"{U}*cos({w}*t)"},
        **parts("diode", D="a b"),
        "R": {"kind": "resistor", "nodes": ["b", "c"], "R": R},
        "L": {"kind": "inductor", "nodes": ["c", "gnd"], "L": L},
    }
    run = vbg.simulate(model(50.0, electric, t_end=0.012, method=method))
    assert run.status.code == "finished"

    def rate(t: float, i: np.ndarray) -> list[float]:
        return [(U * math.cos(w * t) - VT * math.log1p(max(i[0], 0.0) / IS) - R * i[0]) / L]

    told = run.time < 0.005
    found = solve_ivp(rate, (0.0, 0.005), [0.0], "Radau", run.time[told], rtol=1e-9, atol=1e-14)
    assert_allclose(run["D.current"][told], found.y[0], atol=1e-6)
    blocks = run.time > 0.0065
    assert_allclose(run["D.voltage"][blocks], run["S.voltage"][blocks], atol=1e-3)


def test_diodes_leak_where_nothing_else_gives_a_node_its_voltage():
    """The bridge's do, a grounded rectifier's keep Shockley's law; what is written stays."""
    source = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1.0}
    grounded = {"S": source, **parts("diode", D1="a p", D2="gnd p"), **loaded("p gnd", 1e-4, 3e4)}
    bridge = {
        "S": source,
        **parts("diode", D1="a p", D2="gnd p", D3="m a", D4="m gnd"),
        **loaded("p m", 1e-4, 3e4),
    }
    written = bridge | {"D1": bridge["D1"] | {"Gmin": 1e-9}}
    told = [
        {name: part.Gmin for name, part in vbg.Model(electric=one).electric.items() if "D" in name}
        for one in (grounded, bridge, written)
    ]
    assert set(told[0].values()) == {0.0}
    assert set(told[1].values()) == {1e-12}
    assert told[2] == told[1] | {"D1": 1e-9}


def test_a_current_against_a_diode_is_refused():
    """0.01 A through 1e-12 S would be 1e10 V; where it turns within the run, that is told."""
    electric = {
        "S": {"kind": "current_source", "nodes": ["a", "gnd"], "current": 0.01},
        **parts("diode", D="a gnd"),
    }
    with pytest.raises(AssemblyError, match="nothing gives the node 'a' its voltage"):
        vbg.simulate(model(50.0, electric))
    electric["S"]["current"] = "-0.01*cos(w*t)"
    found = vbg.Model(electric=electric, parameters={"w": 100.0 * math.pi})
    run = vbg.simulate(found, t_end=0.02, output_step=1e-3)
    assert [note.where for note in run.notes] == ["electric.D"]
    assert "stands 1e+10 V in reverse" in run.notes[0].what
