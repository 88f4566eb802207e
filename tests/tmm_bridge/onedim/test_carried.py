"""Raw inertias whose flow is that of a joint, through junctions and transformers."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.validate import validate

MASS, FORCE, DAMPING = 2.0, 3.0, 0.5
PATHS = {
    "on the joint": ({}, ["rail.slide -> I"], 1.0),
    "behind a junction": ({"j": {"kind": "1"}}, ["rail.slide -> j", "j -> I"], 1.0),
    "out of a junction": ({"j": {"kind": "1"}}, ["j -> rail.slide", "j -> I"], 1.0),
    "behind a transformer": (
        {"n": {"kind": "TF", "ratio": -3.0}},
        ["rail.slide -> n", "n -> I"],
        -3.0,
    ),
    "before a transformer": (
        {"j": {"kind": "1"}, "n": {"kind": "TF", "ratio": 4.0}},
        ["n -> rail.slide", "j -> n", "j -> I"],
        0.25,
    ),
}


def slider(vertices, bonds, **more) -> vbg.Model:
    """A body on a rail under a force, with an inertia 0.7 of raw bonds."""
    return vbg.Model(
        gravity=[0, 0, 0],
        bodies={"cart": {"mass": MASS, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={"rail": {"kind": "prismatic", "between": ["ground", "cart"], "axis": [1, 0, 0]}},
        translational={"F": {"kind": "force", "on": "joints.rail", "force": FORCE}},
        bondgraph={"I": {"kind": "I", "value": 0.7}, **vertices},
        bonds=bonds,
        simulate={"t_end": 1.0, "output_step": 0.1},
        **more,
    )


@pytest.mark.parametrize("name", tail(PATHS, 2))
def test_an_inertia_of_raw_bonds_moves_with_the_joint(name):
    """(m + I c^2) v' = F, and p' = I c v'."""
    vertices, bonds, c = PATHS[name]
    report = validate(slider(vertices, bonds), rtol=1e-9, in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
    a = FORCE / (MASS + 0.7 * c * c)
    for solution in report.solutions.values():
        assert solution["rail.speed"] == pytest.approx(a * solution.time, abs=1e-9)
        assert solution["I.momentum"] == pytest.approx(0.7 * c * a * solution.time, abs=1e-9)
        assert solution["I.effort"] == pytest.approx(np.full(11, 0.7 * c * a), abs=1e-9)


def test_what_else_hangs_on_the_junction_acts_too():
    """(m + I) v' = F - R v."""
    vertices = {"j": {"kind": "1"}, "R": {"kind": "R", "value": DAMPING}}
    model = slider(vertices, ["rail.slide -> j", "j -> I", "j -> R"])
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        speed = FORCE / DAMPING * -np.expm1(-DAMPING / (MASS + 0.7) * solution.time)
        assert solution["rail.speed"] == pytest.approx(speed, abs=1e-9)


def test_a_doubled_inertia_in_one_solver_fails(monkeypatch):
    from vbg.tmm_bridge.onedim import bonded

    sound = bonded.carried_by_joints
    monkeypatch.setattr(
        bonded, "carried_by_joints", lambda m: {n: (p, 1.01 * c) for n, (p, c) in sound(m).items()}
    )
    vertices, bonds, _ = PATHS["behind a transformer"]
    report = validate(slider(vertices, bonds), rtol=1e-9, in_children=False)
    assert report.result == "FAIL"


@pytest.mark.parametrize("momentum", [0.0, 1.4])
def test_a_written_momentum_is_the_start_of_both(momentum):
    vertices = {"I": {"kind": "I", "value": 0.7, "initial": [momentum]}}
    report = validate(slider(vertices, ["rail.slide -> I"]), rtol=1e-9, in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
