"""Exceptions to the count: each classic is recognised by name, as linkage and as Model."""

from dataclasses import replace

import numpy as np
import pytest
import threadpoolctl
from scipy.optimize import least_squares

from vbg.model import Model
from vbg.structure import Topology, analyse, analyse_topology, from_pairs
from vbg.structure.count.loops import blocks_of
from vbg.structure.geometry import singularities
from vbg.structure.geometry.exceptions import expansions, spin_sets, with_multijoints
from vbg.structure.geometry.manifold import jacobian, moved, obstruction, posture_of
from vbg.structure.geometry.singularities import block_mobility, find_exceptions
from vbg.structure.topology.linkage import PairAt, linkage_at
from vbg.structure.topology.models import linkage_of
from vbg.structure.topology.topology import make_pair

UP = (0.0, 0.0, 1.0)


def revolute_loop(axes, drive=True):
    """A single loop of revolutes at (point, direction); the first one driven."""
    points = np.array([point for point, _ in axes])
    count = len(axes)
    pairs = []
    for i, (point, direction) in enumerate(axes):
        ends = (i, i + 1) if i + 1 < count else (0, i)
        drives = ("angle",) if drive and i == 0 else ()
        pairs.append(PairAt("R", *ends, point, direction, drives=drives))
    return linkage_at(6, [(points[i - 1] + points[i]) / 2 for i in range(1, count)], pairs)


def axes_of(lengths, twists, angles):
    """Denavit and Hartenberg: where the axes of a chain stand, and its end against its start."""
    T, axes = np.eye(4), []
    for a, alpha, theta in zip(lengths, twists, angles, strict=True):
        axes.append((T[:3, 3].copy(), T[:3, 2].copy()))
        turn, step = np.eye(4), np.eye(4)
        c, s = np.cos(theta), np.sin(theta)
        turn[:2, :2] = [[c, -s], [s, c]]
        c, s = np.cos(alpha), np.sin(alpha)
        step[1:3, 1:3] = [[c, -s], [s, c]]
        step[0, 3] = a
        T = T @ turn @ step
    return axes, T


def closed_loop(lengths, twists, number):
    """The axes where the chain closes, from a random start."""

    def gap(angles):
        return (axes_of(lengths, twists, angles)[1] - np.eye(4))[:3].ravel()

    start = np.random.default_rng(number).uniform(-3.0, 3.0, len(lengths))
    found = least_squares(gap, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert found.cost < 1e-24
    return axes_of(lengths, twists, found.x)[0]


def bennett():
    one, other = 0.7, 1.3
    lengths = [1.0, np.sin(other) / np.sin(one)] * 2
    return revolute_loop(closed_loop(lengths, [one, other] * 2, 0))


def bricard():
    a = np.array([1.0, 0.8, 1.1, 1.2, 0.7, 0.0])
    a[5] = np.sqrt((a[0::2] ** 2).sum() - (a[1::2] ** 2).sum())
    return revolute_loop(closed_loop(a, np.pi / 2 * np.array([1, 3] * 3), 1))


def sarrus():
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    first = [((0.0, -1.0, 0.0), x), ((0.0, -1.4, 0.5), x), ((0.0, -1.0, 1.0), x)]
    second = [((-1.0, 0.0, 1.0), y), ((-1.5, 0.0, 0.45), y), ((-1.0, 0.0, 0.0), y)]
    return revolute_loop([*first, *second])


def four_bar(shift=0.0):
    points = [(0.0, 0.0, 0.0), (0.2, 0.5, 0.1), (1.1, 0.8, 0.0), (1.3, 0.0 + shift, 0.2)]
    return revolute_loop([(point, UP) for point in points])


def spherical_four_bar():
    directions = np.array([[1.0, 0.0, 0.0], [0.8, 0.7, 0.1], [0.1, 1.0, 0.3], [-0.3, 0.4, 1.0]])
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    return revolute_loop([(1.2 * unit, unit) for unit in units])


def double_parallelogram(dimension=6):
    arm = np.array([0.3, 0.6, 0.0])
    feet = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.3, 0.0]])
    pairs = [
        PairAt("R", 0, 1 + i, foot, drives=("angle",) * (i == 0)) for i, foot in enumerate(feet)
    ]
    pairs += [PairAt("R", 1 + i, 4, foot + arm) for i, foot in enumerate(feet)]
    return linkage_at(dimension, [*(feet + arm / 2), (1.0, 0.7, 0.0)], pairs)


