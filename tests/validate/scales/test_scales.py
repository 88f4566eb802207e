"""What counts as zero: by kind, from the machine and from what its signals may reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from tests.domains.random_networks import circuit
from vbg.solution import Audit, MadeBy, Solution
from vbg.tmm_bridge import simulate
from vbg.validate import validate
from vbg.validate.compare import compare
from vbg.validate.comparison.scales import largest_written, natural_scales
from vbg.validate.evidence import verdict_on


def ramp(height, start=0.2):
    return vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "twice"},
            "R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 3.0},
        },
        signals={
            "up": {"kind": "ramp", "start": start, "duration": 0.8, "height": height},
            "twice": {"kind": "gain", "input": "up", "k": 2.0},
        },
    )


@pytest.mark.parametrize("height", [1e-6, 100.0, 1e6])
@pytest.mark.parametrize("rtol", [1e-4, 1e-11])
def test_a_run_that_ends_where_its_source_begins_is_zero(height, rtol):
    """The last output is the rounding of t - start times the slope, in each solver its own."""
    report = validate(ramp(height), t_end=0.2, output_step=0.004, rtol=rtol, in_children=False)
    assert report.result == "INCONCLUSIVE", report.verdict.sentence
    assert "every channel is zero" in report.verdict.sentence


def test_a_source_has_the_magnitude_that_its_signal_may_reach():
    assert natural_scales(ramp(100.0), {}, 1.0)["V"] == 100.0


def test_a_large_signal_does_not_make_a_rotation_small():
    """Both have no unit; a quaternion wrong by 1e-4 fails beside a signal of 2e7."""
    time = np.linspace(0.0, 1.0, 11)
    model = vbg.Model(
        bodies={"rod": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        signals={"load": {"kind": "step", "height": 2e7}},
    )

    def run(solver, wrong):
        turned = np.column_stack([np.cos(time), np.sin(time) + wrong, 0 * time, 0 * time])
        signals = {"load": 2e7 + 0 * time, "rod.rotation": turned}
        made = MadeBy(solver, "m", model.hash, "dop853", 1e-11, 1e-13)
        units = {"load": "1", "rod.rotation": "1"}
        return Solution(time, signals, made_by=made, units=units)

    assert compare(run("vbg", 0.0), run("tmm_bridge", 0.0), model=model).result == "PASS"
    assert compare(run("vbg", 0.0), run("tmm_bridge", 1e-4), model=model).result == "FAIL"


@pytest.mark.parametrize("leak, result", [(0.0, "PASS"), (1e-3, "FAIL")])
def test_an_audit_is_judged_by_what_the_runs_were_asked_for(leak, result):
    """A coarser run may close better by luck; energy that no step explains is a fault."""
    time = np.linspace(0.0, 1.0, 11)

    def run(solver, residual):
        residual = residual + leak
        signals = {"joint.force": np.cos(time), "energy.residual": residual * time}
        made = MadeBy(solver, method="dop853", rtol=1e-4, atol=1e-6)
        return Solution(time, signals, made_by=made, audit=Audit(energy_residual=residual))

    runs = [run("vbg", 6e-7), run("tmm_bridge", 9e-6)]
    verdict = compare(*runs, rougher=run("vbg", 1.4e-5), coarser=run("tmm_bridge", 1e-6))
    assert verdict.result == result, verdict.sentence


@pytest.mark.parametrize("feedback", [1e-3, 1.0, 1e3])
def test_a_valve_that_hardly_opens_is_shut(feedback):
    """An opening is a share of the whole one: of a command that is rounding nothing is compared."""
    model = vbg.read("examples/excavator-arm.toml")
    assert natural_scales(model, {"1 valve": 1e-14}, 1.0)["1 valve"] == 1.0
    small = natural_scales(model, {"1 valve": feedback}, 1.0)["1 valve"]
    assert small == max(1.0, feedback)


@pytest.mark.parametrize("joined", [False, True])
def test_a_large_effort_elsewhere_does_not_make_a_slow_shaft_rest(joined):
    """A shaft of 1e-6 kg m^2 that gets 1e-4 rad/s in 10 s, beside an arm that two torques of
    1000 N*m hold: an error of a tenth is seen, also where a soft damper lies between the two."""
    shaft = {"I": {"kind": "inertia", "nodes": ["s"], "J": 1e-6}}
    shaft["M"] = {"kind": "torque", "nodes": ["s"], "torque": 1e-11}
    for name, torque in (("A", 1000.0), ("B", -1000.0)):
        shaft[name] = {"kind": "torque", "nodes": ["joint:J"], "torque": torque}
    if joined:
        shaft["K"] = {"kind": "damper", "nodes": ["s", "joint:J"], "c": 1e-15}
    model = vbg.Model(
        bodies={"arm": {"mass": 1.0, "inertia": {"xx": 10.0, "yy": 10.0, "zz": 10.0}}},
        joints={"J": {"kind": "revolute", "between": ["ground", "arm"], "axis": [0, 0, 1]}},
        rotational=shaft,
        simulate={"t_end": 10.0, "output_step": 0.5},
    )
    run = vbg.simulate(model)
    moved = {
        n: v * 1.1 if n in ("rotational.s.speed", "I.speed") else v for n, v in run.signals.items()
    }
    other = replace(run, signals=moved, made_by=replace(run.made_by, solver="tmm_bridge"))
    assert compare(run, run, model=model).result == "PASS"
    assert compare(run, other, model=model).result != "PASS"


def test_the_rotor_of_a_motor_is_a_shaft():
    """What an idle one turns by rounding is zero beside what its voltage would turn it."""
    model = vbg.Model(**circuit(71047))
    verdict = compare(vbg.simulate(model), simulate(model), model=model)
    assert verdict.result == "PASS", verdict.sentence


@pytest.mark.parametrize("gain", [1.0, 4e3, 1e7])
def test_a_controller_reaches_no_farther_than_its_limits(gain):
    """However large its gain is: a lost thousandth of the energy is no rounding beside what the
    gain would give."""
    signals = {
        "aim": {"kind": "step", "height": 0.2},
        "drive": {
            "kind": "pid",
            "demand": "aim",
            "measured": "rotational.shaft.angle",
            "kp": gain,
            "lower": -24.0,
            "upper": 12.0,
        },
    }
    electric = {
        "u": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "drive"},
        "m": {
            "kind": "dc_motor",
            "nodes": ["a", "gnd"],
            "on": "rotational.shaft",
            "R": 0.8,
            "K": 0.3,
        },
    }
    rotational = {"J": {"kind": "inertia", "nodes": ["shaft"], "J": 0.02}}
    model = vbg.Model(signals=signals, electric=electric, rotational=rotational)
    assert natural_scales(model, {}, 1.0)["V"] == 24.0
    loose = dict(signals["drive"])
    del loose["upper"]
    without = vbg.Model(
        signals=signals | {"drive": loose}, electric=electric, rotational=rotational
    )
    assert natural_scales(without, {}, 1.0)["V"] == max(gain, 24.0)


@pytest.mark.parametrize("seed", range(2))
def test_a_moment_of_a_stiff_beam_is_none_beside_its_axial_stiffness(seed):
    """EA [N] is a force at strain 1; one row wrong by a hundredth of its peak fails."""
    random = np.random.default_rng(seed)
    length, slender = float(random.uniform(2.0, 4.0)), float(random.uniform(2e-5, 2e-4))
    EA = float(10 ** random.uniform(8, 9))
    beam = {"length": length, "EA": EA, "damping": 0.01}
    beam |= {"EI_y": EA * slender, "EI_z": EA * slender, "GJ": EA * slender}
    middle = {"body": "ground", "at": [0.5 * length, 0.0, 0.0]}
    ends = [middle, {"body": "tip", "at": [-0.5 * length - 0.01, 0.02, 0.0]}]
    inertia = {"xx": 2.0, "yy": 3.0, "zz": 4.0}
    body = {"mass": 40.0, "inertia": inertia, "position": [length + 0.01, -0.02, 0.0]}
    forces = {"beam": {"kind": "beam_element", "between": ends, **beam}}
    model = vbg.Model(bodies={"tip": body}, forces=forces)
    report = validate(model, t_end=0.2, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for shake in range(10):
        row, k = int(random.integers(1, 21)), int(random.integers(1, 3))

        def wrong(run, row=row, k=k):
            torque = run["beam.torque"].copy()
            torque[row, k] += 1e-2 * np.abs(torque[:, k]).max()
            return replace(run, signals={**run.signals, "beam.torque": torque})

        evidence = report.evidence
        seeded = replace(evidence, second=wrong(evidence.second), coarser=wrong(evidence.coarser))
        peak = np.abs(evidence.second["beam.torque"]).max(axis=0)
        if peak[k] > 1e-3 * peak.max():
            assert verdict_on(seeded).result != "PASS", (shake, row, k)


@pytest.mark.parametrize("bulk", [0.8e9, 1.4e9, 2e10])
def test_a_piston_feels_pressures_and_no_bulk_modulus(bulk):
    """Which is a pressure at strain 1; last digits of pressures hang on it all the same."""
    cylinder = {
        "kind": "cylinder",
        "nodes": ["p", "tank"],
        "on": "translational.rod",
        "area_a": 2e-3,
        "area_b": 1e-3,
        "stroke": 0.4,
        "bulk": bulk,
    }
    source = {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 7e6}
    model = vbg.Model(
        translational={"m": {"kind": "mass", "nodes": ["rod"], "m": 30.0}},
        hydraulic={"c": cylinder, "s": source},
    )
    scales = natural_scales(model, {"Pa": 7e6}, 1.0)
    assert scales["Pa"] == bulk
    assert scales["N"] == pytest.approx(2e-3 * 7e6)


@pytest.mark.parametrize("seed", range(5))
def test_a_written_effort_counts_whatever_the_stiffness_beside_it_is(seed):
    """A pressure written like the bulk modulus is a pressure still; stiffnesses are no efforts."""
    random = np.random.default_rng(seed)
    p, bulk, V = (float(10**x) for x in random.uniform((5.1, 8, -5), (9, 10, -2)))
    gas = {"volume": V, "precharge": p, "n": 1.2}
    parts = {
        "volume": {"volume": V, "pressure": p},
        "pipe": {"length": 2.0, "diameter": 0.02, "pressure": p},
        "accumulator": gas,
    }
    for kind, fields in parts.items():
        nodes = ["a", "b"] if kind == "pipe" else ["a"]
        for stiff in (bulk, p):
            part = {"kind": kind, "nodes": nodes, "bulk": stiff, **fields}
            model = vbg.Model(hydraulic={"x": part})
            assert largest_written(model)["Pa"] == p
            assert natural_scales(model, {}, 1.0)["Pa"] == max(p, stiff, 101325.0)
