"""Other engines against vbg: motion, joint forces, loops, faults that both own solvers share."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from vbg.cli.main import main
from vbg.engines import ENGINES
from vbg.errors import UsageError
from vbg.model import Model
from vbg.model.placing import links
from vbg.spatial import quaternion_from_matrix, rotation_about
from vbg.validate import validate

EXAMPLES = Path(__file__).parents[2] / "examples"
MOMENTS = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("yz", 1, 2), ("zx", 2, 0))
MODULES = {"drake": "pydrake"}
KINDS = (
    *("revolute", "prismatic", "cylindrical", "universal", "helical", "planar", "spherical"),
    *("fixed", "point_on_line", "point_on_plane", "distance"),
)


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(MODULES.get(request.param, request.param))
    return request.param


def joint_of(rng, kind, poses, a, b):
    """A joint of this kind that is closed at the poses of its two bodies."""
    (p_A, R_A), (p_B, R_B) = poses[a], poses[b]
    axis = Rotation.random(random_state=rng).as_matrix()[:, 0]
    across = np.cross(axis, rng.normal(size=3))
    across /= np.linalg.norm(across)
    point = rng.normal(size=3)
    apart = {"planar": across, "point_on_plane": across, "distance": axis}
    apart |= dict.fromkeys(("prismatic", "cylindrical", "point_on_line"), axis)
    other = point + rng.uniform(0.2, 0.5) * apart.get(kind, np.zeros(3))
    ends = [
        {"body": n, "at": (R.T @ (x - p)).tolist()}
        for n, x, p, R in ((a, point, p_A, R_A), (b, other, p_B, R_B))
    ]
    made = {"kind": kind, "between": ends}
    if kind not in ("spherical", "fixed", "distance"):
        made["axis"] = (R_A.T @ axis).tolist()
    if kind == "universal":
        made["axis2"] = (R_B.T @ across).tolist()
        made["initial"] = {"angle": 0.4, "speed": 0.7, "speed2": -0.5}
    if kind == "helical":
        made["lead"] = 0.05
    if kind == "revolute":
        made["initial"] = {"angle": -1.1, "speed": 1.3}
    if kind in ("prismatic", "helical"):
        made["initial"] = {"speed": 0.8}
    if kind == "cylindrical":
        made["initial"] = {"speed": 0.8, "slide_speed": -0.3}
    return made


def random_machine(kind: str, seed: int) -> Model:
    """Three bodies in general postures, a joint of the kind between each and another, either
    way round; whatever holds only partly leaves its body floating."""
    rng, held = np.random.default_rng(seed), "revolute" if kind == "fixed" else kind
    bodies, joints, poses = {}, {}, {"ground": (np.zeros(3), np.eye(3))}
    for i in range(3):
        p, (R, Q) = (
            rng.normal(size=3),
            (Rotation.random(random_state=rng).as_matrix() for _ in "ab"),
        )
        J = Q @ np.diag([1.0, 1.2, 1.5]) @ Q.T
        poses[f"b{i}"] = p, R
        bodies[f"b{i}"] = {
            "mass": float(rng.uniform(0.5, 2.0)),
            "inertia": {key: float(J[a, b]) for key, a, b in MOMENTS},
            "position": p.tolist(),
            "rotation": {"quaternion": quaternion_from_matrix(R).tolist()},
        }
        ends = rng.permutation([("ground", "b0", "b1")[i], f"b{i}"])
        joints[f"j{i}"] = joint_of(rng, held if i == 0 else kind, poses, *map(str, ends))
    return Model(name=kind, bodies=bodies, joints=joints)


def at_start(model: Model, engine: str):
    """Signals of the first instant, by vbg and by the engine."""
    from vbg.engines.running import simulate

    start = vbg.start(model)
    first = start.outputs(0.0, start.state)
    found = simulate(model, first, engine=engine, t_end=1e-9, output_step=1e-9)
    return first, {name: values[0] for name, values in found.signals.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_every_joint_moves_and_loads_its_bodies_as_in_vbg(kind, seed, engine):
    first, found = at_start(random_machine(kind, seed), engine)
    for name, value in found.items():
        if name.endswith("rotation"):
            continue
        scale = max(1.0, float(np.abs(np.ravel(first[name])).max()))
        np.testing.assert_allclose(
            np.ravel(value), np.ravel(first[name]), atol=1e-9 * scale, err_msg=name
        )


LOOPS = ("slider-crank", "spatial-four-bar", "wishbone-corner", "stewart-platform")
TREES = ("heavy-top", "robot-arm", "bushing-mount", "coupled-pendulums", "gear-pair")


@pytest.mark.parametrize("name", [*LOOPS, *TREES])
def test_examples_agree(name, engine):
    agree(vbg.read(EXAMPLES / f"{name}.toml"), engine)


def test_curved_beams_that_swing_and_close_a_loop_agree(engine):
    """Stiffnesses, lines and speeds at random; the tip of the second beam holds the first's."""
    rng = np.random.default_rng(20261124)
    line = [[0, 0, 0], *(np.cumsum(rng.uniform(0.1, 0.3, (3, 3)), axis=0)).tolist()]
    EA, GA_y, GA_z = 1e3 * rng.uniform(1, 5, 3)
    GJ, EI_y, EI_z = rng.uniform(2, 9, 3)
    section = {"EA": EA, "GA_y": GA_y, "GJ": GJ, "EI_y": EI_y, "EI_z": EI_z}
    section |= {"mass_per_length": 0.6, "damping": 2e-3}
    beams = {
        "arm": {"between": ["hub", "free"], "line": line, "GA_z": GA_z, **section},
        "stay": {"between": ["hub", "arm.B"], "line": line, **section},
    }
    hinge = {"kind": "revolute", "between": ["ground", "hub"], "axis": [0, 1, 0]}
    model = Model(
        name="beams",
        bodies={"hub": {"mass": 0.5, "inertia": {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3}}},
        joints={"hinge": {**hinge, "initial": {"speed": 8.0}}},
        beams=beams,
    )
    agree(model, engine)


