"""The examples of circuits, drives, hydraulics and vehicles run, and their energy closes."""

from __future__ import annotations

from pathlib import Path

import pytest

import vbg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = (
    "ball-screw-axis",
    "excavator-arm",
    "half-car",
    "motor-slider-crank",
    "pick-and-place",
    "quarter-car",
    "rlc-ladder",
    "servo-hydraulic",
)


@pytest.mark.parametrize("name", NAMES)
def test_energy_of_example(name):
    model = vbg.read(EXAMPLES / f"{name}.toml")
    assert not [problem for problem in vbg.check(model) if problem.severity == "error"]
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "finished", solution.status
    assert solution.audit.energy_residual < 1e-7


def test_axis_reaches_its_demand():
    solution = vbg.simulate(vbg.assemble(vbg.read(EXAMPLES / "ball-screw-axis.toml")))
    assert solution["translational.table.position"][-1] == pytest.approx(0.2, abs=5e-3)
