"""Inverse dynamics: motors for a prescribed motion, against Pinocchio and closed forms."""

import json

import numpy as np
import pytest

import vbg
from vbg import tmm_bridge
from vbg.analysis.inverse import inverse
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io import toml

CRANK = """[bodies.{name}]
mass = 2.0
inertia = {{ xx = 0.1, yy = 0.13, zz = 0.1 }}
points = {{ low = [0, 0, -0.3], high = [0, 0, 0.3] }}
position = [{x}, 0, 0.3]
"""
PARALLEL = (
    """vbg = 1
name = "parallelogram"
"""
    + CRANK.format(name="left", x=0)
    + CRANK.format(name="right", x=1)
    + """[bodies.coupler]
mass = 3.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { B = [-0.5, 0, 0], C = [0.5, 0, 0] }
position = [0.5, 0, 0.6]
[joints.A]
kind = "revolute"
between = ["ground", "left.low"]
axis = [0, 1, 0]
drive = "0.8*sin(3*t)"
[joints.B]
kind = "revolute"
between = ["left.high", "coupler.B"]
axis = [0, 1, 0]
[joints.C]
kind = "spherical"
between = ["right.high", "coupler.C"]
[joints.D]
kind = "revolute"
between = [{ body = "ground", at = [1, 0, 0] }, "right.low"]
axis = [0, 1, 0]
DRIVE_D
[simulate]
t_end = 0.5
output_step = 0.05
"""
)


def parallel(drive=""):
    return toml.parse(PARALLEL.replace("DRIVE_D", drive))


def needed(t):
    """Lagrange: (2 (J + m h**2) + M l**2) q'' = (2 m h + M l) g sin q + tau, all about y."""
    q, q_ddot = 0.8 * np.sin(3 * t), -7.2 * np.sin(3 * t)
    inertia = 2 * (0.13 + 2.0 * 0.3**2) + 3.0 * 0.6**2
    return inertia * q_ddot - (2 * 2.0 * 0.3 + 3.0 * 0.6) * 9.81 * np.sin(q)