def agree(model: Model, engine: str) -> None:
    """Every part's signals, over 60 ms, to 1e-7 of the largest of their kind."""
    from vbg.engines.running import simulate

    plan = {"t_end": 0.06, "output_step": 0.02}
    right = vbg.simulate(model, rtol=1e-11, atol=1e-13, **plan)
    begin = {signal: values[0] for signal, values in right.signals.items()}
    found = simulate(model, begin, engine=engine, **plan)
    assert found.status.code == "finished"
    parts = {*model.bodies, *model.joints, *model.forces}
    assert not [n for n in set(right.signals) - set(found.signals) if n.split(".")[0] in parts]
    largest = {}
    for signal, values in right.signals.items():
        unit = signal.rpartition(".")[2]
        largest[unit] = max(largest.get(unit, 1e-3), float(np.abs(values).max()))
    for signal, values in found.signals.items():
        if signal in right and not signal.endswith(".rotation"):
            close = 1e-7 * largest[signal.rpartition(".")[2]]
            np.testing.assert_allclose(
                values, right[signal].reshape(values.shape), atol=close, err_msg=signal
            )


def test_a_fault_in_the_frames_of_both_solvers_shows(monkeypatch, engine):
    """Axes of joints that are off by 0.01 rad where frames are worked out: both solvers move the
    same wrong machine, and pass; the engine does not."""
    rod = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.1, "zz": 1.2}}
    ends = ["ground", {"body": "rod", "at": [0, 0, 1]}]
    hinge = {"kind": "revolute", "axis": [1, 0, 0], "between": ends, "initial": {"angle": 0.7}}
    document = {"name": "fault", "bodies": {"rod": rod}, "joints": {"j": hinge}}
    plan = {"t_end": 0.3, "output_step": 0.01, "in_children": False, "also": (engine,)}
    report = validate(Model(**document), **plan)
    assert report.result == report.also[engine].result == "PASS"
    right = links.frame_of_axis
    tilt = rotation_about([0.0, 1.0, 0.0], 0.01)
    monkeypatch.setattr(links, "frame_of_axis", lambda z, x=None: tilt @ right(z, x))
    report = validate(Model(**document), **plan)
    assert report.result == "PASS"
    assert report.also[engine].result == "FAIL"


