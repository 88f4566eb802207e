"""Bridges of four diodes between floating nodes: currents at instants in any order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import vbg
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.solver import with_network

PEAK, LOAD, LEAK, SATURATION, THERMAL = 12.0, 100.0, 1e9, 1e-12, 0.026


def bridge() -> vbg.Model:
    """A floating source, four diodes, a load; a leak ties the source to the ground."""
    ends = {"D1": ("a", "p"), "D2": ("b", "p"), "D3": ("gnd", "a"), "D4": ("gnd", "b")}
    parts = {name: {"kind": "diode", "nodes": list(nodes)} for name, nodes in ends.items()}
    source = {"kind": "voltage_source", "nodes": ["a", "b"], "voltage": f"{PEAK}*sin(t)"}
    load = {"kind": "resistor", "nodes": ["p", "gnd"], "R": LOAD}
    leak = {"kind": "resistor", "nodes": ["b", "gnd"], "R": LEAK}
    return vbg.Model(electric={"V": source, **parts, "R": load, "leak": leak})


def current(voltage: float) -> float:
    """Of the load: two diodes and the load in series, without the leak."""

    def left(i: float) -> float:
        return LOAD * i + 2.0 * THERMAL * np.log1p(i / SATURATION) - abs(voltage)

    return brentq(left, 0.0, abs(voltage) / LOAD, xtol=1e-18, rtol=1e-14)


@pytest.fixture(scope="module")
def plant() -> Plant:
    mechanism, y = with_network(lay_out(bridge()), start(lay_out(bridge())).y)
    made = Plant(mechanism)
    made.evaluate(0.0, y)
    return made


@pytest.mark.parametrize("seed", range(3))
def test_a_bridge_is_found_at_instants_in_any_order(plant, seed):
    """Newton's method alone ends at 1e17 A, or nowhere."""
    rng = np.random.default_rng(seed)
    y = np.zeros(plant.mechanism.size + len(plant.program.x))
    names = [name for name, _, _ in plant.mechanism.network.outputs]
    for t in rng.uniform(0.0, 6.0, 10):
        assert np.isfinite(plant.evaluate(float(t), y)).all()
        told = plant.outputs()[names.index("R.current")]
        assert told == pytest.approx(current(PEAK * np.sin(t)), rel=1e-9, abs=PEAK / LEAK)
