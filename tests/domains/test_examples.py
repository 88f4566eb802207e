"""Every example as shipped: it runs, and its energy closes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from benchmarks.accuracy.audit import largest_energy
from tests.tail import tail

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))


@pytest.mark.parametrize("name", tail(NAMES, 4))
def test_energy_of_example(name):
    """With the example's own settings: to 1e-7 of the largest energy that took part."""
    model = vbg.read(EXAMPLES / f"{name}.toml")
    assert not [problem for problem in vbg.check(model) if problem.severity == "error"]
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "finished", solution.status
    residual = np.abs(solution["energy.residual"]).max()
    assert residual < 1e-7 * largest_energy(solution)
    assert solution.audit.energy_residual < 1e-7


def test_axis_reaches_its_demand():
    solution = vbg.simulate(vbg.assemble(vbg.read(EXAMPLES / "ball-screw-axis.toml")))
    assert solution["translational.table.position"][-1] == pytest.approx(0.2, abs=5e-3)
