"""Motors, oil, controllers and loops in the linear transfer equation: closed forms, and poles,
shapes and responses of the linearised bond graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from tests.tail import tail
from vbg.analysis import linearise
from vbg.analysis.linear.linear import linearise_sides
from vbg.analysis.rest.idle import Place, resting_point, start_point
from vbg.cli.main import main
from vbg.cli.show.vibration import (
    as_plain,
    as_text,
    compared,
    on_its_side,
    poses_at,
    responses,
    told_at,
    worst_of,
)
from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.motion.cuts import C_F, C_M, C_PM
from vbg.tmm_bridge.kernels.rows import W_P
from vbg.tmm_bridge.kernels.tables import COORDINATE_SECOND, COORDINATE_SLIDE, COORDINATE_TREE
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.modes.modal import Vibration, orthogonality, vibration
from vbg.tmm_bridge.modes.passing import eliminate, respond
from vbg.tmm_bridge.modes.posture.closing import under_effort

EXAMPLES = Path(__file__).parents[3] / "examples"
MASS, ARM, J_PIN, J_ROTOR = 1.3, 0.4, 0.05, 0.03
R, L, K = 1.5, 0.02, 0.4


def seen(model: vbg.Model, *, starts: bool = False) -> tuple[Place, Vibration]:
    """The rest of the bond graph, its start where it `starts` at rest, and the vibration by
    transfer matrices about it."""
    system = vbg.assemble(model)
    place = Place(system, start_point(system)) if starts else resting_point(system)
    assert place.point.kind == "equilibrium"
    return place, vibration(model, poses=poses_at(place), off=place.off, told=told_at(place))


def motor_pendulum(scale: float = 1.0) -> vbg.Model:
    """A bar on the shaft of a motor that its voltage shorts; all inertias times `scale`."""
    return vbg.Model(
        name="motor pendulum",
        gravity=[0, 0, -9.81 / scale],
        bodies={
            "bar": {
                "mass": MASS * scale,
                "inertia": {"xx": 0.04 * scale, "yy": J_PIN * scale, "zz": 0.03 * scale},
                "position": [0, 0, -ARM],
                "points": {"pin": [0, 0, ARM]},
            }
        },
        joints={"pin": {"kind": "revolute", "between": ["ground", "bar.pin"], "axis": [0, 1, 0]}},
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 0.0},
            "M": {
                "kind": "dc_motor",
                "nodes": ["a", "gnd"],
                "on": "joints.pin",
                "R": R,
                "L": L,
                "K": K,
                "J": J_ROTOR * scale,
            },
        },
        forces={"push": {"kind": "torque", "on": "joints.pin", "torque": [0]}},
    )


def exact_pendulum(scale: float) -> np.ndarray:
    """(J s^2 + m g l)(R + L s) + K^2 s, J with the rotor's."""
    J = scale * (J_PIN + MASS * ARM**2 + J_ROTOR)
    return np.polyadd(np.polymul([J, 0.0, MASS * 9.81 * ARM], [L, R]), [K**2, 0.0])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_motor_on_a_pendulum(scale):
    """Poles of the cubic; the response q / u = (R + L s) / cubic."""
    found = vibration(motor_pendulum(scale))
    exact = np.roots(exact_pendulum(scale))
    exact = np.sort_complex(exact[exact.imag >= 0.0])
    np.testing.assert_allclose(np.sort_complex(found.poles), exact, rtol=1e-10)
    w = np.array([0.3, 4.0, 60.0])
    amplitude = found.response("push", w)["pin.angle"]
    s = 1j * w
    np.testing.assert_allclose(amplitude, (R + L * s) / np.polyval(exact_pendulum(scale), s))


def test_transfer_equation_is_singular_at_the_poles():
    """The elimination with Z(s) knows nothing of the linear eigenvalue problem: beside its poles
    the response is a pole's, residue / (s - pole)."""
    found = vibration(held_pair())
    u, e = np.zeros((2, 1)), np.zeros((2, 6, 1))
    u[0] = 1.0
    for pole in found.poles:
        near, far = (
            respond(found.small, eliminate(found.small, pole + step), u, e).hinges[0, 0] * step
            for step in (1e-5 * abs(pole), 1e-4 * abs(pole))
        )
        assert abs(near) > 0.0
        assert abs(near - far) < 1e-2 * abs(near)


