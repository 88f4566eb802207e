"""Dependent stores of circuits, oil and shafts in the transfer-matrix solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.formulas.tangent import computed_along
from vbg.tmm_bridge.formulas.tape import FUNCTIONS, OPERATIONS, Tape
from vbg.tmm_bridge.kernels.entries import play
from vbg.validate import validate

REPRODUCED = Path(__file__).parents[1] / "reproduced"
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def electric(name, kind, nodes, **fields):
    return {name: {"kind": kind, "nodes": list(nodes), **fields}}


def circuit(*parts, t_end=1.0, signals=None):
    table = {}
    for part in parts:
        table |= part
    return vbg.Model(
        name="circuit",
        electric=table,
        signals=signals or {},
        simulate={"t_end": t_end, "output_step": 0.05},
    )


def test_two_capacitors_side_by_side_charge_as_one():
    run = simulate(vbg.read(REPRODUCED / "caps.toml"), **TIGHT)
    exact = 1.0 - np.exp(-run.time / 3.0)
    np.testing.assert_allclose(run["C1.voltage"], exact, atol=1e-10)
    np.testing.assert_allclose(run["C2.voltage"], exact, atol=1e-10)
    np.testing.assert_allclose(run["C2.current"], 2.0 * run["C1.current"], atol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6])
def test_capacitors_that_start_apart_share_their_charge(scale):
    c1, c2, v1, v2 = 1.3 * scale, 0.4 * scale, 2.0, -1.0
    model = circuit(
        electric("C1", "capacitor", ("a", "gnd"), C=c1, voltage=v1),
        electric("C2", "capacitor", ("a", "gnd"), C=c2, voltage=v2),
        electric("R", "resistor", ("a", "gnd"), R=1.0 / scale),
    )
    run = simulate(model, **TIGHT)
    start = (c1 * v1 + c2 * v2) / (c1 + c2)
    exact = start * np.exp(-run.time * scale / (c1 + c2))
    np.testing.assert_allclose(run["electric.a.voltage"], exact, rtol=1e-9, atol=1e-10)


def test_coils_in_a_row_that_start_apart_share_their_flux():
    model = circuit(
        electric("L1", "inductor", ("gnd", "a"), L=1.0, current=1.0),
        electric("L2", "inductor", ("a", "b"), L=3.0, current=0.0),
        electric("R", "resistor", ("b", "gnd"), R=2.0),
    )
    run = simulate(model, **TIGHT)
    exact = 0.25 * np.exp(-run.time * 2.0 / 4.0)
    np.testing.assert_allclose(run["L1.current"], exact, atol=1e-10)
    np.testing.assert_allclose(run["L2.current"], exact, atol=1e-10)
    # the node between them divides the voltage as the coils do
    np.testing.assert_allclose(run["electric.a.voltage"], 2.0 * exact * 0.25, atol=1e-10)


def test_a_capacitor_across_a_source_follows_it_over_a_step():
    model = circuit(
        electric("V", "voltage_source", ("a", "gnd"), voltage="up"),
        electric("C", "capacitor", ("a", "gnd"), C=2.0),
        electric("W", "voltage_source", ("b", "gnd"), voltage="sin(3*t)"),
        electric("D", "capacitor", ("b", "gnd"), C=0.5),
        signals={"up": {"kind": "step", "start": 0.52, "height": 3.0}},
    )
    run = simulate(model, **TIGHT)
    np.testing.assert_allclose(run["C.voltage"], np.where(run.time > 0.52, 3.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(run["D.current"], 1.5 * np.cos(3.0 * run.time), atol=1e-10)
    np.testing.assert_allclose(run["W.current"], -run["D.current"], atol=1e-10)


def test_loop_of_three_capacitors_agrees_with_its_state_space():
    """C1 and C3 are states, C2 between their nodes depends on them."""
    from scipy.linalg import expm

    run = simulate(vbg.read(REPRODUCED / "loop3.toml"), **TIGHT)
    C = np.array([[1.0 + 2.0, -2.0], [-2.0, 2.0 + 2.0]])
    G, i = np.diag([1.0, 1.0]), np.array([1.0, 0.0])
    A = -np.linalg.solve(C, G)
    rest = np.linalg.solve(G, i)
    exact = np.array([rest - expm(A * t) @ rest for t in run.time])
    np.testing.assert_allclose(run["electric.a.voltage"], exact[:, 0], atol=1e-10)
    np.testing.assert_allclose(run["electric.b.voltage"], exact[:, 1], atol=1e-10)


def ladder(seed, written=1.0, scale=1.0):
    """Cauer sections with loops of capacitors, coils in a row, a transformer; each start is
    written with the probability `written`."""
    rng = np.random.default_rng(seed)

    def size():
        return float(np.exp(rng.uniform(-1.0, 1.0))) * scale

    def start(name):
        value = float(rng.normal())
        return {name: value} if rng.uniform() < written else {}

    parts = [electric("V", "voltage_source", ("n0", "gnd"), voltage="cos(2*t)")]
    for k in range(3):
        a, b, m = f"n{k}", f"n{k + 1}", f"m{k}"
        parts += [
            electric(f"L{k}", "inductor", (a, m), L=size(), **start("current")),
            electric(f"K{k}", "inductor", (m, b), L=size(), **start("current")),
            electric(f"B{k}", "capacitor", (a, b), C=size(), **start("voltage")),
            electric(f"C{k}", "capacitor", (b, "gnd"), C=size(), **start("voltage")),
        ]
    parts += [
        electric("T", "transformer", ("n3", "gnd", "s", "gnd"), ratio=size() / scale),
        electric("CT", "capacitor", ("s", "gnd"), C=size(), **start("voltage")),
        electric("RT", "resistor", ("s", "gnd"), R=size() / scale),
    ]
    return circuit(*parts, t_end=0.5 if written < 1.0 else 1.0)


@pytest.mark.parametrize("written", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_random_ladders_of_dependent_stores_agree_with_the_first_solver(seed, written):
    model = ladder(seed, written)
    first, second = vbg.simulate(model, **TIGHT), simulate(model, **TIGHT)
    for name in second.signals:
        if name.endswith((".current", ".voltage")):
            np.testing.assert_allclose(
                second[name], first[name], rtol=1e-7, atol=1e-7, err_msg=name
            )


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_stores_without_a_written_start_follow_those_with_one_at_any_size(seed, scale):
    starts = []
    for size in (1.0, scale):
        model = ladder(10 + seed, 0.5, size)
        starts.append(simulate(model, t_end=1e-9 * min(size, 1.0), output_step=1e-9, **TIGHT))
    for name in starts[0].signals:
        if name[0] in "BCLK" and name.endswith("voltage" if name[0] in "BC" else "current"):
            assert starts[1][name][0] == pytest.approx(starts[0][name][0], rel=1e-9, abs=1e-9)


def test_a_store_that_nobody_wrote_brings_no_charge():
    """Two that were written share theirs; the third, however large, takes what comes of it."""
    model = circuit(
        electric("C1", "capacitor", ("a", "gnd"), C=1.0, voltage=2.0),
        electric("C2", "capacitor", ("a", "gnd"), C=3.0, voltage=-1.0),
        electric("C3", "capacitor", ("a", "gnd"), C=50.0),
        electric("R", "resistor", ("a", "gnd"), R=1.0),
    )
    run = simulate(model, **TIGHT)
    np.testing.assert_allclose(
        run["electric.a.voltage"], -0.25 * np.exp(-run.time / 54.0), atol=1e-10
    )


def test_every_operation_of_a_tape_has_the_derivative_of_its_values():
    tape = Tape(section="all")
    x, y = tape.place(0.37), tape.place(0.81)
    made = [OPERATIONS[o](x, y) for o in OPERATIONS]
    made += [f(x, y) if n in ("atan2", "min", "max") else f(x) for n, f in FUNCTIONS.items()]
    pieces = np.array([[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 0.3, 0.2]])
    made += [tape.curve(x, [0.0, 0.3], pieces), -x]
    played = tape.played(["all"])
    operations = [tuple(map(int, row)) for row in played.code]

    def values(a, b):
        memory = played.memory.copy()
        memory[x.place], memory[y.place] = a, b
        play(played.code, memory, played.curves, 0, len(played.code))
        return memory

    memory = values(0.37, 0.81)
    seeds = {x.place: np.array([1.0, 0.0]), y.place: np.array([0.0, 1.0])}
    found = computed_along(operations, memory, played.curves, seeds)
    h = 1e-6
    by_x = (values(0.37 + h, 0.81) - values(0.37 - h, 0.81)) / (2.0 * h)
    by_y = (values(0.37, 0.81 + h) - values(0.37, 0.81 - h)) / (2.0 * h)
    for slot in made:
        exact = np.zeros(2) + found[slot.place]
        np.testing.assert_allclose(exact, [by_x[slot.place], by_y[slot.place]], atol=1e-8)


def test_volumes_that_start_at_different_pressures_share_what_they_hold():
    """V_1 p_1 + V_2 p_2 = (V_1 + V_2) p: the oil flows from one into the other at once."""
    model = vbg.Model(
        name="shared",
        hydraulic={
            "one": {"kind": "volume", "nodes": ["a"], "volume": 1e-4, "pressure": 1e6},
            "two": {"kind": "volume", "nodes": ["a"], "volume": 2e-4, "pressure": 2.5e6},
            "leak": {"kind": "laminar_resistance", "nodes": ["a", "tank"], "conductance": 1e-12},
        },
        simulate={"t_end": 0.1, "output_step": 0.01},
    )
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert report.verdict.word == "PASS"
    assert report.solutions["mstmm"]["hydraulic.a.pressure"][0] == pytest.approx(2e6, rel=1e-12)


@pytest.mark.parametrize(
    "pressure",
    [
        {"kind": "sine", "amplitude": 1e5, "frequency": 20.0, "offset": 1e6},
        {"kind": "step", "height": 1e5, "start": 0.0325, "offset": 1e6},
    ],
)
def test_a_volume_at_a_prescribed_pressure_takes_what_its_rate_asks_for(pressure):
    """flow = V p' / K, and at a jump the source pays for what the volume holds more."""
    model = vbg.Model(
        name="prescribed",
        signals={"p": pressure},
        hydraulic={
            "pump": {"kind": "pressure_source", "nodes": ["a", "tank"], "pressure": "p"},
            "near": {"kind": "volume", "nodes": ["a"], "volume": 1e-4},
            "pipe": {"kind": "laminar_resistance", "nodes": ["a", "b"], "conductance": 1e-11},
            "far": {"kind": "volume", "nodes": ["b"], "volume": 1e-4},
        },
        simulate={"t_end": 0.1, "output_step": 0.005},
    )
    report = validate(model, in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
    assert max(report.verdict.audits.values()) < 1e-9
    if pressure["kind"] == "sine":
        run = report.solutions["mstmm"]
        expected = 1e-4 / 1.4e9 * 1e5 * 20.0 * np.cos(20.0 * run.time)
        assert run["near.flow"] == pytest.approx(expected, rel=1e-9)
