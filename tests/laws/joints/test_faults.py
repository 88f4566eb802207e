"""Machines that cannot be, or not uniquely: each has its own message, which names the joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.parts import coupled
from vbg.errors import AssemblyError, ModelError
from vbg.solution import Solution

GRAVITY = [0.3, 0.0, -9.7]  # in the plane of the four-bar
# Corners of the four-bar in the plane y = 0: ground A, D; crank AB, coupler BC, rocker CD.
A, B, C, D = (np.array(p) for p in ([0.0, 0, 0], [0.3, 0, 0.8], [1.9, 0, 1.4], [2.2, 0, 0.1]))


def rod(p: np.ndarray, q: np.ndarray) -> dict[str, Any]:
    """A body between two corners, axes parallel to the world's."""
    middle, half = (p + q) / 2, (q - p) / 2
    return {
        "mass": 1.3,
        "inertia": {"xx": 0.05, "yy": 0.07, "zz": 0.06},
        "position": list(middle),
        "points": {"p": list(-half), "q": list(half)},
    }


def four_bar(kinds: dict[str, str] | None = None, corners: Any = (A, B, C, D)) -> dict[str, Any]:
    """A planar four-bar in space; hinges are revolutes about y but for those in `kinds`."""
    a, b, c, d = corners
    joints = {
        "A": {"between": [{"body": "ground", "at": list(a)}, "crank.p"]},
        "B": {"between": ["crank.q", "coupler.p"]},
        "C": {"between": ["coupler.q", "rocker.p"]},
        "D": {"between": [{"body": "ground", "at": list(d)}, "rocker.q"]},
    }
    for name, joint in joints.items():
        joint["kind"] = (kinds or {}).get(name, "revolute")
        if joint["kind"] != "spherical":
            joint["axis"] = [0, 1, 0]
        if joint["kind"] == "universal":
            joint["axis2"] = [0.6, 0, 0.8]
    joints["A"]["initial"] = {"speed": 1.7}
    return {
        "name": "four-bar",
        "gravity": GRAVITY,
        "bodies": {"crank": rod(a, b), "coupler": rod(b, c), "rocker": rod(c, d)},
        "joints": joints,
    }


def system_of(document: dict[str, Any]) -> vbg.System:
    return vbg.assemble(vbg.Model(**document))


def solve(system: vbg.System) -> Solution:
    solution = vbg.simulate(system, t_end=0.8, output_step=0.02, rtol=1e-10, atol=1e-12)
    assert solution.status.code == "finished", solution.status
    return solution


def test_an_overconstrained_four_bar_moves_as_the_determinate_one():
    """All revolutes against one universal and one spherical joint, which constrain nothing twice:
    same motion, same forces in the plane; what is not unique is marked and named."""
    redundant = system_of(four_bar())
    exact = system_of(four_bar({"B": "universal", "C": "spherical"}))
    assert vbg.start(exact).redundant == ()
    assert vbg.start(redundant).dependent == 3
    assert vbg.start(redundant).freedoms == vbg.start(exact).freedoms == 1
    one, two = solve(redundant), solve(exact)
    assert abs(one["crank.angular_velocity"]).max() > 1.0
    for body in ("crank", "coupler", "rocker"):
        for what in ("position", "rotation", "angular_velocity", "acceleration"):
            assert_allclose(one[f"{body}.{what}"], two[f"{body}.{what}"], atol=1e-7)
    for joint in "ABCD":
        expected = two[f"{joint}.force"][:, [0, 2]]
        assert_allclose(
            one[f"{joint}.force"][:, [0, 2]], expected, atol=1e-6 * (1 + abs(expected).max())
        )
    notes = " ".join(note.what for note in one.notes)
    assert "3 constraint directions are redundant" in notes
    assert "not unique" in notes


def test_the_redundant_directions_are_those_out_of_the_plane():
    """The hinges' forces along y and their torques about x and z, and no others."""
    names = set(vbg.start(system_of(four_bar())).redundant)
    parts = {name.partition(".")[0] for name in names}
    assert parts == set("ABCD")
    for name in names:
        assert "torque.normal" in name or "force.y" in name, name
    assert all(f"{joint}.force.y" in names for joint in "ABCD")


def test_redundant_forces_are_balanced_and_smallest():
    """They satisfy r' = 0 and have no part in the null space in the metric diag(H4), which is
    averaged over each force and torque."""
    from vbg.assemble.derive.constraints import vectors_of
    from vbg.assemble.start.constraints.choice import RowChoice

    system = system_of(four_bar())
    x = vbg.start(system).state
    evaluate = vbg.start(system).evaluator("effort")
    evaluate(0.0, x)
    assert np.abs(evaluate.output("acceleration")).max() < 1e-9
    rows = RowChoice(system)
    null = rows.choose(0.0, x).null_efforts(rows.lengths)
    assert np.linalg.matrix_rank(null) == null.shape[1] == 3
    plan = evaluate.program.schedules[0]
    metric = evaluate.work[plan.scratch : plan.scratch + plan.unknowns].copy()
    for first, size in vectors_of(system.equations.constraints):
        metric[first : first + size] = metric[first : first + size].mean()
    weighed = metric * evaluate.output("efforts")
    assert_allclose(null.T @ weighed, 0.0, atol=1e-12 * np.linalg.norm(weighed))


