"""Pressures between orifices that keep themselves: as much flows in as out."""

import numpy as np
import pytest

import vbg
from vbg.errors import AssemblyError
from vbg.io import toml


def chain(rng) -> tuple[vbg.Model, int]:
    """One to three volumes between orifices of 1e-8 to 1e-4 m^2, from a source of 0.1 to 300 bar to
    the tank: laminar here, turbulent there, at times a millionth of the pressure over one."""
    n = int(rng.integers(1, 4))
    parts = {
        "P": {"kind": "pressure_source", "nodes": ["n0", "tank"]}
        | {"pressure": float(10.0 ** rng.uniform(4, 7.5))}
    }
    for k, area in enumerate(10.0 ** rng.uniform(-8, -4, n + 1)):
        nodes = [f"n{k}", "tank" if k == n else f"n{k + 1}"]
        parts[f"o{k}"] = {"kind": "orifice", "nodes": nodes, "area": float(area)}
    for k in range(n):
        parts[f"v{k}"] = {"kind": "volume", "nodes": [f"n{k + 1}"], "volume": 1e-3}
        parts[f"v{k}"]["pressure"] = "equilibrium"
    return vbg.Model(hydraulic=parts), n


def test_pressures_behind_turbulent_orifices_balance(rng):
    """Newton's steps on roots went to and fro: 23 of 300 such chains were refused."""
    for _ in range(15):
        model, n = chain(rng)
        run = vbg.simulate(vbg.start(model), t_end=1e-9, output_step=1e-9)
        flows = np.array([run[f"o{k}.flow"][0] for k in range(n + 1)])
        assert flows == pytest.approx(np.full(n + 1, flows[0]), rel=1e-8), model.hydraulic


def test_what_cannot_be_balanced_is_told_at_the_part():
    text = """vbg = 1
[hydraulic.source]
kind = "flow_source"
nodes = ["tank", "p"]
flow = "2 L/min"
[hydraulic.vessel]
kind = "volume"
nodes = ["p"]
volume = "1 L"
pressure = "equilibrium"
"""
    with pytest.raises(AssemblyError, match="cannot hold the machine") as told:
        vbg.start(toml.parse(text, "line.toml"))
    problem = told.value.problems[0]
    assert (problem.where, problem.file, problem.line) == (
        "hydraulic.vessel.pressure",
        "line.toml",
        10,
    )
