"""Raw bond graphs in the transfer-matrix solver: a tableau of their bonds."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.plumbing.components import vector_of
from vbg.tmm_bridge import simulate
from vbg.validate import validate

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
RUN = {"t_end": 0.4, "output_step": 0.02}
SE, LOSS = {"kind": "Se", "effort": ["10"]}, {"kind": "R", "value": 2.0}


def graph(bonds, simulate=RUN, **vertices):
    return vbg.Model(bonds=bonds, bondgraph=vertices, simulate=simulate)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_loss_and_an_inertia_rise_to_the_effort_of_the_source(scale):
    model = graph(
        ["push -> line", "line -> store", "line -> loss"],
        push=SE,
        line={"kind": "1"},
        store={"kind": "I", "value": 0.5 * scale},
        loss={"kind": "R", "value": 2.0 * scale},
    )
    run = simulate(model, **TIGHT)
    exact = 5.0 / scale * (1.0 - np.exp(-run.time * 4.0))
    np.testing.assert_allclose(run["line.flow"], exact, atol=1e-9 / scale)
    np.testing.assert_allclose(run["store.momentum"], 0.5 * scale * exact, atol=1e-9)


def test_two_inertias_on_one_flow_share_their_momentum():
    """One is dependent, whichever; who nobody gave a momentum follows the other."""
    model = graph(
        ["line -> a", "line -> b", "line -> loss"],
        line={"kind": "1"},
        a={"kind": "I", "value": 2.0, "initial": [6.0]},
        b={"kind": "I", "value": 3.0},
        loss=LOSS,
    )
    run = simulate(model, **TIGHT)
    exact = 3.0 * np.exp(-run.time * 2.0 / 5.0)
    np.testing.assert_allclose(run["line.flow"], exact, atol=1e-10)
    np.testing.assert_allclose(run["b.momentum"], 3.0 * exact, atol=1e-10)


def test_vectors_with_energies_and_matrices_are_solved_twice():
    """Two components through a transformer of two rows and three columns, laws that couple them."""
    model = graph(
        ["push -> side", "side -> store", "side -> T", "T -> other", "other -> C", "other -> loss"],
        push={"kind": "Se", "effort": ["1", "sin(3*t)", "-2*t"]},
        side={"kind": "1", "size": 3},
        store={"kind": "I", "size": 3, "matrix": [[2.0, 0.3, 0], [0.3, 1.0, 0.1], [0, 0.1, 0.7]]},
        T={"kind": "TF", "matrix": [[1.0, 0.5, -0.2], [0.3, -1.0, 0.4]]},
        other={"kind": "1", "size": 2},
        C={"kind": "C", "size": 2, "energy": "3*q0**2 + q0*q1 + 2*q1**4 + q1**2"},
        loss={"kind": "R", "size": 2, "effort": ["f0 + f0**3", "0.5*f1 - 0.1*f0"]},
    )
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    names = {vector_of(c.name) for c in report.channels if c.result == "PASS"}
    assert {"store.momentum", "C.displacement", "C.effort", "loss.effort", "push.flow"} <= names


RAW = {
    "spring": (["j.angle -> C"], {"C": {"kind": "C", "value": 0.02, "initial": [0.1]}}),
    "loss": (["j.angle -> R"], {"R": {"kind": "R", "effort": "0.3*f + 0.1*f*abs(f)"}}),
    "source": (["S -> j.angle"], {"S": {"kind": "Se", "effort": ["2*cos(5*t)"]}}),
    "train": (
        ["j.angle -> G", "G -> line", "line -> I", "line -> R"],
        {
            "G": {"kind": "GY", "ratio": 0.8},
            "line": {"kind": "1"},
            "I": {"kind": "I", "value": 0.3},
            "R": {"kind": "R", "value": 1.5},
        },
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_raw_vertices_on_a_joint_are_solved_twice(name):
    bonds, vertices = RAW[name]
    model = vbg.Model(
        bodies={
            "rod": {
                "mass": 1.3,
                "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2},
                "position": [0.3, 0.0, 0.0],
            }
        },
        joints={
            "j": {
                "kind": "revolute",
                "axis": [0.0, 1.0, 0.0],
                "between": ["ground", {"body": "rod", "at": [-0.3, 0.0, 0.0]}],
            }
        },
        bonds=bonds,
        bondgraph=vertices,
        simulate=RUN,
    )
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert {c.source for c in report.channels} == {"integrated"}


def test_raw_vertices_on_nodes_of_every_domain_are_solved_twice():
    model = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "sin(9*t)"},
            "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 3.0},
        },
        rotational={"rotor": {"kind": "inertia", "nodes": ["shaft"], "J": 0.2, "speed": 3.0}},
        hydraulic={
            "oil": {"kind": "volume", "nodes": ["p"], "volume": 1e-3, "pressure": 2e5},
            "leak": {
                "kind": "laminar_resistance",
                "nodes": ["p", "tank"],
                "conductance": 1e-10,
            },
        },
        bonds=["electric.b -> G", "G -> rotational.shaft", "hydraulic.p -> H", "H -> loss"],
        bondgraph={
            "G": {"kind": "GY", "ratio": 0.7},
            "H": {"kind": "TF", "ratio": 1e5},
            "loss": {"kind": "R", "value": 0.4},
        },
        simulate=RUN,
    )
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert {c.source for c in report.channels} == {"integrated"}


def test_a_wrong_law_in_one_solver_fails(monkeypatch):
    from vbg.tmm_bridge.onedim import bonded

    sound = bonded._square
    monkeypatch.setattr(bonded, "_square", lambda part: 1.01 * sound(part))
    bonds = ["push -> line", "line -> store", "line -> loss"]
    store = {"kind": "I", "value": 0.5}
    model = graph(bonds, push=SE, line={"kind": "1"}, store=store, loss=LOSS)
    assert validate(model, in_children=False).result == "FAIL"
