"""Laws that every part of the catalogue keeps, on a bench of its own (benches.py,
mechanical_benches.py)."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.domains.benches import BENCHES
from tests.domains.mechanical_benches import MECHANICS
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.program.reference import evaluate
from vbg.blocks import leaf
from vbg.graph.pieces import at_start
from vbg.model.catalogue import TABLES, catalogue, takes_its_power

ALL = BENCHES | MECHANICS
SOURCES = (
    "voltage_source", "current_source", "op_amp", "pressure_source", "flow_source",
    "torque", "force", "speed",
)  # fmt: skip
CIRCUITS = (("voltage", "current"), ("pressure", "flow"))
MOTIONS = (("torque", "speed"), ("force", "speed"))
BRAKES = ("friction", "clutch")
LOSSES = ("resistor", "diode", "switch", "orifice", "laminar_resistance")
RUN = {"t_end": 0.1, "output_step": 0.005, "rtol": 1e-9, "atol": 1e-11}


def model_of(part: str) -> vbg.Model:
    return vbg.Model(name=part, simulate=RUN, **ALL[part])


def test_every_part_has_a_bench():
    """Signals and frames alone carry no power; units of other programs have tests of their own
    (tests/fmi)."""
    known = catalogue()
    without = ("signals", "frames", "fmu")
    parts = {f"{table}.{kind}" for table in known if table not in without for kind in known[table]}
    assert parts == set(ALL)


@pytest.mark.parametrize("part", ALL)
def test_power_balance(part):
    """What is stored is what was supplied less what was dissipated; `power` of each part has the
    sign that `vbg parts` tells."""
    model = model_of(part)
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "finished", solution.status
    assert solution.audit.energy_residual < 1e-7
    assert np.all(np.diff(solution["energy.dissipated"]) > -1e-9)
    _powers_have_their_signs(model, solution)


def _powers_have_their_signs(model: vbg.Model, solution: vbg.Solution) -> None:
    """Sources have supplied the integral of what they give less what they take; what can only lose
    takes, what can only brake gives less than nothing."""
    given, steps = np.zeros(len(solution.time)), np.diff(solution.time)
    parts = {name: one for table in TABLES for name, one in getattr(model, table).items()}
    for name, one in parts.items():
        if f"{name}.power" not in solution.signals:
            continue
        power = np.asarray(solution[f"{name}.power"])
        takes = takes_its_power(one)
        if one.kind in SOURCES:
            out = -power if takes else power
            given[1:] += np.cumsum(0.5 * (out[1:] + out[:-1]) * steps)
        assert one.kind not in BRAKES or (not takes and power.max() <= 0.0 and power.min() < 0.0)
        assert one.kind not in LOSSES or (takes and power.min() >= 0.0)
        in_circuit = takes or one.kind == "pump"
        for effort, flow in CIRCUITS if in_circuit else MOTIONS:
            if {f"{name}.{effort}", f"{name}.{flow}"} <= set(solution.signals):
                told = solution[f"{name}.{effort}"] * solution[f"{name}.{flow}"]
                assert np.allclose(power, told)
        for place in {f"{name}.stroke", f"{name}.gap"} & set(solution.signals):
            speed = np.gradient(solution[place], solution.time)
            assert power @ (solution[f"{name}.force"] * speed) > 0.0
    driven = any(getattr(one, "drive", None) is not None for one in parts.values())
    if not driven and not model.bondgraph:
        supplied = solution["energy.supplied"]
        assert np.abs(given - supplied).max() <= 0.05 * np.abs(supplied).max()


@pytest.mark.parametrize("part", ALL)
def test_energy_gradient(part):
    """Effort of a C and flow of an I are the derivatives of their energies."""
    graph = vbg.expand(model_of(part))
    random = np.random.default_rng(3)
    for vertex in graph.vertices.values():
        if vertex.kind not in ("I", "C") or vertex.state is None:
            continue
        inputs = {"state": vertex.state}
        inputs |= {c.name: c.state for c in graph.configurations}
        outputs = {"law": vertex.law, "energy": vertex.energy}
        program = lower(outputs, inputs | {"t": leaf("t", 1)})
        work = program.workspace.astype(complex)
        start = at_start(vertex.initial, graph.configurations).data[:, 0]
        for name, (at, rows, _) in program.inputs.items():
            size = np.abs(start) + 1e-6 if name == "state" else 1e-3
            base = start if name == "state" else 0.0
            work[at : at + rows] = base + 1e-3 * size * random.uniform(0.5, 1.0, rows)
        at, rows, _ = program.outputs["law"]
        law = evaluate(program, work.copy())[at : at + rows].real
        slope = [_slope(program, work, i) for i in range(rows)]
        assert law == pytest.approx(slope, rel=1e-9, abs=1e-12 * np.abs(law).max())


def _slope(program: Program, work: np.ndarray, i: int) -> float:
    """Derivative of the energy by component i of the state, by a complex step."""
    size = 1e-30
    moved = work.copy()
    moved[program.inputs["state"][0] + i] += 1j * size
    return float(evaluate(program, moved)[program.outputs["energy"][0]].imag / size)
