"""Every shipped example shows itself: graphs at both levels, equations or the reason why not,
curves, an animation.

    VBG_PICTURES=folder python -m pytest tests/examples/test_pictures.py

keeps the pictures in `folder`, to be looked at.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

import vbg
from tests.tail import only, tail
from vbg.cli.main import main
from vbg.io.runs import hdf5

pytest.importorskip("matplotlib")
FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
FEW = ["slider-crank", "hydraulic-arm", "dc-motor-start", "half-car", "spatial-four-bar"]
ROWS = 40  # of a short run
SVG = "{http://www.w3.org/2000/svg}"


@cache
def model_of(name):
    return vbg.read(FOLDER / f"{name}.toml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    kept = os.environ.get("VBG_PICTURES")
    place = Path(kept) if kept else tmp_path_factory.mktemp("pictures")
    place.mkdir(parents=True, exist_ok=True)
    return place


@cache
def result_of(name, folder):
    """A short run: its beginning, where most examples move."""
    model = model_of(name)
    step = model.simulate.output_step
    end = min(model.simulate.t_end, ROWS * step)
    solution = vbg.simulate(vbg.assemble(model), t_end=end, output_step=step)
    target = folder / f"{name}.h5"
    hdf5.write(solution, target)
    return target


def texts(path):
    """All texts of a drawing; raises ParseError if it is no XML."""
    return [one.text or "" for one in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", tail(NAMES, 12))
def test_graph_at_both_levels(name, folder):
    pytest.importorskip("pygraphviz")
    graph = vbg.expand(model_of(name))
    parts = {vertex.part.partition(".")[2] for vertex in graph.vertices.values()}
    for level in ("word", "full"):
        target = folder / f"{name}-{level}.svg"
        command = ["show", "graph", str(FOLDER / f"{name}.toml"), "--level", level]
        assert main([*command, "-o", str(target)]) == 0
        shown = texts(target)
        if level == "word":
            assert parts <= set(shown)
        else:
            named = [one for one in shown if re.match(r"(0|1|TF|MTF|GY|MGY|Se|Sf|Sc|I|C|R)\b", one)]
            drawn = [v for v in graph.vertices.values() if v.kind != "EJS"]
            assert len(named) >= len(drawn)


@pytest.mark.parametrize("name", only([n for n in FEW if n != "hydraulic-arm"], NAMES))
def test_equations_or_the_polite_refusal(name, folder, capsys):
    pytest.importorskip("sympy")
    code = main(["show", "equations", str(FOLDER / f"{name}.toml"), "--numbers"])
    captured = capsys.readouterr()
    if code == 0:
        assert re.search(r"^\S.*' ?= ", captured.out, re.MULTILINE)
        (folder / f"{name}-equations.txt").write_text(captured.out, encoding="utf-8")
    else:
        assert code == 1
        assert "are written out" in captured.err or "no closed form" in captured.err


@pytest.mark.parametrize("name", only(FEW, NAMES))
def test_curves(name, folder):
    signals = [s for s in result_signals(name, folder) if s.endswith(SHOWN)][:3]
    if not signals:
        signals = [s for s in result_signals(name, folder) if not s.startswith("energy.")][:3]
    target = folder / f"{name}-plot.svg"
    assert main(["plot", str(result_of(name, folder)), *signals, "-o", str(target)]) == 0
    tags = [one.tag for one in ElementTree.parse(target).iter()]
    assert tags.count(f"{SVG}path") > 3


SHOWN = (".force", ".angle", ".slide", ".speed", ".current", ".pressure", ".voltage")


def result_signals(name, folder):
    return list(hdf5.read(result_of(name, folder)).signals)


@pytest.mark.parametrize("name", tail(NAMES, 12))
def test_animation(name, folder, capsys):
    target = folder / f"{name}.html"
    file = str(FOLDER / f"{name}.toml")
    command = ["animate", str(result_of(name, folder)), "--model", file, "-o", str(target)]
    code = main(command)
    if not model_of(name).bodies:
        assert code == 2 and "no bodies" in capsys.readouterr().err
        return
    assert code == 0
    page = target.read_text(encoding="utf-8")
    film = json.loads(re.search(r"const film = (\{.*\});\n", page)[1])
    assert [body["name"] for body in film["bodies"]] == list(model_of(name).bodies)
    assert all(body["faces"] or body["sticks"] for body in film["bodies"]), "nothing to see"
    assert not re.search(r'(src|href)\s*=\s*"', page), "the page asks for other files"
