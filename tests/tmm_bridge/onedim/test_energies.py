"""Energies of circuits, oil, shafts and raw bonds in the second solver."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vbg
from vbg.io import toml
from vbg.model.samples import machine
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.onedim.laws import hydraulic
from vbg.tmm_bridge.onedim.laws.electric import Capacitor
from vbg.tmm_bridge.onedim.laws.oil import Oil
from vbg.tmm_bridge.onedim.laws.working import Energies
from vbg.validate import validate

U, R, C = 5.0, 1e3, 1e-6


def charged(voltage: float | str = U, resistance: float = R) -> vbg.Model:
    return vbg.Model(
        name="charged",
        electric={
            "u": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": voltage},
            "r": {"kind": "resistor", "nodes": ["a", "b"], "R": resistance},
            "c": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": C, "voltage": 0.0},
        },
        simulate={"t_end": 0.02, "output_step": 5e-4},
    )


def test_half_of_what_charges_a_capacitor_is_lost_whatever_the_resistance():
    for resistance in (10.0, R):
        run = simulate(charged(resistance=resistance), rtol=1e-10, atol=1e-12)
        assert run["energy.supplied"][-1] == pytest.approx(C * U**2, rel=1e-7)
        assert run["energy.dissipated"][-1] == pytest.approx(0.5 * C * U**2, rel=1e-7)
        assert run["energy.potential"][-1] == pytest.approx(0.5 * C * U**2, rel=1e-7)


@pytest.mark.parametrize("growth, n, outside", [(0.0, 1.0, 1e5), (5.0, 1.4, 0.0), (0.0, 1.3, 2e6)])
def test_energies_of_oil_and_gas_are_their_work(growth, n, outside):
    oil = Oil(1.4e9, growth, 0.0)
    gas = hydraulic.Bladder(2e-3, 6e6, outside, n, 2e-5, Oil(1.4e9, 0.0, 0.005))
    for energy, capacity, start in (
        (oil.energy(2e-3), oil.capacity(2e-3), 0.0),
        (gas.energy, gas.capacity, 6e6 * (1.0 + 1e-15)),
    ):
        p = np.linspace(start, 3e7, 20001)
        work = np.trapezoid(p * np.array([capacity(x) for x in p]), p)
        assert energy(3e7) - energy(start) == pytest.approx(work, rel=1e-6)
    p = np.linspace(-9e4, 5.999e6, 20001)  # and of the port, from bubbles on
    work = np.trapezoid(p * np.array([gas.capacity(x) for x in p]), p)
    assert gas.energy(p[-1]) - gas.energy(p[0]) == pytest.approx(work, rel=1e-3)


KINDS = (
    "electric.op_amp", "electric.dc_motor", "electric.transformer", "hydraulic.cylinder",
    "hydraulic.accumulator", "hydraulic.pipe", "hydraulic.pump", "rotational.friction",
    "rotational.clutch", "rotational.gear", "translational.spring", "bondgraph.C", "bondgraph.I",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_part_brings_in_is_held_or_lost(kind):
    model = toml.parse(machine(*kind.split(".")), "")
    run = simulate(model, t_end=0.1, output_step=0.01, rtol=1e-9, atol=1e-11)
    assert run.audit.energy_residual < 1e-8


def test_the_impulse_of_a_source_at_a_capacitor_is_its_work():
    """A step at two capacitors in a row: half of C U^2 comes at once, and nothing is lost."""
    model = vbg.Model(
        name="step",
        signals={"rise": {"kind": "step", "height": U, "start": 0.03}},
        electric={
            "u": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "rise"},
            "c": {"kind": "capacitor", "nodes": ["a", "b"], "C": C},
            "d": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 3 * C},
        },
        simulate={"t_end": 0.05, "output_step": 5e-3},
    )
    run = simulate(model)
    assert run["energy.supplied"][-1] == pytest.approx(0.5 * 0.75 * C * U**2, rel=1e-12)
    assert run.audit.energy_residual < 1e-12


def test_works_are_as_exact_as_the_motion_where_all_of_it_is_given():
    """A driven rod has no state of its own that would limit a step."""
    model = vbg.Model(
        bodies={"rod": {"mass": 2.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", {"body": "rod", "at": [-0.4, 0, 0]}],
                "axis": [0, 1, 0],
                "drive": "1.3*sin(9*t)",
            }
        },
    )
    run = simulate(model, t_end=2.0, output_step=0.05, rtol=1e-10, atol=1e-12)
    assert run.audit.energy_residual < 1e-8


def test_an_energy_that_is_counted_wrong_fails(monkeypatch):
    def wrong(self, w):
        return Energies(potential=0.55 * self.C * w.x[self.state] * w.x[self.state])

    monkeypatch.setattr(Capacitor, "energies", wrong)
    report = validate(charged(), in_children=False)
    assert report.result == "FAIL"
    assert {c.name for c in report.verdict.failed()} == {"energy.potential"}
    assert math.isfinite(report.verdict.audits["tmm_bridge"])
