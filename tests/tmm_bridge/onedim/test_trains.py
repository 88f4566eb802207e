# ruff: noqa: E501 -- a fault is one line of the table
"""What passes through the gears, belts and screws of a train, solved twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.faults import exchanged
from vbg.tmm_bridge import simulate
from vbg.validate import validate

ROD = {
    "mass": 0.6,
    "inertia": {"xx": 0.002, "yy": 0.02, "zz": 0.02},
    "points": {"A": [-0.3, 0, 0]},
}
HINGE = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}
BLOCK = {"mass": 5.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
# a motor, two stages, a brake between them that holds the arm at first, a load behind a branch
ARM: dict[str, Any] = {
    "bodies": {"rod": ROD},
    "joints": {"hinge": HINGE},
    "electric": {
        "V": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "60*sin(8*t)"},
        "M": {
            "kind": "dc_motor",
            "nodes": ["a", "gnd"],
            "on": "rotational.rotor",
            "R": 1.0,
            "L": 1e-3,
            "K": 0.1,
            "J": 1e-4,
            "B": 1e-4,
        },
    },
    "rotational": {
        "G": {"kind": "gear", "nodes": ["rotor", "mid"], "ratio": -0.2},
        "Jm": {"kind": "inertia", "nodes": ["mid"], "J": 2e-3},
        "brake": {"kind": "friction", "nodes": ["mid", "frame"], "coulomb": 2.0, "static": 3.0},
        "B": {
            "kind": "belt",
            "nodes": ["mid", "joint:hinge"],
            "radius1": 0.05,
            "radius2": 0.1,
        },
        "branch": {"kind": "gear", "nodes": ["fan", "mid"], "ratio": 0.5},
        "Jf": {"kind": "inertia", "nodes": ["fan"], "J": 1e-4},
        "air": {"kind": "damper", "nodes": ["fan", "frame"], "c": 1e-2},
    },
    "simulate": {"t_end": 0.3, "output_step": 0.01},
}
# free and driven shafts and a screw without a joint
SHAFTS: dict[str, Any] = {
    "rotational": {
        "W": {"kind": "speed", "nodes": ["a", "frame"], "speed": "5*sin(3*t)"},
        "G": {"kind": "gear", "nodes": ["b", "a"], "ratio": -3.0},
        "Jb": {"kind": "inertia", "nodes": ["b"], "J": 2e-3},
        "d": {"kind": "damper", "nodes": ["b", "c"], "c": 0.1},
        "B": {"kind": "belt", "nodes": ["c", "e"], "radius1": 0.1, "radius2": 0.3},
        "Je": {"kind": "inertia", "nodes": ["e"], "J": 0.1, "speed": 3.0},
        "brake": {"kind": "friction", "nodes": ["c", "frame"], "coulomb": 0.05},
    },
    "translational": {
        "S": {
            "kind": "ball_screw",
            "shaft": "rotational.e",
            "slide": "translational.nut",
            "lead": 0.01,
        },
        "m": {"kind": "mass", "nodes": ["nut"], "m": 20.0},
        "k": {"kind": "spring", "nodes": ["nut", "frame"], "k": 4e3},
    },
    "simulate": {"t_end": 0.5, "output_step": 0.01},
}
# a screw whose slide is a joint
SCREW: dict[str, Any] = {
    "bodies": {"block": BLOCK},
    "joints": {
        "slide": {"kind": "prismatic", "between": ["ground", "block"], "axis": [0, 0, 1]},
    },
    "rotational": {
        "J": {"kind": "inertia", "nodes": ["shaft"], "J": 1e-4},
        "T": {"kind": "torque", "nodes": ["shaft"], "torque": "0.2*sin(9*t)"},
    },
    "translational": {
        "S": {
            "kind": "ball_screw",
            "shaft": "rotational.shaft",
            "slide": "joints.slide",
            "lead": 1e-3,
        },
    },
    "simulate": {"t_end": 0.2, "output_step": 0.01},
}
MACHINES = {"arm": ARM, "shafts": SHAFTS, "screw": SCREW}


@pytest.mark.parametrize(
    ("machine", "inner"),
    [
        ("arm", {"G.torque1", "B.torque2", "branch.torque1"}),
        ("shafts", {"G.torque2", "B.torque1", "S.thrust"}),
        ("screw", {"S.shaft_torque", "S.thrust"}),
    ],
)
def test_what_passes_through_a_train_is_compared(machine, inner):
    verdict = validate(vbg.Model(name=machine, **MACHINES[machine]), in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence
    assert inner <= {c.name for c in verdict.channels if c.result == "PASS"}


TRAIN = "tmm_bridge.onedim.trains"
FAULTS = [
    (TRAIN, "self.mass * self._acceleration(w)", "1.01 * self.mass * self._acceleration(w)", "arm", "G.torque1"),
    (TRAIN, "return need / self.end", "return need * self.end", "screw", "S.thrust"),
    ("elements.rotational.gear", "builder.effort(taken)", "builder.effort(given)", "shafts", "G.torque1"),
    (TRAIN, "need = need - c * choose", "need = need + c * choose", "arm", "B.torque2"),
    (TRAIN, "need = need - w.shares[place]", "need = need - 0.999 * w.shares[place]", "arm", "G.torque2"),
    (TRAIN, "train.ratio[path] ** 2", "abs(train.ratio[path])", "arm", "B.torque1"),
    (TRAIN, "-passed.effort(w) / ratio", "-passed.effort(w) * ratio", "screw", "S.thrust"),
    ("elements.rotational.belt", "builder.effort(given)", "1.01 * builder.effort(given)", "shafts", "B.torque2"),
    ("elements.translational.ball_screw", "builder.effort(given)", "-builder.effort(given)", "screw", "S.thrust"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new", "machine", "channel"), tail(FAULTS, 4))
def test_a_fault_in_what_passes_is_found(module, old, new, machine, channel):
    model = vbg.Model(name=machine, **MACHINES[machine])
    with exchanged(module, old, new):
        verdict = validate(model, in_children=False, t_end=0.1).verdict
    assert verdict.result == "FAIL", verdict.sentence
    assert channel in {c.name for c in verdict.failed()}


def test_two_stages_divide_the_torque_by_their_inertias():
    """J1 a = T - n T2, J2 n a = T2."""
    J1, J2, n, T = 2e-3, 0.3, -0.1, 0.7
    model = vbg.Model(
        name="two",
        rotational={
            "first": {"kind": "inertia", "nodes": ["a"], "J": J1},
            "T": {"kind": "torque", "nodes": ["a"], "torque": T},
            "G": {"kind": "gear", "nodes": ["a", "b"], "ratio": n},
            "second": {"kind": "inertia", "nodes": ["b"], "J": J2},
        },
        simulate={"t_end": 0.1, "output_step": 0.05},
    )
    told = simulate(model)
    passed = J2 * n * T / (J1 + n * n * J2)
    np.testing.assert_allclose(told["G.torque2"], passed, rtol=1e-12)
    np.testing.assert_allclose(told["G.torque1"], n * passed, rtol=1e-12)


def test_a_gear_between_joints_passes_what_a_coupling_of_them_does():
    """Both of the transfer-matrix solver: inner balance against the effort of a row."""
    bodies = {"rod": ROD, "other": {**ROD, "position": [1, 0, 0]}}
    joints = {"hinge": HINGE, "second": {**HINGE, "between": ["ground", "other.A"]}}
    settings = {"t_end": 0.2, "output_step": 0.05}
    gear = {"G": {"kind": "gear", "nodes": ["joint:hinge", "joint:second"], "ratio": -3.0}}
    couple = {"kind": "gear", "between": ["joints.hinge", "joints.second"], "ratio": -3.0}
    tied = simulate(
        vbg.Model(name="t", bodies=bodies, joints=joints, rotational=gear, simulate=settings)
    )
    coupled = simulate(
        vbg.Model(name="c", bodies=bodies, joints={**joints, "G": couple}, simulate=settings)
    )
    np.testing.assert_allclose(tied["G.torque2"], coupled["G.effort"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tied["G.torque1"], -3.0 * coupled["G.effort"], rtol=1e-9, atol=1e-12)
