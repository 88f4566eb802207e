"""Random circuits and drivelines: whatever a user may connect, sense or not."""

from __future__ import annotations

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


def _one(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]
