"""A start left to the balance, beside stores that nobody wrote: the node has one effort."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import AssemblyError


def begun(model: vbg.Model) -> dict[str, float]:
    start = vbg.start(model)
    assert not [note for note in start.notes if note.severity == "warning"]
    return {k: float(np.ravel(v)[0]) for k, v in start.outputs(0.0, start.state).items()}


def divider(rng: np.random.Generator, *beside: float | None) -> tuple[vbg.Model, float]:
    """Capacitors of 1 pF to 1 F (one asked for, `beside` it others, their starts) behind resistors
    of 1 mohm to 1 Mohm, and one of 1 pF to 1 F in series to the source.  (model, voltage)"""
    (R1, R2), V = (
        10.0 ** rng.uniform(-3, 6, 2),
        float(rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 3)),
    )
    ends = [["b", "gnd"]] * (1 + len(beside)) + [["a", "b"]]
    sizes = 10.0 ** rng.uniform(-12, 0, len(ends))
    parts: dict[str, dict] = {
        f"C{k}": {"kind": "capacitor", "nodes": nodes, "C": float(C)}
        for k, (nodes, C) in enumerate(zip(ends, sizes, strict=True))
    }
    parts["C0"]["voltage"] = "equilibrium"
    for k, voltage in enumerate(beside, 1):
        parts[f"C{k}"] |= {} if voltage is None else {"voltage": voltage}
    order = rng.permutation(list(parts)).tolist()
    electric = {
        "source": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": V},
        "R1": {"kind": "resistor", "nodes": ["a", "b"], "R": float(R1)},
        "R2": {"kind": "resistor", "nodes": ["b", "gnd"], "R": float(R2)},
        **{name: parts[name] for name in order},
    }
    return vbg.Model(electric=electric), float(V * R2 / (R1 + R2))


def test_capacitors_beside_one_that_is_asked_for_begin_with_its_voltage(rng):
    """It was mixed with those that nobody wrote: 0.68 V of 7.5 V beside ten times its capacity."""
    for count in (1, 2, 1, 2):
        model, expected = divider(rng, *[None] * count)
        found = begun(model)
        V = model.electric["source"].voltage
        for k in range(count + 1):
            assert found[f"C{k}.voltage"] == pytest.approx(expected, rel=1e-9, abs=1e-9 * abs(V))
        across = found[f"C{count + 1}.voltage"]
        assert across == pytest.approx(V - expected, rel=1e-9, abs=1e-9 * abs(V))


def test_a_written_voltage_beside_it_stays_or_is_refused(rng):
    for _ in range(2):
        state = rng.bit_generator.state
        _, expected = divider(rng, 0.0)
        rng.bit_generator.state = state
        model, _ = divider(rng, expected)
        assert begun(model)["C0.voltage"] == pytest.approx(expected, rel=1e-9)
        rng.bit_generator.state = state
        with pytest.raises(AssemblyError, match=f"C1 is tied to it.*{2 * expected:.6g} V follow"):
            vbg.start(divider(rng, 2.0 * expected)[0])


@pytest.mark.parametrize("asked", ["oil", "gas"])
def test_an_accumulator_and_a_volume_between_orifices(rng, asked):
    """p = p0 a1^2 / (a1^2 + a2^2), on both sides of the pressure at which the bladder closes."""
    for p0 in (30e5, 300e5):
        a = 10.0 ** rng.uniform(-6, -5, 2)
        hole = {"kind": "orifice", "cd": 0.7, "laminar": 1.0}
        volume, gas = (10.0 ** rng.uniform(-6, -1, 2)).tolist()
        parts = {
            "pump": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": p0},
            "in": {**hole, "nodes": ["p", "q"], "area": float(a[0])},
            "out": {**hole, "nodes": ["q", "tank"], "area": float(a[1])},
            "oil": {"kind": "volume", "nodes": ["q"], "volume": volume},
            "gas": {"kind": "accumulator", "nodes": ["q"], "volume": gas, "precharge": 20e5},
        }
        parts[asked]["pressure"] = "equilibrium"
        found = begun(vbg.Model(hydraulic=parts))
        expected = p0 * a[0] ** 2 / (a[0] ** 2 + a[1] ** 2)
        for name in ("oil", "gas"):
            assert found[f"{name}.pressure"] == pytest.approx(expected, rel=1e-5)


def table(rng: np.random.Generator, *, speed: float, volume: str = "") -> tuple[vbg.Model, float]:
    """A slide on a table that turns, carried by a cylinder.  (model, force that it has to give)"""
    mass, radius = (10.0 ** rng.uniform(-1, 2, 2) * (1.0, 0.01)).tolist()

    def body(m: float) -> dict:
        return {"mass": m, "inertia": {"xx": m, "yy": m, "zz": m}}

    turn = {"kind": "revolute", "between": ["ground", "table"], "axis": [0, 0, 1]}
    out = {"kind": "prismatic", "between": ["table", "slide"], "axis": [1, 0, 0]}
    cylinder = {"kind": "cylinder", "nodes": ["a", "b"], "on": "joints.out", "area_a": 1e-3}
    cylinder |= {"stroke": 4.0 * radius, "length": -radius, "pressure_a": 10e5}
    parts: dict[str, dict] = {"lift": cylinder}
    for node in volume:
        parts[f"v{node}"] = {"kind": "volume", "nodes": [node]}
        parts[f"v{node}"] |= {"volume": float(10.0 ** rng.uniform(-6, -1))}
    (parts["vb"] if "b" in volume else cylinder)["pressure" if "b" in volume else "pressure_b"] = (
        "equilibrium"
    )
    joints = {"turn": turn | {"drive": f"{speed!r}*t"}, "out": out | {"initial": {"slide": radius}}}
    bodies = {"table": body(1.0), "slide": body(mass)}
    return vbg.Model(bodies=bodies, joints=joints, hydraulic=parts), mass * speed**2 * radius


@pytest.mark.parametrize("volume", ["", "a", "b", "ab"])
def test_a_cylinder_carries_what_a_turning_table_throws_out(rng, volume):
    """(p_b - p_a) A = m W^2 x, chambers of volumes beside the cylinder's or not."""
    for speed in (0.0, 30.0):
        model, force = table(rng, speed=speed, volume=volume)
        found = begun(model)
        assert found["lift.pressure_b"] == pytest.approx(10e5 + force / 1e-3, rel=1e-8)
        if "b" in volume:
            assert found["vb.pressure"] == pytest.approx(found["lift.pressure_b"], rel=1e-9)
