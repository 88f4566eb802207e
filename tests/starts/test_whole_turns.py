"""An angle begins within half a turn of what is written, however far assembly turned the joint, in
both solvers: springs on joints feel whole turns.  Where a gear counts them, they stay."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import vbg
from tests.tail import tail
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.mechanism.turns import nearest_turn
from vbg.validate import validate

RATIO = -3.0
INERTIA = {"xx": 1e-3, "yy": 1.2e-3, "zz": 2e-4}
KINDS = {
    "A": {"kind": "revolute", "axis": [0, 0, 1], "initial": {}},
    "B": {"kind": "spherical"},
    "D": {"kind": "universal", "axis": [0.3, -1, 0.2], "axis2": [0, 1, 0], "initial": {}},
    "E": {"kind": "revolute", "axis": [1, 2, 0]},
}


def linkage(seed: int, written: dict[str, float], *, geared: bool = False) -> vbg.Model:
    """Crank, rod and rocker in space; the rod is written where it lies, but turned anyhow, so
    that nothing closes; `written`: angles [rad] of A and of D at that posture."""
    turned = np.roll(Rotation.random(random_state=seed).as_quat(), 1).tolist()
    places = {"crank": [0.025, 0, 0], "rod": [0.125, 0.1, 0.065], "rocker": [0.2, 0.2, 0.06]}
    places |= {"wheel": [1, 0, 0]} if geared else {}
    bodies = {
        name: {"mass": 0.5, "inertia": INERTIA, "position": place} for name, place in places.items()
    }
    bodies["rod"]["rotation"] = {"quaternion": turned}
    ends = {
        "A": ["ground", ("crank", [-0.025, 0, 0])],
        "B": [("crank", [0.025, 0, 0.01]), ("rod", [-0.07, -0.09, -0.05])],
        "D": [("rod", [0.08, 0.1, 0.055]), ("rocker", [0, 0, 0.06])],
        "E": [("ground", [0.2, 0.2, 0]), ("rocker", [0, 0, -0.06])],
    }
    joints = {}
    for name, pair in ends.items():
        between = [e if isinstance(e, str) else {"body": e[0], "at": e[1]} for e in pair]
        joints[name] = {**KINDS[name], "between": between}
    joints["E"]["initial"] = {"speed": 1.0}
    for name, angle in written.items():
        joints[name]["initial"] = {"angle": angle}
    if geared:
        end = {"body": "ground", "at": [1, 0, 0]}
        joints["W"] = {"kind": "revolute", "axis": [1, 0, 1], "between": [end, "wheel"]}
        joints["G"] = {"kind": "gear", "between": ["joints.A", "joints.W"], "ratio": RATIO}
    springs = {f"on{n}": {"kind": "torsion_spring", "on": f"joints.{n}", "k": 1.0} for n in "AE"}
    return vbg.Model(gravity=[0, 0, 0], bodies=bodies, joints=joints, forces=springs)


def angles(model: vbg.Model) -> dict[str, tuple[float, float]]:
    """At the start, in both solvers, by name."""
    begun, mechanism = vbg.start(vbg.assemble(model)), lay_out(model)
    first, second = begun.outputs(0.0, begun.state), start(mechanism).y
    return {
        f"{name}.{key}": (float(first[f"{name}.{key}"][0]), float(second[place]))
        for (name, key), k in mechanism.coordinates.items()
        for place in [mechanism.tables.coordinates[k, 2]]
    }


@pytest.mark.parametrize("seed", tail((14, *range(5, 9), 13, 18, 26), 2))
@pytest.mark.parametrize("written", [{}, {"A": 20.0}])
def test_an_angle_begins_within_half_a_turn_of_what_is_written(seed, written):
    """Assembly turns the joints of these by as many as two turns."""
    for name, pair in angles(linkage(seed, written)).items():
        off = np.array(pair) - written.get(name.partition(".")[0], 0.0)
        assert (-np.pi < off).all() and (off <= np.pi).all(), (name, off)


@pytest.mark.parametrize("turns", [-1.0, 0.0, 1.0, 9.0])
def test_of_two_turns_that_are_as_near_the_larger_is_taken(turns):
    for angle in np.pi + np.array([-1e-12, 0.0, 1e-12]) + 2.0 * np.pi * turns:
        for target in (0.0, 20.0):
            off = nearest_turn(angle + target, target) - target
            assert off == pytest.approx(np.pi, abs=1e-11)


@pytest.mark.parametrize("seed", tail((7, 14, 8), 1))
def test_where_a_gear_counts_turns_they_stay(seed):
    found = angles(linkage(seed, {}, geared=True))
    assert_allclose(found["W.angle"], RATIO * np.array(found["A.angle"]), atol=1e-9)


@pytest.mark.parametrize(("seed", "geared"), tail([(9, False), (53, True), (63, True)], 1))
def test_what_half_steps_close_is_not_refused(seed, geared):
    """Newton's full steps, halved while they do not help, end at a gap there."""
    begun = vbg.start(vbg.assemble(linkage(seed, {}, geared=geared)))
    assert begun.position_residual < 1e-9


@pytest.mark.parametrize("seed", tail((14, 7, 8, 26), 1))
@pytest.mark.parametrize(("written", "geared"), [({}, False), ({"A": 20.0}, False), ({}, True)])
def test_springs_on_joints_that_assembly_turned_are_wound_alike(seed, written, geared):
    model = linkage(seed, written, geared=geared)
    report = validate(model, t_end=0.02, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict
