"""STEP files of strangers: whatever is wrong is one sentence, from a process that may fall."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("OCP")

from tests.solids.gearbox import cylinder, solids, write
from vbg.cli.main import main
from vbg.errors import ModelError
from vbg.solids import asking, step
from vbg.solids.part21 import fault_of
from vbg.solids.step import parts_of


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("cad") / "gearbox.step"
    write(str(path), solids())
    return path.read_bytes()


def read(tmp_path: Path, content: bytes):
    path = tmp_path / "some.step"
    path.write_bytes(content)
    return parts_of(path)


FACE = re.compile(rb"CLOSED_SHELL\('',\((#\d+),")
TEXTS = {
    "cut off": lambda c: c[: c.rindex(b"ENDSEC;")],
    "does not end": lambda c: c.replace(b"'gearbox'", b"'gearbox", 1),
    "comment": lambda c: c.replace(b"DATA;", b"DATA; /* here", 1),
    "closed that was not opened": lambda c: c.replace(b"(0.,0.,1.)", b"0.,0.,1.)", 1),
    "not closed before": lambda c: c.replace(b"(0.,0.,1.)", b"(0.,0.,1.", 1),
    "100 deep": lambda c: c.replace(b"(0.,0.,1.)", b"(" * 101 + b")" * 101, 1),
    "#500 is referred to": lambda c: re.sub(rb"#500 = [^;]*;", b"", c, count=1),
    "#501 is defined twice": lambda c: c.replace(b"#500 = ", b"#501 = "),
    "no section HEADER": lambda c: c.replace(c[14 : c.index(b"DATA;")], b"\n"),
    "stands where it cannot": lambda c: c.replace(b"DATA;", b"DATA;\nDATA;", 1),
    "data are empty": lambda c: c[: c.index(b"DATA;") + 5] + b"ENDSEC;\nEND-ISO-10303-21;",
}


@pytest.mark.parametrize("told", TEXTS)
def test_a_damaged_text_is_told_with_its_line_and_nothing_is_loaded(told, content, monkeypatch):
    monkeypatch.setattr(step, "_asked", lambda *_: pytest.fail("OpenCASCADE was asked"))
    fault = fault_of(TEXTS[told](content))
    assert told.replace("comment", "does not end") in fault and re.search(r"line \d+", fault)


def test_text_and_comments_may_hold_anything(content):
    odd = b"'it''s; #77777 (/* DATUM; '"
    assert not fault_of(content.replace(b"'gearbox'", odd).replace(b"DATA;", b"DATA;/* ' ( #9 */"))


def test_lost_pieces_of_any_size_never_make_fewer_parts_unsaid(content, tmp_path):
    """Pieces are cut out anywhere: refused, or all eight parts are there."""
    rng = np.random.default_rng(4)
    data = content.index(b"DATA;")
    refused = 0
    for _ in range(40):
        first = int(rng.integers(data, len(content) - 2))
        last = first + int(rng.choice([1, 3, 30, 3000]))
        try:
            assert len(read(tmp_path, content[:first] + content[last:])) == 8
        except ModelError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 20


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "rod.step"
    for radius in (10.0, 20.0, 15.0):
        write(str(path), {"rod": cylinder(0, 0, 0, radius, 100.0)})
        (part,) = parts_of(path)
        assert part.volume == pytest.approx(1e-7 * np.pi * radius**2, rel=1e-10)
        reach = np.abs(step.triangles_of(str(path), "rod")[:, :, 0]).max()
        assert reach == pytest.approx(1e-3 * radius, rel=1e-6)


def test_a_part_that_lost_a_face_is_named(content, tmp_path):
    lost = FACE.sub(b"CLOSED_SHELL('',(", content, count=1)
    with pytest.raises(ModelError, match="8 solids, of which OpenCASCADE can make 7: housing"):
        read(tmp_path, lost)


def test_corners_far_from_their_faces_are_no_part(content, tmp_path):
    far = content.replace(b"(0.,0.,10.)", b"(1.E308,0.,10.)")
    assert far != content
    with pytest.raises(ModelError, match="holds"):
        read(tmp_path, far)


def test_a_reader_that_falls_or_goes_too_far_ends_alone(content, tmp_path, monkeypatch):
    read(tmp_path, content)
    monkeypatch.setattr(asking, "SECONDS", 0.0)
    monkeypatch.setattr(asking, "SECONDS_PER_MB", 0.0)
    with pytest.raises(ModelError, match=r"OpenCASCADE cannot read it: it takes more than 0 s"):
        read(tmp_path, content + b"\n")
    monkeypatch.setattr(asking, "SECONDS", 60.0)
    monkeypatch.setattr(asking, "MEMORY", 1e6)
    monkeypatch.setattr(asking, "GROWTH", 0.0)
    with pytest.raises(ModelError, match="GB of memory"):
        read(tmp_path, content + b"\n\n")


def test_what_is_no_file_of_fit_size_is_told(tmp_path, content):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.step")
        with pytest.raises(ModelError, match="a pipe, no file"):
            parts_of(tmp_path / "pipe.step")
    large = tmp_path / "large.step"
    with open(large, "wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(ModelError, match="200 MB; a STEP file has at most 100"):
        parts_of(large)


def nested(path: Path) -> None:
    """A machine: a red rail, and twice one trolley of a blue plate and a plain pin."""
    from OCP.gp import gp_Trsf, gp_Vec
    from OCP.Quantity import Quantity_Color, Quantity_TypeOfColor
    from OCP.STEPCAFControl import STEPCAFControl_Writer
    from OCP.TCollection import TCollection_ExtendedString as Text
    from OCP.TDataStd import TDataStd_Name
    from OCP.TDocStd import TDocStd_Document
    from OCP.TopLoc import TopLoc_Location
    from OCP.XCAFDoc import XCAFDoc_ColorType, XCAFDoc_DocumentTool

    document = TDocStd_Document(Text("vbg"))
    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    colours = XCAFDoc_DocumentTool.ColorTool_s(document.Main())

    def named(label, name):
        TDataStd_Name.Set_s(label, Text(name))
        return label

    def part(name, solid, colour=None):
        label = named(tool.AddShape(solid, False), name)
        if colour is not None:
            made = Quantity_Color(*colour, Quantity_TypeOfColor.Quantity_TOC_sRGB)
            colours.SetColor(label, made, XCAFDoc_ColorType.XCAFDoc_ColorSurf)
        return label

    def put(whole, label, name, z):
        moved = gp_Trsf()
        moved.SetTranslation(gp_Vec(0, 0, z))
        named(tool.AddComponent(whole, label, TopLoc_Location(moved)), name)

    whole, trolley = named(tool.NewShape(), "machine"), named(tool.NewShape(), "trolley")
    put(trolley, part("plate", cylinder(0, 0, 0, 30, 10), (0.0, 0.0, 1.0)), "plate", 0.0)
    put(trolley, part("pin", cylinder(0, 0, 10, 5, 20)), "pin", 0.0)
    put(whole, part("rail", cylinder(0, 0, -50, 40, 50), (1.0, 0.0, 0.0)), "rail", 0.0)
    put(whole, trolley, "trolley", 0.0)
    put(whole, trolley, "trolley", 100.0)
    tool.UpdateAssemblies()
    writer = STEPCAFControl_Writer()
    writer.SetColorMode(True)
    writer.Transfer(document)
    writer.Write(str(path))


def test_a_level_makes_bodies_of_sub_assemblies(tmp_path, capsys):
    import vbg

    nested(tmp_path / "machine.step")
    parts = {part.name: part for part in parts_of(tmp_path / "machine.step")}
    assert {name: (part.within, part.colour) for name, part in parts.items()} == {
        "rail": (("machine",), "#ff0000"),
        "plate": (("machine", "trolley"), "#0000ff"),
        "pin": (("machine", "trolley"), ""),
        "plate_2": (("machine", "trolley_2"), "#0000ff"),
        "pin_2": (("machine", "trolley_2"), ""),
    }
    out = tmp_path / "machine.toml"
    told = ["import", str(tmp_path / "machine.step"), "-o", str(out), "--force"]
    plate, pin = np.pi * 0.03**2 * 0.01, np.pi * 0.005**2 * 0.02
    volumes = {"trolley": plate + pin, "trolley_2": plate + pin}
    rail = np.pi * 0.04**2 * 0.05
    for level, bodies in {
        None: {"rail": rail, "plate": plate, "pin": pin, "plate_2": plate, "pin_2": pin},
        0: {"machine": rail + 2 * (plate + pin)},
        1: {"rail": rail} | volumes,
        2: {"rail": rail, "plate": plate, "pin": pin, "plate_2": plate, "pin_2": pin},
    }.items():
        assert main([*told, *([] if level is None else ["--level", str(level)])]) == 0
        model = vbg.read(out)
        found = {name: body.mass for name, body in model.bodies.items()}
        assert found == {n: pytest.approx(7850 * v, rel=1e-10) for n, v in bodies.items()}
    assert main([*told, "--level", "1", "--ground", "rail"]) == 0
    model = vbg.read(out)
    assert set(model.bodies) == {"trolley", "trolley_2"}
    z = (plate * 0.005 + pin * 0.02) / (plate + pin)
    np.testing.assert_allclose(model.bodies["trolley_2"].position, [0, 0, 0.1 + z], atol=1e-12)
    assert "trolley" in capsys.readouterr().err
    assert main([*told, "--level", "-1"]) == 2


def test_colours_and_surfaces_are_drawn(tmp_path):
    import vbg
    from vbg.draw.film import film_of
    from vbg.draw.page import as_plain
    from vbg.tui.state.motion import motion_of

    nested(tmp_path / "machine.step")
    out = tmp_path / "machine.toml"
    told = ["import", str(tmp_path / "machine.step"), "-o", str(out), "--level", "1"]
    assert main(told) == 0
    model = vbg.read(out)
    film = film_of(model, vbg.simulate(model, t_end=1e-3, output_step=1e-3))
    rail, trolley, _ = film.bodies
    assert set(rail.tints) == {"#ff0000"} and set(trolley.tints) == {"#0000ff", ""}
    assert all(len(body.tints) == len(body.faces) for body in film.bodies)
    assert as_plain(film)["bodies"][0]["tints"] == list(rail.tints)
    for body in motion_of(model, None).bodies:
        for solid in body.solids:  # the surface lies in the box, and reaches its sides
            ends = solid.surface.ends.reshape(-1, 3)
            low, high = solid.corners.min(axis=0), solid.corners.max(axis=0)
            size = float((high - low).max())
            assert (ends > low - 1e-9).all() and (ends < high + 1e-9).all()
            np.testing.assert_allclose(np.ptp(ends, axis=0), high - low, atol=0.03 * size)
