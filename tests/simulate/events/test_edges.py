"""Rows where something jumps hold the values after it, in both solvers; events by their kind."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.cli.report import report
from vbg.tmm_bridge import simulate
from vbg.validate.compare import compare

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def circuit(signal: dict, *, t_end: float, output_step: float) -> vbg.Model:
    """A source with the signal, 1 ohm and 1 mF."""
    return vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "u"},
            "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 1.0},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3},
        },
        signals={"u": signal},
        simulate={"t_end": t_end, "output_step": output_step} | TIGHT,
    )


def pulses(n: np.ndarray, per_period: int, high: int, begin: int) -> np.ndarray:
    """The level at row n of a train that is high for `high` of `per_period` rows from `begin`
    on, in whole numbers."""
    return np.where((n >= begin) & ((n - begin) % per_period < high), 1.0, 0.0)


def charged(levels: np.ndarray, h: float) -> np.ndarray:
    """Voltage of the capacitor at every row for a level constant between rows, R C = 1 ms."""
    u = np.zeros(len(levels))
    decay = math.exp(-h / 1e-3)
    for k in range(len(levels) - 1):
        u[k + 1] = levels[k] + (u[k] - levels[k]) * decay
    return u


# output step, rows of a period, of a pulse, of the first edge: instants that round either way
TRAINS = [(2e-4, 10, 7, 0), (1e-4, 3, 1, 2), (0.7e-3, 7, 3, 1), (1e-3 / 3.0, 6, 5, -9)]


@pytest.mark.parametrize("solve", [vbg.simulate, simulate], ids=["bond graph", "transfer"])
@pytest.mark.parametrize(("h", "per_period", "high", "begin"), TRAINS)
def test_rows_at_edges_hold_the_values_after_them(solve, h, per_period, high, begin):
    signal = {"kind": "pulse", "period": per_period * h, "width": high * h, "start": begin * h}
    model = circuit(signal, t_end=400 * h, output_step=h)
    solution = solve(vbg.assemble(model) if solve is vbg.simulate else model, **TIGHT)
    level = pulses(np.arange(401), per_period, high, begin)
    voltage = charged(level, h)
    np.testing.assert_array_equal(solution["u"], level)
    np.testing.assert_allclose(solution["electric.b.voltage"], voltage, rtol=0, atol=1e-9)
    np.testing.assert_allclose(solution["R.current"], level - voltage, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["rk4", "radau", "adams", "discrete-time"])
def test_rows_at_edges_by_every_method(method):
    """A body of 1 kg on a rail, pushed by 1 N for 7 of 10 rows: speed and force at every row."""
    h, n = 2e-4, np.arange(201)
    model = vbg.Model(
        bodies={"slide": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        joints={"rail": {"kind": "prismatic", "between": ["ground", "slide"], "axis": [1, 0, 0]}},
        forces={"push": {"kind": "force", "on": "slide", "force": ["u", 0, 0]}},
        signals={"u": {"kind": "pulse", "period": 10 * h, "width": 7 * h}},
        simulate={"t_end": 200 * h, "output_step": h},
    )
    formulation = "minimal" if method == "adams" else "constraint"
    solution = vbg.simulate(vbg.assemble(model), method=method, formulation=formulation)
    level = pulses(n, 10, 7, 0)
    np.testing.assert_array_equal(solution["u"], level)
    speed = np.concatenate([[0.0], np.cumsum(level[:-1] * h)])
    # the discrete-time method may take an edge a step of 1e-5 s early or late
    allowed = 1e-5 * 40 if method == "discrete-time" else 1e-10
    np.testing.assert_allclose(solution["rail.speed"], speed, rtol=0, atol=allowed)


def test_both_solvers_agree_where_every_edge_is_a_row():
    model = circuit({"kind": "pulse", "period": 2e-3, "width": 1.4e-3}, t_end=0.1, output_step=2e-4)
    verdict = compare(vbg.simulate(vbg.assemble(model)), simulate(model))
    assert verdict.result == "PASS", verdict.sentence
    assert not verdict.notes


@pytest.mark.parametrize("solve", [vbg.simulate, simulate], ids=["bond graph", "transfer"])
@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        ({"kind": "step", "height": 2.0, "start": 0.3, "offset": 1.0}, [1, 1, 1, 3, 3]),
        ({"kind": "step", "height": 2.0}, [2, 2, 2, 2, 2]),
        ({"kind": "step", "start": 0.4}, [0, 0, 0, 0, 1]),
        (
            {
                "kind": "table",
                "rows": [[0.0, 1.0], [0.1, 2.0], [0.3, 5.0]],
                "interpolation": "previous",
            },
            [1, 2, 2, 5, 5],
        ),
    ],
)
def test_steps_have_happened_at_their_instant(solve, signal, expected):
    model = circuit(signal, t_end=0.4, output_step=0.1)
    solution = solve(vbg.assemble(model) if solve is vbg.simulate else model, **TIGHT)
    assert solution["u"] == pytest.approx(expected, abs=0.0)


def test_a_row_at_a_sample_holds_what_was_sampled():
    model = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "held"},
            "R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0},
        },
        signals={
            "ramp": {"kind": "ramp", "height": 10.0, "duration": 10.0},
            "held": {"kind": "sample_and_hold", "input": "ramp", "period": 0.3, "start": 0.1},
        },
        simulate={"t_end": 3.0, "output_step": 0.1},
    )
    solution = vbg.simulate(vbg.assemble(model))
    n = np.arange(31)
    expected = np.where(n < 1, 0.0, 0.1 * (n - (n - 1) % 3))
    assert solution["held"] == pytest.approx(expected, abs=1e-14)
    assert solution["R.current"] == pytest.approx(expected, abs=1e-14)


def released() -> vbg.Model:
    """A clutch that holds 1.5 N*m until it is opened at 0.1 s and closed at 0.6 s."""
    return vbg.Model(
        rotational={
            "w": {"kind": "inertia", "nodes": ["s"], "J": 0.1},
            "load": {"kind": "torque", "nodes": ["s"], "torque": -1.5},
            "brake": {
                "kind": "clutch",
                "nodes": ["s", "frame"],
                "capacity": 5.0,
                "engaged": "grip",
            },
        },
        signals={
            "grip": {
                "kind": "pulse",
                "height": -1.0,
                "offset": 1.0,
                "start": 0.1,
                "width": 0.5,
                "period": 10.0,
            }
        },
        simulate={"t_end": 1.0, "output_step": 0.01},
    )


@pytest.mark.parametrize("solve", [vbg.simulate, simulate], ids=["bond graph", "transfer"])
def test_the_torque_of_a_clutch_goes_from_the_load_to_nothing(solve):
    solution = solve(vbg.assemble(released()) if solve is vbg.simulate else released(), **TIGHT)
    torque = np.abs(solution["brake.torque"])
    assert torque[:10] == pytest.approx(1.5)
    assert torque[10:60] == pytest.approx(0.0, abs=1e-12)
    assert torque[60:81] == pytest.approx(5.0)  # slips until -7.5 rad/s are braked at 35 rad/s^2
    assert torque[82:] == pytest.approx(1.5)


def test_a_release_is_an_event():
    events = vbg.simulate(vbg.assemble(released())).audit.events
    assert [e.where.partition(".")[0] for e in events] == ["brake", "brake"]
    assert [e.time for e in events] == pytest.approx([0.1, 0.6 + 7.5 / 35.0], abs=1e-9)


def test_an_open_clutch_neither_sticks_nor_slips():
    model = vbg.Model(
        rotational={
            "w": {"kind": "inertia", "nodes": ["s"], "J": 0.1, "speed": 1.0},
            "load": {"kind": "torque", "nodes": ["s"], "torque": -0.2},
            "brake": {"kind": "clutch", "nodes": ["s", "frame"], "capacity": 5.0, "engaged": 0.0},
        },
        simulate={"t_end": 1.0, "output_step": 0.1},
    )
    solution = vbg.simulate(vbg.assemble(model))
    assert solution["w.speed"] == pytest.approx(1.0 - 2.0 * solution.time, abs=1e-9)
    assert solution.audit.events == ()


@pytest.fixture(scope="module")
def chopped():
    """A switch at 50 us into R and L, 100 periods."""
    model = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["p", "gnd"], "voltage": 24.0},
            "S": {"kind": "switch", "nodes": ["p", "x"], "closed": "g - 0.5", "Ron": 0.01},
            "D": {"kind": "diode", "law": "ideal", "nodes": ["gnd", "x"], "Ron": 1e-3},
            "L": {"kind": "inductor", "nodes": ["x", "o"], "L": 1e-3},
            "load": {"kind": "resistor", "nodes": ["o", "gnd"], "R": 5.0},
        },
        signals={"g": {"kind": "pulse", "period": "50 us", "width": "25 us"}},
        simulate={"t_end": 5e-3, "output_step": 5e-6} | TIGHT,
    )
    return model, vbg.simulate(vbg.assemble(model))


def test_every_edge_of_a_switch_is_an_event(chopped):
    _, solution = chopped
    times = [e.time for e in solution.audit.events if e.where == "S.closed"]
    assert times == pytest.approx(25e-6 * np.arange(1, 201), rel=1e-14)


def test_a_chopper_agrees_with_the_transfer_matrices_on_its_edges(chopped):
    model, solution = chopped
    verdict = compare(solution, simulate(model))
    assert verdict.result == "PASS", verdict.sentence


def test_events_are_counted_by_their_kind(chopped):
    _, solution = chopped
    events = [{"time": e.time, "where": e.where, "what": e.what} for e in solution.audit.events] + [
        {"time": 0.004, "where": "B.on", "what": "B switches"}
    ]
    audit = {"position_residual": 0.0, "velocity_residual": 0.0, "energy_residual": 0.0}
    ending = {
        "name": "m",
        "status": {"code": "finished", "sentence": "", "remedy": ""},
        "notes": [],
        "summary": [],
        "audit": audit | {"events": events},
        "made_by": {
            "solver": "vbg",
            "method": "",
            "versions": {},
            "rtol": None,
            "n_steps": 1,
            "n_rates": 1,
            "cpu": 0.0,
            "model_hash": "",
        },
        "result": None,
        "measures": [],
    }
    counted = report(ending, patterns=None, limit=60)
    assert "S.closed S switches: 200 times, first 2.5e-05 s, last 0.005 s" in counted
    assert "B.on B switches: 0.004 s" in counted
    listed = report(ending, patterns=None, limit=60, every_event=True)
    assert listed.count("S.closed S switches") == 200


@pytest.mark.parametrize("solve", [vbg.simulate, simulate], ids=["bond graph", "transfer"])
def test_a_switch_that_follows_the_time_has_switched_at_its_instant(solve):
    model = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["p", "gnd"], "voltage": 1.0},
            "S": {"kind": "switch", "nodes": ["p", "x"], "closed": "c", "Ron": 1e-3},
            "R": {"kind": "resistor", "nodes": ["x", "y"], "R": 1.0},
            "C": {"kind": "capacitor", "nodes": ["y", "gnd"], "C": 1.0},
        },
        signals={"c": {"kind": "expression", "expression": "0.0123 - t"}},
        simulate={"t_end": 0.02, "output_step": 1e-4} | TIGHT,
    )
    solution = solve(vbg.assemble(model) if solve is vbg.simulate else model, **TIGHT)
    flows = solution["R.current"] > 0.5
    assert flows.tolist() == [k < 123 for k in range(201)]


@pytest.mark.parametrize("method", ["dop853", "radau", "rk4"])
def test_a_run_of_no_duration_is_its_start(method):
    """One row, which is the start's; whatever is held beside the duration of a run."""
    file = Path(__file__).parents[3] / "examples" / "spatial-four-bar.toml"
    start = vbg.start(vbg.assemble(vbg.read(file)))
    run = vbg.simulate(start, t_end=0.0, output_step=0.01, method=method)
    assert run.status.code == "finished" and run.time.tolist() == [0.0]
    assert not run.audit.failures


@pytest.mark.parametrize("solve", [vbg.simulate, simulate], ids=["bond graph", "transfer"])
@pytest.mark.parametrize("kind", ["table", "step"])
def test_a_level_is_as_it_is_written_whatever_was_before_or_follows(solve, kind):
    """Of a sum of jumps 1e-9 behind 1e9 is nothing, nor before it."""
    rng = np.random.default_rng(78)
    levels = 10.0 ** rng.uniform(-9, 9, 20) * rng.choice([-1.0, 1.0], 20)
    signal = {"kind": "table", "rows": np.column_stack([np.arange(20.0), levels]).tolist()}
    signal["interpolation"] = "previous"
    if kind == "step":
        levels = np.repeat([1e-9, 1e9], 10)
        signal = {"kind": "step", "offset": 1e-9, "height": 1e9, "start": 10.0}
    electric = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "u"},
        "R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0},
    }
    settings = {"t_end": 19.0, "output_step": 1.0}
    model = vbg.Model(electric=electric, signals={"u": signal}, simulate=settings)
    solution = solve(vbg.assemble(model) if solve is vbg.simulate else model)
    np.testing.assert_array_equal(solution["u"], levels)
    np.testing.assert_array_equal(solution["R.current"], levels)
