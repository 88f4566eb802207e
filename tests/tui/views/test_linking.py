"""A topology entered in the terminal interface: the picture grows, the file holds what was said."""

from __future__ import annotations

import pytest

import vbg
from vbg.draw.text.marks import UNICODE
from vbg.draw.text.rows import plain
from vbg.structure import analyse_topology, read_topology
from vbg.structure.topology.entry import begun, with_pair
from vbg.tui.content.model.linking import graph_of, graph_rows, structure_of, verdict
from vbg.tui.picturing import press, screen_text, settled

FOUR_BAR = ("1 2 R 1", "2 3 S", "3 4 C", "4 1 P")  # Fig. 8 of Celdran, Saura and Dopico


async def say(app, pilot, *answers):
    """Each answer typed, with Enter."""
    for answer in answers:
        keys = ["space" if sign == " " else sign for sign in answer]
        await press(app, pilot, [*keys, "enter"])


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36)], ids=str)
async def test_the_picture_grows_with_every_pair(app_with_runs, size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = app_with_runs
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["L"])
        await say(app, pilot, "", "4")
        seen = [screen_text(app)]
        assert "4 ?" in seen[0] and "18 freedoms by count" in seen[0]
        for pair in FOUR_BAR:
            await say(app, pilot, pair)
            seen.append(screen_text(app))
        assert all(seen.count(text) == 1 for text in seen)
        assert "R*1" in seen[1] and "4 ?" in seen[1] and "4 ?" not in seen[3]
        assert "determined" in seen[4] and "1R3D" in seen[4] and "3 II" in seen[4]
        await say(app, pilot, "4 2 Q")
        assert "'Q' is no pair of Table 3" in screen_text(app)
        await press(app, pilot, ["ctrl+u", "ctrl+z"])
        assert "3 pairs" in screen_text(app)
        await say(app, pilot, "4 1 P", "")
        await press(app, pilot, [*"topology", "enter", "enter"])
        await settled(app, pilot)
    structure = analyse_topology(read_topology(tmp_path / "linkage.m"))
    assert [group.type_name for group in structure.groups] == ["1R3D", "1P1C1S3D"]


async def test_what_is_left_with_esc_is_kept(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["L"])
        await say(app, pilot, "plane", "3", "1 2 R 1", "")
        assert "not joined yet: 3" in screen_text(app), "a linkage with a loose body has no end"
        await press(app, pilot, ["escape"])
        assert "kept" in screen_text(app)
        await press(app, pilot, ["L"])
        assert "R*1" in screen_text(app)
        await press(app, pilot, ["ctrl+z", "ctrl+z", "ctrl+z"])
        assert "plane or space" in screen_text(app)
        await say(app, pilot, "plain")
        assert "neither plane nor space" in screen_text(app)


@pytest.mark.slow
async def test_a_linkage_is_made_a_machine(app_with_runs, tmp_path, monkeypatch):
    """The file is one that is assembled as it stands, and is open."""
    monkeypatch.chdir(tmp_path)
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["L"])
        await say(app, pilot, "plane", "4", "1 2 R 1", "2 3 R", "3 4 R", "4 1 R", "")
        await press(app, pilot, [*"machine", "enter", "enter"])
        while app.work.file.name != "linkage.toml":
            await pilot.pause(0.1)
    model = vbg.read(tmp_path / "linkage.toml")
    assert len(model.joints) == 4
    assert vbg.structure.analyse(model).determined


def entered(space, bodies, pairs):
    entry = begun(space, bodies)
    for pair in pairs:
        entry = with_pair(entry, pair)
    return entry


def test_every_body_and_pair_is_in_the_picture_once():
    pairs = [f"{i} {i + 1} R" for i in range(1, 9)]
    entry = entered("plane", "9", (*pairs, "9 1 R", "2 7 R"))
    drawing = graph_of(entry)
    labels = [vertex.label for vertex in drawing.vertices]
    assert labels[0] == "1 frame" and labels[1:9] == [str(i) for i in range(2, 10)]
    assert len(labels) == 9 + 10 and len(drawing.bonds) == 20
    text = "\n".join(plain(graph_rows(entry, 120, 40, UNICODE)))
    assert text.count("R") == 10 and "⇁" not in text
    assert structure_of(entry) is None and verdict(entry) == ("", "")


def test_as_many_drives_as_freedoms_in_the_wrong_place_are_told():
    """A triangle that is driven, beside a four-bar that nothing drives."""
    pairs = ("1 2 R 1", "2 3 R", "3 1 R", "1 4 R", "4 5 R", "5 6 R", "6 1 R")
    entry = entered("plane", "6", pairs)
    assert entry.driven == entry.mobility
    words, style = verdict(entry)
    assert style == "warn" and "over-constrained" in words