def test_parts_that_an_engine_lacks_are_replayed_or_refused(engine, capsys):
    arm = str(EXAMPLES / "hydraulic-arm.toml")
    assert main(["run", arm, "--solver", engine, "--t-end", "0.01", "-q"]) == 2
    assert "the engines have no hydraulic." in capsys.readouterr().err
    report = validate(vbg.read(arm), t_end=0.2, output_step=1e-3, also=(engine,), in_children=False)
    assert report.also[engine].result == "PASS", report.also[engine].sentence


ARM = {
    "bodies": {
        "arm": {
            "mass": 1.0,
            "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.001},
            "points": {"pin": [0, 0, -0.2]},
        }
    },
    "joints": {
        "hinge": {
            "kind": "revolute",
            "between": ["ground", "arm.pin"],
            "axis": [0, 1, 0],
            "initial": {"angle": 0.7},
        }
    },
}
ROTOR = {
    "behind a gear": {
        "rotor": {"kind": "inertia", "nodes": ["motor"], "J": 1e-4},
        "reduction": {"kind": "gear", "nodes": ["motor", "joint:hinge"], "ratio": 0.02},
    },
    "before a gear": {
        "rotor": {"kind": "inertia", "nodes": ["motor"], "J": 1e-4},
        "reduction": {"kind": "gear", "nodes": ["joint:hinge", "motor"], "ratio": 50.0},
    },
    "on the joint": {"rotor": {"kind": "inertia", "on": "joints.hinge", "J": 0.25}},
}


@pytest.mark.parametrize("where", ROTOR)
def test_rotors_on_joints(where, engine):
    """theta'' = m g l sin(theta) / (I + m l^2 + J / ratio^2); by replays they counted twice."""
    from vbg.engines.running import simulate

    model = Model(**ARM, rotational=ROTOR[where])
    start = vbg.start(model)
    first = start.outputs(0.0, start.state)
    found = simulate(model, first, engine=engine, t_end=0.2, output_step=0.1)
    angular = 9.81 * 0.2 * np.sin(0.7) / (0.02 + 0.2**2 + 0.25)
    wanted = 0.2 * angular * np.array([np.cos(0.7), 0.0, -np.sin(0.7)])
    np.testing.assert_allclose(found["arm.acceleration"][0], wanted, atol=1e-12)
    plan = {"t_end": 0.2, "output_step": 0.02, "in_children": False}
    report = validate(model, also=(engine,), **plan)
    assert report.also[engine].result == "PASS", report.also[engine].sentence


def test_dry_friction_of_a_joint_is_replayed(engine):
    """Its signal was missing, and the column FAIL."""
    rubs = {**ARM["joints"]["hinge"], "friction": {"coulomb": 0.1, "viscous": 0.02}}
    model = Model(bodies=ARM["bodies"], joints={"hinge": rubs})
    plan = {"t_end": 0.2, "output_step": 0.005, "in_children": False}
    report = validate(model, also=(engine,), **plan)
    assert report.also[engine].result == "PASS", report.also[engine].sentence


def test_what_a_replay_misses_is_no_fault(engine):
    """An arm that hardly moves: its speeds are what samples of a pressure leave open."""
    model = vbg.read(EXAMPLES / "excavator-arm.toml")
    report = validate(model, t_end=0.1, also=(engine,), in_children=False)
    assert report.also[engine].result != "FAIL", report.also[engine].sentence


