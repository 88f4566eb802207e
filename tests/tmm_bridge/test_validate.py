"""Both solvers on shipped examples, in child processes and here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import vbg
from vbg.errors import AssemblyError
from vbg.validate import validate

EXAMPLES = Path(__file__).parents[2] / "examples"
MECHANICAL = (
    "andrews-squeezer",
    "bennett",
    "bushing-mount",
    "double-pendulum",
    "free-body",
    "gear-pair",
    "heavy-top",
    "pendulum",
    "shaft-arm-slider",
    "slider-crank",
    "spatial-four-bar",
    "stewart-platform",
    "triple-pendulum",
    "two-link-robot",
)


@pytest.mark.parametrize("name", MECHANICAL)
def test_shipped_examples_pass(name):
    model = vbg.read(EXAMPLES / f"{name}.toml")
    t_end = min(model.simulate.t_end, 1.0)
    report = validate(model, t_end=t_end, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    joints = [c for c in report.channels if ".force" in c.name and c.result == "PASS"]
    assert all(c.max_error <= 1e-6 * c.peak for c in joints)


def test_children_run_in_parallel_and_tell_how_far_they_are():
    told: list[tuple[str, float]] = []
    model = vbg.read(EXAMPLES / "double-pendulum.toml")
    report = validate(model, t_end=0.5, progress=lambda name, f: told.append((name, f)))
    assert report.result == "PASS"
    assert {name for name, _ in told} == {"vbg", "mstmm"}
    assert max(f for _, f in told) == 1.0


def test_errors_of_the_model_come_back_from_the_children():
    model = vbg.read(EXAMPLES / "spatial-four-bar.toml")
    body = next(name for name, part in model.bodies.items() if part.points)
    point, at = next(iter(model.bodies[body].points.items()))
    broken = model.edited(("bodies", body, "points", point), [v + 40.0 for v in at])
    with pytest.raises(AssemblyError):
        validate(broken, t_end=0.1)


def tree(arms: int, length: int) -> vbg.Model:
    """A floating hub with arms of mixed joints."""
    inertia = {"xx": 0.01, "yy": 0.02, "zz": 0.025, "xy": 0.001}
    bodies: dict[str, Any] = {
        "hub": {"mass": 3.0, "inertia": inertia, "angular_velocity": [0.4, -0.8, 1.1]}
    }
    joints: dict[str, Any] = {}
    kinds = ("revolute", "spherical", "universal")
    for k in range(arms):
        before = "hub"
        for i in range(length):
            body = f"a{k}{i}"
            points = {"in": [-0.2, 0.02, 0.0], "out": [0.2, 0.0, 0.03]}
            bodies[body] = {"mass": 0.5 + 0.1 * i, "inertia": inertia, "points": points}
            out = (
                {"body": "hub", "at": [0.1 * (k - 2), 0.15, 0.05 * k]}
                if i == 0
                else f"{before}.out"
            )
            joint: dict[str, Any] = {"kind": kinds[(i + k) % 3], "between": [out, f"{body}.in"]}
            if joint["kind"] == "revolute":
                joint |= {"axis": [0.2, 1.0, 0.1 * k], "initial": {"speed": 0.5 * (k + 1)}}
            if joint["kind"] == "universal":
                joint |= {"axis": [1, 0, 0.2], "axis2": [0, 0, 1], "initial": {"angle2": 0.3}}
            joints[f"J{k}{i}"] = joint
            before = body
    return vbg.Model(name="tree", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)


def test_branching_tree_of_six_arms_with_three_bodies_each():
    report = validate(tree(6, 3), t_end=0.5, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert sum(".force" in c.name and c.result == "PASS" for c in report.channels) == 54
