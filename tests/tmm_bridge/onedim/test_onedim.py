"""One-dimensional parts and controllers of the transfer-matrix solver against the bond graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.faults import exchanged
from vbg.plumbing.components import vector_of
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.onedim.laws.hydraulic import Bladder, Stops
from vbg.tmm_bridge.onedim.laws.oil import Oil
from vbg.tmm_bridge.onedim.laws.signals import companion, dead_time
from vbg.tmm_bridge.solver import with_network
from vbg.validate.compare import compare

ROD = {
    "mass": 0.6,
    "inertia": {"xx": 0.002, "yy": 0.02, "zz": 0.02},
    "points": {"A": [-0.3, 0, 0], "B": [0.3, 0, 0]},
}
BLOCK = {"mass": 5.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
HINGE = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}
SLIDE = {"kind": "prismatic", "between": ["ground", "block"], "axis": [1, 0, 0]}
GRAVITY = [0, 0, -9.81]

CIRCUIT: dict[str, Any] = {
    "electric": {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "10*sin(300*t)"},
        "R1": {"kind": "resistor", "nodes": ["a", "b"], "R": 10},
        "T": {"kind": "transformer", "nodes": ["b", "gnd", "c", "d"], "ratio": 2.0},
        "R2": {"kind": "resistor", "nodes": ["d", "gnd"], "R": 100},
        "D": {"kind": "diode", "nodes": ["c", "e"], "Is": 1e-9},
        "C": {"kind": "capacitor", "nodes": ["e", "d"], "C": 1e-4, "voltage": 0.1},
        "RL": {"kind": "resistor", "nodes": ["e", "d"], "R": 50},
        "G": {"kind": "gyrator", "nodes": ["b", "gnd", "f", "gnd"], "r": 30.0},
        "C2": {"kind": "capacitor", "nodes": ["f", "gnd"], "C": 2e-4},
        "O": {"kind": "op_amp", "nodes": ["a", "g", "h"], "gain": 1e4},
        "Rf": {"kind": "resistor", "nodes": ["h", "g"], "R": 1e3},
        "Rg": {"kind": "resistor", "nodes": ["g", "gnd"], "R": 2e3},
        "L": {"kind": "inductor", "nodes": ["h", "k"], "L": 0.01},
        "Rk": {"kind": "resistor", "nodes": ["k", "gnd"], "R": 5},
        "I": {"kind": "current_source", "nodes": ["k", "gnd"], "current": "0.3*R1.current"},
    },
    "simulate": {"t_end": 0.012, "output_step": 1e-4},
}
SWITCHES: dict[str, Any] = {
    "electric": {
        "U": {"kind": "voltage_source", "nodes": ["gnd", "a"], "voltage": "-10*sin(300*t)"},
        "D": {"kind": "diode", "law": "ideal", "nodes": ["a", "b"], "Ron": 1, "Goff": 1e-3},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3},
        "S": {
            "kind": "switch",
            "nodes": ["b", "c"],
            "closed": "sin(500*t) - 0.1",
            "Ron": 1,
            "Goff": 1e-2,
        },
        "L": {"kind": "inductor", "nodes": ["c", "gnd"], "L": 0.1},
    },
    "simulate": {"t_end": 0.02, "output_step": 1e-4},
}
OIL: dict[str, Any] = {
    "bodies": {"block": BLOCK},
    "joints": {"slide": SLIDE},
    "gravity": GRAVITY,
    "hydraulic": {
        "P": {
            "kind": "pump",
            "nodes": ["tank", "P"],
            "on": "rotational.shaft",
            "displacement": 4e-6,
            "leakage": 1e-12,
        },
        "V": {
            "kind": "volume",
            "nodes": ["P"],
            "volume": 1e-3,
            "growth": 5.0,
            "pressure": "20 bar",
        },
        "A": {"kind": "accumulator", "nodes": ["Q"], "volume": 1e-3, "precharge": "20 bar"},
        "pipe": {
            "kind": "pipe",
            "nodes": ["P", "Q"],
            "length": 1.0,
            "diameter": 0.01,
            "segments": 3,
            "pressure": "20 bar",
        },
        "relief": {
            "kind": "relief_valve",
            "nodes": ["P", "tank"],
            "setting": "22 bar",
            "slope": 1e9,
        },
        "check": {
            "kind": "check_valve",
            "nodes": ["Q", "R"],
            "conductance": 1e-10,
            "cracking": "1 bar",
            "leakage": 1e-14,
        },
        "lam": {"kind": "laminar_resistance", "nodes": ["R", "S"], "conductance": 1e-10},
        "cyl": {
            "kind": "cylinder",
            "nodes": ["S", "tank"],
            "on": "joints.slide",
            "area_a": 1e-3,
            "length": -0.002,
            "stroke": 0.004,
            "dead_a": 1e-4,
            "friction": 3e3,
            "k": 1e6,
            "c": 1e3,
            "pressure_a": "1 bar",
        },
        "hole": {"kind": "orifice", "nodes": ["S", "T2"], "area": 1e-6},
        "tk": {"kind": "tank", "nodes": ["T2"], "pressure": "2 bar"},
        "m": {
            "kind": "motor",
            "nodes": ["Q", "tank"],
            "on": "rotational.load",
            "displacement": 2e-6,
            "leakage": 1e-12,
        },
        "f": {"kind": "flow_source", "nodes": ["Q", "tank"], "flow": "1e-5*sin(20*t)"},
    },
    "rotational": {
        "sh": {"kind": "speed", "nodes": ["shaft"], "speed": "150*(1 - exp(-20*t))"},
        "J": {"kind": "inertia", "nodes": ["load"], "J": 0.01, "speed": 3.0},
        "d": {"kind": "damper", "nodes": ["load"], "c": 0.02},
    },
    "simulate": {"t_end": 0.06, "output_step": 1e-3},
}
SHAFTS: dict[str, Any] = {
    "bodies": {"rod": ROD, "block": BLOCK},
    "joints": {"hinge": HINGE, "slide": SLIDE},
    "gravity": GRAVITY,
    "electric": {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "12*sin(9*t)"},
        "M": {
            "kind": "dc_motor",
            "nodes": ["a", "gnd"],
            "on": "rotational.m",
            "R": 1.2,
            "L": 3e-3,
            "K": 0.1,
            "J": 1e-4,
            "B": 1e-3,
        },
    },
    "rotational": {
        "g": {"kind": "gear", "nodes": ["m", "n"], "ratio": 0.2},
        "J2": {"kind": "inertia", "nodes": ["n"], "J": 2e-3},
        "b": {"kind": "belt", "nodes": ["n", "o"], "radius1": 0.1, "radius2": 0.05},
        "k": {"kind": "spring", "nodes": ["o", "p"], "k": 5.0},
        "J3": {"kind": "inertia", "nodes": ["p"], "J": 1e-3, "angle": 0.2},
        "d": {"kind": "damper", "nodes": ["p", "frame"], "c": 1e-2},
        "tq": {"kind": "torque", "on": "joints.hinge", "torque": "0.5*cos(4*t)"},
        "kh": {"kind": "spring", "on": "joints.hinge", "k": 2.0, "length": 0.1},
        "Jh": {"kind": "inertia", "on": "joints.hinge", "J": 0.01},
        "drag": {"kind": "damper", "nodes": ["q", "frame"], "c": 0.1},
        "kq": {"kind": "spring", "nodes": ["p", "q"], "k": 3.0},
    },
    "translational": {
        "scr": {
            "kind": "ball_screw",
            "shaft": "rotational.m",
            "slide": "joints.slide",
            "lead": 0.01,
        },
        "k2": {
            "kind": "spring",
            "between": ["rod.B", {"body": "block", "at": [0, 0, 0.1]}],
            "k": 30.0,
            "length": 0.5,
        },
        "f2": {
            "kind": "force",
            "between": [{"body": "ground", "at": [0, 1, 0.3]}, "rod.B"],
            "force": "2*sin(5*t)",
        },
        "d2": {
            "kind": "damper",
            "between": [{"body": "ground", "at": [0, 1, 0.3]}, "rod.B"],
            "c": 0.7,
        },
        "m2": {"kind": "mass", "nodes": ["x"], "m": 2.0, "speed": 0.4, "position": 0.1},
        "k3": {"kind": "spring", "nodes": ["frame", "x"], "k": 80, "length": 0.02},
    },
    "simulate": {"t_end": 0.5, "output_step": 2e-3},
}
CONTROL: dict[str, Any] = {
    "bodies": {"rod": ROD},
    "joints": {"hinge": HINGE},
    "gravity": GRAVITY,
    "forces": {
        "back": {"kind": "torque", "on": "joints.hinge", "torque": ["ctl"]},
        "load": {"kind": "force", "on": "rod.B", "force": ["lim", "0", "-lag"], "axes": "body"},
    },
    "signals": {
        "ref": {"kind": "step", "start": 0.1, "height": 0.4},
        "ctl": {
            "kind": "pid",
            "demand": "ref",
            "measured": "hinge.angle",
            "kp": 9,
            "ki": 4,
            "kd": 1,
            "filter": 0.02,
            "lower": -3,
            "upper": 3,
        },
        "lim": {"kind": "limiter", "input": "4*hinge.speed", "lower": -1, "upper": 1},
        "tf": {
            "kind": "transfer_function",
            "input": "hinge.angle",
            "numerator": [1, 3],
            "denominator": [0.1, 1, 2],
        },
        "lag": {"kind": "delay", "input": "tf", "time": 0.05, "order": 4},
        "ss": {
            "kind": "state_space",
            "inputs": ["hinge.speed", "t"],
            "A": [[-3, 1], [0, -2]],
            "B": [[1, 0], [0, 1]],
            "C": [1, 2],
            "D": [0.1, 0],
        },
        "s": {"kind": "sum", "inputs": ["ss", "lag"], "weights": [1, -1]},
        "gn": {"kind": "gain", "input": "s", "k": 2.5},
    },
    "simulate": {"t_end": 0.6, "output_step": 2e-3},
}
RUBBING: dict[str, Any] = {
    "translational": {
        "sledge": {"kind": "mass", "nodes": ["s"], "m": 2.0},
        "guide": {
            "kind": "friction",
            "nodes": ["s"],
            "coulomb": 3.0,
            "static": 5.0,
            "stribeck": 0.05,
            "viscous": 0.4,
        },
        "spring": {"kind": "spring", "nodes": ["belt", "s"], "k": 200.0},
        "belt": {"kind": "speed", "nodes": ["belt"], "speed": "0.2*cos(3*t)"},
        "screw": {
            "kind": "ball_screw",
            "shaft": "rotational.disc",
            "slide": "translational.s",
            "lead": 0.05,
        },
    },
    "rotational": {"rotor": {"kind": "inertia", "nodes": ["disc"], "J": 0.003}},
    "simulate": {"t_end": 3.0, "output_step": 5e-3},
}
HELD: dict[str, Any] = {
    "rotational": {
        "motor": {"kind": "inertia", "nodes": ["a"], "J": 0.02, "speed": 30.0},
        "load": {"kind": "inertia", "nodes": ["b"], "J": 0.05, "speed": -2.0},
        "plate": {
            "kind": "clutch",
            "nodes": ["a", "b"],
            "capacity": 4.0,
            "engaged": "min(1, 3*t)",
        },
        "brake": {"kind": "friction", "nodes": ["b"], "coulomb": 1.0, "static": 1.3},
        "push": {"kind": "torque", "nodes": ["a"], "torque": "1.5*sin(6*t)"},
        "wheel": {"kind": "inertia", "nodes": ["c"], "J": 0.01},
        "rim": {"kind": "friction", "nodes": ["b", "c"], "coulomb": 0.4, "viscous": 0.01},
        "coil": {"kind": "spring", "nodes": ["c", "frame"], "k": 5.0},
        "roll": {"kind": "speed", "nodes": ["d"], "speed": "2*cos(2*t)"},
        "disc": {"kind": "inertia", "nodes": ["e"], "J": 0.01},
        "felt": {"kind": "friction", "nodes": ["d", "e"], "coulomb": 0.03, "static": 0.05},
        "rod": {"kind": "spring", "nodes": ["e", "frame"], "k": 0.2},
    },
    "simulate": {"t_end": 2.0, "output_step": 5e-3},
}
MODELS = {
    "rubbing": RUBBING,
    "held": HELD,
    "circuit": CIRCUIT,
    "switches": SWITCHES,
    "oil": OIL,
    "shafts": SHAFTS,
    "control": CONTROL,
}


# Shafts that gears hold together are one there: what a gear passes on is no unknown of it
# (tests/domains/test_trains.py has the closed form).
PASSED_ON = (".torque1", ".torque2", ".shaft_torque", ".thrust")


@pytest.mark.parametrize("name", MODELS)
def test_both_solvers_agree_on_every_output(name):
    model = vbg.Model(name=name, **MODELS[name])
    settings = {"rtol": 1e-10, "atol": 1e-13}
    first = vbg.simulate(model, **settings)
    verdict = compare(first, simulate(model, **settings), tolerance=1e-6)
    assert verdict.result == "PASS", verdict.sentence
    told = {vector_of(c.name) for c in verdict.channels}
    asked = {n for n in first.signals if not n.startswith(("energy.", "residual."))}
    asked = {n for n in asked if not n.endswith(PASSED_ON)}
    assert asked <= told, asked - told


def test_a_sledge_sticks_exactly_until_the_load_passes_the_static_friction():
    run = simulate(vbg.Model(name="rubbing", **RUBBING), rtol=1e-10, atol=1e-13)
    speed, held = run["translational.s.speed"], run["guide.force"]
    sticks = speed == 0.0
    assert 0.1 < sticks.mean() < 0.9
    assert np.abs(held[sticks]).max() <= 5.0
    assert (held[~sticks] * speed[~sticks] < 0.0).all()


def test_an_amplifier_enters_and_leaves_its_supplies():
    """Non-inverting, gain 1 + Rf / Rg = 1.5 (1 + 1.5e-4)^-1, cut at +-12 V."""
    amplifier = CIRCUIT["electric"]["O"] | {"lower": -12, "upper": 12}
    circuit = CIRCUIT | {"electric": CIRCUIT["electric"] | {"O": amplifier}}
    run = simulate(vbg.Model(name="circuit", **circuit), rtol=1e-9, atol=1e-12)
    wanted = 1.5 / (1.0 + 1.5e-4) * run["electric.a.voltage"]
    assert np.abs(wanted).max() > 13.0
    assert run["O.voltage"] == pytest.approx(np.clip(wanted, -12.0, 12.0), abs=1e-8)


def test_a_wrong_law_is_found():
    """The same circuit with one resistor changed by a tenth of a per mille."""
    model = vbg.Model(name="circuit", **CIRCUIT)
    electric = CIRCUIT["electric"] | {"R1": {"kind": "resistor", "nodes": ["a", "b"], "R": 10.001}}
    other = simulate(vbg.Model(name="circuit", **(CIRCUIT | {"electric": electric})))
    from dataclasses import replace

    first = vbg.simulate(model)
    forged = replace(other, made_by=replace(other.made_by, model_hash=first.made_by.model_hash))
    verdict = compare(first, forged)
    assert verdict.result == "FAIL"
    assert any(c.name.startswith("R1.") for c in verdict.failed())


def test_rotor_on_a_hinge_adds_its_inertia_and_not_to_the_joint_torque():
    """A rod that a constant torque turns without gravity: angle'' = T / (J + m l^2 + Jr)."""
    rotor = {"Jr": {"kind": "inertia", "on": "joints.hinge", "J": 0.05}}
    drive = {"T": {"kind": "torque", "on": "joints.hinge", "torque": 0.3}}
    model = vbg.Model(
        name="rotor",
        gravity=[0, 0, 0],
        bodies={"rod": ROD},
        joints={"hinge": HINGE},
        rotational=rotor | drive,
        simulate={"t_end": 0.5, "output_step": 0.05},
    )
    run = simulate(model, rtol=1e-11, atol=1e-13)
    expected = 0.3 / (0.02 + 0.6 * 0.3**2 + 0.05)
    assert run["hinge.angle"] == pytest.approx(0.5 * expected * run.time**2, abs=1e-10)
    assert np.abs(run["hinge.torque"][:, 1]).max() < 1e-12


def test_stores_are_the_derivatives_of_their_contents():
    h = 1.0
    volume, bulk, growth = 1e-3, 1.4e9, 6.0
    p = 2e7

    def content(p: float) -> float:
        return volume * math.log1p(growth * p / bulk) / growth

    slope = (content(p + h) - content(p - h)) / (2 * h)
    assert Oil(bulk, growth, 0.0).capacity(volume)(p) == pytest.approx(slope, rel=1e-6)

    for outside in (0.0, 1e5, 3e6):

        def pressed(p: float, outside: float = outside) -> float:
            return 1e-3 * (1.0 - ((2e6 + outside) / (p + outside)) ** (1 / 1.4))

        slope = (pressed(p + h) - pressed(p - h)) / (2 * h)
        bladder = Bladder(1e-3, 2e6, outside, 1.4, 1e-5, Oil(1.4e9, 0.0, 0.005))
        assert bladder.capacity(p) == pytest.approx(slope, rel=1e-6)


def test_end_stops_never_pull():
    stops = Stops(0.1, 1e4, 1e5)
    for s in (-0.01, 0.05, 0.11):
        for speed in (-3.0, 0.0, 3.0):
            force = stops.force(s, speed)
            assert force * (0.05 - s) >= 0.0
    assert stops.force(0.05, 1.0) == 0.0


def test_pade_fraction_of_a_dead_time_is_all_pass():
    A, B, C, D = companion(*dead_time(5))
    for omega in (0.1, 0.6, 1.6):
        found = C @ np.linalg.solve(1j * omega * np.eye(5) - A, B[:, 0]) + D[0]
        assert abs(found) == pytest.approx(1.0, abs=1e-10)
        assert np.angle(found * np.exp(1j * omega)) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("time", [1e-5, 1e-3, 10.0])
def test_a_dead_time_is_as_sharp_however_short_it_is(time):
    """What it keeps is counted in units of the dead time: powers of 10 us lie below any tolerance.
    The delay of a ramp is the ramp before; of t^2 (t - T)^2, behind what its start leaves."""
    delay = {"kind": "delay", "input": "wave", "time": time, "order": 4}
    wave = {"kind": "expression", "expression": f"(t/{time})^2 + 0*rotor.speed"}
    model = vbg.Model(
        name="delay",
        rotational={"rotor": {"kind": "inertia", "nodes": ["a"], "J": 1.0, "speed": 1.0}},
        signals={"wave": wave, "late": delay},
    )
    found = simulate(model, t_end=8 * time, output_step=time, rtol=1e-10, atol=1e-12)
    behind = found.time[4:] / time
    assert np.abs(found["late"][4:] - (behind - 1.0) ** 2).max() <= 2e-2  # order 4, from rest
    twin = vbg.simulate(model, t_end=8 * time, output_step=time, rtol=1e-10, atol=1e-12)
    assert np.abs(found["late"] - twin["late"]).max() <= 1e-7


def test_where_a_law_has_no_value_the_rates_are_nan_and_the_next_instant_is_found():
    model = vbg.Model(name="oil", **OIL)
    mechanism = lay_out(model)
    mechanism, y = with_network(mechanism, start(mechanism).y)
    plant, own = Plant(mechanism), mechanism.size
    sound = plant.rate(0.0, y)
    wild = y.copy()
    wild[own:] = -1e3 * np.abs(y[own:])
    assert np.isnan(plant.rate(0.0, wild)[own:]).any()
    assert plant.rate(0.0, y) == pytest.approx(sound, rel=1e-9)


def test_a_closed_clutch_holds_two_shafts_and_a_brake_both():
    run = simulate(vbg.Model(name="held", **HELD), rtol=1e-10, atol=1e-13)
    first, second = run["rotational.a.speed"], run["rotational.b.speed"]
    together, torque = np.abs(first - second) < 1e-12, run["plate.torque"]
    capacity = 4.0 * np.minimum(1.0, 3.0 * run.time)
    assert 0.3 < together.mean() < 0.99
    assert (np.abs(torque) <= capacity + 1e-9).all()
    np.testing.assert_allclose(np.abs(torque[~together]), capacity[~together], rtol=1e-9)
    both = together & (second == 0.0)
    assert both.any()
    assert np.abs(run["brake.torque"][both]).max() <= 1.3


@pytest.mark.parametrize(
    ("old", "new", "channel"),
    tail(
        [
            ("way.static(w)\n", "way.static(w) * 1.01\n", "brake.torque"),
            ("sign * (dry + ", "sign * (0.999 * dry + ", "plate.torque"),
            ("exp(-size(speed) / stribeck)", "exp(-size(speed))", "brake.torque"),
            ("drive is None:", "drive is None or True:", "felt.torque"),
            ("x[side.state] - left if", "0.0 if", "c.speed"),
        ],
        1,
    ),
)
def test_a_fault_in_dry_friction_is_found(old, new, channel):
    model = vbg.Model(name="held", **HELD)
    settings = {"rtol": 1e-9, "atol": 1e-12, "t_end": 1.2, "output_step": 0.01}
    first = vbg.simulate(model, **settings)
    with exchanged("tmm_bridge.onedim.laws.friction", old, new):
        verdict = compare(first, simulate(model, **settings), tolerance=1e-5)
    assert verdict.result == "FAIL", verdict.sentence
    assert any(channel in c.name for c in verdict.failed())


def test_frictions_that_share_with_a_driven_shaft_have_no_twin():
    parts = HELD["rotational"] | {
        "second": {"kind": "friction", "nodes": ["d", "e"], "coulomb": 0.2},
    }
    why = lay_out(vbg.Model(name="held", rotational=parts)).apart
    assert why.startswith("rotational.felt: a friction that shares with a shaft of given speed")
