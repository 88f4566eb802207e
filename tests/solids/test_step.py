"""STEP files: masses by closed forms, joints by what was built, and everything that is no STEP."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("OCP")

import vbg
from tests.solids.gearbox import cylinder, solids, write
from vbg.cli.main import main
from vbg.draw.mesh import faces_of
from vbg.engines.masses import inertia_of
from vbg.errors import ModelError, UsageError
from vbg.fields import Shape
from vbg.io.step import read
from vbg.model import Model
from vbg.model.forms.shapes import mass_properties
from vbg.solids.proposals import proposals
from vbg.solids.step import part_of, parts_of


@pytest.fixture(scope="module")
def gearbox(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("cad") / "gearbox.step"
    write(str(path), solids())
    return path


def round_body(*rings: tuple[float, float, float, float]):
    """Volume, height of the centre, moments about it across and along z, of rings stacked about
    one axis: outer and inner radius, ends [mm]."""
    volume = sum(np.pi * (R**2 - r**2) * (b - a) for R, r, a, b in rings)
    parts = [
        (np.pi * (R**2 - r**2) * (b - a), (a + b) / 2, R**2 + r**2, b - a) for R, r, a, b in rings
    ]
    z = sum(V * c for V, c, _, _ in parts) / volume
    across = sum(V * (s / 4 + l**2 / 12 + (c - z) ** 2) for V, c, s, l in parts)
    along = sum(V * s / 2 for V, _, s, _ in parts)
    return volume, z, across, along


SHAFT = ((8, 0, -20, 10), (12, 0, 10, 70), (8, 0, 70, 100))
ROUND = {
    "input left": (0, round_body((15, 8, 0, 10))),
    "input right": (0, round_body((15, 8, 70, 80))),
    "input shaft": (0, round_body(*SHAFT)),
    "output left": (60, round_body((15, 8, 0, 10))),
    "output right": (60, round_body((15, 8, 70, 80))),
    "output shaft": (60, round_body(*SHAFT)),
    "gear": (0, round_body((30, 12, 30, 50))),
}


def test_the_gearbox_weighs_what_it_was_built_of(gearbox):
    parts = {part.name: part for part in parts_of(gearbox)}
    assert set(parts) == {"housing", *ROUND}
    for name, (x, (volume, z, across, along)) in ROUND.items():
        part = parts[name]
        assert part.volume == pytest.approx(1e-9 * volume, rel=1e-10)
        np.testing.assert_allclose(part.centre, [1e-3 * x, 0, 1e-3 * z], atol=1e-14)
        J = np.diag([across, across, along])
        np.testing.assert_allclose(part.inertia, 1e-15 * J, atol=1e-10 * 1e-15 * across)
    bores = 4 * np.pi * 15**2 * 10
    housing = 160 * 100 * 80 - 140 * 80 * 60 - bores
    assert parts["housing"].volume == pytest.approx(1e-9 * housing, rel=1e-10)


def test_the_gearbox_proposes_its_bearings(gearbox):
    found = {(p.first, p.second): p for p in proposals(parts_of(gearbox))}
    kinds = {ends: p.kind for ends, p in found.items()}
    assert kinds == {
        **{("housing", f"{s} {e}"): "cylindrical" for s in ("input", "output") for e in ENDS},
        **{(f"{s} {e}", f"{s} shaft"): "revolute" for s in ("input", "output") for e in ENDS},
        ("input shaft", "gear"): "cylindrical",
    }
    bearing = found["output left", "output shaft"]
    np.testing.assert_allclose(bearing.point, [0.06, 0, 0.005], atol=1e-12)
    np.testing.assert_allclose(np.abs(bearing.axis), [0, 0, 1], atol=1e-12)
    assert "8 mm" in bearing.evidence and "shoulder" in bearing.evidence


ENDS = ("left", "right")


def test_spheres_planes_and_two_pins(tmp_path):
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakeSphere
    from OCP.gp import gp_Pnt

    def box(x, y, z, a, b, c):
        return BRepPrimAPI_MakeBox(gp_Pnt(x, y, z), gp_Pnt(a, b, c)).Shape()

    ball = BRepPrimAPI_MakeSphere(gp_Pnt(0, 0, 0), 10.0).Shape()
    cup = BRepAlgoAPI_Cut(box(-15, -15, -15, 15, 15, 0), ball).Shape()
    slot = BRepAlgoAPI_Cut(box(100, 0, 0, 200, 40, 20), box(90, 10, 10, 210, 30, 30)).Shape()
    slide = box(140, 10, 10, 160, 30, 18)
    plate, brick = box(300, 0, 0, 400, 100, 10), box(320, 20, 10, 340, 40, 30)
    holes = [cylinder(x, 50, -1, 5, 12) for x in (510, 540)]
    base = box(500, 0, 0, 600, 100, 10)
    for hole in holes:
        base = BRepAlgoAPI_Cut(base, hole).Shape()
    lid = box(500, 0, 10, 600, 100, 15)
    for x in (510, 540):
        lid = BRepAlgoAPI_Fuse(lid, cylinder(x, 50, 2, 5, 10)).Shape()
    shapes = {"ball": ball, "cup": cup, "slot": slot, "slide": slide}
    shapes |= {"plate": plate, "brick": brick, "base": base, "lid": lid}
    write(str(tmp_path / "pairs.step"), shapes)
    found = {(p.first, p.second): p.kind for p in proposals(parts_of(tmp_path / "pairs.step"))}
    assert found == {
        ("ball", "cup"): "spherical",
        ("slot", "slide"): "prismatic",
        ("plate", "brick"): "planar",
        ("base", "lid"): "fixed",
    }


def test_an_import_is_a_model_that_runs(gearbox, tmp_path, capsys):
    file = shutil.copy(gearbox, tmp_path / "gearbox.step")
    out = tmp_path / "gearbox.toml"
    told = ["import", str(file), "-o", str(out), "--ground", "housing"]
    assert main(told) == 0
    assert "# [joints.input_left_input_shaft]" in out.read_text()
    model = vbg.read(out)
    assert not model.joints and len(model.bodies) == 7
    shaft = model.bodies["input_shaft"]
    volume, z, across, along = ROUND["input shaft"][1]
    assert shaft.mass == pytest.approx(7850e-9 * volume, rel=1e-10)
    np.testing.assert_allclose(shaft.position, [0, 0, 1e-3 * z], atol=1e-14)
    expected = 7850e-15 * np.array([across, across, along])
    np.testing.assert_allclose(shaft.inertia[:3], expected, rtol=1e-10)
    assert main([*told, "--force", "--accept", "--density", "2.7 g/cm^3"]) == 0
    # a shaft turns and slides with its rings, which turn on their own; the gear may slide, too
    assert "10 degrees of freedom" in capsys.readouterr().err
    accepted = vbg.read(out)
    assert accepted.joints["input_left_input_shaft"].kind == "revolute"
    assert accepted.bodies["input_shaft"].mass == pytest.approx(2700e-9 * volume, rel=1e-10)


def test_the_part_that_stands_still_may_stay_a_body(gearbox, tmp_path, capsys):
    file = shutil.copy(gearbox, tmp_path / "gearbox.step")
    told = ["import", str(file), "-o", str(tmp_path / "g.toml"), "--accept", "--keep-fixed"]
    assert main(told) == 2
    assert main([*told, "--ground", "housing"]) == 0
    assert "10 degrees of freedom" in capsys.readouterr().err
    start = vbg.start(vbg.read(tmp_path / "g.toml"))
    first = start.outputs(0.0, start.state)
    bodies = start.system.model.bodies
    np.testing.assert_allclose(first["housing.position"], bodies["housing"].position, atol=1e-14)
    needed = sum(
        body.mass * (first[f"{name}.acceleration"] - start.system.model.gravity)
        for name, body in bodies.items()
    )
    np.testing.assert_allclose(first["ground_housing.force"], needed, rtol=1e-9, atol=1e-9)


def test_assemblies_of_one_name_stay_apart(tmp_path):
    """Three wheels of two discs each, which no further assembly holds."""
    wheels = [
        {"low": cylinder(100.0 * k, 0, 0, 10, 20), "high": cylinder(100.0 * k, 0, 30, 10, 20)}
        for k in range(3)
    ]
    write(str(tmp_path / "wheels.step"), *wheels)
    found = read(str(tmp_path / "wheels.step"), str(tmp_path / "m.toml"), level=0)
    assert list(found.document["bodies"]) == ["gearbox", "gearbox_2", "gearbox_3"]
    places = [body["position"] for body in found.document["bodies"].values()]
    np.testing.assert_allclose(places, [[0.1 * k, 0, 0.025] for k in range(3)], atol=1e-12)


PRIMITIVES = {
    "box": {"x": 0.1, "y": 0.23, "z": 0.31},
    "cylinder": {"radius": 0.07, "length": 0.4},
    "sphere": {"radius": 0.13},
    "cone": {"radius": 0.2, "height": 0.5},
    "tube": {"radius": 0.2, "inner_radius": 0.11, "length": 0.3},
}


def primitive(kind, s):
    """The solid of vbg's `kind` as OpenCASCADE builds it [mm]."""
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakeCone, BRepPrimAPI_MakeSphere
    from OCP.gp import gp_Pnt

    mm = {key: 1e3 * value for key, value in s.items()}
    if kind == "box":
        half = [mm[k] / 2 for k in "xyz"]
        return BRepPrimAPI_MakeBox(gp_Pnt(*(-h for h in half)), gp_Pnt(*half)).Shape()
    if kind == "sphere":
        return BRepPrimAPI_MakeSphere(mm["radius"]).Shape()
    if kind == "cone":
        return BRepPrimAPI_MakeCone(mm["radius"], 0.0, mm["height"]).Shape()
    l = mm["length"]
    solid = cylinder(0, 0, -l / 2, mm["radius"], l)
    if kind == "tube":
        solid = BRepAlgoAPI_Cut(solid, cylinder(0, 0, -l, mm["inner_radius"], 2 * l)).Shape()
    return solid


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_closed_forms_of_solids_are_those_of_opencascade(kind, tmp_path):
    """The shape as written, and as a STEP file that is turned and moved in the same way."""
    write(str(tmp_path / "one.step"), {"one": primitive(kind, PRIMITIVES[kind])})
    place = {"position": (0.3, -0.2, 0.5), "rotation": (0.5, 0.5, -0.1, 0.7)}
    q = np.array(place["rotation"])
    place["rotation"] = (q / np.linalg.norm(q)).tolist()
    exact = mass_properties((Shape(kind, PRIMITIVES[kind], 2700.0, **place),))
    part = {"step": "one.step", "density": 2700.0, "position": place["position"]}
    part["rotation"] = {"quaternion": place["rotation"]}
    model = Model.from_document({"bodies": {"b": {"shape": part}}}, str(tmp_path / "m.toml"))
    body = model.bodies["b"]
    assert body.mass == pytest.approx(exact.mass, rel=1e-9)
    J = exact.inertia
    six = [J[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))]
    np.testing.assert_allclose(body.inertia, six, atol=1e-9 * abs(J).max())
    mass, by_moments = inertia_of(model, "b")  # the engines' own sum
    np.testing.assert_allclose(by_moments, J, atol=1e-9 * abs(J).max())
    assert mass == pytest.approx(exact.mass, rel=1e-9)


