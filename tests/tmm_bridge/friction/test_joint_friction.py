"""Dry friction on joints, sticking and slipping, in the transfer-matrix solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tmm_bridge.faults import exchanged
from vbg.tmm_bridge import simulate
from vbg.validate import validate

REPRODUCED = Path(__file__).parents[1] / "reproduced"
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def hinge(friction, **more):
    """A rod of 1 kg on a hinge 0.25 m from its mass centre, J = 0.02 kg m^2."""
    return vbg.Model(
        name="rod",
        gravity=[0, 0, -9.81],
        bodies={
            "rod": {
                "mass": 1.0,
                "inertia": {"xx": 0.002, "yy": 0.02, "zz": 0.02},
                "points": {"A": [-0.25, 0, 0]},
            }
        },
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 0.5},
                **({"friction": friction} if friction else {}),
            }
        },
        simulate={"t_end": 4.0, "output_step": 0.01},
        **more,
    )


def test_a_hinge_comes_to_rest_and_holds_exactly_what_the_weight_asks_for():
    run = simulate(hinge({"coulomb": 0.9, "static": 1.2}), **TIGHT)
    still = np.abs(run["hinge.speed"]) < 1e-12
    still[0] = False  # at rest for an instant, about to move
    assert still[-100:].all() and not still[:20].any()
    weight = 9.81 * 0.25 * np.cos(run["hinge.angle"])
    np.testing.assert_allclose(run["hinge.friction"][still], -weight[still], rtol=1e-10)
    moving = np.abs(run["hinge.speed"]) > 0.1
    np.testing.assert_allclose(np.abs(run["hinge.friction"][moving]), 0.9, rtol=1e-3)
    # the friction is no part of what the constraints pass on
    np.testing.assert_allclose(run["hinge.torque"][:, 1], 0.0, atol=1e-10)


def test_a_rod_that_static_friction_holds_never_moves():
    run = simulate(hinge({"coulomb": 1.0, "static": 2.2}), **TIGHT)
    assert (np.abs(run["hinge.speed"]) < 1e-12).all()
    assert np.ptp(run["hinge.angle"]) < 1e-12
    run = simulate(hinge({"coulomb": 1.0, "static": 2.1}), **TIGHT)  # the weight asks for 2.15
    assert run["hinge.speed"][3] > 0.0


def test_friction_with_a_rotor_on_the_same_joint_agrees_with_the_equation_of_motion():
    from scipy.integrate import solve_ivp

    model = vbg.read(REPRODUCED / "rotor_f.toml")
    run = simulate(model, t_end=0.5, output_step=0.05, **TIGHT)

    def rate(t, y):
        return [y[1], (9.81 * 0.5 * np.cos(y[0]) - 1.0) / (0.1 + 0.25 + 0.5)]

    exact = solve_ivp(rate, (0.0, 0.5), [0.0, 0.0], t_eval=run.time, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run["hinge.angle"], exact.y[0], atol=1e-9)
    np.testing.assert_allclose(run["rotor.speed"], exact.y[1], atol=1e-9)


def test_both_solvers_agree_on_a_part_that_rubs_on_a_joint():
    rub = {"rub": {"kind": "friction", "on": "joints.hinge", "coulomb": 0.3, "static": 0.4}}
    model = hinge(None, rotational=rub)
    first = vbg.simulate(model, t_end=1.5, **TIGHT)
    second = simulate(model, t_end=1.5, **TIGHT)
    for name in ("hinge.angle", "hinge.force", "rub.torque"):
        np.testing.assert_allclose(second[name], first[name], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, None),
        ("sign * (dry + ", "sign * (2.0 * dry + "),
        ("(self.static(w) - dry)", "(1.5 * self.static(w) - dry)"),
    ],
)
def test_friction_of_a_joint_is_solved_twice_and_a_fault_in_one_of_them_fails(old, new):
    model = vbg.read(REPRODUCED / "dry-hinge.toml")
    settings = {"t_end": 0.8, "output_step": 0.02, "in_children": False}
    if old is None:
        report = validate(model, **settings)
        assert report.result == "PASS", report.verdict.sentence
        assert not any("Replayed" in note for note in report.verdict.notes)
        return
    with exchanged("tmm_bridge.onedim.laws.friction", old, new):
        report = validate(model, **settings)
    assert report.result == "FAIL", report.verdict.sentence


def test_a_ball_screw_between_two_joints_moves_both_by_one_equation():
    """(J + m lead^2) angle'' = T + lead m g . axis, lead in m/rad."""
    rigid = {"xx": 0.01, "yy": 0.01, "zz": 0.01}
    model = vbg.Model(
        name="screw",
        gravity=[0, 0, -9.81],
        bodies={"rotor": {"mass": 1.0, "inertia": rigid}, "table": {"mass": 5.0, "inertia": rigid}},
        joints={
            "spindle": {"kind": "revolute", "between": ["ground", "rotor"], "axis": [1, 0, 0]},
            "slide": {"kind": "prismatic", "between": ["ground", "table"], "axis": [0.6, 0, 0.8]},
        },
        translational={
            "screw": {
                "kind": "ball_screw",
                "shaft": "joints.spindle",
                "slide": "joints.slide",
                "lead": 0.05,
            }
        },
        rotational={"push": {"kind": "torque", "on": "joints.spindle", "torque": 1.2}},
    )
    run = simulate(model, t_end=0.5, output_step=0.05, **TIGHT)
    angle = 0.5 * (1.2 - 0.05 * 5.0 * 9.81 * 0.8) / (0.01 + 5.0 * 0.05**2) * run.time**2
    np.testing.assert_allclose(run["spindle.angle"], angle, atol=1e-9)
    np.testing.assert_allclose(run["slide.slide"], 0.05 * angle, atol=1e-10)
