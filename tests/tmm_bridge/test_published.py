"""The transfer-matrix solver alone reproduces published digits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vbg
from vbg.model import Model
from vbg.tmm_bridge import simulate

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = Path(__file__).parents[2] / "examples"


def data(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def near(time: float, step: float) -> int:
    return round(time / step)


def test_simple_pendulum_follows_the_elliptic_solution():
    model = Model(
        name="a01",
        gravity=[0, -9.81, 0],
        bodies={
            "mass": {
                "mass": 1.0,
                "inertia": {"xx": 1e-12, "yy": 1e-12, "zz": 1e-12},
                "position": [-1, 0, 0],
                "points": {"A": [1, 0, 0]},
            }
        },
        joints={"hinge": {"kind": "revolute", "between": ["ground", "mass.A"], "axis": [0, 0, 1]}},
    )
    reference = data("a01_simple_pendulum")["reference"]
    solution = simulate(model, t_end=10.0, output_step=0.01, rtol=1e-11, atol=1e-13)
    for t, x, y in zip(reference["t"], reference["x"], reference["y"], strict=True):
        found = solution["mass.position"][near(t, 0.01)]
        np.testing.assert_allclose(found[:2], [x, y], atol=2e-9)
    assert solution.audit.energy_residual < 1e-9


def double_four_bar() -> Model:
    """Two windows of five equal rods, redundant in space, through singular postures."""
    rod, thin = 1.0 / 12.0, 1e-3
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    for i in range(3):
        bodies[f"v{i}"] = {
            "mass": 1.0,
            "inertia": {"xx": rod, "yy": thin, "zz": rod},
            "position": [i, 0.5, 0],
            "velocity": [0.5, 0, 0],
            "angular_velocity": [0, 0, -1],
            "points": {"A": [0, -0.5, 0], "B": [0, 0.5, 0]},
        }
        ends = [{"body": "ground", "at": [i, 0, 0]}, f"v{i}.A"]
        joints[f"g{i}"] = {"kind": "revolute", "between": ends, "axis": [0, 0, 1]}
    for i in range(2):
        bodies[f"c{i}"] = {
            "mass": 1.0,
            "inertia": {"xx": thin, "yy": rod, "zz": rod},
            "position": [i + 0.5, 1, 0],
            "velocity": [1, 0, 0],
            "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]},
        }
        for side, ends in (("l", [f"v{i}.B", f"c{i}.A"]), ("r", [f"c{i}.B", f"v{i + 1}.B"])):
            joints[f"{side}{i}"] = {"kind": "revolute", "between": ends, "axis": [0, 0, 1]}
    return Model(name="a02", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)


def test_double_four_bar_keeps_its_branch_through_singular_postures():
    solution = simulate(double_four_bar(), t_end=10.0, output_step=0.01, rtol=1e-11, atol=1e-13)
    reference = data("a02_double_four_bar")["reference"]
    assert solution.status.code == "finished"
    for t, xy in reference["own_other"].items():
        np.testing.assert_allclose(
            solution["v0.B.position"][near(float(t), 0.01), :2], xy, atol=1e-7
        )
    np.testing.assert_allclose(solution["v0.B.position"][-1, :2], reference["B0_own"], atol=1e-6)
    np.testing.assert_allclose(
        solution["v0.B.position"][-1, :2], reference["B0_published"], atol=2e-6
    )
    assert any("not unique" in note.what for note in solution.notes)


def test_tilted_revolute_reactions_match_the_published_ones():
    c = float(np.sqrt(0.5))
    model = Model(
        name="tilted",
        gravity=[0, 0, -9.80665],
        bodies={
            "b": {
                "mass": 1.0,
                "inertia": {"xx": 0.04, "yy": 0.1, "zz": 0.1},
                "position": [3, 2, 3],
                "rotation": {"axis": [1, 0, 0], "angle": "-45 deg"},
                "points": {"J": [-2, 0, 0]},
            }
        },
        joints={
            "J": {
                "kind": "revolute",
                "between": [{"body": "ground", "at": [1, 2, 3]}, "b.J"],
                "axis": [0, c, c],
            }
        },
    )
    case = data("adams_revolute_tilted")
    solution = simulate(model, t_end=5.0, output_step=0.05, rtol=1e-10, atol=1e-12)
    for t, row in case["reference"].items():
        k = near(float(t), 0.05)
        np.testing.assert_allclose(
            solution["b.position"][k], row["pos"], atol=case["tolerance"]["pos"]
        )
        # The published reactions act on the ground: the first body.
        np.testing.assert_allclose(-solution["J.force"][k], row["F"], atol=case["tolerance"]["F"])
        np.testing.assert_allclose(-solution["J.torque"][k], row["T"], atol=case["tolerance"]["T"])


def test_heavy_top_matches_published_and_precise_digits():
    model = Model(
        name="top",
        gravity=[0, 0, -9.81],
        bodies={
            "top": {
                "mass": 15.0,
                "inertia": {"xx": 0.234375, "yy": 0.46875, "zz": 0.234375},
                "position": [0, 1, 0],
                "angular_velocity": [0, 150, -4.61538],
                "points": {"O": [0, -1, 0]},
            }
        },
        joints={"O": {"kind": "spherical", "between": ["ground", "top.O"]}},
    )
    solution = simulate(model, t_end=2.0, output_step=0.01, rtol=1e-11, atol=1e-13)
    reference = data("heavy_top")["reference"]
    for t, p in reference["own_com"].items():
        np.testing.assert_allclose(solution["top.position"][near(float(t), 0.01)], p, atol=5e-9)
    published = reference["published_5digits"]
    for label, t in (("quat(t=0.15)", 0.15), ("quat(0.17)", 0.17), ("quat(0.2)", 0.2)):
        found = solution["top.rotation"][near(t, 0.01)]
        np.testing.assert_allclose(found, published[label], atol=1e-5)
    for label, t in (("omega(0.01)", 0.01), ("omega(0.05)", 0.05)):
        found = solution["top.angular_velocity"][near(t, 0.01)]
        np.testing.assert_allclose(found, published[label], rtol=1e-4)


def test_double_pendulum_with_a_damper():
    mass = 7700 * 0.5 * 0.06 * 0.06
    across, along = mass / 12 * (0.25 + 0.0036), mass / 12 * 0.0072
    box = {"mass": mass, "inertia": {"xx": along, "yy": across, "zz": across}}
    points = {"A": [-0.25, 0, 0], "B": [0.25, 0, 0]}
    model = Model(
        name="dp",
        gravity=[0, -9.80665, 0],
        bodies={
            "b1": {**box, "position": [0.25, 0, 0], "points": points},
            "b2": {**box, "position": [0.75, 0, 0], "points": points},
        },
        joints={
            "j1": {"kind": "revolute", "between": ["ground", "b1.A"], "axis": [0, 0, 1]},
            "j2": {"kind": "revolute", "between": ["b1.B", "b2.A"], "axis": [0, 0, 1]},
        },
        forces={"d": {"kind": "damper", "on": "joints.j1", "c": 0.1}},
    )
    own = data("msl_double_pendulum")["reference"]["own_t3"]
    solution = simulate(model, t_end=3.0, output_step=0.06, rtol=1e-11, atol=1e-13)
    found = [solution[name][-1] for name in ("j1.angle", "j1.speed", "j2.angle", "j2.speed")]
    np.testing.assert_allclose(found, [own[k] for k in ("phi1", "w1", "phi2", "w2")], atol=1e-9)


def cylinder(r: list[float], origin: list[float]) -> dict[str, Any]:
    """A steel bar of 50 mm diameter from `origin` along r."""
    v, radius = np.array(r), 0.025
    length = float(np.linalg.norm(v))
    mass, e = 7700 * np.pi * radius**2 * length, v / length
    J = mass * (3 * radius**2 + length**2) / 12 * (np.eye(3) - np.outer(e, e))
    J += 0.5 * mass * radius**2 * np.outer(e, e)
    names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}
    return {
        "mass": float(mass),
        "inertia": {name: float(J[ij]) for name, ij in names.items()},
        "position": list(np.array(origin) + v / 2),
        "points": {"A": list(-v / 2), "B": list(v / 2)},
    }


def test_spatial_four_bar():
    model = Model(
        name="four-bar",
        gravity=[0, -9.80665, 0],
        bodies={
            "b1": cylinder([0, 0.5, 0.1], [0, 0, 0]),
            "b2": cylinder([0, 0.2, 0], [1, 0, 0]),
            "b3": cylinder([-1, 0.3, 0.1], [1, 0.2, 0]),
        },
        joints={
            "j1": {
                "kind": "revolute",
                "between": ["ground", "b1.A"],
                "axis": [1, 0, 0],
                "initial": {"angle": 0.0, "speed": 5.235987755982989},
            },
            "j2": {
                "kind": "prismatic",
                "between": [{"body": "ground", "at": [1.2, 0, 0]}, "b2.A"],
                "axis": [1, 0, 0],
                "initial": {"slide": -0.2},
            },
            "u": {
                "kind": "universal",
                "between": ["b2.B", "b3.A"],
                "axis": [0, 1, 0],
                "axis2": [0, 0, 1],
            },
            "s": {"kind": "spherical", "between": ["b3.B", "b1.B"]},
        },
    )
    reference = data("msl_fourbar1")["reference"]
    solution = simulate(model, t_end=5.0, output_step=0.01, rtol=1e-11, atol=1e-13)
    for t, angle in reference["own"]["phi_mod_2pi"].items():
        found = solution["j1.angle"][near(float(t), 0.01)]
        assert np.angle(np.exp(1j * (found - angle))) == pytest.approx(0.0, abs=1e-7)
    assert solution["j1.angle"][-1] == pytest.approx(reference["j1_phi"]["5"], abs=2e-3)
    for t, speed in reference["own"]["w"].items():
        assert solution["j1.speed"][near(float(t), 0.01)] == pytest.approx(speed, abs=1e-6)
    total = solution["energy.kinetic"] + solution["energy.potential"]
    assert total == pytest.approx(reference["own"]["energy"], abs=1e-6)


def test_andrews_squeezer():
    model = vbg.read(EXAMPLES / "andrews-squeezer.toml")
    case = data("andrews_squeezer")
    solution = simulate(model, t_end=0.03, output_step=0.03, rtol=1e-12, atol=1e-14)
    q = case["reference"]["q"]
    # Signs and zeros of the seven angles are those of the example's hinges.
    found = [solution[f"{name}.angle"][-1] for name in ("beta", "gamma", "delta", "epsilon")]
    np.testing.assert_allclose(found, [q[0], q[2], q[4], q[6]], rtol=1e-8)
    speeds = [solution[f"{name}.speed"][-1] for name in ("beta", "gamma", "delta", "epsilon")]
    wanted = [case["reference"]["qd"][k] for k in (0, 2, 4, 6)]
    np.testing.assert_allclose(speeds, wanted, rtol=1e-6)