def held_pair(kp: float = 300.0, kd: float = 40.0) -> vbg.Model:
    """A slider that a PID holds by a force, a bob on it."""
    inertia = {"xx": 0.02, "yy": 0.03, "zz": 0.01}
    return vbg.Model(
        name="held slider",
        gravity=[0, 0, -9.81],
        bodies={
            "car": {"mass": 2.0, "inertia": inertia, "points": {"pin": [0, 0, -0.1]}},
            "bob": {
                "mass": 0.5,
                "inertia": inertia,
                "position": [0, 0, -0.6],
                "points": {"top": [0, 0, 0.5]},
            },
        },
        joints={
            "rail": {"kind": "prismatic", "between": ["ground", "car"], "axis": [1, 0, 0]},
            "pin": {"kind": "revolute", "between": ["car.pin", "bob.top"], "axis": [0, 1, 0]},
        },
        forces={
            "hold": {"kind": "force", "on": "car.pin", "force": ["control", 0, 0]},
            "push": {"kind": "torque", "on": "joints.pin", "torque": [0]},
        },
        signals={
            "control": {
                "kind": "pid",
                "demand": 0.1,
                "measured": "rail.slide",
                "kp": kp,
                "ki": 200,
                "kd": kd,
            }
        },
    )


def on_oil(opening: str, stiffer: float = 1.0) -> vbg.Model:
    """An arm on a cylinder whose valve a controller opens; leaking, so that pressures settle."""
    return vbg.Model(
        name="arm on oil",
        gravity=[0, -9.81, 0],
        bodies={
            "arm": {
                "mass": 120,
                "inertia": {"xx": 1, "yy": 10, "zz": 10},
                "position": [0.5, 0, 0],
                "points": {"pin": [-0.5, 0, 0], "lug": [-0.25, 0, 0]},
            }
        },
        joints={"pin": {"kind": "revolute", "between": ["ground", "arm.pin"], "axis": [0, 0, 1]}},
        hydraulic={
            "supply": {"kind": "pressure_source", "nodes": ["P", "tank"], "pressure": 2e7},
            "valve": {
                "kind": "proportional_valve",
                "nodes": ["P", "tank", "A", "B"],
                "opening": opening,
                "qn": 2e-4,
                "leakage": 2e-3,
            },
            "cylinder": {
                "kind": "cylinder",
                "nodes": ["A", "B"],
                "between": [{"body": "ground", "at": [0, -0.25, 0]}, "arm.lug"],
                "area_a": 0.01 * stiffer,
                "stroke": 0.4,
                "length": 0.15,
                "friction": 2e3,
                "pressure_a": 9e6,
                "pressure_b": 9e6,
            },
        },
        signals={
            "control": {
                "kind": "pid",
                "demand": 0.2,
                "measured": "cylinder.stroke",
                "kp": 10,
                "ki": 20,
            },
            "spool": {
                "kind": "transfer_function",
                "input": "control",
                "numerator": [1],
                "denominator": [5e-3, 1],
            },
        },
        forces={"push": {"kind": "torque", "on": "joints.pin", "torque": [0]}},
    )


def agree(model: vbg.Model, poles: float, answers: float, *, starts: bool = False) -> None:
    """As many poles as the bond graph has, the same ones, shapes and responses to `push`."""
    place, found = seen(model, starts=starts)
    linear = linearise(place.system, place.point, inputs=["push"])
    rows = compared(found, linear)
    assert len(rows) == len(linear.modes)
    assert worst_of(rows) < poles
    assert max(one.error for one in responses(found, linear, "push")) < answers


@pytest.mark.parametrize(
    "model", [held_pair(), held_pair(-3.0, 0.0), on_oil("spool")], ids=["pid", "unstable", "oil"]
)
def test_control_and_oil_against_the_linearised_bond_graph(model):
    agree(model, 1e-8, 1e-8)


