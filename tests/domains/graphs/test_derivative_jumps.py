"""Stores in derivative causality that follow what jumps: the impulse that they ask for is shared
with the stores that they follow."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.domains.graphs.test_redundant_and_dependent import assert_alike, trammel
from vbg.assemble.derive.jumping import as_assembled
from vbg.causality.assign import attempt
from vbg.cli.main import main
from vbg.tui.state.graphing import made

STEP = "if(t > 0.53, {a}, 0)"
FINE = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-10, "atol": 1e-12}
NODES = ("S -> j1", "j1 -> z", "j3 -> z", "z -> j2", "j2 -> m2", "j3 -> m3")


def carts(flow, one, other, causality="derivative"):
    """v2 = flow + v3 of two masses, which the same force p2' = -p3' moves."""
    graph = {
        "S": {"kind": "Sf", "flow": [flow]},
        "z": {"kind": "0"},
        "m2": {"kind": "I", "matrix": [[one]]},
        "m3": {"kind": "I", "matrix": [[other]]},
    } | {name: {"kind": "1"} for name in ("j1", "j2", "j3")}
    settings = FINE | {"causality": causality}
    return vbg.Model(
        bonds=list(NODES), bondgraph=graph, outputs={"energy": True}, simulate=settings
    )


@pytest.mark.parametrize("seed", range(4))
def test_an_impulse_is_shared_by_the_masses(seed):
    """p2 + p3 is kept, so that v3 = -m2 flow / (m2 + m3); the source gives the energy of both."""
    random = np.random.default_rng(seed)
    one, other, a = np.exp(random.uniform(-3, 3, 3))
    system = vbg.assemble(carts(STEP.format(a=a), one, other))
    assert not system.causal.differential
    for start in shaken(vbg.start(system)):
        run = vbg.simulate(start)
        assert not run.audit.failures
        flow = np.where(run.time > 0.53, a, 0.0)
        v3 = -one * flow / (one + other)
        assert_allclose(run["m3.flow"], v3, rtol=0, atol=1e-9 * a)
        energy = 0.5 * one * (flow + v3) ** 2 + 0.5 * other * v3**2
        assert_allclose(run["energy.supplied"], energy, rtol=0, atol=1e-8 * energy.max())


JUMPS = [
    "if(t > 0.23, 0.7, 0.1)",
    "0.4*sign(t - 0.31)",
    "0.3*atan2(sin(9*t), cos(9*t))",
]


@pytest.mark.parametrize("flow", JUMPS)
@pytest.mark.parametrize("nodes", [["frame", "q"], ["joint:H", "q"]])
def test_whatever_jumps(flow, nodes):
    """A mass that a source moves against the frame, or against a slider, which it pushes."""
    parts = {
        "a": {"kind": "mass", "nodes": ["joint:H"], "m": 0.8},
        "S": {"kind": "speed", "nodes": nodes, "speed": flow},
        "load": {"kind": "mass", "nodes": ["q"], "m": 1.3},
    }
    models = [
        trammel(np.random.default_rng(3), causality, translational=parts)
        for causality in ("derivative", "integral")
    ]
    causal = vbg.assemble(models[0]).causal
    assert causal.differential and set(causal.dependent_stores) - set(causal.differential)
    assert_alike(*models)
    assert not vbg.simulate(models[0]).audit.failures


def circuit(voltage, **signals):
    """A capacitor on a source and a coil behind it."""
    return {
        "signals": signals,
        "electric": {
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": voltage},
            "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.3},
            "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 2.0},
            "L": {"kind": "inductor", "nodes": ["b", "gnd"], "L": 0.4},
        },
    }


@pytest.mark.parametrize(
    ("voltage", "signals", "left"),
    [
        ("2*sin(5*t)", {}, 1),
        ("p", {"p": {"kind": "pulse", "period": 0.3, "width": 0.1}}, 0),
        ("p", {"p": {"kind": "sample_and_hold", "input": "sin(3*t)", "period": 0.2}}, 0),
    ],
)
def test_instants_and_samples(voltage, signals, left):
    """The charge jumps with the voltage; half of C du^2 is what the source gives in a ramp."""
    runs = []
    for causality in ("derivative", "integral"):
        settings = FINE | {"causality": causality}
        system = vbg.assemble(vbg.Model(**circuit(voltage, **signals), simulate=settings))
        assert len(system.causal.differential) == (left if causality == "derivative" else 0)
        runs.append(vbg.simulate(system))
        assert not runs[-1].audit.failures
    for name in ("C.voltage", "L.current", "energy.supplied"):
        assert_allclose(*(run[name] for run in runs), rtol=0, atol=1e-7)


def test_show_causal_tells_why(tmp_path, capsys):
    path = tmp_path / "carts.toml"
    vbg.write(carts(STEP.format(a=1.0), 1.0, 2.0), path)
    assert main(["show", "causal", str(path)]) == 0
    assert "follows what may jump" in capsys.readouterr().out
    assert main(["show", "causal", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not found["differential"] and len(found["dependent_stores"]) == 1


def test_whatever_shows_the_graph_shows_it_as_it_is_solved(tmp_path):
    """The constraint source of what may jump, in drawings as in the equations."""
    model = carts(STEP.format(a=1.0), 1.3, 2.1)
    solved, kept = vbg.assemble(model).causal, vbg.assign(vbg.expand(model))
    assert solved.constraints and not kept.constraints
    path, target = tmp_path / "carts.toml", tmp_path / "carts.dot"
    vbg.write(model, path)
    assert main(["show", "graph", str(path), "-o", str(target)]) == 0
    assert target.read_text("utf-8").count("doubleoctagon") == len(solved.constraints)
    assert made(model, "", None).causal.strokes == solved.strokes


def test_a_graph_with_conflicts_is_shown_as_it_is():
    """What has no causality has no equations to ask for constraint sources."""
    model = carts(STEP.format(a=1.0), 1.3, 2.1)
    more = dict(model.bondgraph) | {"T": {"kind": "Sf", "flow": [1.0]}}
    settings = {"causality": "derivative"}
    crossed = vbg.Model(bonds=[*NODES, "T -> j1"], bondgraph=more, simulate=settings)
    causal = attempt(vbg.expand(crossed))
    assert causal.conflicts and causal.differential and as_assembled(causal) is causal