def test_a_run_by_an_engine_from_the_command_line(tmp_path, engine, capsys):
    out = tmp_path / "run.json"
    pendulum = str(EXAMPLES / "pendulum.toml")
    assert main(["run", pendulum, "--solver", engine, "--t-end", "0.1", "-o", str(out)]) == 0
    assert engine in capsys.readouterr().out
    found, right = vbg.load(out), vbg.simulate(vbg.read(pendulum), t_end=0.1)
    np.testing.assert_allclose(found["hinge.force"], right["hinge.force"], atol=1e-5)


def test_a_joint_that_no_engine_has_is_named():
    from vbg.engines.machine import machine_of

    disc = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2}, "position": [0, 0, 0.3]}
    rolls = {
        "kind": "rolling",
        "axis": [0, 0, 1],
        "axis2": [0, 1, 0],
        "radius": 0.3,
        "between": ["ground", "disc"],
    }
    with pytest.raises(UsageError, match=r"joints\.roll \(rolling\)"):
        machine_of(Model(bodies={"disc": disc}, joints={"roll": rolls}))


def test_frames_of_the_two_roads_are_one_rotation_group():
    """The engines' own rotations, against vbg's: two codes, one mathematics."""
    from vbg.engines import pose
    from vbg.spatial import rotation_between, rotation_matrix

    rng = np.random.default_rng(0)
    for _ in itertools.repeat(None, 20):
        q, a, b = rng.normal(size=4), *rng.normal(size=(2, 3))
        q, a, b = (x / np.linalg.norm(x) for x in (q, a, b))
        np.testing.assert_allclose(pose.of_quaternion(q), rotation_matrix(q), atol=1e-14)
        np.testing.assert_allclose(pose.turn(a, 1.3), rotation_about(a, 1.3), atol=1e-14)
        np.testing.assert_allclose(pose.shortest(a, b), rotation_between(a, b), atol=1e-13)


def test_frames_and_joints_between_them(engine):
    """Skew frames: their signals, the zero of the joint between two, forces in their axes."""
    from vbg.engines.running import simulate

    turned = {"euler": [0.3, -0.5, 0.7]}
    rod = {"mass": 2.0, "inertia": {"xx": 0.02, "yy": 0.05, "zz": 0.04}}
    on = {"on": "tool", "axes": "frame"}
    model = Model(
        bodies={"rod": rod, "plate": rod},
        frames={
            "base": {"on": "ground", "position": [0.1, 0, 0.3], "rotation": turned},
            "tool": {"on": "rod", "position": [0.4, 0.1, 0], "rotation": turned},
            "hub": {"on": "plate", "position": [0, 0.2, 0], "rotation": turned},
        },
        joints={
            "A": {"kind": "revolute", "between": ["base", "rod"], "axis": "base.y"},
            "B": {"kind": "revolute", "between": ["tool", "hub"], "initial": {"angle": 0.6}},
        },
        forces={
            "push": {"kind": "force", "force": [1, 2, -3]} | on,
            "twist": {"kind": "torque", "torque": [0.1, 0.2, "t"]} | on,
        },
    )
    run = {"t_end": 0.2, "output_step": 0.05}
    mine = vbg.simulate(vbg.assemble(model), **run)
    begin = {name: mine[name][0] for name in mine.signals}
    other = simulate(model, begin, engine=engine, **run)
    for name in ("tool.position", "hub.velocity", "hub.angular_velocity", "B.angle", "A.force"):
        scale = np.abs(mine[name]).max()
        np.testing.assert_allclose(other[name], mine[name], atol=1e-6 * scale)
    q = np.abs(np.sum(mine["hub.rotation"] * other["hub.rotation"], axis=1))
    np.testing.assert_allclose(q, 1.0, atol=1e-9)
