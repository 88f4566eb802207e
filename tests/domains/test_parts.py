"""Laws that every one-dimensional part keeps, on a bench of its own (benches.py)."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.domains.benches import BENCHES
from vbg.assemble.lower import lower
from vbg.assemble.reference import evaluate
from vbg.blocks import leaf
from vbg.graph.pieces import at_start
from vbg.model.catalogue import catalogue
from vbg.rawlaws import gradient

RUN = {"t_end": 0.1, "output_step": 0.005, "rtol": 1e-9, "atol": 1e-11}


def model_of(part: str) -> vbg.Model:
    return vbg.Model(name=part, simulate=RUN, **BENCHES[part])


def test_every_part_has_a_bench():
    tables = ("electric", "hydraulic", "rotational", "translational")
    parts = {f"{table}.{kind}" for table in tables for kind in catalogue()[table]}
    assert parts == set(BENCHES)


@pytest.mark.parametrize("part", BENCHES)
def test_power_balance(part):
    """What is stored is what was supplied less what was dissipated."""
    solution = vbg.simulate(vbg.assemble(model_of(part)))
    assert solution.status.code == "finished", solution.status
    assert solution.audit.energy_residual < 1e-7
    assert np.all(np.diff(solution["energy.dissipated"]) > -1e-9)


@pytest.mark.parametrize("part", BENCHES)
def test_energy_gradient(part):
    """Effort of a C and flow of an I are the derivatives of their energies."""
    graph = vbg.expand(model_of(part))
    random = np.random.default_rng(3)
    for vertex in graph.vertices.values():
        if vertex.kind not in ("I", "C") or vertex.state is None:
            continue
        slope = gradient(vertex.energy, vertex.state)
        inputs = {"state": vertex.state}
        inputs |= {c.name: c.state for c in graph.configurations}
        program = lower({"law": vertex.law, "slope": slope}, inputs | {"t": leaf("t", 1)})
        work = program.workspace.copy()
        start = at_start(vertex.initial, graph.configurations).data[:, 0]
        for name, (at, rows, _) in program.inputs.items():
            size = np.abs(start) + 1e-6 if name == "state" else 1e-3
            base = start if name == "state" else 0.0
            work[at : at + rows] = base + 1e-3 * size * random.uniform(0.5, 1.0, rows)
        evaluate(program, work)
        law, other = (
            work[at : at + rows]
            for at, rows, _ in (program.outputs["law"], program.outputs["slope"])
        )
        assert law == pytest.approx(other, rel=1e-9)
