# ruff: noqa: E501 -- a fault is one line of its table
"""Dry frictions side by side on a motion without inertia, and on a joint's: solved twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.faults import exchanged
from vbg.tmm_bridge import simulate
from vbg.validate import validate

LOSS, DRY = 0.3, (0.2, 0.1, 0.15)


def dry(nodes: list[str], size: float) -> dict[str, Any]:
    return {"kind": "friction", "nodes": nodes, "coulomb": size}


def braked(torque: str, scale: float = 1.0) -> vbg.Model:
    """Three frictions and a damper on a node without inertia under a torque."""
    brakes = {f"f{n}": dry(["s", "frame"], scale * size) for n, size in enumerate(DRY)}
    return vbg.Model(
        rotational={
            "T": {"kind": "torque", "nodes": ["s"], "torque": f"{scale!r}*({torque})"},
            "d": {"kind": "damper", "nodes": ["s"], "c": scale * LOSS},
            **brakes,
        },
        simulate={"t_end": 0.4, "output_step": 0.004},
    )


@pytest.mark.parametrize("scale", tail([1.0, 1e-6, 1e6], 1))
def test_they_brake_by_their_sum(scale):
    """c w = T - 0.45 sign w beyond 0.45, else none; held, their sum is the torque."""
    told = simulate(braked("0.9*sin(20*t)", scale), rtol=1e-10)
    T = 0.9 * np.sin(20.0 * told.time)
    slip = np.sign(T) * np.maximum(np.abs(T) - sum(DRY), 0.0) / LOSS
    np.testing.assert_allclose(told["rotational.s.speed"], slip, atol=1e-9)
    both = sum(told[f"f{n}.torque"] for n in range(3))
    np.testing.assert_allclose(np.abs(both) / scale, np.minimum(np.abs(T), sum(DRY)), atol=1e-9)


ROD = {
    "mass": 1.3,
    "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04},
    "points": {"A": [-0.3, 0.02, 0]},
}
HINGE = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}
SPRUNG = {
    "k": {"kind": "spring", "nodes": ["s", "frame"], "k": 30.0},
    "d": {"kind": "damper", "nodes": ["s", "frame"], "c": LOSS},
}
WHEEL = {"J": {"kind": "inertia", "nodes": ["q"], "J": 0.1, "speed": 2.0}}
CLUTCH = {
    "kind": "clutch",
    "nodes": ["q", "s"],
    "capacity": 0.3,
    "engaged": "0.5 + 0.5*sin(20*t)",
}
MACHINES: dict[str, dict[str, Any]] = {
    "two on a joint": {"f": dry(["joint:h", "s"], 0.2), "g": dry(["joint:h", "s"], 0.1)},
    "a wheel": WHEEL | {"f": dry(["q", "s"], 0.2), "g": dry(["s", "q"], 0.1)},
    "one on a joint": {"f": dry(["joint:h", "s"], 0.2)},
    "a clutch beside": WHEEL | {"f": dry(["q", "s"], 0.2), "g": CLUTCH},
}


def machine(name: str) -> vbg.Model:
    return vbg.Model(
        bodies={"rod": ROD},
        joints={"h": HINGE | {"initial": {"angle": 0.3, "speed": 0.4}}},
        rotational=SPRUNG | MACHINES[name],
        simulate={"t_end": 0.4, "output_step": 0.01},
    )


@pytest.mark.parametrize("name", tail(MACHINES, 2))
def test_both_solvers_agree(name):
    verdict = validate(machine(name), in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence


def test_what_each_holds_is_marked_and_the_sum_is_compared():
    results = {
        c.name: c.result for c in validate(braked("0.9*sin(20*t)"), in_children=False).channels
    }
    assert {results[f"f{n}.torque"] for n in range(3)} == {"NOT UNIQUE"}
    assert results["rotational.s.frictions"] == "PASS"


WRITTEN = "given.coulomb, given.static or given.coulomb, given.viscous"
FAULTS = [
    ("tmm_bridge.onedim.shafts", WRITTEN, "1.01 * given.coulomb, 1.01 * given.coulomb, given.viscous"),
    ("physics.stiction", "return held - ", "return 1.01 * held - "),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new"), FAULTS)
def test_a_fault_is_found(module, old, new):
    with exchanged(module, old, new):
        verdict = validate(machine("two on a joint"), in_children=False).verdict
    assert verdict.result == "FAIL", verdict.sentence