IN = np.array([0.02, 0.03, 0.2])  # where a joint is on its body


def random_tree(rng) -> tuple[dict, dict, dict, dict[str, str]]:
    """Bodies, joints with friction, springs that hold them up, kinds of the joints: hinges and
    slides in a tree, at least one hinge."""
    n = int(rng.integers(2, 5))
    sizes = 10.0 ** rng.uniform(-1, 1, n)
    slides = rng.random(n) < 0.4
    slides[int(rng.integers(n))] = False
    bodies, joints, springs, ends = {}, {}, {}, []
    for i, size in enumerate(sizes.tolist()):
        parent = int(rng.integers(0, i)) if i else -1
        at = np.array(ends[parent] if i else [0.0, 0.0, 0.0]) - IN
        out = rng.uniform(-0.2, 0.2, 3)
        ends.append(at + out)
        bodies[f"b{i}"] = {
            "mass": size,
            "inertia": {"xx": 0.02 * size, "yy": 0.03 * size, "zz": 0.025 * size},
            "position": at.tolist(),
            "points": {"in": IN.tolist(), "out": out.tolist()},
        }
        across = [*rng.uniform(-1, 1, 2).tolist(), 0.1]
        joints[f"j{i}"] = {
            "kind": "prismatic" if slides[i] else "revolute",
            "between": [f"b{parent}.out" if i else "ground", f"b{i}.in"],
            "axis": [0.1, 0.2, 1.0] if slides[i] else across,
            "friction": {"viscous": size},
        }
        law = "spring" if slides[i] else "torsion_spring"
        k = 200.0 * (1.0 + rng.random()) * float(sizes.sum())  # whatever hangs on it
        springs[f"s{i}"] = {"kind": law, "on": f"joints.j{i}", "k": k}
    kinds = {name: joint["kind"] for name, joint in joints.items()}
    return bodies, joints, springs, kinds


def random_circuit(rng, on: str) -> dict:
    """A motor on a joint, behind an inductor and a capacitor, shorted."""
    return {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 0.0},
        "L": {"kind": "inductor", "nodes": ["a", "b"], "L": float(10 ** rng.uniform(-3, -1))},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": float(10 ** rng.uniform(-4, -2))},
        "M": {
            "kind": "dc_motor",
            "nodes": ["b", "gnd"],
            "on": f"joints.{on}",
            "R": float(rng.uniform(0.5, 2)),
            "L": float(10 ** rng.uniform(-3, -1)),
            "K": float(rng.uniform(0.1, 1)),
            "J": float(rng.uniform(0.01, 0.1)),
        },
    }


def random_control(rng, measured: str, *, integral: bool) -> dict:
    """A PID and a filter of second order behind it; where weight acts nothing but the joint that
    it measures could give an integral its rest, and that may be out of its reach."""
    gains = {"kp": float(rng.uniform(-5, 20)), "kd": float(rng.uniform(0, 1))}
    if integral:
        gains["ki"] = float(rng.uniform(1, 10))
    return {
        "control": {"kind": "pid", "demand": 0.0, "measured": measured, **gains},
        "filtered": {
            "kind": "transfer_function",
            "input": "control",
            "numerator": [1],
            "denominator": [1e-3, 0.05, 1],
        },
    }


def random_machine(seed: int, *, weight: bool = False) -> vbg.Model:
    """A tree of pendulums and sliders on springs; a motor on one joint, a controller that
    reads one joint and acts on another, a cascade of filters behind it."""
    rng = np.random.default_rng(seed)
    bodies, joints, forces, kinds = random_tree(rng)
    turning = [name for name, kind in kinds.items() if kind == "revolute"]
    read = str(rng.choice(list(kinds)))
    forces["push"] = {"kind": "torque", "on": f"joints.{turning[0]}", "torque": ["filtered"]}
    coordinate = "slide" if kinds[read] == "prismatic" else "angle"
    return vbg.Model(
        name=f"random {seed}",
        gravity=[0, 0, -9.81 if weight else 0],
        bodies=bodies,
        joints=joints,
        forces=forces,
        electric=random_circuit(rng, str(rng.choice(turning))),
        signals=random_control(rng, f"{read}.{coordinate}", integral=not weight),
    )