def rod_between_spheres():
    """R-S-S-R: a crank, a rod that may spin, a rocker."""
    pairs = [
        PairAt("R", 0, 1, (0.0, 0.0, 0.0), (1.0, 0.0, 0.2), drives=("angle",)),
        PairAt("S", 1, 2, (0.0, 0.3, 0.5)),
        PairAt("S", 2, 3, (1.1, 0.4, 0.6)),
        PairAt("R", 0, 3, (1.0, 0.0, 0.0), (0.1, 1.0, 0.3)),
    ]
    return linkage_at(6, [(0.0, 0.2, 0.2), (0.5, 0.5, 0.5), (1.0, 0.3, 0.2)], pairs)


CLASSICS = {
    "planar four-bar in space": (four_bar, ["planar mechanism in space"], -2),
    "spherical four-bar": (spherical_four_bar, ["spherical mechanism in space"], -2),
    "Bennett": (bennett, ["Bennett linkage"], -2),
    "Bricard": (bricard, ["Bricard linkage (trihedral)"], 0),
    "Sarrus": (sarrus, ["Sarrus linkage"], 0),
    "double parallelogram": (
        double_parallelogram,
        ["planar mechanism in space", "double parallelogram"],
        -6,
    ),
    "double-spherical rod": (rod_between_spheres, ["double-spherical rod"], 2),
}


def model_of(linkage):
    """The same machine as a Model: bodies where they stand, joints by name and point."""
    kinds = {"R": "revolute", "S": "spherical", "P": "prismatic"}
    bodies = {
        f"body{i}": {
            "mass": 1.0,
            "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1},
            "position": linkage.p_WB[i].tolist(),
        }
        for i in range(1, len(linkage.p_WB))
    }
    joints = {}
    for i, (pair, frame) in enumerate(zip(linkage.topology.pairs, linkage.frames, strict=True)):
        names = ["ground" if end == 0 else f"body{end}" for end in pair.ends]
        at = [frame.p_AF_A.tolist(), frame.p_BM_B.tolist()]
        joint = {
            "kind": kinds[pair.code],
            "between": [{"body": n, "at": p} for n, p in zip(names, at, strict=True)],
        }
        if pair.code != "S":
            joint["axis"] = frame.R_AF[:, 2].tolist()
        if linkage.drives[i]:
            joint["drive"] = "0.1*t"
        joints[f"joint{i}"] = joint
    return Model(name="classic", bodies=bodies, joints=joints)


@pytest.mark.parametrize("name", CLASSICS)
@pytest.mark.parametrize("form", ["linkage", "model"])
def test_classics_are_recognised(name, form):
    make, names, count = CLASSICS[name]
    linkage = make()
    assert linkage.topology.mobility == count
    structure = analyse(linkage if form == "linkage" else model_of(linkage))
    assert [finding.name for finding in structure.findings] == names
    assert structure.mobility == 1
    assert structure.determined
    extra = sum(finding.freedoms for finding in structure.findings)
    assert count + extra == structure.mobility


@pytest.mark.parametrize("dimension", [3, 6])
def test_parallel_cranks_in_both_counts(dimension):
    names = [finding.name for finding in find_exceptions(double_parallelogram(dimension))]
    assert names[-1] == "double parallelogram"
    assert len(names) == (1 if dimension == 3 else 2)


def test_an_unequal_crank_makes_a_truss():
    linkage = double_parallelogram(3)
    pairs = [
        PairAt("R", *pair.ends, linkage.p_WB[pair.ends[0]] + frame.p_AF_A)
        for pair, frame in zip(linkage.topology.pairs, linkage.frames, strict=True)
    ]
    pairs[5] = replace(pairs[5], point=(2.35, 0.8, 0.0))
    (block,) = blocks_of(linkage_at(3, linkage.p_WB[1:], pairs))
    assert block_mobility(block).at_posture == block_mobility(block).count == 0