def test_a_file_in_inches_is_the_same_part(tmp_path):
    from OCP.Interface import Interface_Static

    rod = cylinder(0, 0, 0, 10, 100)
    write(str(tmp_path / "mm.step"), {"rod": rod})
    Interface_Static.SetCVal_s("write.step.unit", "INCH")
    try:
        write(str(tmp_path / "inch.step"), {"rod": rod})
    finally:
        Interface_Static.SetCVal_s("write.step.unit", "MM")
    assert "INCH" in (tmp_path / "inch.step").read_text()
    one, other = (parts_of(tmp_path / f"{unit}.step")[0] for unit in ("mm", "inch"))
    assert other.volume == pytest.approx(one.volume, rel=1e-10)


def test_what_is_drawn_closes_around_the_volume(gearbox):
    shape = Shape("step", {}, path=str(gearbox), part="gear")
    triangles = np.array(faces_of(shape))
    volume = np.einsum("ni,ni->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6
    assert volume == pytest.approx(part_of(str(gearbox), "gear").volume, rel=0.02)


def test_what_is_no_part_is_told_in_a_sentence(gearbox, tmp_path, capsys):
    file = shutil.copy(gearbox, tmp_path / "gearbox.step")
    text = Path(file).read_text()
    for name, content in {
        "damaged": text[: len(text) // 3],
        "other": "solid cube\nendsolid",
    }.items():
        (tmp_path / f"{name}.step").write_text(content)
        assert main(["import", str(tmp_path / f"{name}.step"), "-o", str(tmp_path / "x.toml")]) == 1
        told = capsys.readouterr()
        assert told.err.count("\n") == 1 and f"{name}.step" in told.err
        assert "Traceback" not in told.err and not told.out

    def model(shape):
        document = {"bodies": {"b": {"shape": shape, "mass": 1.0}}}
        return Model.from_document(document, str(tmp_path / "m.toml"))

    with pytest.raises(
        ModelError, match=r"8 parts, and none is chosen \(part\); there are housing"
    ):
        model({"step": "gearbox.step"})
    with pytest.raises(ModelError, match="no part 'crank'"):
        model({"step": "gearbox.step", "part": "crank"})
    with pytest.raises(ModelError, match="not below the folder"):
        model({"step": str(gearbox), "part": "gear"})
    with pytest.raises(ModelError, match="No such file"):
        model({"step": "none.step"})
    with pytest.raises(UsageError, match="no part 'floor'"):
        read(str(file), str(tmp_path / "x.toml"), ground="floor")
    with pytest.raises(UsageError, match="copy it there"):
        read(str(gearbox), str(tmp_path / "x.toml"))
