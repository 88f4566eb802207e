"""Voltages and pressures that no load carries: what is left to the balance keeps itself."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import VbgError
from vbg.validate import validate

SIZES = [1e-6, 1.0, 1e6]


def divider(size: float, **more: object) -> vbg.Model:
    """A capacitor at the middle of two resistors: v = V R2 / (R1 + R2), whatever their size."""
    return vbg.Model(
        name="divider",
        electric={
            "source": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 12.0},
            "R1": {"kind": "resistor", "nodes": ["a", "b"], "R": 2.0 * size},
            "R2": {"kind": "resistor", "nodes": ["b", "gnd"], "R": 4.0 * size},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3, "voltage": "equilibrium"},
            **more,
        },
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_capacitor_between_resistors_begins_at_its_share(size):
    run = vbg.simulate(divider(size), t_end=size * 1e-3, output_step=size * 1e-4)
    assert np.abs(run["C.voltage"] - 8.0).max() <= 1e-9


def test_a_filter_begins_where_its_coil_sees_no_voltage():
    """L i' = V - v: with no current written and no load the capacitor stands at V."""
    model = vbg.Model(
        name="filter",
        electric={
            "source": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 24.0},
            "L": {"kind": "inductor", "nodes": ["a", "b"], "L": 1e-3},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-4, "voltage": "equilibrium"},
        },
    )
    run = vbg.simulate(model, t_end=2e-3, output_step=1e-4)
    assert np.abs(run["C.voltage"] - 24.0).max() <= 1e-9
    assert np.abs(run["L.current"]).max() <= 1e-9


def test_the_machine_may_move_meanwhile():
    """A voltage carries no load: a stone beside the circuit falls on, and both solvers say so."""
    electric = divider(1.0).document["electric"]
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    model = vbg.Model(name="beside", electric=electric, bodies={"stone": body})
    span = {"t_end": 0.05, "output_step": 5e-3}
    run = vbg.simulate(model, **span)
    assert run["C.voltage"][0] == pytest.approx(8.0, rel=1e-9)
    assert run["stone.velocity"][-1, 2] == pytest.approx(-9.81 * 0.05, rel=1e-3)
    verdict = validate(model, in_children=False, **span).verdict
    assert verdict.word == "PASS", (verdict.sentence, verdict.notes)


@pytest.mark.parametrize("area", [1e-8, 1e-6, 1e-4])
def test_oil_between_two_orifices_begins_at_its_share(area):
    """Equal flows through areas a and 2 a: p = p0 a^2 / (a^2 + (2 a)^2) = p0 / 5."""
    hole = {"kind": "orifice", "cd": 0.7, "laminar": 1.0}
    model = vbg.Model(
        name="holes",
        hydraulic={
            "pump": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 100e5},
            "in": {**hole, "nodes": ["p", "q"], "area": area},
            "out": {**hole, "nodes": ["q", "tank"], "area": 2 * area},
            "chamber": {
                "kind": "volume",
                "nodes": ["q"],
                "volume": 1e-3,
                "pressure": "equilibrium",
            },
        },
    )
    run = vbg.simulate(model, t_end=1e-3, output_step=1e-4)
    assert run["chamber.pressure"] == pytest.approx(np.full(len(run.time), 20e5), rel=1e-6)


def test_a_voltage_that_nothing_holds_is_refused():
    """A current source into a capacitor has no rest."""
    model = vbg.Model(
        name="pump",
        electric={
            "source": {"kind": "current_source", "nodes": ["gnd", "b"], "current": 1.0},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3, "voltage": "equilibrium"},
        },
    )
    with pytest.raises(VbgError, match=r"C is left with a flow or current of 1 \(SI\)"):
        vbg.start(model)
