# ruff: noqa: E501 -- a fault is one line of its table
"""Dry frictions that share what they hold, and dry friction of what is driven, solved twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbg
from tests.tmm_bridge.faults import exchanged
from vbg.tmm_bridge import simulate
from vbg.validate import validate

ROD = {
    "mass": 2.0,
    "inertia": {"xx": 0.05, "yy": 0.05, "zz": 0.05},
    "points": {"A": [-0.2, 0, 0]},
}
HINGE = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}


def braked(**parts: Any) -> dict[str, Any]:
    """A flywheel under a torque that grows."""
    wheel = {
        "J": {"kind": "inertia", "nodes": ["s"], "J": 0.02},
        "T": {"kind": "torque", "nodes": ["s"], "torque": "0.5*t"},
    }
    return {"rotational": wheel | parts, "simulate": {"t_end": 2.0, "output_step": 0.02}}


BRAKES = braked(
    b1={"kind": "friction", "nodes": ["s", "frame"], "coulomb": 0.5},
    b2={"kind": "friction", "nodes": ["s"], "coulomb": 0.3},
)
# two brakes and a clutch: a closed chain of frictions with the frame
DRIVELINE: dict[str, Any] = {
    "rotational": {
        "Ja": {"kind": "inertia", "nodes": ["a"], "J": 0.02, "speed": 20.0},
        "Jb": {"kind": "inertia", "nodes": ["b"], "J": 0.05},
        "brake_a": {"kind": "friction", "nodes": ["a", "frame"], "coulomb": 0.5},
        "brake_b": {"kind": "friction", "nodes": ["b", "frame"], "coulomb": 0.3},
        "plate": {
            "kind": "clutch",
            "nodes": ["a", "b"],
            "capacity": 2.0,
            "engaged": "0.5 + 0.5*sin(3*t)",
        },
        "T": {"kind": "torque", "nodes": ["b"], "torque": "1.5*sin(8*t)"},
    },
    "simulate": {"t_end": 1.2, "output_step": 0.02},
}
# a brake on a hinge that rubs itself, at rest
STUCK: dict[str, Any] = {
    "bodies": {"rod": ROD},
    "joints": {"hinge": HINGE | {"friction": {"coulomb": 3.0}}},
    "rotational": {"b": {"kind": "friction", "nodes": ["joint:hinge", "frame"], "coulomb": 2.0}},
    "simulate": {"t_end": 0.2, "output_step": 0.02},
}
DRIVEN: dict[str, Any] = {
    "bodies": {"rod": ROD},
    "joints": {
        "hinge": HINGE
        | {
            "drive": "if(t < 0.3, 0, 0.5*sin(6*(t - 0.3)))",
            "friction": {"coulomb": 0.3, "static": 0.4, "stribeck": 0.5, "viscous": 0.1},
        }
    },
    "simulate": {"t_end": 0.8, "output_step": 0.02},
}
MACHINES = {"brakes": BRAKES, "driveline": DRIVELINE, "stuck": STUCK, "driven": DRIVEN}


def model_of(name: str) -> vbg.Model:
    return vbg.Model(name=name, **MACHINES[name])


@pytest.mark.parametrize("run", [vbg.simulate, simulate], ids=["vbg", "mstmm"])
def test_two_brakes_hold_what_both_together_can(run):
    """J w' = T - 0.8 from T = 0.8 on; before, however they share it, their sum is the torque."""
    told = run(model_of("brakes"), rtol=1e-10, atol=1e-12)
    both, T, after = told["b1.torque"] - told["b2.torque"], 0.5 * told.time, told.time > 1.6
    assert told.status.code == "finished"
    np.testing.assert_allclose(both[~after], T[~after], atol=1e-9)
    np.testing.assert_allclose(
        told["J.speed"], np.where(after, 0.25 * (told.time - 1.6) ** 2 / 0.02, 0.0), atol=1e-9
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_both_solvers_agree(machine):
    verdict = validate(model_of(machine), in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence
    assert all(b - a < 1e-6 for a, b in verdict.excluded)


@pytest.mark.parametrize(
    ("machine", "shaft", "shared"),
    [
        ("brakes", "rotational.s", {"b1.torque", "b2.torque"}),
        ("stuck", "hinge", {"hinge.friction", "b.torque"}),
    ],
)
def test_what_is_shared_is_marked_and_its_sum_is_compared(machine, shaft, shared):
    results = {c.name: c.result for c in validate(model_of(machine), in_children=False).channels}
    assert {results[name] for name in shared} == {"NOT UNIQUE"}
    assert results[f"{shaft}.frictions"] == "PASS"


LAW = "tmm_bridge.onedim.laws.friction"
FAULTS = [
    ("physics.stiction", "return held - ", "return 1.01 * held - ", "stuck", "hinge.frictions"),
    (LAW, "w.through[place] = way.static(w)", "w.through[place] = 1.01 * way.static(w)", "brakes", "J.speed"),
    (LAW, "return -sign * (dry + fall)", "return -sign * (dry + 1.01 * fall)", "driven", "hinge.friction"),
    ("physics.stiction", 'moves = call("sign", speed)', 'moves = -call("sign", speed)', "driven", "hinge.drive"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new", "machine", "channel"), FAULTS)
def test_a_fault_is_found(module, old, new, machine, channel):
    with exchanged(module, old, new):
        verdict = validate(model_of(machine), in_children=False).verdict
    assert verdict.result == "FAIL", verdict.sentence
    assert channel in {c.name for c in verdict.failed()}
