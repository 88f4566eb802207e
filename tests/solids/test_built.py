"""Solids of profiles, booleans, machines written as STEP, and solids that overlap."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("OCP")

import vbg
from vbg.analysis.interference import interference
from vbg.cli.main import main
from vbg.errors import ModelError
from vbg.fields import Shape
from vbg.io import toml
from vbg.model import Model
from vbg.model.text.plain import plain
from vbg.solids.build import part_from
from vbg.solids.step import parts_of

HOOK = [[0.0, 0.0], [0.3, 0.0], [0.3, 0.1], [0.12, 0.08], [0.1, 0.25], [0.0, 0.2]]
SOLIDS = {
    "extrude": {"extrude": {"profile": HOOK, "height": 0.07}},
    "written the other way round": {"extrude": {"profile": HOOK[::-1], "height": 0.07}},
    "revolve": {"revolve": {"profile": [[r + 0.05, z] for r, z in HOOK]}},
    "revolve on the axis": {"revolve": {"profile": HOOK}},
}


def body(shape, **further) -> vbg.Model:
    return Model(bodies={"b": {"shape": {**shape, "density": 2700.0, **further}}}).bodies["b"]


@pytest.mark.parametrize("name", SOLIDS)
def test_profiles_in_closed_form_are_those_of_opencascade(name):
    shape = body(SOLIDS[name]).shape[0]
    part = part_from(Shape(shape.kind, shape.sizes, profile=shape.profile))
    found = shape.measured
    assert found.volume == pytest.approx(part.volume, rel=1e-9)
    size = np.abs(part.high).max()
    np.testing.assert_allclose(found.centre, part.centre, atol=1e-9 * size)
    J = part.inertia
    six = [J[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))]
    np.testing.assert_allclose(found.inertia, six, atol=1e-9 * np.abs(J).max())
    np.testing.assert_allclose([found.low, found.high], [part.low, part.high], atol=1e-6)


def test_a_turned_rectangle_is_a_tube_and_a_pushed_one_a_box():
    tube = body({"tube": {"radius": 0.2, "inner_radius": 0.1, "length": 0.3, "axis": [1, 0, 0]}})
    ring = [[0.1, -0.15], [0.2, -0.15], [0.2, 0.15], [0.1, 0.15]]
    turned = body({"revolve": {"profile": ring, "axis": [1, 0, 0]}})
    np.testing.assert_allclose(turned.inertia, tube.inertia, atol=1e-13)
    box = body({"box": {"x": 0.2, "y": 0.1, "z": 0.05}}, position=[0.1, 0.05, 0])
    pushed = body(
        {"extrude": {"profile": [[0, 0], [0.2, 0], [0.2, 0.1], [0, 0.1]], "height": 0.05}}
    )
    np.testing.assert_allclose(pushed.inertia, box.inertia, atol=1e-15)


def test_booleans_against_closed_forms():
    plate = {"box": {"x": 0.2, "y": 0.1, "z": 0.05}}
    drill = {"cylinder": {"radius": 0.02, "length": 1.0}, "position": [0.05, 0, 0]}
    drilled = body({"cut": [plate, drill]})
    volume = 0.2 * 0.1 * 0.05 - np.pi * 0.02**2 * 0.05
    assert drilled.mass == pytest.approx(2700 * volume, rel=1e-12)
    x = -np.pi * 0.02**2 * 0.05 * 0.05 / volume  # of the mass centre
    box = 1e-3 * (0.2**2 + 0.1**2) / 12
    hole = np.pi * 0.02**2 * 0.05 * (0.02**2 / 2 + 0.05**2)
    assert drilled.inertia[2] == pytest.approx(2700 * (box - hole - volume * x**2), rel=1e-9)
    ball = {"sphere": {"radius": 0.1}}
    other = {"sphere": {"radius": 0.1}, "position": [0.12, 0, 0]}
    lens = np.pi * (0.4 + 0.12) * (0.2 - 0.12) ** 2 / 12
    assert body({"common": [ball, other]}).mass == pytest.approx(2700 * lens, rel=1e-9)
    whole = 2 * 4 / 3 * np.pi * 1e-3 - lens
    assert body({"union": [ball, other]}).mass == pytest.approx(2700 * whole, rel=1e-9)


def test_what_is_written_again_is_the_same_body(tmp_path):
    shape = {"cut": [SOLIDS["extrude"], {"union": [{"sphere": {"radius": 0.05}}, *BALLS]}]}
    model = Model(bodies={"b": {"shape": {**shape, "density": 2700.0, "position": [1, 2, 3]}}})
    toml.write(model, tmp_path / "m.toml")
    again = vbg.read(tmp_path / "m.toml")
    assert again.hash == model.hash
    resolved = Model(bodies={"b": {"shape": plain(model.bodies["b"].shape)}})
    np.testing.assert_allclose(resolved.bodies["b"].inertia, model.bodies["b"].inertia, rtol=1e-9)


BALLS = ({"sphere": {"radius": 0.04}, "position": [0.2, 0.05, 0]},)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"extrude": {"profile": [[0, 0], [1, 1], [1, 0], [0, 1]], "height": 1}}, "crosses itself"),
        ({"extrude": {"profile": [[0, 0], [1, 1]], "height": 1}}, "three corners"),
        ({"extrude": {"profile": [[0, 0], [1, 1], [2, 2]], "height": 1}}, "encloses nothing"),
        ({"extrude": {"profile": HOOK}}, "no height"),
        ({"revolve": {"profile": [[-1, 0], [1, 0], [0, 1]]}}, r"r >= 0"),
        ({"cut": [{"sphere": {"radius": 0.1}}]}, "two shapes or more"),
        (
            {
                "common": [
                    {"sphere": {"radius": 0.1}},
                    {"sphere": {"radius": 0.1}, "position": [1, 0, 0]},
                ]
            },
            "nothing is left",
        ),
        (
            {"cut": [{"sphere": {"radius": 0.2}, "density": 1}, {"sphere": {"radius": 0.1}}]},
            "density stands beside",
        ),
    ],
)
def test_what_is_no_solid_is_told(shape, said):
    with pytest.raises(ModelError, match=said):
        body(shape)


BEADS = """
vbg = 1
name = "beads"
gravity = [0, 0, 0]
[bodies.left]
shape = { sphere = { radius = 0.1 }, density = 1000 }
position = [0, 0, 0]
[bodies.right]
shape = { sphere = { radius = 0.1 }, density = 1000 }
position = [1, 0, 0]
velocity = [-1, 0, 0]
"""


def test_two_beads_pass_through_one_another(tmp_path, capsys):
    """They touch at t = 0.8 s and part at 1.2 s; at 0.9 s they share a lens 0.1 m thick."""
    model = toml.parse(BEADS)
    solution = vbg.simulate(model, t_end=0.9, output_step=0.05)
    (overlap,), held = interference(model, solution.time, solution.signals)
    assert (overlap.first, overlap.second, held) == ("left", "right", ())
    assert overlap.begin == pytest.approx(0.85) and overlap.deepest == pytest.approx(0.9)
    assert overlap.depth == pytest.approx(0.1, rel=1e-6)
    assert overlap.volume == pytest.approx(np.pi * 0.5 * 0.1**2 / 12, rel=1e-9)
    file, run = tmp_path / "beads.toml", tmp_path / "run.h5"
    file.write_text(BEADS)
    assert main(["check", "--interference", str(file)]) == 0
    assert main(["run", str(file), "--t-end", "2", "--output-step", "0.05", "-o", str(run)]) == 0
    capsys.readouterr()
    assert main(["check", "--interference", str(file), "--run", str(run)]) == 1
    assert "left and right overlap, 0.85 to 1.15 s; most at 1 s" in capsys.readouterr().out
    assert main(["check", "--interference", str(file), "--run", str(run), "--at", "0.5"]) == 0
    assert main(["check", str(file), "--run", str(run)]) == 2


def test_a_machine_as_step_comes_back(tmp_path, capsys):
    out = tmp_path / "beads.step"
    (tmp_path / "beads.toml").write_text(BEADS)
    assert main(["export", str(tmp_path / "beads.toml"), "--step", "-o", str(out)]) == 0
    left, right = parts_of(out)
    assert (left.name, right.name) == ("left", "right")
    np.testing.assert_allclose(right.centre, [1, 0, 0], atol=1e-12)
    assert left.volume == pytest.approx(4 / 3 * np.pi * 1e-3, rel=1e-10)
