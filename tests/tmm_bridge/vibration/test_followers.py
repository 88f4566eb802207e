"""Loads that turn with their bodies: flutter of columns, random trees, the axes of inputs."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.vibration.test_modal import rest_of
from vbg.analysis import linearise
from vbg.cli.show.vibration import compared, poses_at, responses, told_at
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.modal import Vibration, vibration

TINY = dict.fromkeys(("xx", "yy", "zz"), 1e-6)


def both(model: vbg.Model) -> tuple[Vibration, np.ndarray, float]:
    """The transfer matrices about the rest of the bond graph, its poles, their difference."""
    place = rest_of(model)
    found = vibration(model, poses=poses_at(place), told=told_at(place))
    linear = linearise(place.system, place.point, inputs=[])
    rows = compared(found, linear)
    assert rows
    apart = max([row.error for row in rows] + [row.apart for row in rows if row.apart >= 0.0])
    return found, np.array([mode.eigenvalue for mode in linear.modes]), apart


def ziegler(load: float, damping: float, size: float = 1.0) -> vbg.Model:
    """Two rods of the length 1 on springs 1, masses 2 and 1 at their ends, a force along the last
    one; `size` scales lengths and, by its square, springs."""
    l, k = size, size * size
    bodies = {
        name: {"mass": mass, "inertia": {n: v * size**2 for n, v in TINY.items()}}
        | {"position": [(i + 1) * l, 0, 0], "points": {"in": [-l, 0, 0]}}
        for i, (name, mass) in enumerate((("near", 2.0), ("far", 1.0)))
    }
    ends = (("ground", "near.in"), ("near", "far.in"))
    joints = {
        f"j{i}": {"kind": "revolute", "between": list(pair), "axis": [0, 0, 1]}
        for i, pair in enumerate(ends)
    }
    springs = {
        f"k{i}": {"kind": "torsion_spring", "on": f"joints.j{i}", "k": k, "c": damping * k}
        for i in range(2)
    }
    push = {"kind": "force", "on": "far", "force": [-load * k / l, 0, 0], "axes": "body"}
    return vbg.Model(
        name="ziegler", gravity=[0] * 3, bodies=bodies, joints=joints, forces=springs | {"p": push}
    )


@pytest.mark.parametrize(
    ("critical", "damping", "size"),
    [(3.5 - np.sqrt(2.0), 0.0, 1.0), (41.0 / 28.0, 1e-4, 1.0), (41.0 / 28.0, 1e-4, 1e-3)],
)
def test_ziegler_column(critical, damping, size):
    """P l / k: (7 - 2 sqrt 2) / 2 without damping, 41 / 28 with a little of it in both joints.

    H. Ziegler, Ing.-Archiv 20 (1952) 49; G. Herrmann, I. C. Jong, J. Appl. Mech. 32 (1965) 592.
    """
    for load, grows in ((critical * (1.0 - 1e-3), False), (critical * (1.0 + 1e-3), True)):
        found, others, apart = both(ziegler(load, damping, size))
        assert apart < 1e-8
        for poles in (found.poles, others):
            assert (poles.real.max() > 1e-12) == grows


def beck(load: float, elements: int) -> vbg.Model:
    """A slender clamped column, EI = length = 1, pushed along its tip."""
    beam = {"between": ["ground", "free"], "axis": [1, 0, 0], "length": 1.0, "elements": elements}
    beam |= {"EA": 1e6, "EI_y": 1.0, "EI_z": 1e4, "GJ": 1e4, "mass_per_length": 1.0}
    push = {"kind": "force", "on": "column.B", "force": [-load, 0, 0], "axes": "body"}
    return vbg.Model(name="beck", gravity=[0] * 3, beams={"column": beam}, forces={"p": push})


def test_beck_column():
    """It flutters at 20.05 EI / l^2 (M. Beck, ZAMP 3 (1952) 225), where the two lowest w^2 meet:
    their difference squared is smooth in the load.  Elements converge in 1 / n^2."""
    counts, loads, critical = np.array([5, 6, 8, 10]), (18.6, 19.3, 20.0), []
    for n in counts:
        apart = []
        for load in loads:
            squares = sorted(vibration(beck(load, int(n))).poles ** 2, key=abs)[:2]
            flutters = abs(squares[0].imag) > 1e-9 * abs(squares[0])
            other = np.conj(squares[0]) if flutters else squares[1]
            apart.append(((squares[0] - other) ** 2).real)
        roots = np.roots(np.polyfit(loads, apart, 2))
        critical.append(roots[np.argmin(np.abs(roots - 19.0))].real)
    limit = np.polyfit(1.0 / counts**2, critical, 3)[-1]
    assert limit == pytest.approx(20.05, rel=1e-3)
    _, others, apart = both(beck(20.0, 5))
    assert apart < 1e-6
    assert others.real.max() > 1.0


def tree(seed: int) -> vbg.Model:
    """A branched tree on springs with wrenches in the axes of bodies and of the world."""
    draw = np.random.default_rng(seed)
    size, mass = 10.0 ** draw.uniform(-1, 1), 10.0 ** draw.uniform(-1, 1)
    stiff = mass * 9.81 * size

    def vector(length: float) -> list[float]:
        return [float(length * one) for one in draw.uniform(-1, 1, 3)]

    bodies, joints, forces = {}, {}, {}
    for n, parent in enumerate(("ground", "b0", "b1", "b0")):
        name, kind = f"b{n}", ("revolute", "universal", "revolute", "prismatic")[n]
        inertia = {
            k: float(mass * size**2 * v) for k, v in zip(("xx", "yy", "zz"), (0.2, 0.25, 0.3))
        }
        bodies[name] = {"mass": mass, "inertia": inertia, "position": vector(size)}
        bodies[name]["points"] = {"in": vector(0.5 * size), "tip": vector(0.5 * size)}
        first = "ground" if parent == "ground" else parent + ".tip"
        joints[f"j{n}"] = {"kind": kind, "between": [first, f"{name}.in"], "axis": vector(1.0)}
        where = {"ground": {"body": "ground", "at": vector(2 * size)}}
        anchor = where["ground"]
        forces[f"s{n}"] = {"kind": "spring", "between": [anchor, f"{name}.tip"]}
        forces[f"s{n}"] |= {"k": 20.0 * stiff / size**2, "length": 0.5 * size}
        forces[f"d{n}"] = {
            "kind": "damper",
            "between": [anchor, name],
            "c": 0.3 * stiff / size**1.5,
        }
    joints["j1"]["axis2"] = vector(1.0)
    del bodies["b0"]["position"], bodies["b1"]["position"]
    del bodies["b2"]["position"], bodies["b3"]["position"]
    for n, axes in enumerate(("body", "world", "body", "body")):
        on = {"on": f"b{n}.tip" if n % 2 == 0 else f"b{n}", "axes": axes}
        forces[f"f{n}"] = {"kind": "force", "force": vector(stiff / size)} | on
        forces[f"m{n}"] = {"kind": "torque", "torque": vector(0.5 * stiff), "on": f"b{n}"}
        forces[f"m{n}"] |= {"axes": axes}
    return vbg.Model(name=f"tree{seed}", bodies=bodies, joints=joints, forces=forces)


@pytest.mark.parametrize("seed", tail(range(12), 1))
def test_random_trees_and_inputs_in_the_axes_of_what_is_written(seed):
    """Poles, shapes; responses to components of forces and torques in axes of world and body."""
    model = tree(seed)
    place = rest_of(model)
    found = vibration(model, poses=poses_at(place), told=told_at(place))
    for name in ("m0.y", "m1.z", "f2.x", "f1.z"):
        linear = linearise(place.system, place.point, inputs=[name])
        assert max(one.error for one in responses(found, linear, name)) < 1e-8
    rows = compared(found, linear)
    assert max(row.error for row in rows) < 1e-8
    assert max(row.apart for row in rows if row.apart == row.apart) < 1e-6


def test_the_rest_under_a_follower_is_found_without_the_bond_graph():
    """A rod on a torsion spring, a force across its tip that turns with it: k angle = F l."""
    model = ziegler(0.0, 0.1)
    forces = dict(model.document["forces"]) | {
        "p": {"kind": "force", "on": "far", "force": [0, 0.2, 0], "axes": "body"}
    }
    bent = vbg.Model(**{**model.document, "forces": forces})
    found = vibration(bent)
    angles = {name: found.y[k] for k, name in enumerate(("j0", "j1"))}
    assert angles["j1"] == pytest.approx(0.2, rel=1e-9)
    assert angles["j0"] == pytest.approx(0.2 * (1.0 + np.cos(0.2)), rel=1e-9)


def test_undamped_modes_of_followers_are_refused():
    with pytest.raises(UsageError, match="turn with their bodies give poles only"):
        _ = vibration(ziegler(1.0, 0.0)).modes


@pytest.mark.parametrize("nodes", [["a", "gnd"], ["gnd", "a"], ["a", "c"], ["c", "a"]])
@pytest.mark.parametrize("kind", ["voltage", "current"])
def test_sources_count_from_their_first_terminal(kind, nodes):
    """An input adds to what is written, whichever way the bond of the source runs."""
    source = {"kind": f"{kind}_source", "nodes": nodes, kind: 0.3}
    motor = {"kind": "dc_motor", "nodes": ["a", "gnd"], "on": "rotational.s", "R": 2, "K": 0.5}
    model = vbg.Model(
        electric={
            "S": source,
            "r1": {"kind": "resistor", "nodes": ["c", "gnd"], "R": 3},
            "r2": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 7},
            "L": {"kind": "inductor", "nodes": ["c", "gnd"], "L": 0.5},
            "M": motor | {"L": 0.1},
        },
        rotational={
            "J": {"kind": "inertia", "nodes": ["s"], "J": 0.1},
            "k": {"kind": "spring", "nodes": ["s"], "k": 2},
        },
    )
    place = rest_of(model)
    found = vibration(model, poses={}, told=told_at(place), excited=["S"])
    rows = responses(found, linearise(place.system, place.point, inputs=["S"]), "S")
    assert max(one.error for one in rows) < 1e-9
    sign = 1.0 if (kind == "voltage") == (nodes[0] == "a") else -1.0
    assert min(rows, key=lambda one: one.frequency).value.real * sign > 0.0