def test_general_loops_have_no_findings():
    rng = np.random.default_rng(3)
    for count in (6, 7, 8):
        axes = [(rng.normal(size=3), rng.normal(size=3)) for _ in range(count)]
        linkage = revolute_loop(axes, drive=False)
        assert find_exceptions(linkage) == ()
        (block,) = blocks_of(linkage)
        found = block_mobility(block)
        assert found.at_posture == found.count == count - 6


def test_tangent_freedom_of_a_flat_triangle():
    """Three pins in a line: free to first order, obstructed at the second, no motion."""
    linkage = revolute_loop([((float(x), 0.0, 0.0), UP) for x in range(3)])
    (finding,) = find_exceptions(linkage)
    assert finding.kind == "tangent freedom"
    (block,) = blocks_of(linkage)
    found = block_mobility(block)
    assert (found.at_posture, found.generic, found.moves) == (1, 0, False)
    assert found.obstructed > 0.01


def test_flat_parallelogram_is_a_branching():
    points = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (3.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    names = [f.kind for f in find_exceptions(revolute_loop([(p, UP) for p in points]))]
    assert names == ["subgroup", "singular posture"]


def test_second_order_of_a_motion_that_exists_is_not_obstructed():
    (block,) = blocks_of(bennett())
    posture = posture_of(block.linkage)
    free = np.linalg.svd(jacobian(posture)[0])[2][-1]
    assert obstruction(posture, free) < 1e-12


def test_jacobian_is_the_derivative_of_the_residual():
    linkage = rod_between_spheres()
    posture = posture_of(linkage)
    J, residual, scale = jacobian(posture)
    for k in range(J.shape[1]):
        step = np.zeros(J.shape[1])
        step[k] = 1e-6
        ahead, behind = (jacobian(moved(posture, sign * step)) for sign in (1.0, -1.0))
        rate = (ahead[1] / ahead[2] - behind[1] / behind[2]) * scale / 2e-6
        assert np.abs(rate - J[:, k]).max() < 1e-8
    assert np.abs(residual).max() < 1e-12


def test_a_planar_loop_inside_a_spatial_one_is_named():
    """A planar four-bar whose rocker moves an S-S rod and a spatial rocker."""
    pairs = [
        PairAt("R", 0, 1, (0.0, 0.0, 0.0), UP, drives=("angle",)),
        PairAt("R", 1, 2, (0.2, 0.5, 0.0), UP),
        PairAt("R", 2, 3, (1.1, 0.8, 0.0), UP),
        PairAt("R", 0, 3, (1.3, 0.0, 0.0), UP),
        PairAt("S", 3, 4, (1.2, 0.5, 0.1)),
        PairAt("S", 4, 5, (1.9, 0.9, 0.8)),
        PairAt("R", 0, 5, (2.2, 0.3, 0.4), (1.0, 0.3, 0.2)),
    ]
    places = [(0.1, 0.25, 0.0), (0.6, 0.6, 0.0), (1.2, 0.4, 0.0), (1.5, 0.7, 0.5), (2.0, 0.6, 0.6)]
    structure = analyse(linkage_at(6, places, pairs))
    names = [finding.name for finding in structure.findings]
    assert names == ["double-spherical rod", "planar mechanism in space"]
    assert set(structure.findings[1].bodies) == {"1", "2", "3", "4"}
    assert structure.mobility == 1
    assert [group.bodies for group in structure.groups] == [(1,), (2, 3), (4, 5)]


def test_a_block_too_large_is_said_to_be_unexamined(monkeypatch):
    monkeypatch.setattr(singularities, "TOO_LARGE", 12)
    structure = analyse(four_bar())
    assert [finding.kind for finding in structure.findings] == ["not examined"]
    assert structure.mobility == -2


def test_spins_of_groups_and_of_the_frame():
    """A rod in two pieces spins as one; a body with one more pair does not."""
    rows = [("1", "2", "S", 0), ("2", "3", "R", 0), ("3", "1", "S", 0)]
    topology = from_pairs(6, "123", rows)
    assert spin_sets(topology) == (((1, 2), (0, 2)),)
    assert spin_sets(from_pairs(6, "123", [*rows, ("2", "1", "C", 0)])) == ()


@pytest.mark.parametrize(("bodies", "count"), [(3, 3), (4, 16)])
def test_multijoints_give_the_same_mobility_in_all_expansions(bodies, count):
    """Cayley: n^(n-2) trees; the paper's 20 choices for four bodies hold four triangles."""
    assert len(list(expansions(range(bodies)))) == count
    base = Topology(3, tuple("123456"[:bodies]), ())
    mobilities = {made.mobility for made in with_multijoints(base, [(tuple(range(bodies)), "R")])}
    assert mobilities == {bodies - 1}


def test_triple_pin_of_a_six_bar():
    """A six-bar with a triple pin: the mobility is 1 in each expansion, the groups differ."""
    pairs = [(0, 1, 1), (0, 3, 0), (4, 5, 0), (5, 0, 0), (1, 2, 0)]
    made = tuple(make_pair(f"{a}{b}", a, b, "R", driven) for a, b, driven in pairs)
    base = Topology(3, tuple("123456"), made)
    found = [analyse_topology(t) for t in with_multijoints(base, [((2, 3, 4), "R")])]
    assert [structure.mobility for structure in found] == [1, 1, 1]
    assert all(structure.determined for structure in found)
    sizes = sorted(tuple(len(group.bodies) for group in structure.groups) for structure in found)
    assert sizes == [(1, 2, 2), (1, 2, 2), (1, 4)]


def test_a_pin_written_three_times_is_found():
    """All three pairs of a triple pin: one of them repeats the others."""
    pairs = [
        PairAt("R", 0, 1, (0.0, 0.0, 0.0), drives=("angle",)),
        PairAt("R", 1, 2, (1.0, 0.2, 0.0)),
        PairAt("R", 2, 3, (1.0, 0.2, 0.1)),
        PairAt("R", 1, 3, (1.0, 0.2, 0.2)),
    ]
    linkage = linkage_at(6, [(0.5, 0.0, 0.0), (1.5, 0.5, 0.0), (1.5, -0.5, 0.0)], pairs)
    finding = next(f for f in find_exceptions(linkage) if f.kind == "multiple joint")
    assert finding.bodies == ("2", "3", "4")
    assert finding.freedoms == 1
    assert analyse(linkage).mobility == 3


def test_contacts_and_rolling_are_named():
    pairs = [PairAt("SP", 0, 1, (0.1, 0.2, 0.0)), PairAt("SP", 0, 1, (0.5, 0.2, 0.0))]
    kinds = [f.kind for f in find_exceptions(linkage_at(6, [(0.3, 0.2, 0.4)], pairs))]
    assert kinds == ["contact", "contact"]
    disc = Model(
        name="disc",
        bodies={
            "disc": {
                "mass": 1.0,
                "inertia": {"xx": 1e-2, "yy": 1e-2, "zz": 2e-2},
                "position": [0, 0, 0.3],
            }
        },
        joints={
            "rolls": {
                "kind": "rolling",
                "between": ["ground", "disc"],
                "axis": [0, 0, 1],
                "axis2": [0, 1, 0],
                "radius": 0.3,
            }
        },
    )
    structure = analyse(disc)
    assert [f.kind for f in structure.findings] == ["rolling"]
    assert structure.mobility == 3


def test_a_gear_takes_one_freedom():
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    hinge = {"kind": "revolute", "axis": [0, 0, 1]}
    model = Model(
        name="gear",
        bodies={"one": {**body, "position": [0, 0, 0]}, "two": {**body, "position": [1, 0, 0]}},
        joints={
            "a": {**hinge, "between": ["ground", "one"], "drive": "t"},
            "b": {**hinge, "between": [{"body": "ground", "at": [1, 0, 0]}, "two"]},
            "mesh": {"kind": "gear", "between": ["joints.a", "joints.b"], "ratio": -0.5},
        },
    )
    linkage = linkage_of(model)
    assert linkage.topology.mobility == 1
    structure = analyse(model)
    assert structure.determined
    assert [structure.names(group) for group in structure.groups] == [("one",), ("two",)]
    assert isinstance(structure.topology, Topology)


def test_small_singular_values_are_found_on_one_thread(monkeypatch):
    """Threads of a linear-algebra library wait for each other: most of a command's time."""
    seen = []

    def look(linkage):
        pools = threadpoolctl.threadpool_info()
        seen.extend(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        return find_exceptions(linkage)

    monkeypatch.setattr(singularities, "find_exceptions", look)
    analyse(revolute_loop([(point, UP) for point in np.eye(3)]))
    assert seen and set(seen) == {1}
