"""A small machine around every one-dimensional part, for laws that all parts keep."""

from __future__ import annotations

V = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "3*sin(20*t) + 1"}
R = {"kind": "resistor", "nodes": ["a", "b"], "R": 2.0}
C = {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.02, "voltage": 0.7}
P = {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": "2e6*(1 + sin(20*t))"}
O = {"kind": "orifice", "nodes": ["p", "q"], "area": 1e-5}
VOL = {"kind": "volume", "nodes": ["q"], "volume": 1e-3, "pressure": 3e5}
J = {"kind": "inertia", "nodes": ["s"], "J": 0.3, "speed": 1.3}
M = {"kind": "mass", "nodes": ["x"], "m": 2.0, "speed": 0.4}


def _electric(part: dict) -> dict:
    return {"electric": {"V": V, "R": R, "C": C, "part": part}}


def _hydraulic(part: dict) -> dict:
    return {"hydraulic": {"P": P, "O": O, "volume": VOL, "part": part}}


def _rotational(part: dict) -> dict:
    other = {"kind": "inertia", "nodes": ["r"], "J": 0.2, "speed": -0.4}
    return {"rotational": {"J": J, "K": other, "part": part}}


def _translational(part: dict) -> dict:
    other = {"kind": "mass", "nodes": ["y"], "m": 1.5, "speed": -0.6}
    return {"translational": {"M": M, "N": other, "part": part}}


BG = ["b", "gnd"]
QT = ["q", "tank"]
BENCHES: dict[str, dict] = {
    "electric.resistor": _electric({"kind": "resistor", "nodes": BG, "R": 3.0}),
    "electric.capacitor": _electric({"kind": "capacitor", "nodes": ["a", "b"], "C": 0.01}),
    "electric.inductor": _electric({"kind": "inductor", "nodes": BG, "L": 0.1, "current": 0.3}),
    "electric.voltage_source": _electric(
        {"kind": "voltage_source", "nodes": ["c", "b"], "voltage": "2*C.voltage"}
    )
    | {},
    "electric.current_source": _electric(
        {"kind": "current_source", "nodes": BG, "current": "0.1*R.current"}
    ),
    "electric.diode": _electric({"kind": "diode", "nodes": BG, "Is": 1e-6}),
    "electric.switch": _electric(
        {"kind": "switch", "nodes": BG, "closed": "sin(30*t + 1)", "Ron": 0.5}
    ),
    "electric.op_amp": _electric({"kind": "op_amp", "nodes": ["a", "c", "c"]}),
    "electric.transformer": _electric(
        {"kind": "transformer", "nodes": ["b", "gnd", "c", "gnd"], "ratio": 2.0}
    ),
    "electric.gyrator": _electric({"kind": "gyrator", "nodes": ["b", "gnd", "c", "gnd"], "r": 2.0}),
    "electric.dc_motor": _electric(
        {"kind": "dc_motor", "nodes": BG, "on": "rotational.s", "R": 1.0, "L": 0.01, "K": 0.3}
    )
    | {"rotational": {"J": J}},
    "electric.solenoid": _electric(
        {
            "kind": "solenoid",
            "nodes": BG,
            "on": "translational.x",
            "R": 1.0,
            "L0": 0.1,
            "a": 0.3,
            "length": -0.1,
            "current": 0.8,
            "k": 1e4,
            "c": 30.0,
        }
    )
    | {"translational": {"M": M}},
    "hydraulic.pressure_source": _hydraulic(
        {"kind": "laminar_resistance", "nodes": QT, "conductance": 1e-10}
    ),
    "hydraulic.flow_source": _hydraulic({"kind": "flow_source", "nodes": QT, "flow": 1e-5}),
    "hydraulic.tank": _hydraulic({"kind": "tank", "nodes": ["z"], "pressure": 1e5}),
    "hydraulic.volume": _hydraulic(
        {"kind": "volume", "nodes": ["z"], "volume": 2e-3, "growth": 12.0, "pressure": 1e6}
    ),
    "hydraulic.orifice": _hydraulic({"kind": "orifice", "nodes": QT, "area": 1e-5}),
    "hydraulic.laminar_resistance": _hydraulic(
        {"kind": "laminar_resistance", "nodes": QT, "conductance": 1e-10}
    ),
    "hydraulic.check_valve": _hydraulic(
        {"kind": "check_valve", "nodes": QT, "conductance": 1e-9, "cracking": 5e5}
    ),
    "hydraulic.relief_valve": _hydraulic(
        {"kind": "relief_valve", "nodes": QT, "setting": 1e6, "slope": 1e9}
    ),
    "hydraulic.proportional_valve": _hydraulic(
        {
            "kind": "proportional_valve",
            "nodes": ["q", "tank", "A", "B"],
            "opening": "sin(10*t)",
            "qn": 1e-4,
            "overlap": 0.1,
            "leakage": 0.01,
        }
    ),
    "hydraulic.pump": _hydraulic(
        {
            "kind": "pump",
            "nodes": ["tank", "q"],
            "on": "rotational.s",
            "displacement": 1e-6,
            "leakage": 1e-12,
        }
    )
    | {"rotational": {"J": J}},
    "hydraulic.motor": _hydraulic(
        {
            "kind": "motor",
            "nodes": QT,
            "on": "rotational.s",
            "displacement": 1e-6,
            "leakage": 1e-12,
        }
    )
    | {"rotational": {"J": J}},
    "hydraulic.accumulator": _hydraulic(
        {"kind": "accumulator", "nodes": ["z"], "volume": 1e-3, "precharge": 5e5, "pressure": 8e5}
    ),
    "hydraulic.pipe": _hydraulic(
        {"kind": "pipe", "nodes": QT, "length": 2.0, "diameter": 0.01, "segments": 3}
    ),
    "hydraulic.cylinder": _hydraulic(
        {
            "kind": "cylinder",
            "nodes": ["q", "tank"],
            "on": "translational.x",
            "area_a": 1e-3,
            "length": -0.1,
            "stroke": 0.5,
            "leakage": 1e-11,
            "friction": 100.0,
            "k": 1e6,
            "pressure_a": 3e5,
        }
    )
    | {"translational": {"M": M}},
    "rotational.inertia": _rotational({"kind": "inertia", "nodes": ["s"], "J": 0.1}),
    "rotational.spring": _rotational({"kind": "spring", "nodes": ["s", "r"], "k": 30.0}),
    "rotational.damper": _rotational({"kind": "damper", "nodes": ["s", "r"], "c": 0.4}),
    "rotational.torque": _rotational({"kind": "torque", "nodes": ["s"], "torque": "sin(9*t)"}),
    "rotational.speed": _rotational({"kind": "speed", "nodes": ["s", "r"], "speed": "sin(9*t)"}),
    "rotational.friction": _rotational(
        {"kind": "friction", "nodes": ["s", "r"], "coulomb": 0.4, "static": 0.6, "viscous": 0.1}
    ),
    "rotational.clutch": _rotational({"kind": "clutch", "nodes": ["s", "r"], "capacity": 0.5}),
    "rotational.gear": _rotational({"kind": "gear", "nodes": ["s", "r"], "ratio": -2.5}),
    "rotational.belt": _rotational(
        {"kind": "belt", "nodes": ["s", "r"], "radius1": 0.1, "radius2": 0.2}
    ),
    "translational.mass": _translational({"kind": "mass", "nodes": ["x"], "m": 0.7}),
    "translational.spring": _translational({"kind": "spring", "nodes": ["x", "y"], "k": 300.0}),
    "translational.damper": _translational({"kind": "damper", "nodes": ["x", "y"], "c": 4.0}),
    "translational.force": _translational({"kind": "force", "nodes": ["x"], "force": "sin(9*t)"}),
    "translational.speed": _translational({"kind": "speed", "nodes": ["x"], "speed": "sin(9*t)"}),
    "translational.friction": _translational(
        {"kind": "friction", "nodes": ["x", "y"], "coulomb": 4.0, "static": 5.0}
    ),
    "translational.ball_screw": _translational(
        {
            "kind": "ball_screw",
            "shaft": "rotational.s",
            "slide": "translational.x",
            "lead": 0.01,
        }
    )
    | {"rotational": {"J": J}},
}
# what a node needs besides the part
BENCHES["electric.voltage_source"]["electric"]["load"] = {
    "kind": "resistor",
    "nodes": ["c", "gnd"],
    "R": 5.0,
}
for kind in ("op_amp", "transformer", "gyrator"):
    BENCHES[f"electric.{kind}"]["electric"]["load"] = {
        "kind": "resistor",
        "nodes": ["c", "gnd"],
        "R": 5.0,
    }
BENCHES["electric.op_amp"]["electric"]["part"]["nodes"] = ["a", "m", "c"]
BENCHES["electric.op_amp"]["electric"]["part"]["gain"] = 100.0
BENCHES["electric.op_amp"]["electric"]["feedback"] = {
    "kind": "resistor",
    "nodes": ["m", "c"],
    "R": 7.0,
}
for kind in ("tank", "volume", "accumulator"):
    BENCHES[f"hydraulic.{kind}"]["hydraulic"]["line"] = {
        "kind": "orifice",
        "nodes": ["q", "z"],
        "area": 2e-6,
    }
for side in ("A", "B"):
    BENCHES["hydraulic.proportional_valve"]["hydraulic"][f"volume{side}"] = {
        "kind": "volume",
        "nodes": [side],
        "volume": 1e-4,
        "pressure": 2e5,
    }