@pytest.mark.parametrize(
    ("motors", "shares"),
    [
        ((), {"A": 1.0}),
        (("D",), {"D": 1.0}),  # a motor elsewhere
        (("A", "D"), {"A": 0.5, "D": 0.5}),  # least squares with B = (1, 1)
        (("A", "B", "D"), {"A": 1 / 3, "B": -1 / 3, "D": 1 / 3}),  # B = (1, -1, 1)
    ],
)
def test_motors_of_a_parallelogram_share_the_torque_by_least_squares(motors, shares):
    found = inverse(parallel(), motors)
    assert {motor.joint for motor in found.motors} == set(shares)
    for motor in found.motors:
        expected = shares[motor.joint] * needed(found.solution.time)
        np.testing.assert_allclose(motor.effort, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(found.solution[f"{motor.joint}.drive"], motor.effort)


def test_joints_driven_twice_are_all_motors():
    found = inverse(parallel('drive = "0.8*sin(3*t)"'))
    assert {motor.joint for motor in found.motors} == {"A", "D"} and found.shared
    for motor in found.motors:
        np.testing.assert_allclose(motor.effort, needed(found.solution.time) / 2, atol=1e-6)


def test_joint_forces_are_those_of_a_machine_with_these_torques():
    """The second solver with the torque on D as a table: the same forces at the rows."""
    found = inverse(parallel(), ("A", "D"))
    torque = found.motors[1].effort
    rows = [[float(t), float(x)] for t, x in zip(found.solution.time, torque, strict=True)]
    model = parallel().edited(("signals", "share"), {"kind": "table", "rows": rows})
    part = {"kind": "torque", "on": "joints.D", "torque": ["share"]}
    again = tmm_bridge.simulate(model.edited(("forces", "motor"), part))
    for name in ("A.drive", "A.force", "B.force", "C.force", "D.force"):
        scale = np.abs(again[name]).max()
        np.testing.assert_allclose(found.solution[name], again[name], atol=1e-6 * scale)


def test_work_is_given_and_taken_back():
    motor = inverse(parallel(), output_step=1e-3).motors[0]
    t = np.linspace(0.0, 0.5, 200001)
    power = needed(t) * 2.4 * np.cos(3 * t)
    assert motor.given == pytest.approx(np.trapezoid(power.clip(0), t), rel=1e-4, abs=1e-4)
    assert motor.taken == pytest.approx(np.trapezoid((-power).clip(0), t), rel=1e-4, abs=1e-4)


ARM = """vbg = 1
name = "arm"
[bodies.one]
mass = 7.0
inertia = { xx = 0.11, yy = 0.23, zz = 0.17, xy = 0.02, yz = -0.01, zx = 0.03 }
points = { A = [-0.1, 0.02, -0.2], B = [0.05, -0.01, 0.3] }
[bodies.two]
mass = 4.0
inertia = { xx = 0.05, yy = 0.08, zz = 0.06, xy = -0.01 }
points = { B = [-0.3, 0, 0.01], C = [0.25, 0.02, 0] }
[bodies.three]
mass = 1.5
inertia = { xx = 0.004, yy = 0.005, zz = 0.006 }
points = { C = [-0.1, 0, 0] }
[joints.j1]
kind = "revolute"
between = ["ground", "one.A"]
axis = [0, 0, 1]
drive = "0.7*sin(2*t) + 0.2"
[joints.j2]
kind = "revolute"
between = ["one.B", "two.B"]
axis = [0, 1, 0]
drive = "0.4 - 0.9*t + t^3"
[joints.j3]
kind = "prismatic"
between = ["two.C", "three.C"]
axis = [1, 0, 0]
drive = "0.1*sin(5*t)"
[simulate]
t_end = 0.6
output_step = 0.1
"""


def test_a_serial_arm_against_recursive_newton_euler_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    found = inverse(toml.parse(ARM))
    arm = pin.Model()
    arm.gravity = pin.Motion(np.array([0, 0, -9.81, 0, 0, 0.0]))
    J = [
        np.array([[0.11, 0.02, 0.03], [0.02, 0.23, -0.01], [0.03, -0.01, 0.17]]),
        np.array([[0.05, -0.01, 0], [-0.01, 0.08, 0], [0, 0, 0.06]]),
        np.diag([0.004, 0.005, 0.006]),
    ]
    kinds = (pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelPX())
    at = ([0, 0, 0], [0.15, -0.03, 0.5], [0.55, 0.02, -0.01])  # joint in the frame before
    com = ([0.1, -0.02, 0.2], [0.3, 0, -0.01], [0.1, 0, 0])
    last = 0
    for k, (kind, p, c) in enumerate(zip(kinds, at, com, strict=True)):
        place = pin.SE3(np.eye(3), np.array(p, dtype=float))
        last = arm.addJoint(last, kind, place, f"j{k + 1}")
        inertia = pin.Inertia((7.0, 4.0, 1.5)[k], np.array(c, dtype=float), J[k])
        arm.appendBodyToJoint(last, inertia, pin.SE3.Identity())
    data = arm.createData()
    for i, t in enumerate(found.solution.time):
        q = np.array([0.7 * np.sin(2 * t) + 0.2, 0.4 - 0.9 * t + t**3, 0.1 * np.sin(5 * t)])
        v = np.array([1.4 * np.cos(2 * t), -0.9 + 3 * t**2, 0.5 * np.cos(5 * t)])
        a = np.array([-2.8 * np.sin(2 * t), 6 * t, -2.5 * np.sin(5 * t)])
        expected = pin.rnea(arm, data, q, v, a)
        efforts = [motor.effort[i] for motor in found.motors]
        np.testing.assert_allclose(efforts, expected, rtol=1e-6, atol=1e-6)
    assert [motor.unit for motor in found.motors] == ["N*m", "N*m", "N"]


LED = """vbg = 1
name = "led arm"
[bodies.upper]
mass = 3.0
inertia = { xx = 0.01, yy = 0.05, zz = 0.05 }
points = { A = [-0.25, 0, 0], B = [0.25, 0, 0] }
rotation = { axis = [0, -1, 0], angle = "60 deg" }
[bodies.fore]
mass = 2.0
inertia = { xx = 0.01, yy = 0.03, zz = 0.03 }
points = { B = [-0.2, 0, 0], tool = [0.2, 0, 0] }
rotation = { axis = [0, -1, 0], angle = "-30 deg" }
[joints.A]
kind = "revolute"
between = ["ground", "upper.A"]
axis = [0, -1, 0]
[joints.B]
kind = "revolute"
between = ["upper.B", "fore.B"]
axis = [0, -1, 0]
[joints.along]
kind = "guide"
between = ["ground", "fore.tool"]
axis = [1, 0, 0]
drive = "0.6 + 0.08*cos(4*t)"
[joints.up]
kind = "guide"
between = ["ground", "fore.tool"]
axis = [0, 0, 1]
drive = "0.2 + 0.1*sin(4*t)"
[simulate]
t_end = 1.0
output_step = 0.05
"""


def path(t):
    """x, z of the tool with first and second derivatives, each (2,)."""
    c, s = np.cos(4 * t), np.sin(4 * t)
    return (
        np.array([0.6 + 0.08 * c, 0.2 + 0.1 * s]),
        np.array([-0.32 * s, 0.4 * c]),
        np.array([-1.28 * c, -1.6 * s]),
    )


def lagrange(q, v, a):
    """Torques of the arm of LED by Lagrange's equations, angles a and a + b from the x axis."""
    angle, both = q[0], q[0] + q[1]
    c = np.cos(angle - both)
    s = np.sin(angle - both)
    w, o = v[0], v[0] + v[1]
    w_dot, o_dot = a[0], a[0] + a[1]
    # T = (J1 + m1 .25^2 + m2 .5^2) w^2/2 + (J2 + m2 .2^2) o^2/2 + m2 .5 .2 c w o
    p1 = (0.05 + 3 * 0.25**2 + 2 * 0.25) * w_dot + 0.2 * (c * o_dot + s * o**2)
    p2 = (0.03 + 2 * 0.04) * o_dot + 0.2 * (c * w_dot - s * w**2)
    p1 += 9.81 * np.cos(angle) * (3 * 0.25 + 2 * 0.5)
    p2 += 9.81 * np.cos(both) * 2 * 0.2
    return np.array([p1 + p2, p2])


@pytest.mark.parametrize("run", [None, tmm_bridge.simulate])
def test_a_tool_that_is_led_along_a_path_tells_angles_and_torques_of_the_joints(run):
    model = toml.parse(LED)
    found = inverse(model, ("A", "B"), run=run)
    for i, t in enumerate(found.solution.time):
        x, x_dot, x_ddot = path(t)
        elbow = -np.arccos((x @ x - 0.41) / 0.4)  # elbow up, as written
        q = np.array([np.arctan2(x[1], x[0]), elbow])
        q[0] -= np.arctan2(0.4 * np.sin(elbow), 0.5 + 0.4 * np.cos(elbow))
        first, second = q[0], q[0] + q[1]
        J = np.array([[-0.5 * np.sin(first), -0.4 * np.sin(second)]])
        J = np.vstack([J, [0.5 * np.cos(first), 0.4 * np.cos(second)]]) @ [[1, 0], [1, 1]]
        v = np.linalg.solve(J, x_dot)
        w, o = v[0], v[0] + v[1]
        toward = 0.5 * w**2 * np.array([np.cos(first), np.sin(first)])
        toward += 0.4 * o**2 * np.array([np.cos(second), np.sin(second)])
        a = np.linalg.solve(J, x_ddot + toward)
        for k, name in enumerate(("A", "B")):
            assert found.solution[f"{name}.speed"][i] == pytest.approx(v[k], abs=1e-6)
            assert found.motors[k].effort[i] == pytest.approx(lagrange(q, v, a)[k], abs=1e-5)


@pytest.mark.slow
def test_both_solvers_agree_on_a_led_machine_whose_guide_turns():
    """The direction of a guide turns with its first body; undriven it measures only."""
    model = toml.parse(LED)
    end = {"kind": "guide", "between": ["upper.B", "fore.tool"], "axis": [1, 2, -1]}
    model = model.edited(("joints", "along"), {**end, "drive": "0.16 - 0.05*t^2"})
    seen = {"kind": "guide", "between": ["upper", "fore"], "axis": [0.3, 0, 1]}
    model = model.edited(("joints", "seen"), seen)
    report = vbg.validate.validate(model)
    assert report.result == "PASS", report
    first, second = report.solutions["vbg"], report.solutions["mstmm"]
    for name in ("along.drive", "up.drive", "A.force", "seen.slide", "seen.speed", "seen.force"):
        scale = np.abs(first[name]).max()
        np.testing.assert_allclose(second[name], first[name], atol=1e-6 * scale + 1e-12)


@pytest.mark.parametrize(
    ("motors", "words"),
    [
        (("X",), "no joint 'X'"),
        (("C",), "C is spherical"),
    ],
)
def test_motors_that_cannot_be_are_refused(motors, words):
    with pytest.raises(UsageError, match=words):
        inverse(parallel(), motors)


def test_an_undriven_machine_one_with_freedoms_left_and_motors_that_move_nothing_are_refused():
    with pytest.raises(UsageError, match="nothing prescribes"):
        inverse(parallel().edited(("joints", "A", "drive"), None))
    loose = toml.parse(ARM).edited(("joints", "j2", "drive"), None)
    with pytest.raises(UsageError, match="1 degree of freedom"):
        inverse(loose, ("j2", "j1"))
    assert [motor.joint for motor in inverse(loose).motors] == ["j1", "j3"]
    with pytest.raises(UsageError, match="cannot hold the motion"):
        inverse(toml.parse(ARM), ("j1", "j2"))


def test_the_command_tells_work_and_writes_the_loads(tmp_path, capsys):
    file = tmp_path / "p.toml"
    file.write_text(PARALLEL.replace("DRIVE_D", ""))
    out = tmp_path / "loads.h5"
    assert main(["inverse", str(file), "--motors", "A,D", "-o", str(out), "--units", "rpm"]) == 0
    assert "least sum of squares" in (text := capsys.readouterr().out) and "rpm" in text
    loads = vbg.load(out)
    np.testing.assert_allclose(loads["A.drive"], needed(loads.time) / 2, atol=1e-6)
    arguments = ["inverse", str(file), "--motors", "D", "--solver", "mstmm", "--json"]
    assert main(arguments) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["motors"][0]["peak"] == pytest.approx(np.abs(needed(loads.time)).max(), rel=1e-5)
