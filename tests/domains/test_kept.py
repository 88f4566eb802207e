"""Angular momentum and energy among the conserved quantities, against the motion itself."""

import json
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.assemble.matrices.noether import find_kept, keeping_of
from vbg.cli.main import main
from vbg.spatial import rotation_matrix

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BALL = {"mass": 2.0, "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04}}


def arm(kind="spherical", gravity=(0.0, 0.0, -9.81), **more):
    """A body on a joint at (1, 2, 0), off its mass centre."""
    axis = {} if kind == "spherical" else {"axis": [0.0, 3.0, 4.0]}
    return vbg.Model(
        gravity=list(gravity),
        bodies={"arm": {**BALL, "points": {"P": [0.1, -0.2, 0.3]}, "angular_velocity": [1, 2, 3]}},
        joints={
            "J": {
                "kind": kind,
                "between": [{"body": "ground", "at": [1.0, 2.0, 0.0]}, "arm.P"],
                **axis,
                **more,
            }
        },
        simulate={"t_end": 0.5, "output_step": 0.05, "rtol": 1e-10},
    )


def angular_momentum(solution, model, point):
    """(n, 3) of all bodies about `point`, from the signals of a run."""
    total = np.zeros((len(solution.time), 3))
    for name, body in model.bodies.items():
        r, v = solution[f"{name}.position"], solution[f"{name}.velocity"]
        R = np.array([rotation_matrix(q) for q in solution[f"{name}.rotation"]])
        w = solution[f"{name}.angular_velocity"]
        xx, yy, zz, xy, yz, zx = body.inertia
        J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        w_B = w  # of the signals, in body axes
        total += np.cross(r - point, body.mass * v) + np.einsum("nij,nj->ni", R, w_B @ J)
    return total


def test_a_spherical_pendulum_keeps_what_turns_about_the_vertical_through_its_pivot():
    model = arm()
    kept = find_kept(vbg.assemble(model))
    assert [one.kind for one in kept] == ["angular momentum", "energy"]
    assert kept[0].direction == (0.0, 0.0, 1.0)
    assert kept[0].point == pytest.approx((1.0, 2.0, 0.0))
    about = angular_momentum(vbg.simulate(model), model, np.array([1.0, 2.0, 0.0]))
    assert np.ptp(about[:, 2]) < 1e-7 < 1e-2 < np.ptp(about[:, 0])


def test_a_hinge_without_gravity_keeps_what_turns_about_it():
    kept = find_kept(vbg.assemble(arm("revolute", (0.0, 0.0, 0.0))))
    axes = [one for one in kept if one.kind == "angular momentum"]
    assert len(axes) == 1
    direction, point = np.array(axes[0].direction), np.array(axes[0].point)
    assert np.abs(direction) == pytest.approx([0.0, 0.6, 0.8])
    assert np.linalg.norm(np.cross(point - [1.0, 2.0, 0.0], direction)) < 1e-6
    assert kept[-1].kind == "energy"


def test_damping_takes_the_energy_and_a_drive_the_momentum():
    damped = arm("revolute", (0.0, 0.0, 0.0), friction={"viscous": 0.1})
    found = keeping_of(vbg.assemble(damped))
    assert found.kept == () and found.energy == ("dissipated",)


def test_what_is_not_there_is_said(capsys, tmp_path):
    """Nothing conserved, and derivative causality without a store that depends on others."""
    path = str(EXAMPLES / "shaft-arm-slider.toml")
    assert main(["show", "causal", path, "--causality", "derivative"]) == 0
    told = capsys.readouterr().out
    assert "conserved quantities (0)\n  none: every momentum" in told
    assert "not the energy, which is supplied" in told
    assert told.count("derivative causality changes nothing here") == 1
    own = tmp_path / "derivative.toml"
    text = Path(path).read_text("utf-8")
    own.write_text(text.replace("[simulate]", '[simulate]\ncausality = "derivative"'), "utf-8")
    for command in (["matrices"], ["matrices", "--symbolic", "--numbers"]):
        assert main(["show", command[0], str(own), *command[1:]]) == 0
        assert "derivative causality changes nothing here" in capsys.readouterr().out
    assert main(["show", "causal", str(EXAMPLES / "dc-motor-start.toml")]) == 0
    assert "changes nothing" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "signal",
    [
        {"kind": "input"},
        {"kind": "sample_and_hold", "input": "J.angle - J.angle", "period": 0.1},
        {
            "kind": "transfer_function",
            "input": "0*J.angle",
            "numerator": [1],
            "denominator": [1, 1],
        },
    ],
    ids=lambda signal: signal["kind"],
)
def test_what_a_controller_may_tell_keeps_nothing(signal):
    """Its state is zero at the start, and nothing says that it stays so."""
    document = {**arm("revolute", gravity=(0.0, 0.0, 0.0)).document}
    document["signals"] = {"u": signal}
    document["forces"] = {"motor": {"kind": "torque", "on": "joints.J", "torque": ["u"]}}
    assert find_kept(vbg.assemble(vbg.Model(**document))) == ()


def test_free_bodies_on_a_spring_keep_all_that_they_have_together():
    model = vbg.Model(
        gravity=[0.0, 0.0, -9.81],
        bodies={"a": BALL, "b": {**BALL, "position": [0.5, 0.2, 0.1]}},
        forces={"s": {"kind": "spring", "between": ["a", "b"], "k": 50.0, "length": 0.4}},
    )
    kept = find_kept(vbg.assemble(model))
    kinds = [one.kind for one in kept]
    assert kinds.count("momentum") == 2  # not along gravity
    assert kinds.count("angular momentum about the mass centre") == 3
    assert kinds.count("energy") == 1
    vertical = [one for one in kept if one.kind == "angular momentum"]
    assert [one.direction for one in vertical] == [(0.0, 0.0, 1.0)]


def test_what_joints_alone_hold_at_zero_is_not_told():
    """A planar machine has no momentum across its plane: that is no law of its motion."""
    kept = find_kept(vbg.assemble(vbg.read(EXAMPLES / "pendulum.toml")))
    assert [one.kind for one in kept] == ["energy"]


def test_on_the_command_line(capsys):
    """The paper's machine keeps its angular momentum about the shaft where no torque drives it."""
    paper = str(EXAMPLES / "shaft-arm-slider.toml")
    assert main(["show", "causal", paper, "--json", "--set", "M=0"]) == 0
    found = json.loads(capsys.readouterr().out)["conserved"]
    assert "angular momentum of all bodies about the axis along z = constant" in found
    assert "energy of the machine = constant" in found
    assert main(["show", "causal", paper, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conserved"] == []
