"""Parts with very many entries: refused by name without a meaning, else as right as few."""

from __future__ import annotations

import re

import numpy as np
import pytest

import vbg
from vbg.errors import ModelError
from vbg.io import toml
from vbg.model.samples import machine

WIDE = {
    ("Se", "effort"): "[{}]".format("0, " * 101),
    ("Sf", "flow"): "[{}]".format("0, " * 50_000),
    ("TF", "matrix"): "[[{}]]".format("1, " * 101),
    ("GY", "matrix"): "[{}]".format("[1], " * 101),
}


def with_entry(table: str, kind: str, key: str, value: str, was: str = "") -> str:
    """The sample of a kind with another value of a key, in the place of that key or of `was`."""
    text = machine(table, kind)
    found = re.sub(rf"(?m)^{was or key} = .*$", f"{key} = {value}", text)
    assert found != text
    return found


@pytest.mark.parametrize(("kind", "key"), WIDE)
def test_no_vertex_has_more_components_than_a_bond_can_have(kind, key):
    """Its law is a matrix of their square: 50 000 took 20 GB."""
    was = "ratio" if key == "matrix" else ""
    text = with_entry("bondgraph", kind, key, WIDE[kind, key], was)
    with pytest.raises(ModelError, match=f"{key}: .*components; a bond has 100 at most"):
        toml.parse(text, "wide.toml")


def test_a_transfer_function_of_too_high_a_power_is_refused():
    text = with_entry("signals", "transfer_function", "denominator", f"[{'1, ' * 102}]")
    with pytest.raises(ModelError, match="102 coefficients; 101 are the most"):
        toml.parse(text, "high.toml")


def test_a_motion_of_very_many_stops_is_at_each_of_them():
    """Every move is a term of one sum, whose corners are known once each."""
    stops = np.random.default_rng(2).uniform(-1.0, 1.0, 600)
    text = f"""
[signals.way]
kind = "motion"
stops = {stops.tolist()}
duration = 0.001
dwell = 0.001
[translational.cart]
kind = "mass"
nodes = ["a"]
m = 1
[translational.push]
kind = "force"
nodes = ["a"]
force = "way"
"""
    system = vbg.assemble(toml.parse("vbg = 1\n" + text, "many.toml"))
    start = vbg.start(system)
    instants = [0.0015 + 0.002 * k for k in range(len(stops) - 1)]
    seen = [float(start.outputs(t, start.state)["way"][0]) for t in instants]
    np.testing.assert_allclose(seen, stops[1:], rtol=0.0, atol=1e-12)
    assert len(system.causal.graph.clocks) == len({c.first for c in system.causal.graph.clocks})
