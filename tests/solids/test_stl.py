"""STL files as shapes: polyhedra weighed in closed form, what is open only drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vbg.draw.mesh import faces_of
from vbg.errors import ModelError
from vbg.io import urdf
from vbg.model import Model
from vbg.solids.stl import open_edges, triangles_of

CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
SIZES = np.array([30.0, 20.0, 50.0])  # [mm]


def block(faces=FACES) -> np.ndarray:
    """A box from the origin on, two triangles a face, in mm."""
    found = []
    for face in faces:
        a, b, c, d = (CORNERS[i] * SIZES for i in face)
        found += [(a, b, c), (a, c, d)]
    return np.array(found)


def write(path: Path, triangles: np.ndarray, *, binary: bool) -> Path:
    if binary:
        kind = np.dtype([("numbers", "<f4", (4, 3)), ("rest", "<u2")])
        records = np.zeros(len(triangles), kind)
        records["numbers"][:, 1:] = triangles
        head = b"solid in name only".ljust(80) + len(triangles).to_bytes(4, "little")
        path.write_bytes(head + records.tobytes())
        return path
    lines = ["solid block"]
    for corners in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in corners]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid block"]))
    return path


def model(folder: Path, shape: dict, **body) -> Model:
    return Model.from_document({"bodies": {"b": {"shape": shape, **body}}}, str(folder / "m.toml"))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_closed_surface_weighs_what_it_encloses(tmp_path, binary, turned):
    triangles = block()[:, ::-1] if turned else block()
    write(tmp_path / "block.stl", triangles, binary=binary)
    shape = {"stl": "block.stl", "unit": "mm", "density": 1000.0, "position": [1, 0, 0]}
    body = model(tmp_path, shape).bodies["b"]
    x, y, z = 1e-3 * SIZES
    assert body.mass == pytest.approx(1000 * x * y * z, rel=1e-12)
    exact = body.mass / 12 * np.array([y**2 + z**2, z**2 + x**2, x**2 + y**2])
    np.testing.assert_allclose(body.inertia[:3], exact, rtol=1e-10)
    np.testing.assert_allclose(body.inertia[3:], 0.0, atol=1e-10 * exact.max())
    drawn = np.array(faces_of(body.shape[0])).reshape(-1, 3)
    np.testing.assert_allclose(drawn.min(axis=0), -0.5e-3 * SIZES, atol=1e-9)  # from the centre


def test_an_open_surface_is_drawn_and_not_weighed(tmp_path):
    write(tmp_path / "open.stl", block(FACES[:5]), binary=False)
    assert open_edges(triangles_of(tmp_path / "open.stl")) == 4
    with pytest.raises(ModelError, match="4 edges are open"):
        model(tmp_path, {"stl": "open.stl", "density": 1.0})
    with pytest.raises(ModelError, match="not closed"):
        model(tmp_path, {"stl": "open.stl"}, mass=1.0)
    written = {"mass": 2.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    body = model(tmp_path, {"stl": "open.stl", "unit": "mm"}, **written).bodies["b"]
    assert body.mass == 2.0 and len(faces_of(body.shape[0])) == 10


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"solid x\nvertex 1 2 three", "damaged"),
        (b"MESH" * 40, "no STL file, or is cut off"),
        (b"solid nothing", "no triangles"),
    ],
)
def test_what_is_no_stl_is_told(tmp_path, content, said):
    (tmp_path / "x.stl").write_bytes(content)
    with pytest.raises(ModelError, match=said):
        model(tmp_path, {"stl": "x.stl", "density": 1.0})


ROBOT = """<robot name="arm"><link name="base"/><link name="link">
  <inertial><mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2"/></inertial>
  <visual><origin xyz="0.1 0 0"/><geometry><mesh filename="package://arm/meshes/block.stl"
    scale="0.001 0.001 0.001"/></geometry></visual>
  <visual><geometry><mesh filename="package://arm/meshes/none.dae"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="link"/></joint></robot>"""


def test_meshes_of_a_robot_are_drawn_where_they_are_found(tmp_path):
    folder = tmp_path / "arm"
    (folder / "meshes").mkdir(parents=True)
    write(folder / "meshes" / "block.stl", block(), binary=True)
    (folder / "urdf").mkdir()
    (folder / "urdf" / "arm.urdf").write_text(ROBOT)
    found, notes = urdf.read(folder / "urdf" / "arm.urdf", output=folder / "arm.toml")
    (shape,) = found.bodies["link"].shape
    assert (shape.kind, shape.file, shape.unit) == ("stl", "meshes/block.stl", "mm")
    assert any("1 of its meshes" in note for note in notes)
    np.testing.assert_allclose(shape.position, [0.1, 0, 0])
    elsewhere, notes = urdf.read(folder / "urdf" / "arm.urdf", output=tmp_path / "far" / "x.toml")
    assert not elsewhere.bodies["link"].shape
    assert any("2 of its meshes" in note for note in notes)


def ball(radius: float, count: int) -> np.ndarray:
    """An octahedron whose faces are split `count` times and pushed out to a sphere."""
    x, y, z = np.eye(3)
    found = [(i * x, j * y, k * z)[:: i * j * k] for i in (1, -1) for j in (1, -1) for k in (1, -1)]
    for _ in range(count):
        halves = [((a, b, c), (a + b, b + c, c + a)) for a, b, c in found]
        found = [
            tuple(corner / np.linalg.norm(corner) for corner in corners)
            for (a, b, c), (ab, bc, ca) in halves
            for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        ]
    return radius * np.array(found)


@pytest.mark.parametrize("turned", [False, True])
def test_triangles_are_a_solid_of_the_same_measures(tmp_path, turned):
    """OpenCASCADE's integrals over the faces beside the sums over tetrahedra, also where the file
    has its triangles the other way round; and a box has six faces, not twelve."""
    pytest.importorskip("OCP")
    from vbg.solids.made import part_from, surface_of

    for name, triangles in (("block", block()), ("ball", ball(40.0, 2))):
        written = triangles[:, ::-1] if turned else triangles
        write(tmp_path / f"{name}.stl", written, binary=name == "ball")
        shape = {"stl": f"{name}.stl", "unit": "mm", "density": 2000, "position": [0.1, 0, 0]}
        solid = model(tmp_path, shape).bodies["b"].shape[0]
        part, own = part_from(solid), solid.measured
        assert part.volume == pytest.approx(own.volume, rel=1e-6)
        np.testing.assert_allclose(part.centre, 0.0, atol=1e-7)  # shapes count from it
        if name == "block":
            assert len(surface_of(solid)) == 12


def test_what_no_solid_can_be_made_of_is_told(tmp_path, monkeypatch):
    from vbg.solids import made

    pytest.importorskip("OCP")
    write(tmp_path / "open.stl", block()[2:], binary=False)
    write(tmp_path / "two.stl", np.vstack([block(), block() + 200.0]), binary=False)
    write(tmp_path / "fine.stl", ball(1.0, 3), binary=True)
    monkeypatch.setattr(made, "MOST_FACETS", 500)
    for name, said in (
        ("open", "encloses no solid: 4 edges"),
        ("two", "are 2 closed surfaces"),
        ("fine", "has 512 triangles"),
    ):
        inertia = {"xx": 1.0, "yy": 1.0, "zz": 1.0}
        body = model(tmp_path, {"stl": f"{name}.stl"}, mass=1.0, inertia=inertia).bodies["b"]
        with pytest.raises(ModelError, match=said):
            made.part_from(body.shape[0])


def test_a_ball_of_triangles_passes_through_a_block_of_triangles(tmp_path):
    """A ball of radius 0.2 m on a slide, into a face at x = 1 m: deep by 0.1 m where its centre
    is at 0.9 m."""
    pytest.importorskip("OCP")
    from vbg.analysis.interference import interference

    write(tmp_path / "ball.stl", ball(0.2, 3), binary=True)
    write(tmp_path / "wall.stl", block() / SIZES, binary=True)
    table = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    bodies = {
        "ball": table | {"shape": {"stl": "ball.stl"}},
        "wall": table | {"shape": {"stl": "wall.stl", "position": [1.0, -0.5, -0.5]}},
    }
    document = {"vbg": 1, "name": "m", "bodies": bodies}
    machine = Model.from_document(document, str(tmp_path / "m.toml"))
    time, still = np.array([0.0, 1.0, 2.0]), np.zeros((3, 3))
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    signals = {"ball.rotation": upright, "wall.rotation": upright, "wall.position": still}
    signals["ball.position"] = np.array([[0.0, 0.0, 0.0], [0.7, 0.0, 0.0], [0.9, 0.0, 0.0]])
    (found,) = interference(machine, time, signals).overlaps
    assert (found.first, found.second, found.begin) == ("ball", "wall", 2.0)
    assert found.depth == pytest.approx(0.1, rel=1e-6)
    cap = np.pi * 0.1**2 * (3 * 0.2 - 0.1) / 3
    assert 0.95 * cap < found.volume < cap  # 512 triangles lie within their ball