@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_random_machines_against_the_linearised_bond_graph(seed):
    """Their start is a rest, whether a controller makes it unstable or not."""
    agree(random_machine(seed), 1e-7, 1e-7, starts=True)


@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_random_machines_with_weight_against_the_linearised_bond_graph(seed):
    """They sag, so that static forces stiffen what turns them; each side finds the rest itself."""
    model = random_machine(seed, weight=True)
    _, found = seen(model)
    assert np.abs(found.y - vibration(random_machine(seed)).y).max() > 1e-4
    agree(model, 1e-7, 1e-7)


def test_a_valve_that_just_opens_has_two_sides():
    """At the kink the transfer matrices take one of the sides that the bond graph has."""
    model = vbg.read(EXAMPLES / "hydraulic-arm.toml")
    place, found = seen(model)
    sides = linearise_sides(place.system, place.point, inputs=[], most=4)
    assert len(sides) == 2
    errors = sorted(worst_of(compared(found, side)) for side in sides)
    assert errors[0] < 1e-7
    assert errors[1] > 1e-3
    assert worst_of(on_its_side(found, sides)[1]) == errors[0]


@pytest.mark.parametrize(
    "name", [pytest.param("slider-crank", marks=pytest.mark.slow), "wishbone-corner"]
)
def test_loops_against_the_linearised_bond_graph(name):
    """Their springs, dampers and weights load the cut joints at rest."""
    model = vbg.read(EXAMPLES / f"{name}.toml")
    place, found = seen(model)
    linear = linearise(place.system, place.point)
    rows = compared(found, linear)
    assert len(rows) == len(linear.modes) == 1
    assert worst_of(rows) < 1e-9


def test_a_pole_that_one_side_lacks_is_a_difference():
    place, found = seen(motor_pendulum())
    linear = linearise(place.system, place.point)
    assert worst_of(compared(found, linear)) < 1e-10
    other = vibration(motor_pendulum())
    object.__setattr__(other, "poles", found.poles[1:])
    rows = compared(other, linear)
    assert worst_of(rows) == float("inf")
    assert "transfer matrices lack it" in as_text((), rows, [])
    assert "Infinity" not in json.dumps(as_plain((), rows, []))


def test_command_and_what_is_refused(capsys):
    assert main(["show", "vibration", str(EXAMPLES / "servo-hydraulic.toml")]) == 0
    assert "41.461" in capsys.readouterr().out
    with pytest.raises(UsageError, match="give poles only"):
        orthogonality(vibration(motor_pendulum()))
    with pytest.raises(UsageError, match="s0 cannot be switched off"):
        vibration(random_machine(0), off=["s0"])
    with pytest.raises(UsageError, match="dry friction, guide"):
        vibration(vbg.read(EXAMPLES / "ball-screw-axis.toml"))


