"""Dry friction on the coordinates of joints: sticking, breaking away, reversing."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.laws.joints.test_faults import four_bar
from tests.tail import tail

BODY = {"mass": 2.0, "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.01}}


def rail(axis: list[float], **joint: object) -> dict:
    return {"kind": "prismatic", "between": ["ground", "block"], "axis": axis, **joint}


def test_block_rests_on_an_inclined_rail():
    """0.3 rad down from the horizontal: the friction is the weight along the rail, the block does
    not creep in 100 s, and all energies stay as they were."""
    slope = [math.cos(0.3), 0.0, -math.sin(0.3)]
    model = vbg.Model(
        gravity=[0, 0, -9.81],
        bodies={"block": BODY},
        joints={"rail": rail(slope, friction={"coulomb": 5.0, "static": 6.0})},
        simulate={"t_end": 100.0, "output_step": 1.0},
    )
    solution = vbg.simulate(vbg.assemble(model))
    weight = 2.0 * 9.81 * math.sin(0.3)
    assert np.abs(solution["rail.slide"]).max() < 1e-12
    assert solution["rail.friction"] == pytest.approx(-weight, rel=1e-12)
    assert solution.audit.events == ()
    assert solution.audit.energy_residual < 1e-7


def test_block_too_heavy_for_its_friction_slides():
    """Acceleration (m g - coulomb) / m, break-away at once."""
    model = vbg.Model(
        gravity=[0, 0, -9.81],
        bodies={"block": BODY},
        joints={"rail": rail([0, 0, -1], friction={"coulomb": 5.0})},
        simulate={"t_end": 1.0, "output_step": 0.1},
    )
    solution = vbg.simulate(vbg.assemble(model))
    expected = 0.5 * (9.81 - 2.5) * solution.time**2
    assert solution["rail.slide"] == pytest.approx(expected, abs=1e-9)
    assert solution.audit.energy_residual < 1e-9


def test_oscillator_stops_where_friction_holds_its_spring():
    """m x'' = -k x -+ F: half periods of pi/omega, each 2 F / k shorter than the one before; it
    stays where the spring is weaker than F (closed form, J. den Hartog, Mechanical
    Vibrations, 4th ed., section 2.3)."""
    k, F = 200.0, 20.0
    model = vbg.Model(
        gravity=[0, 0, 0],
        bodies={"block": BODY},
        joints={"rail": rail([1, 0, 0], initial={"slide": 0.95}, friction={"coulomb": F})},
        translational={"S": {"kind": "spring", "on": "joints.rail", "k": k}},
        simulate={"t_end": 3.0, "output_step": 0.01, "rtol": 1e-10, "atol": 1e-12},
    )
    solution = vbg.simulate(vbg.assemble(model))
    half = math.pi / math.sqrt(k / 2.0)
    turned = sorted({event.time for event in solution.audit.events if event.time > 0.0})
    assert turned == pytest.approx([n * half for n in range(1, 6)], abs=1e-9)
    assert solution["rail.slide"][-1] == pytest.approx(0.05, abs=1e-9)
    assert solution["rail.friction"][-1] == pytest.approx(0.05 * k, abs=1e-6)
    lost = F * (1.7 + 1.3 + 0.9 + 0.5 + 0.1)
    assert solution["energy.dissipated"][-1] == pytest.approx(lost, abs=1e-8)
    assert solution.audit.energy_residual < 1e-9


def test_friction_of_a_driven_joint_turns_with_the_drive():
    """drive - m x'' = F sign(x'): it cannot stick, and reverses at the instants of the drive."""
    model = vbg.Model(
        gravity=[0, 0, 0],
        bodies={"block": BODY},
        joints={"rail": rail([1, 0, 0], drive="0.1*sin(3*t)", friction={"coulomb": 4.0})},
        simulate={"t_end": 2.0, "output_step": 0.01},
    )
    solution = vbg.simulate(vbg.assemble(model))
    turned = [event.time for event in solution.audit.events]
    assert turned == pytest.approx([math.pi / 6, math.pi / 2], abs=1e-9)
    t = solution.time
    expected = -2.0 * 0.9 * np.sin(3 * t) + 4.0 * np.sign(np.cos(3 * t))
    assert solution["rail.drive"] == pytest.approx(expected, abs=1e-6)
    assert solution.audit.energy_residual < 1e-7


@pytest.mark.parametrize(
    ("method", "step"), tail([("dop853", 0.05), ("radau", 0.05), ("rk4", 1e-3)], 1)
)
def test_linkage_with_dry_hinges_comes_to_rest(method, step):
    """Relative speeds that pass through zero one by one do not stick; when all stop at once
    they share the load, and the posture is kept to rounding."""
    model = four_bar()
    for joint in model["joints"].values():
        joint["friction"] = {"coulomb": 2.0}
    for start in shaken(vbg.start(vbg.Model(**model)), 2):
        solution = vbg.simulate(start, t_end=5.0, output_step=step, method=method)
        assert solution.status.code == "finished", solution.status
        last = solution.time > 4.0
        for name in model["joints"]:
            assert np.ptp(solution[f"{name}.angle"][last]) < 1e-12
            assert np.abs(solution[f"{name}.friction"]).max() <= 2.0 + 1e-9
        assert solution.audit.energy_residual < (1e-4 if method == "rk4" else 1e-7)
