"""Random circuits, drivelines and oil nets: whatever a user may connect, sense or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Document = dict[str, Any]


def circuit(seed: int) -> Document:
    """Two to seven parts between up to five nodes; motors turn one shaft."""
    rng = np.random.default_rng(seed)
    nodes = [*(f"n{i}" for i in range(rng.integers(1, 5))), "gnd"]
    kinds = {
        "resistor": lambda: {"R": 10 ** rng.uniform(0, 4)},
        "capacitor": lambda: {"C": 10 ** rng.uniform(-9, -3)},
        "inductor": lambda: {"L": 10 ** rng.uniform(-6, 0)},
        "voltage_source": lambda: {"voltage": _one(rng, "5", "5*sin(100*t)", "if(t > 0.01, 5, 0)")},
        "current_source": lambda: {"current": _one(rng, "0.01", "0.01*sin(100*t)")},
        "diode": lambda: {"law": _one(rng, "exponential", "ideal")},
        "switch": lambda: {"closed": _one(rng, "sin(200*t)", "1", "0")},
        "dc_motor": lambda: {
            "on": "rotational.m",
            "R": 1.0,
            "L": _one(rng, 0.0, 1e-3),
            "K": 0.05,
            "J": _one(rng, 0.0, 1e-4),
        },
    }
    parts = {}
    for j in range(rng.integers(2, 8)):
        ends = [str(name) for name in rng.choice(nodes, 2, replace=False)]
        kind = str(rng.choice(list(kinds)))
        parts[f"e{j}"] = {"kind": kind, "nodes": ends, **kinds[kind]()}
    return {"electric": parts, "simulate": {"t_end": 0.03, "output_step": 0.001}}


def driveline(seed: int) -> Document:
    """Up to four shafts, three of four with an inertia, and one to six parts between them."""
    rng = np.random.default_rng(seed)
    nodes = [f"n{i}" for i in range(rng.integers(1, 5))]
    parts: Document = {
        f"J{node}": {"kind": "inertia", "nodes": [node], "J": 10 ** rng.uniform(-3, 1)}
        for node in nodes
        if rng.random() < 0.75
    }
    kinds = {
        "spring": lambda: {"k": 10 ** rng.uniform(0, 3)},
        "damper": lambda: {"c": 10 ** rng.uniform(-2, 1)},
        "friction": lambda: {"coulomb": 10 ** rng.uniform(-1, 0.5)},
        "clutch": lambda: {"capacity": 0.5, "engaged": _one(rng, "1", "max(sin(5*t), 0)")},
        "gear": lambda: {"ratio": _one(rng, -2.0, 0.5, 3.0)},
        "torque": lambda: {"torque": f"{rng.normal()}*sin({rng.uniform(1, 10)}*t)"},
        "speed": lambda: {"speed": _one(rng, "2*sin(4*t)", "0", "max(t - 0.2, 0)", "1")},
    }
    for j in range(rng.integers(1, 7)):
        kind = str(rng.choice(list(kinds)))
        ends = [str(name) for name in rng.choice([*nodes, "frame"], 2, replace=False)]
        if kind != "gear" or "frame" not in ends:
            parts[f"p{j}"] = {"kind": kind, "nodes": ends, **kinds[kind]()}
    return {"rotational": parts, "simulate": {"t_end": 0.6, "output_step": 0.02}}


def oil(seed: int) -> Document:
    """Two to eight parts between up to four nodes; a motor or a pump may turn a shaft, a cylinder
    push a slide."""
    rng = np.random.default_rng(seed)
    nodes = [*(f"n{i}" for i in range(rng.integers(1, 5))), "tank"]
    kinds: dict[str, tuple[int, Callable[[], Document]]] = {
        "pump": (
            2,
            lambda: {"displacement": 1e-6, **_drive(rng), "leakage": _one(rng, 0.0, 1e-12)},
        ),
        "motor": (2, lambda: {"displacement": 2e-6, "on": "rotational.m"}),
        "flow_source": (2, lambda: {"flow": _one(rng, "1e-4", "1e-4*sin(20*t)", "0")}),
        "pressure_source": (
            1,
            lambda: {"pressure": _one(rng, "100e5", "20e5*(2+sin(30*t))", "3e5")},
        ),
        "tank": (1, lambda: {"pressure": _one(rng, 1e5, 5e5)}),
        "volume": (1, lambda: {"volume": 10 ** rng.uniform(-5, -2), **_at(rng, "pressure")}),
        "accumulator": (1, lambda: {"volume": 1e-3, "precharge": 2e6, **_at(rng, "pressure")}),
        "cylinder": (2, lambda: {"area_a": 1e-3, "stroke": 0.5, "length": -0.2, **_rod(rng)}),
        "pipe": (2, lambda: {"length": 2.0, "diameter": 0.01, "segments": int(rng.integers(1, 4))}),
        "orifice": (2, lambda: {"area": 10 ** rng.uniform(-7, -5)}),
        "laminar_resistance": (2, lambda: {"conductance": 10 ** rng.uniform(-13, -9)}),
        "proportional_valve": (4, lambda: {"opening": _one(rng, "sin(9*t)", "1"), "qn": 1e-3}),
        "check_valve": (2, lambda: {"conductance": 1e-9, **_closed(rng)}),
        "relief_valve": (2, lambda: {"setting": 5e6, "slope": 1e10, **_closed(rng)}),
    }
    parts: Document = {}
    for j in range(rng.integers(2, 9)):
        kind = str(rng.choice(list(kinds)))
        count, keys = kinds[kind]
        ends = [
            str(name) for name in rng.choice(nodes[:-1] if count == 1 else nodes, count, count > 2)
        ]
        ends += ["tank"] if kind == "pressure_source" else []  # none below vacuum
        parts[f"h{j}"] = {"kind": kind, "nodes": ends, **keys()}
    shaft = {"kind": "inertia", "nodes": ["m"], "J": 1e-3}
    slide = {"kind": "mass", "nodes": ["x"], "m": 10.0}
    return {
        "hydraulic": parts,
        "rotational": {"J": shaft} if _turns(parts, "rotational.m") else {},
        "translational": {"slide": slide} if _turns(parts, "translational.x") else {},
        "simulate": {"t_end": 0.05, "output_step": 0.001},
    }


def _turns(parts: Document, node: str) -> bool:
    return any(part.get("on") == node for part in parts.values())


def _drive(rng: np.random.Generator) -> Document:
    return _one(rng, {"speed": "150"}, {"speed": "150*sin(30*t)"}, {"on": "rotational.m"})


def _rod(rng: np.random.Generator) -> Document:
    written = {"pressure_a": 5e5, "pressure_b": 5e5}
    return {"on": "translational.x", "area_b": _one(rng, 5e-4, 1e-3), **_one(rng, {}, written)}


def _at(rng: np.random.Generator, key: str) -> Document:
    return _one(rng, {}, {key: 3e6}, {key: 8e6})


def _closed(rng: np.random.Generator) -> Document:
    return {"leakage": _one(rng, 0.0, 1e-13)}


def _one(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]
