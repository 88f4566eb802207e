"""What is printed, drawn and written: every group appears, driven lines are bold."""

import json

import pytest

from tests.structure.test_groups import CASES, read
from vbg.errors import UsageError
from vbg.structure import analyse_topology, from_pairs
from vbg.structure.count.diagram import draw, roman, structural_diagram, structural_graph
from vbg.structure.routes.transform import search_drives
from vbg.structure.show import proposed, structure_data, structure_text, transformations_text


@pytest.mark.parametrize("name", CASES)
def test_one_line_a_freedom(name):
    structure = analyse_topology(read(CASES[name]))
    text = structural_graph(structure).to_string()
    pairs = structure.topology.pairs
    assert text.count(" -- ") == sum(pair.grade for pair in pairs)
    assert text.count("penwidth=4") == structure.driven
    diagram = structural_diagram(structure).to_string()
    for group in structure.groups:
        assert f"SG-{roman(group.number)}\\n({len(group.bodies)}, {group.driven})" in diagram
    arrows = sum(len(group.needs) for group in structure.groups)
    arrows += sum(any(0 in pairs[i].ends for i in group.external) for group in structure.groups)
    assert diagram.count("->") == arrows


@pytest.mark.parametrize("ending", ["svg", "png", "dot"])
def test_pictures_are_written(tmp_path, ending):
    if ending != "dot":
        pytest.importorskip("pygraphviz")
    structure = analyse_topology(read(CASES["nine_bar_planar"]))
    for picture in ("graph", "diagram"):
        path = tmp_path / f"{picture}.{ending}"
        draw(structure, path, picture)
        assert path.stat().st_size > 300


def test_drawing_misuse(tmp_path):
    loose = analyse_topology(from_pairs(3, "12", [("1", "2", "R", 0)]))
    with pytest.raises(UsageError, match="no structural diagram"):
        draw(loose, tmp_path / "a.svg")
    with pytest.raises(UsageError, match=r"use \.svg"):
        draw(loose, tmp_path / "a.bmp", "graph")


def test_undriven_machines_show_what_drives_would_give():
    case = read(CASES["helicopter_rotor"])
    undriven = from_pairs(
        6,
        case.bodies,
        [(case.bodies[p.ends[0]], case.bodies[p.ends[1]], p.code, 0) for p in case.pairs],
    )
    structure = analyse_topology(undriven)
    solved = proposed(structure)
    assert solved is not None
    assert solved.determined
    text = structure_text(structure, workers=2)
    assert "With the drives proposed" in text
    assert "parallel levels" in text
    data = json.loads(json.dumps(structure_data(structure)))
    assert data["with_proposed_drives"]["determined"]
    assert proposed(solved) is None


def test_transformations_as_text():
    text = transformations_text(search_drives(read(CASES["nine_bar_planar"])), most=3)
    assert text.splitlines()[0].endswith("best first")
    assert "more" in text.splitlines()[-1]
    assert [roman(n) for n in (1, 4, 9, 14, 39, 40)] == ["I", "IV", "IX", "XIV", "XXXIX", "40"]