def sprung_loop(last: str, seed: int) -> vbg.Model:
    """Six bodies in a loop of seven hinges and slides, axes in all directions, weight, and a
    spring on each that is strained at rest: so the joint that is cut, the last, has one, too
    (but a joint of two coordinates)."""
    rng = np.random.default_rng(seed)
    corners = np.cumsum(rng.uniform(-0.3, 0.3, (7, 3)), axis=0)
    kinds = ["revolute", "revolute", "prismatic", "revolute", "revolute", "revolute", last]
    ends: list = ["ground"]
    bodies, joints, forces = {}, {}, {}
    for i in range(6):
        middle = 0.5 * (corners[i] + corners[i + 1])
        points = {"in": (corners[i] - middle).tolist(), "out": (corners[i + 1] - middle).tolist()}
        inertia = {"xx": 0.02, "yy": 0.03, "zz": 0.025}
        place = middle.tolist()
        bodies[f"b{i}"] = {"mass": 2.0, "inertia": inertia, "position": place, "points": points}
        ends += [f"b{i}.in", f"b{i}.out"]
    ends.append({"body": "ground", "at": corners[6].tolist()})
    for i, kind in enumerate(kinds):
        between, axis = [ends[2 * i], ends[2 * i + 1]], rng.normal(size=3).tolist()
        if i == 0:
            between[0] = {"body": "ground", "at": corners[0].tolist()}
        joints[f"j{i}"] = {"kind": kind, "between": between, "axis": axis}
        if kind == "universal":
            joints[f"j{i}"]["axis2"] = np.cross(axis, [0.3, 0.2, 0.9]).tolist()
        free = float(rng.uniform(0.05, 0.2))
        if kind in ("revolute", "prismatic"):
            forces[f"s{i}"] = {"kind": "spring", "on": f"joints.j{i}", "k": 900.0, "length": free}
    pushed = "j6" if "s6" in forces else "j0"
    forces["push"] = {"kind": "torque", "on": f"joints.{pushed}", "torque": [0]}
    return vbg.Model(
        name="sprung loop", gravity=[0, 0, -9.81], bodies=bodies, joints=joints, forces=forces
    )


@pytest.mark.parametrize(("last", "key"), [("prismatic", "slide"), ("revolute", "angle")])
@pytest.mark.parametrize("seed", tail(range(4), 1))
def test_springs_on_the_coordinates_of_a_cut_joint(last, key, seed):
    """They stiffen by k w w^T; what they pull at rest loads the loop.  (The turn of axis and arms
    under it does no work along a motion that a joint of one coordinate allows: see the next.)  The
    input acts there, too."""
    model = sprung_loop(last, seed)
    mechanism = lay_out(model)
    assert list(mechanism.cut) == ["j6"]
    assert mechanism.tables.coordinates[mechanism.coordinates["j6", key]][0] != COORDINATE_TREE
    agree(model, 1e-7, 1e-7)


@pytest.mark.parametrize("last", ["revolute", "prismatic", "cylindrical", "universal"])
def test_what_an_effort_across_a_cut_joint_does_as_bodies_turn(last):
    """(n, r x n) on both bodies, displaced by finite turns: the axis turns with its body, the
    joint's point moves with the second one.  Central differences against `under_effort`."""
    found = vibration(sprung_loop(last, 1))
    small = found.small
    t, s, effort, h = small.mechanism.tables, small.scratch, 70.0, 1e-5
    seen_kinds = set()
    for (joint, _), k in small.mechanism.coordinates.items():
        if joint != "j6":
            continue
        kind, cut = (int(one) for one in t.coordinates[k, :2])
        seen_kinds.add(kind)
        nodes = [int(i) for i in t.cuts[cut]]
        origins = [s.work[i, W_P : W_P + 3] if i >= 0 else np.zeros(3) for i in nodes]
        owner = 1 if kind == COORDINATE_SECOND else 0
        n = s.cut[cut, (C_M, C_F)[1 - owner] + 6 :][:3]
        point = s.cut[cut, C_PM : C_PM + 3]

        def loads(x, kind=kind, owner=owner, n=n, point=point, origins=origins):
            turns = [Rotation.from_rotvec(x[at : at + 3]) for at in (3, 9)]
            axis = turns[owner].apply(n)
            a, b = origins[0] + x[:3], origins[1] + x[6:9]
            at = b + turns[1].apply(point - origins[1])
            if kind == COORDINATE_SLIDE:
                on = [-axis, -np.cross(at - a, axis), axis, np.cross(at - b, axis)]
            else:
                on = [0 * axis, -axis, 0 * axis, axis]
            return effort * np.concatenate(on)

        w, K = under_effort(t, s, k, effort)
        np.testing.assert_allclose(effort * w, loads(np.zeros(12)), atol=1e-12)
        slopes = [(loads(h * one) - loads(-h * one)) / (2 * h) for one in np.eye(12)]
        np.testing.assert_allclose(K, -np.transpose(slopes), atol=1e-7 * np.abs(K).max())
    assert len(seen_kinds) == (2 if last in ("cylindrical", "universal") else 1)
