"""Drawings of bond graphs: everything is in them, with the strokes of the causality."""

import re
from functools import cache
from pathlib import Path

import pytest

import vbg
from benchmarks.machines import chain
from vbg.cli.main import main
from vbg.draw import to_networkx, to_pydot
from vbg.draw.dot import dot
from vbg.draw.graph import draw_graph
from vbg.draw.wrapped import GAP, folded
from vbg.errors import UsageError

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@cache
def causal(path):
    return vbg.assign(vbg.expand(vbg.read(path)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_vertex_bond_and_stroke_is_drawn(path):
    found = causal(path)
    text = dot(found, "full")
    edges = re.findall(r'^"(.+)" -> "(.+)" \[(.*)\];$', text, re.M)
    assert len(edges) == len(found.graph.bonds)
    for (tail, head, attributes), bond in zip(edges, found.graph.bonds.values(), strict=True):
        assert (tail, head) == (bond.tail, bond.head)
        at_head = 'arrowhead="teelvee"' in attributes
        at_tail = 'arrowtail="tee"' in attributes
        assert (at_head, at_tail) == (
            found.strokes[bond.name] == "head",
            found.strokes[bond.name] == "tail",
        )
        assert ("invis" in attributes) == (bond.size > 1)
    for name in found.graph.vertices:
        assert f'"{name}" [' in text
    assert text.count("doubleoctagon") == len(found.constraints)


def test_networkx_holds_dimensions_strokes_and_kinds():
    found = causal(next(p for p in EXAMPLES if p.stem == "slider-crank"))
    graph = to_networkx(found)
    for name, v in found.graph.vertices.items():
        assert (graph.nodes[name]["kind"], graph.nodes[name]["size"]) == (v.kind, v.size)
    bonds = {key: (tail, head, data) for tail, head, key, data in graph.edges(keys=True, data=True)}
    assert bonds.keys() == found.graph.bonds.keys()
    for name, (tail, head, data) in bonds.items():
        bond = found.graph.bonds[name]
        assert (tail, head, data["size"]) == (bond.tail, bond.head, bond.size)
        assert data["stroke"] == found.strokes[name]
    acausal = to_networkx(found.graph)
    assert {data["stroke"] for *_, data in acausal.edges(data=True)} == {None}


def test_pydot_can_be_changed_and_drawn():
    """Its text is a graph that Graphviz reads with every vertex and bond."""
    pygraphviz = pytest.importorskip("pygraphviz")
    found = causal(next(p for p in EXAMPLES if p.stem == "slider-crank"))
    drawing = to_pydot(found)
    drawing.set_rankdir("TB")
    read = pygraphviz.AGraph(string=drawing.to_string())
    assert read.graph_attr["rankdir"] == "TB"
    assert set(read.nodes()) == set(found.graph.vertices)
    assert len(read.edges()) == len(found.graph.bonds)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_word_level_has_a_box_for_each_part(path):
    found = causal(path)
    parts = {vertex.part for vertex in found.graph.vertices.values()}
    assert dot(found, "word").count("shape=box") == len(parts)


def test_the_same_graph_gives_the_same_text():
    path = EXAMPLES[0]
    assert dot(causal(path)) == dot(vbg.assign(vbg.expand(vbg.read(path))))


def test_one_part_opens_among_its_neighbours():
    slider = next(p for p in EXAMPLES if p.stem == "slider-crank")
    text = dot(causal(slider), "B")
    assert text.count("subgraph") == 1
    assert '"bodies.crank" [' in text and '"bodies.conrod" [' in text
    assert "piston" not in text
    with pytest.raises(UsageError, match="no part 'engine'"):
        dot(causal(slider), "engine")


@pytest.mark.parametrize("ending", ["svg", "png", "dot"])
def test_files(tmp_path, ending):
    target = tmp_path / f"graph.{ending}"
    draw_graph(causal(EXAMPLES[0]), target, "word")
    start = target.read_bytes()[:200]
    assert {"svg": b"<?xml", "png": b"\x89PNG", "dot": b"digraph"}[ending] in start


def test_without_graphviz_matplotlib_draws(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(__import__("sys").modules, "pygraphviz", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    target = tmp_path / "graph.svg"
    pendulum = next(p for p in EXAMPLES if p.stem == "pendulum")
    draw_graph(causal(pendulum), target)
    assert "<svg" in target.read_text(encoding="utf-8")


def test_command_line(tmp_path, capsys):
    target = tmp_path / "x.svg"
    assert main(["show", "graph", str(EXAMPLES[0]), "-o", str(target), "--level", "word"]) == 0
    assert "<svg" in target.read_text(encoding="utf-8")
    assert main(["show", "graph", str(EXAMPLES[0]), "-o", str(tmp_path / "x.jpg")]) == 2
    assert ".svg, .png" in capsys.readouterr().err


def test_a_long_word_graph_is_folded_into_lines(tmp_path):
    """Sixty parts in a row become lines of a page, every part once, in reading order."""
    pytest.importorskip("pygraphviz")
    target = tmp_path / "chain.svg"
    draw_graph(vbg.assign(vbg.expand(chain(30))), target, "word")
    text = target.read_text(encoding="utf-8")
    width, height = map(float, re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups())
    assert 0.8 < width / height < 3.2
    for k in range(30):
        assert text.count(f">rod{k}</text>") == text.count(f">hinge{k}</text>") == 1


def test_folding_keeps_the_order_of_reading():
    places = {f"n{k}": (100.0 * k, 0.0) for k in range(40)}
    lines = folded(places)
    assert lines.keys() == places.keys()
    order = sorted(lines, key=lambda name: (-round(lines[name][1] / GAP), lines[name][0]))
    assert order == list(places)
    assert len(set(lines.values())) == len(lines)
