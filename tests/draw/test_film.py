"""Films of results: bodies where the result has them, files that stand alone."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.cli.main import main
from vbg.draw.film import film_of
from vbg.draw.mesh import faces_of
from vbg.draw.page import write_page
from vbg.errors import UsageError
from vbg.fields import Shape
from vbg.io.runs import hdf5
from vbg.solution import Solution

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@cache
def run(name):
    model = vbg.read(next(p for p in EXAMPLES if p.stem == name))
    return model, vbg.simulate(vbg.assemble(model), t_end=0.05, output_step=0.005)


def volume(faces):
    """By the divergence theorem over triangles of outward faces."""
    total = 0.0
    for face in faces:
        for i in range(1, len(face) - 1):
            total += np.dot(face[0], np.cross(face[i], face[i + 1])) / 6
    return total


@pytest.mark.parametrize(
    ("kind", "sizes", "expected"),
    [
        ("box", {"x": 0.2, "y": 0.3, "z": 0.5}, 0.03),
        ("cylinder", {"radius": 0.2, "length": 0.5}, np.pi * 0.02),
        ("cone", {"radius": 0.2, "height": 0.6}, np.pi * 0.008),
        ("sphere", {"radius": 0.3}, 4 / 3 * np.pi * 0.027),
    ],
)
def test_meshes_are_closed_and_of_the_right_size(kind, sizes, expected):
    """Inscribed polygons of 20 sides lose less than 2 % of the area, spheres 7 %."""
    found = abs(volume(faces_of(Shape(kind, sizes, position=(0.1, -0.2, 0.3)))))
    assert found == pytest.approx(expected, rel=0.07 if kind == "sphere" else 0.02)


def test_film_keeps_poses_and_scales_the_largest_force():
    model, solution = run("slider-crank")
    film = film_of(model, solution, frames=5, traces=["conrod.C"])
    assert len(film.time) == 5
    assert [body.name for body in film.bodies] == list(model.bodies)
    assert_allclose(film.bodies[0].pose[-1, :3], solution["crank.position"][-1])
    path = film.traces[0][1]
    assert len(path) == len(solution.time)  # smooth however few the pictures
    rows = np.searchsorted(solution.time, film.time)
    assert_allclose(path[film.traced - 1], solution["conrod.C.position"][rows])
    longest = max(np.linalg.norm(j.force, axis=1).max() for j in film.joints)
    without = np.vstack([body.pose[:, :3] for body in film.bodies])
    machine = np.linalg.norm(np.ptp(without, axis=0))
    assert 0.25 * machine < longest * film.newton < 0.25 * film.size  # size: with the arrows
    assert film.bodies[0].faces == () and len(film.bodies[0].sticks) > 0  # no shape: sticks
    with pytest.raises(UsageError, match="no point or body"):
        film_of(model, solution, traces=["conrod.X"])


@pytest.mark.parametrize("path", tail(EXAMPLES, 12), ids=lambda p: p.stem)
def test_every_example_as_page(path, tmp_path):
    if not vbg.read(path).bodies:
        model = vbg.read(path)
        with pytest.raises(UsageError, match="no bodies"):
            film_of(model, Solution(np.zeros(1), {}))
        return
    model, solution = run(path.stem)
    target = tmp_path / "x.html"
    write_page(film_of(model, solution, frames=6), target)
    text = target.read_text(encoding="utf-8")
    assert "http" not in text  # nothing is fetched
    data = json.loads(re.search(r"^const film = (.*);$", text, re.M)[1])
    assert len(data["bodies"]) == len(model.bodies)
    assert np.all(np.isfinite([pose for body in data["bodies"] for pose in body["pose"]]))


def test_command_line_writes_gif_and_page(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    _, solution = run("slider-crank")
    model = next(p for p in EXAMPLES if p.stem == "slider-crank")
    result = tmp_path / "x.h5"
    hdf5.write(solution, result, model.read_text(encoding="utf-8"))
    gif, page = tmp_path / "x.gif", tmp_path / "x.html"
    assert main(["animate", str(result), "-o", str(gif), "--frames", "3"]) == 0
    assert gif.read_bytes()[:3] == b"GIF"
    assert main(["animate", str(result), "-o", str(page)]) == 0
    assert main(["animate", str(result), "-o", str(tmp_path / "x.avi")]) == 2
    assert ".html, .gif" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no browser")
def test_page_draws_in_a_browser(tmp_path):
    """The script runs to its clock: the page's own text shows the time asked for."""
    page = tmp_path / "x.html"
    write_page(film_of(*run("slider-crank"), frames=6), page)
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path}/profile",
            "--virtual-time-budget=1000",
            "--dump-dom",
            f"{page.as_uri()}?t=0.02",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "t = 0.020 s" in done.stdout


def test_parts_between_two_points_are_links():
    """A cylinder stands between the ground and the arm, a spring between two bodies."""
    (cylinder,) = film_of(*run("hydraulic-arm")).links
    assert (cylinder.name, cylinder.kind) == ("cylinder", "cylinder")
    assert sorted(number for number, _ in cylinder.ends) == [-1, 0]
    links = film_of(*run("coupled-pendulums")).links
    assert [link.kind for link in links] == ["spring"]
    assert {number for number, _ in links[0].ends} == {0, 1}


@pytest.mark.slow
def test_a_result_in_another_folder_finds_the_files_its_model_includes(tmp_path, monkeypatch):
    path = next(p for p in EXAMPLES if p.stem == "coupled-pendulums")
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(path.parent))
    result, page = tmp_path / "r.h5", tmp_path / "r.html"
    assert main(["run", str(path), "--t-end", "0.1", "-o", str(result)]) == 0
    assert main(["animate", str(result), "-o", str(page)]) == 0
    assert page.stat().st_size > 10_000
