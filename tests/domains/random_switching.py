"""Random networks and slides in which much switches: dry frictions, clutches, stops, check and
relief valves, ideal diodes and switches, at random magnitudes of everything.

Each net has scales of its own (of a torque, a pressure, a voltage, of sizes and of time), and its
parts are within a few decades of them, so that much happens in the ten units of time of a run,
whether these are microseconds or hours.  Nodes have a store or have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Document = dict[str, Any]
Draw = Callable[[float, float], float]

UNITS = 10.0  # of time, in a run
ROWS = 50
G = 9.81  # m/s^2


def driveline(seed: int) -> Document:
    """Shafts with and without inertia, between them frictions, clutches, springs and dampers.

    A shaft without inertia has dry parts towards one other only, which do not fall with the speed:
    two that hold it both would be a joint between the others, and friction that falls faster than a
    damper grows leaves more than one speed."""
    random, draw = _random(seed, 1)
    torque, time = draw(-6, 4), draw(-4, 3)
    nodes = [f"n{i}" for i in range(random.integers(1, 5))]
    parts: Document = {
        f"J{n}": _part("inertia", n, J=torque * time**2 * draw(-1, 1))
        for n in nodes
        if random.random() < 0.7
    }
    for n in nodes:  # what has no inertia has something that says how it moves
        if f"J{n}" not in parts:
            parts[f"c{n}"] = _part("damper", n, c=torque * time * draw(-1, 1))
    grips: Mapping[str, Callable[[], Document]] = {
        "friction": lambda: _dry(random, torque * draw(-1, 0.3), 1.0 / time),
        "clutch": lambda: {
            "capacity": torque * draw(-1, 0.3),
            "engaged": _one(random, "1", f"max(sin(t/{time!r}), 0)"),
        },
        "spring": lambda: {"k": torque * draw(-0.5, 1.5)},
        "damper": lambda: {"c": torque * time * draw(-2, 0)},
        "torque": lambda: {"torque": _wave(random, torque, time)},
    }
    ends = [*nodes, "frame"]
    towards: dict[str, str] = {}
    for j in range(random.integers(3, 8)):
        kind = str(random.choice(list(grips)))
        pair = [str(n) for n in random.choice(ends, 2, replace=False)]
        keys = grips[kind]()
        light = [i for i in (0, 1) if f"c{pair[i]}" in parts]
        if kind in ("friction", "clutch") and light:
            if any(towards.setdefault(pair[i], pair[1 - i]) != pair[1 - i] for i in light):
                continue
            keys = {
                key: value
                for key, value in keys.items()
                if key in ("coulomb", "capacity", "engaged")
            }
        parts[f"p{j}"] = {"kind": kind, "nodes": pair, **keys}
    parts["drive"] = _part("torque", nodes[0], torque=_wave(random, torque, time))
    return {"rotational": parts, "simulate": _run(time)}


def oil(seed: int) -> Document:
    """Vessels with check and relief valves between them."""
    random, draw = _random(seed, 2)
    pressure, volume, time = draw(5, 7.5), draw(-7, 1), draw(-4, 3)
    flow = pressure * volume / 1.4e9 / time
    nodes = [f"n{i}" for i in range(random.integers(1, 5))]
    parts: Document = {
        f"V{n}": _part("volume", n, volume=volume * draw(-1, 1))
        for n in nodes
        if n == "n0" or random.random() < 0.6
    }
    for n in nodes:  # a node between shut valves has a leak
        if f"V{n}" not in parts:
            leak = flow / pressure * draw(-9, -3)
            parts[f"leak{n}"] = _part("laminar_resistance", n, "tank", conductance=leak)
    kinds: Mapping[str, Callable[[], Document]] = {
        "check_valve": lambda: {
            "conductance": flow / pressure * draw(0, 3),
            "cracking": _one(random, 0.0, 0.0, 0.1 * pressure),
        },
        "relief_valve": lambda: {
            "setting": pressure * draw(-1, 0),
            "slope": pressure / flow * draw(-2, 0),
        },
        "laminar_resistance": lambda: {"conductance": flow / pressure * draw(-2, 0)},
    }
    ends = [*nodes, "tank"]
    for j in range(random.integers(2, 7)):
        kind = str(random.choice(list(kinds)))
        pair = [str(n) for n in random.choice(ends, 2, replace=False)]
        parts[f"p{j}"] = {"kind": kind, "nodes": pair, **kinds[kind]()}
    supply = f"{flow!r}*max(sin(t/{time!r}), 0)"
    parts["supply"] = _part("flow_source", "tank", "n0", flow=supply)
    return {"hydraulic": parts, "simulate": _run(time)}


def circuit(seed: int) -> Document:
    """Ideal diodes and switches between resistors, capacitors and inductors."""
    random, draw = _random(seed, 3)
    R, voltage, time = draw(-1, 5), draw(-2, 3), draw(-7, 2)
    nodes = [f"n{i}" for i in range(random.integers(2, 5))]
    parts: Document = {
        f"C{n}": _part("capacitor", n, "gnd", C=time / R * draw(-1, 1))
        for n in nodes[1:]
        if random.random() < 0.5
    }
    kinds: Mapping[str, Callable[[], Document]] = {
        "diode": lambda: {"law": "ideal", "Ron": R * draw(-4, -1), "Goff": draw(-5, -2) / R},
        "switch": lambda: {
            "closed": f"sin({draw(-0.5, 0.5)!r}*t/{time!r})",
            "Ron": R * draw(-4, -1),
            "Goff": draw(-5, -2) / R,
        },
        "resistor": lambda: {"R": R * draw(-1, 1)},
        "inductor": lambda: {"L": R * time * draw(-1, 1)},
    }
    ends = [*nodes, "gnd"]
    for j in range(random.integers(3, 8)):
        kind = str(random.choice(list(kinds)))
        pair = [str(n) for n in random.choice(ends, 2, replace=False)]
        parts[f"p{j}"] = {"kind": kind, "nodes": pair, **kinds[kind]()}
    parts["line"] = _part("resistor", "source", "n0", R=R * draw(-1, 0))
    parts["source"] = _part("voltage_source", "source", "gnd", voltage=_wave(random, voltage, time))
    return {"electric": parts, "simulate": _run(time)}


def slides(seed: int) -> Document:
    """Up to three bodies on slides above each other, with stops, dry frictions and springs."""
    random, draw = _random(seed, 4)
    mass, length = draw(-9, 3), draw(-6, 3)
    time = float(np.sqrt(length / G))
    force = mass * G
    bodies, joints, loads, below = {}, {}, {}, "ground"
    for i in range(random.integers(1, 4)):
        m = mass * draw(-0.5, 0.5)
        J = m * length**2
        bodies[f"b{i}"] = {"mass": m, "inertia": {"xx": J, "yy": J, "zz": J}}
        joint: Document = {"kind": "prismatic", "between": [below, f"b{i}"], "axis": [0, 0, 1]}
        joint["stop"] = {
            "lower": -length * draw(-1, 0),
            "upper": length * draw(-1, 0),
            "k": force / length * draw(2, 5),
            "c": _one(random, 0.0, force / length * time * draw(0, 1.5)),
        }
        if random.random() < 0.6:
            joint["friction"] = _dry(random, force * draw(-1, 0), length / time)
        joints[f"s{i}"] = joint
        if random.random() < 0.5:
            anchor = {"body": "ground", "at": [0.0, 0.0, -3.0 * length]}
            loads[f"k{i}"] = {
                "kind": "spring",
                "between": [anchor, f"b{i}"],
                "k": force / length * draw(-1, 1),
                "length": 3.0 * length,
            }
        pull = _wave(random, force, time)
        loads[f"f{i}"] = {"kind": "force", "on": f"b{i}", "force": ["0", "0", pull]}
        below = f"b{i}"
    return {"bodies": bodies, "joints": joints, "forces": loads, "simulate": _run(time)}


def _random(seed: int, kind: int) -> tuple[np.random.Generator, Draw]:
    """Numbers, and what draws some within decades."""
    random = np.random.default_rng([seed, kind])
    return random, lambda low, high: float(10.0 ** random.uniform(low, high))


def _part(kind: str, *nodes: str, **keys: Any) -> Document:
    return {"kind": kind, "nodes": list(nodes), **keys}


def _dry(random: np.random.Generator, coulomb: float, speed: float) -> Document:
    falls = {"static": coulomb * random.uniform(1.0, 1.5), "stribeck": 0.1 * speed}
    return {"coulomb": coulomb, **_one(random, {}, {}, falls)}


def _wave(random: np.random.Generator, size: float, time: float) -> str:
    """A sine, some steps, or something that grows."""
    size *= float(random.uniform(0.5, 2.0))
    return str(
        _one(
            random,
            f"{size!r}*sin({random.uniform(0.5, 3.0)!r}*t/{time!r})",
            f"if(t < {random.uniform(1.0, 5.0) * time!r}, {size!r}, {-size!r})",
            f"{size!r}*t/{5.0 * time!r}",
        )
    )


def _one(random: np.random.Generator, *choices: Any) -> Any:
    return choices[int(random.integers(len(choices)))]


def _run(time: float) -> Document:
    return {"t_end": UNITS * time, "output_step": UNITS * time / ROWS}