def test_a_locked_structure_is_named():
    """A triangle of hinged rods on ground: a truss, no freedom."""
    apex = np.array([1.0, 0.0, 1.3])
    document = {
        "name": "truss",
        "gravity": GRAVITY,
        "bodies": {"left": rod(A, apex), "right": rod(apex, D)},
        "joints": {
            "foot1": {
                "kind": "revolute",
                "between": [{"body": "ground", "at": list(A)}, "left.p"],
                "axis": [0, 1, 0],
            },
            "top": {"kind": "revolute", "between": ["left.q", "right.p"], "axis": [0, 1, 0]},
            "foot2": {
                "kind": "revolute",
                "between": [{"body": "ground", "at": list(D)}, "right.q"],
                "axis": [0, 1, 0],
            },
        },
    }
    with pytest.raises(AssemblyError, match="locked: 0 degrees of freedom") as found:
        _ = vbg.start(system_of(document))
    for joint in ("foot1", "top", "foot2"):
        assert f"joints.{joint}" in str(found.value)
    holding = str(found.value)
    # neither what opens nor what sticks locks it: a tie from apex to ground, friction at the top
    tie = {"kind": "spherical", "between": [{"body": "ground", "at": apex.tolist()}, "left.q"]}
    for more in ({"engage": "t > 0.5"}, {"release": "t > 0.5"}, {"engage": "t > 1", "open": True}):
        document["joints"]["tie"] = tie | more
        with pytest.raises(AssemblyError, match="locked") as found:
            _ = vbg.start(system_of(document))
        assert str(found.value) == holding
    document["joints"]["top"]["friction"] = {"coulomb": 3.0}
    with pytest.raises(AssemblyError, match="locked") as found:
        _ = vbg.start(system_of(document))
    assert str(found.value) == holding


def test_a_loop_that_cannot_close_is_named():
    """The rocker's end is 3 m too far away for the coupler."""
    document = four_bar()
    document["joints"]["D"]["between"][0]["at"] = [5.5, 0, 0.1]
    with pytest.raises(AssemblyError, match="cannot be closed") as found:
        _ = vbg.start(system_of(document))
    assert "joints." in str(found.value)
    assert "is left" in str(found.value)


def test_a_loop_out_of_its_plane_cannot_close():
    """Revolutes of parallel axes with an end 0.2 m beside the plane."""
    document = four_bar()
    document["joints"]["D"]["between"][0]["at"] = [2.2, 0.2, 0.1]
    with pytest.raises(AssemblyError, match="cannot be closed"):
        _ = vbg.start(system_of(document))


def test_a_singular_start_is_named():
    """Crank and coupler and rocker all on one line: a change point, two branches."""
    line = [np.array([x, 0.0, 0.0]) for x in (0.0, 0.7, 1.9, 2.5)]
    document = four_bar({"B": "universal", "C": "spherical"}, line)
    del document["joints"]["A"]["initial"]
    with pytest.raises(AssemblyError, match="singular posture") as found:
        _ = vbg.start(system_of(document))
    assert "joints." in str(found.value)


def driven(**drives: str) -> dict[str, Any]:
    """The determinate four-bar with drives on joints."""
    document = four_bar({"B": "universal", "C": "spherical"})
    for joint, drive in drives.items():
        document["joints"][joint].pop("initial", None)
        document["joints"][joint]["drive"] = drive
    return document


def test_two_drives_that_contradict_each_other_are_named():
    """Crank and rocker of one four-bar, both driven, at speeds that do not fit."""
    document = driven(A="0.9*t", D="-1.1*t")
    with pytest.raises(AssemblyError, match="contradict") as found:
        _ = vbg.start(system_of(document))
    for joint in "AD":
        assert f"joints.{joint}" in str(found.value)


def test_two_drives_that_contradict_in_position_are_named():
    document = driven(A="-0.3", D="0.4")
    with pytest.raises(AssemblyError, match="contradict") as found:
        _ = vbg.start(system_of(document))
    for joint in "AD":
        assert f"joints.{joint}" in str(found.value)


def test_a_drive_on_a_locked_structure_is_not_blamed_on_the_structure():
    """One drive on the four-bar's one freedom leaves none, which is as it should be."""
    system = system_of(driven(A="0.3*t"))
    assert vbg.start(system).freedoms == 0
    assert solve(system).audit.position_residual < 1e-10


def test_a_loop_that_closes_elsewhere_says_what_moved():
    document = four_bar({"B": "universal", "C": "spherical"})
    document["bodies"]["coupler"]["position"] = list((B + C) / 2 + [0.05, 0.0, -0.04])
    solution = solve(system_of(document))
    assert solution.audit.position_residual < 1e-10
    assert any(n.where == "bodies.coupler" and "moved by" in n.what for n in solution.notes)


def test_a_joint_without_direction_is_named():
    """A rod between two points that coincide; a disc that lies flat on its plane."""
    body = {"mass": 1.3, "inertia": {"xx": 0.05, "yy": 0.07, "zz": 0.06}, "position": [0, 0, 0.4]}
    above = {"body": "ground", "at": [0, 0, 0.4]}
    rod = {"kind": "distance", "between": [above, "body"], "length": 0.4}
    wheel = {"kind": "rolling", "between": ["ground", "body"], "radius": 0.4}
    wheel |= {"axis": [0, 0, 1], "axis2": [0, 0, 1]}
    for joint in (rod, wheel):
        document = {"name": "flat", "bodies": {"body": body}, "joints": {"J": joint}}
        with pytest.raises(AssemblyError, match=r"joints\.J.*has no value"):
            _ = vbg.start(system_of(document))


@pytest.mark.parametrize("kind", ["gear", "belt", "rack_pinion"])
def test_a_coupling_of_ratio_zero_is_refused(kind):
    machine = coupled(3, kind)
    machine.joints["coupling"]["ratio"] = 0.0
    with pytest.raises(ModelError, match="ratio must not be zero"):
        machine.model()
