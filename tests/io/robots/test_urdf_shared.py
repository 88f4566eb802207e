"""Links without mass, or without moments of inertia, between joints that move: one or several in a
row, in any axes.  The file itself, summed by Newton and Euler, is what they are held against."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from tests.io.random_urdf import _inertial, _origin, _text
from tests.io.robots.test_urdf import drive_loads, driven, toml_document
from vbg.errors import AssemblyError, ModelError
from vbg.io import urdf
from vbg.model import Model
from vbg.validate import validate

MASS = '<mass value="{}"/><inertia ixx="0" iyy="0" izz="0"/>'


def chain(seed: int, *, lacking: int, concurrent: bool, point: float = 0.0) -> str:
    """A body on the ground, `lacking` links in a row that have nothing, or a `point` mass at a
    random place, and a body behind them; hinges through one point, or anywhere."""
    rng = np.random.default_rng(seed)
    text, count = '<robot name="chain"><link name="l0"/>', lacking + 2
    for i in range(1, count + 1):
        grain = f"<inertial>{_origin(rng, 0.1)}{MASS.format(point)}</inertial>" if point else ""
        own = _inertial(rng) if i in (1, count) else grain
        inner = concurrent and 2 < i <= count
        at = f'<origin rpy="{_text(rng.uniform(-3, 3, 3))}"/>' if inner else _origin(rng, 0.3)
        axis = np.eye(3)[i % 3] if rng.random() < 0.5 else rng.normal(size=3)
        text += f'<link name="l{i}">{own}</link><joint name="j{i}" type="continuous">{at}'
        text += f'<axis xyz="{_text(axis)}"/><parent link="l{i - 1}"/><child link="l{i}"/></joint>'
    return f"{text}</robot>"


def made_of(text: str, tmp_path, **options):
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    return urdf.read(file, **options)


def drive_torque(name, joint, signals):
    """A joint's torque along its axis, which is the same in both bodies' axes."""
    w, x, y, z = np.ravel(signals[f"{joint['between'][1].partition('.')[0]}.rotation"])
    axis = Rotation.from_quat([x, y, z, w]).apply(joint["axis"])
    return axis @ np.ravel(signals[f"{name}.torque"])


@pytest.mark.parametrize("point", [0.0, 0.3])
@pytest.mark.parametrize("concurrent", [True, False])
@pytest.mark.parametrize("lacking", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_drives_know_nothing_of_what_was_given(seed, lacking, concurrent, point, tmp_path):
    text = chain(seed, lacking=lacking, concurrent=concurrent, point=point)
    moving = [f"j{i}" for i in range(1, lacking + 3)]
    rng = np.random.default_rng(seed + 100)
    q, v, a = ({n: float(x) for n, x in zip(moving, rng.normal(size=9))} for _ in range(3))
    model, notes = made_of(text, tmp_path)
    assert any("Each was given" in note for note in notes)
    start = vbg.start(driven(model, q, v, a))
    expected = drive_loads(text, q, v, a)
    largest = max(map(abs, expected.values()))
    joints = toml_document(model)["joints"]
    signals = start.outputs(0.0, start.state)
    for name in moving:
        torque = drive_torque(name, joints[name], signals)
        assert abs(torque - expected[name]) < 1e-10 * largest


@pytest.mark.parametrize("seed", range(3))
def test_links_of_nothing_hand_on_the_force_they_carry(seed, tmp_path):
    """To the part that the note of the import tells."""
    text = chain(seed, lacking=2, concurrent=True)
    moving = [f"j{i}" for i in range(1, 5)]
    rng = np.random.default_rng(seed)
    q, v, a = ({n: float(x) for n, x in zip(moving, rng.normal(size=4))} for _ in range(3))
    model, _ = made_of(text, tmp_path)
    start = vbg.start(driven(model, q, v, a))
    signals = start.outputs(0.0, start.state)
    forces = [np.ravel(signals[f"{name}.force"]) for name in moving[1:]]
    for force in forces[:-1]:
        np.testing.assert_allclose(force, forces[-1], atol=1e-5 * np.linalg.norm(forces[-1]))


@pytest.mark.parametrize("free", [False, True])
def test_nothing_is_added_to_the_whole(free, tmp_path):
    """Mass is taken where it is given, from a base that floats as from any other body."""
    text = chain(5, lacking=2, concurrent=True)
    base = MASS.format(3).replace('"0"', '"0.2"')
    text = text.replace('<link name="l0"/>', f'<link name="l0"><inertial>{base}</inertial></link>')
    model, _ = made_of(text, tmp_path, free=free)
    masses = [float(mass) for mass in re.findall(r'<mass value="([^"]*)"', text)]
    given = sum(body.mass for body in model.bodies.values())
    assert given == pytest.approx(sum(masses) - (0.0 if free else masses[0]), rel=1e-13)


@pytest.mark.slow
def test_both_solvers_run_a_row_of_links_without_mass(tmp_path):
    """One of them has a negative moment.  (At 0.0581 s the file itself has no accelerations: two of
    three hinges are in line.)"""
    model, _ = made_of(chain(3, lacking=2, concurrent=True), tmp_path)
    assert min(np.linalg.eigvalsh(_matrix(b.inertia))[0] for b in model.bodies.values()) < 0.0
    report = validate(model, t_end=0.04)
    assert report.verdict.result == "PASS"


def _matrix(inertia):
    xx, yy, zz, xy, yz, zx = inertia
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def pendulum(moment: float):
    """1 kg at 1 m below a hinge about x."""
    body = {
        "mass": 1.0,
        "inertia": {"xx": moment, "yy": 0.5, "zz": 0.6},
        "allow_unphysical_inertia": True,
        "points": {"O": [0.0, 0.0, 1.0]},
    }
    hinge = {"kind": "revolute", "between": ["ground", "body.O"], "axis": [1, 0, 0]}
    hinge["initial"] = {"angle": 0.1}
    return {"vbg": 1, "name": "p", "bodies": {"body": body}, "joints": {"hinge": hinge}}


def test_a_negative_moment_counts_with_what_moves_with_it():
    """(J + m a^2) angle'' = -m g a sin(angle): a machine as long as the sum is positive."""
    start = vbg.start(Model.from_document(pendulum(-0.7)))
    expected = -9.81 * np.sin(0.1) / (1.0 - 0.7)
    rate = start.rate(0.0, start.state)
    place = next(s for s in start.system.slices if s.state.name == "body.angular_momentum")
    assert rate[place.first] / -0.7 == pytest.approx(expected, rel=1e-12)
    with pytest.raises(AssemblyError, match="1 motion that the joints leave would have a negative"):
        vbg.start(Model.from_document(pendulum(-1.3)))
    with pytest.raises(ModelError, match="zero to rounding"):
        Model.from_document(pendulum(0.0))
