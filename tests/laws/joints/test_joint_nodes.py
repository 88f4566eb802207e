"""Joints as nodes of shafts and sliders: "joint:NAME", in both solvers."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import ModelError
from vbg.tmm_bridge import simulate as second
from vbg.validate import validate

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
SOLVERS = [pytest.param(vbg.simulate, id="vbg"), pytest.param(second, id="mstmm")]


def axis(kind, J=0.3, m=1.4):
    """A body on one joint, without gravity and with its mass centre on the axis."""
    body = {"mass": m, "inertia": {"xx": J, "yy": J, "zz": J}}
    joint = {"kind": kind, "between": ["ground", "arm"], "axis": [0.0, 0.0, 1.0]}
    return {"gravity": [0.0, 0.0, 0.0], "bodies": {"arm": body}, "joints": {"j": joint}}


def turning(**parts):
    return vbg.Model(
        **axis("revolute"), rotational=parts, simulate={"t_end": 0.2, "output_step": 0.01}
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("simulate", SOLVERS)
def test_a_flexible_gear_swings_as_two_inertias_on_a_spring(simulate, scale):
    """J1 before a gear of ratio r, k between gear and arm: the twist has the frequency
    k (1 / J2 + r^2 / J1)."""
    J1, r, k, J2, w1 = 2e-3 * scale, 0.05, 30.0 * scale, 0.3 * scale, 4.0
    model = vbg.Model(
        **axis("revolute", J=J2, m=scale),
        rotational={
            "wave": {"kind": "inertia", "nodes": ["motor"], "J": J1, "speed": w1},
            "reduction": {"kind": "gear", "nodes": ["motor", "flexspline"], "ratio": r},
            "flex": {"kind": "spring", "nodes": ["flexspline", "joint:j"], "k": k},
        },
        simulate={"t_end": 1.0, "output_step": 0.05},
    )
    run = simulate(model, **TIGHT)
    a = J1 / r**2  # of the motor, seen behind the gear
    w = np.sqrt(k * (1.0 / J2 + 1.0 / a))
    twist = w1 * r / w * np.sin(w * run.time)  # of the gear's shaft over the arm
    np.testing.assert_allclose(run["flex.torque"], k * twist, atol=1e-8 * k)
    share = a / (a + J2)
    exact = share * (w1 * r * run.time - twist)
    np.testing.assert_allclose(run["j.angle"], exact, atol=1e-9)


@pytest.mark.parametrize("simulate", SOLVERS)
def test_a_slider_is_pulled_by_a_spring_from_a_mass(simulate):
    m, M, k, v = 0.7, 1.4, 90.0, 2.0
    model = vbg.Model(
        **axis("prismatic", m=M),
        translational={
            "block": {"kind": "mass", "nodes": ["a"], "m": m, "speed": v},
            "line": {"kind": "spring", "nodes": ["a", "joint:j"], "k": k},
        },
        simulate={"t_end": 1.0, "output_step": 0.05},
    )
    run = simulate(model, **TIGHT)
    w = np.sqrt(k * (1.0 / m + 1.0 / M))
    exact = m / (m + M) * v * (run.time - np.sin(w * run.time) / w)
    np.testing.assert_allclose(run["j.slide"], exact, atol=1e-9)


PARTS = {
    "spring": {"kind": "spring", "k": 5.0, "length": 0.3},
    "damper": {"kind": "damper", "c": 0.4},
    "torque": {"kind": "torque", "torque": "3*sin(4*t)"},
    "inertia": {"kind": "inertia", "J": 0.2, "speed": 1.5},
    "friction": {"kind": "friction", "coulomb": 0.1, "viscous": 0.2},
}


@pytest.mark.parametrize("kind", PARTS)
def test_one_node_of_a_joint_is_the_same_as_acting_on_it(kind):
    push = {"kind": "torque", "on": "joints.j", "torque": "2 - 9*t"}
    by_node = turning(part={**PARTS[kind], "nodes": ["joint:j"]}, push=push)
    by_path = turning(part={**PARTS[kind], "on": "joints.j"}, push=push)
    for simulate in (vbg.simulate, second):
        one, other = simulate(by_node, **TIGHT), simulate(by_path, **TIGHT)
        for name in ("j.angle", "j.speed"):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "between",
    [
        {"kind": "spring", "k": 40.0},
        {"kind": "damper", "c": 0.5},
        {"kind": "gear", "ratio": -3.0},
        {"kind": "belt", "radius1": 0.05, "radius2": 0.2},
        {"kind": "clutch", "capacity": 0.8, "engaged": "t - 0.05"},
        {"kind": "friction", "coulomb": 0.4, "static": 0.5},
    ],
    ids=lambda part: part["kind"],
)
def test_parts_between_a_shaft_and_a_joint_are_solved_twice(between):
    model = turning(
        rotor={"kind": "inertia", "nodes": ["shaft"], "J": 0.05, "speed": 3.0},
        part={**between, "nodes": ["shaft", "joint:j"]},
        load={"kind": "torque", "nodes": ["joint:j"], "torque": "sin(9*t)"},
    )
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert {c.source for c in report.channels} == {"integrated"}


@pytest.mark.parametrize(
    "table, node, said",
    [
        ("rotational", "joints.j", "Did you mean 'joint:j'?"),
        ("rotational", "joint:k", "unknown joint 'k'"),
        ("translational", "joint:j", "the joint j turns"),
        ("electric", "joint:j", "no electric node"),
        ("rotational", "joint:ball", "needs a joint with one free coordinate"),
    ],
)
def test_what_is_no_such_node_is_told_with_the_spelling(table, node, said):
    document = axis("revolute")
    document["bodies"] |= {"b": document["bodies"]["arm"]}
    document["joints"]["ball"] = {"kind": "spherical", "between": ["ground", "b"]}
    part = {"nodes": ["a", node]}
    part |= {"kind": "resistor", "R": 1.0} if table == "electric" else {"kind": "spring", "k": 1.0}
    with pytest.raises(ModelError) as error:
        vbg.Model(**document, **{table: {"part": part}})
    assert said in str(error.value)


def test_an_included_joint_is_a_node_by_its_port(tmp_path):
    (tmp_path / "arm.toml").write_text(
        "vbg = 1\n[ports]\nhinge = 'joints.j'\n"
        "[bodies.arm]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n"
        "[joints.j]\nkind = 'revolute'\nbetween = ['ground', 'arm']\naxis = [0, 0, 1]\n"
        "[rotational.inner]\nkind = 'damper'\nnodes = ['joint:j']\nc = 2\n"
    )
    (tmp_path / "whole.toml").write_text(
        "vbg = 1\n[include.left]\nfile = 'arm.toml'\n"
        "[rotational.rotor]\nkind = 'inertia'\nnodes = ['shaft']\nJ = 1\nspeed = 2\n"
        "[rotational.flex]\nkind = 'spring'\nnodes = ['shaft', 'left.hinge']\nk = 7\n"
    )
    model = vbg.read(tmp_path / "whole.toml")
    assert model.rotational["flex"].nodes == ("shaft", "joint:left_j")
    assert model.rotational["left_inner"].nodes == ("joint:left_j",)
    run = vbg.simulate(model, t_end=0.1, output_step=0.05)
    assert run["left_j.angle"][-1] > 1e-4
