"""Machines and circuits in other units of time, mass and length: the same poles in their time."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.scaled import Scale
from tests.tail import tail
from tests.tmm_bridge.vibration.test_acting import random_circuit, random_tree
from vbg.analysis import linearise


def random_machine(seed, weight, strained):
    """A tree of pendulums and sliders on springs, `strained` at the start or not, with friction,
    and a motor behind a circuit on one joint."""
    rng = np.random.default_rng(seed)
    bodies, joints, forces, kinds = random_tree(rng)
    for spring in forces.values() if strained else ():
        spring["length" if spring["kind"] == "spring" else "rest"] = float(rng.uniform(-0.1, 0.1))
    turning = next(name for name, kind in kinds.items() if kind == "revolute")
    return vbg.Model(
        name="machine",
        gravity=[0, 0, -9.81 if weight else 0.0],
        bodies=bodies,
        joints=joints,
        forces=forces,
        electric=random_circuit(rng, turning),
    )


def rectifier(seed):
    """A source that charges through a diode, a coil behind it."""
    sizes = 10.0 ** np.random.default_rng(seed).uniform(-1, 1, 6)
    R, C, L = 100.0 * sizes[:3], 0.3 * sizes[3:5], 100.0 * sizes[5]
    electric = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 5.0},
        "R1": {"kind": "resistor", "nodes": ["a", "b"], "R": float(R[0])},
        "D": {"kind": "diode", "nodes": ["b", "c"]},
        "C1": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": float(C[0])},
        "C2": {"kind": "capacitor", "nodes": ["c", "gnd"], "C": float(C[1])},
        "R2": {"kind": "resistor", "nodes": ["c", "gnd"], "R": float(R[1])},
        "L": {"kind": "inductor", "nodes": ["c", "d"], "L": float(L)},
        "R3": {"kind": "resistor", "nodes": ["d", "gnd"], "R": float(R[2])},
    }
    return vbg.Model(name="rectifier", electric=electric)


def poles(model):
    start = vbg.start(model, "equilibrium")
    found = linearise(start.system, start.state, inputs=()).modes
    return np.array(sorted((mode.eigenvalue for mode in found), key=abs))


def require_alike(model, scale):
    own, scaled = poles(model), poles(scale.model(model)) * scale.time
    np.testing.assert_allclose(scaled, own, rtol=1e-6, err_msg=str(scale))


def random_scale(seed, time, volts=False):
    """With lengths from 0.1 mm to 100 m and masses from mg to 10 t, or with volts as they are."""
    rng = np.random.default_rng(seed)
    length, mass = 10.0 ** rng.uniform(-4, 2), 10.0 ** rng.uniform(-6, 4)
    return Scale(1.0, time**3, time) if volts else Scale(length, mass, time)


@pytest.mark.parametrize("time", tail([1e8, 1e-8, 1e6, 1e-6, 1e3, 1e-3], 1))
@pytest.mark.parametrize("way", tail(["strained", "weight", "straight", "both"], 1))
def test_machines_on_springs_in_any_time(way, time):
    for seed in range(1 if way == "strained" else 3):
        model = random_machine(seed, way in ("weight", "both"), way in ("strained", "both"))
        require_alike(model, random_scale(seed, time))


@pytest.mark.parametrize("time", tail([1e8, 1e-8, 1e6, 1e-6, 1e3, 1e-3], 1))
def test_circuits_in_any_time(time):
    for seed in range(2):
        require_alike(rectifier(seed), random_scale(seed, time, volts=True))
