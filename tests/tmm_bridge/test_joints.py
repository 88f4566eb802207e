"""Every joint in three disguises: carried forward, carried backward, and cut.

The same mechanism is laid out with the joint in the tree, with its bodies
exchanged, and with the joint as constraint rows of a floating body: three
codes, one motion and one set of forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vbg.model import Model
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.mechanism import layout
from vbg.tmm_bridge.tree.forest import Carrier, Forest

KINDS: dict[str, dict[str, Any]] = {
    "revolute": {"axis": [0.3, -0.5, 0.8], "initial": {"angle": 0.4, "speed": 1.1}},
    "prismatic": {"axis": [0.3, -0.5, 0.8], "initial": {"slide": 0.0, "speed": 0.6}},
    "helical": {
        "axis": [0.3, -0.5, 0.8],
        "lead": 0.07,
        "initial": {"angle": 0.4, "speed": 1.1},
    },
    "cylindrical": {
        "axis": [0.3, -0.5, 0.8],
        "initial": {"angle": 0.4, "speed": 1.1, "slide": 0.0, "slide_speed": 0.5},
    },
    "universal": {
        "axis": [0.6, 0, 0.8],
        "axis2": [0, 1, 0],
        "initial": {"speed": 0.9, "speed2": -1.3},
    },
    "spherical": {},
    "planar": {"axis": [0.3, -0.5, 0.8]},
    "point_on_line": {"axis": [0.3, -0.5, 0.8]},
    "point_on_plane": {"axis": [0.3, -0.5, 0.8]},
    "fixed": {},
}


def machine(kind: str, *, swapped: bool) -> Model:
    """Body A on an oblique hinge, body B on A by the joint under test."""
    ends = ["A.tip", "B.root"]
    fields = dict(KINDS[kind])
    if swapped:
        ends.reverse()
        # An axis of the first body seen from the second: both stand parallel as written.
        if kind == "universal":
            fields["axis"], fields["axis2"] = fields["axis2"], fields["axis"]
    return Model(
        name=kind,
        gravity=[0.4, -0.7, -9.7],
        bodies={
            "A": {
                "mass": 1.3,
                "inertia": {"xx": 0.03, "yy": 0.05, "zz": 0.06, "xy": 0.004, "yz": -0.003},
                "position": [0.25, 0.1, -0.05],
                "points": {"root": [-0.25, -0.1, 0.05], "tip": [0.2, 0.1, -0.15]},
            },
            "B": {
                "mass": 0.8,
                "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.025, "zx": 0.002},
                "position": [0.55, 0.35, -0.1],
                "angular_velocity": [0.3, -0.4, 0.7] if kind in FREE_SPIN else None,
                "points": {"root": [-0.1, -0.15, -0.1]},
            },
        },
        joints={
            "base": {
                "kind": "revolute",
                "between": ["ground", "A.root"],
                "axis": [0.1, 0.9, 0.2],
                "initial": {"angle": 0.0, "speed": 2.0},
            },
            "J": {"kind": kind, "between": ends, **fields},
        },
    )


FREE_SPIN = ("spherical", "point_on_line", "point_on_plane")


def cut_forest(model: Model) -> Forest:
    return Forest(
        (Carrier("A", "ground", "base", False), Carrier("B", "ground", "", False)), ("J",)
    )


SETTINGS = {"t_end": 0.6, "output_step": 0.05, "rtol": 1e-11, "atol": 1e-13}
MOTION = ("A.position", "B.position", "B.rotation", "B.angular_velocity", "A.acceleration")


@pytest.mark.parametrize("kind", KINDS)
def test_cut_joint_equals_carried_joint(kind, monkeypatch):
    model = machine(kind, swapped=False)
    carried = simulate(model, **SETTINGS)
    monkeypatch.setattr(layout, "plant", cut_forest)
    cut = simulate(model, **SETTINGS)
    assert cut.audit.position_residual < 1e-11
    for name in carried.signals:
        if not name.startswith(("energy", "residual")):
            np.testing.assert_allclose(
                cut[name], carried[name], atol=2e-8 * (1 + np.abs(carried[name]).max())
            )


@pytest.mark.parametrize("kind", ["spherical", "planar", "fixed"])
def test_exchanged_bodies_turn_the_joint_force_round(kind):
    forward = simulate(machine(kind, swapped=False), **SETTINGS)
    backward = simulate(machine(kind, swapped=True), **SETTINGS)
    for name in MOTION:
        np.testing.assert_allclose(backward[name], forward[name], atol=1e-8)
    np.testing.assert_allclose(backward["J.force"], -forward["J.force"], atol=1e-6)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical"])
def test_exchanged_bodies_with_their_coordinate_reversed(kind):
    forward = simulate(machine(kind, swapped=False), **SETTINGS)
    model = machine(kind, swapped=True)
    start = dict(KINDS[kind]["initial"])
    model = model.edited(("joints", "J", "initial"), {k: -v for k, v in start.items()})
    backward = simulate(model, **SETTINGS)
    for name in MOTION:
        np.testing.assert_allclose(backward[name], forward[name], atol=1e-8)
    np.testing.assert_allclose(backward["J.force"], -forward["J.force"], atol=1e-6)
    for key in ("angle", "slide"):
        if f"J.{key}" in forward:
            np.testing.assert_allclose(backward[f"J.{key}"], -forward[f"J.{key}"], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_forces_balance_every_body(kind):
    """m a = sum of joint forces + m g, from the signals alone."""
    solution = simulate(machine(kind, swapped=False), **SETTINGS)
    g = np.array([0.4, -0.7, -9.7])
    on_B = solution["J.force"] + 0.8 * g
    on_A = solution["base.force"] - solution["J.force"] + 1.3 * g
    np.testing.assert_allclose(0.8 * solution["B.acceleration"], on_B, atol=1e-9)
    np.testing.assert_allclose(1.3 * solution["A.acceleration"], on_A, atol=1e-9)
    assert solution.audit.energy_residual < 1e-8
