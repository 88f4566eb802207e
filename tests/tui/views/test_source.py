"""The text of the file beside the tree: written in, completed, mended; cursor and tree in step."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.tui.conftest import MODEL
from vbg import units
from vbg.edit.source import line_of, path_at
from vbg.fields import declared
from vbg.model.catalogue import catalogue
from vbg.tui import make_app
from vbg.tui.content.model.completing import completions
from vbg.tui.picturing import screen_text, settled, typed

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))


def paths(data, at=()):
    """All tables and keys of a model file, two levels below its tables."""
    for key, value in data.items():
        yield (*at, key)
        if isinstance(value, dict) and len(at) < 2:
            yield from paths(value, (*at, key))


@pytest.mark.parametrize("file", EXAMPLES[::4], ids=lambda file: file.stem)
def test_the_line_of_a_key_is_about_that_key(file):
    """`path_at` is the inverse of `line_of`, wherever that finds a line of the key's own."""
    text = file.read_text("utf-8")
    lines, own = text.split("\n"), 0
    for path in paths(tomllib.loads(text)):
        line = line_of(text, path)
        key = re.match(r"[\w.-]*", lines[line - 1].lstrip().lstrip("[").replace('"', ""))
        if key is not None and key[0] in (str(path[-1]), ".".join(path)):
            assert path_at(text, line) == path, (line, lines[line - 1])
            own += 1
    assert own > 5


def offered(text: str) -> list[str]:
    """What fits at the mark | in `text`, added to the model."""
    before, _, after = text.partition("|")
    whole = f"{MODEL}{before}{after}\n"
    row = (MODEL + before).count("\n")
    column = len((MODEL + before).split("\n")[row])
    start, items = completions(tomllib.loads(MODEL), whole, row + 1, column)
    begun = (MODEL + before).split("\n")[row][start:]
    return [item.key for item in items if not begun or begun.lower() in item.label.lower()]


def test_what_fits_is_offered():
    assert offered("\n[jo|") == ["joints."]
    assert offered("\n[bodies.arm]\npoi|") == ["points = "]
    assert "yy = " in offered("\n[bodies.arm]\ninertia = { xx = 1, |")
    assert offered("\n[bodies.arm]\ninertia = { xx = 1, x|") == ["xy = "]
    assert offered("\n[joints.hinge]\nfriction = { visc|") == ["viscous = ", "viscous_back = "]
    assert "spherical" in offered('\n[joints.elbow]\nkind = "sph|')
    assert offered('\n[joints.hinge]\nbetween = ["rod.|') == ["rod.A", "rod.B"]
    assert offered('\n[bodies.rod]\nmass = "2 k|')[0] == "kg"
    assert '"L"' in offered("\n[bodies.rod]\nmass = |")
    assert "mass = " not in offered("\n[bodies.rod]\nmass = 1\n|")


def test_every_key_of_every_joint_is_offered():
    for kind, part in catalogue()["joints"].items():
        text = f'\n[joints.elbow]\nkind = "{kind}"\n'
        data = tomllib.loads(MODEL + text)
        rows = (MODEL + text).count("\n")
        _, items = completions(data, MODEL + text, rows + 1, 0)
        assert {item.label for item in items} == set(declared(part))


def test_every_unit_offered_is_of_the_quantity():
    for expected in ("kg", "N/m or N*m/rad", "Pa", "rad", "m^3/s", "K"):
        found = units.fitting(expected)
        assert len(found) > 0 and all(units.conversion(name, expected) for name in found)


async def test_what_is_typed_is_an_edit_and_the_tree_follows(model, tmp_path):
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.select(("bodies", "rod"))
        await typed(app, "t")
        await settled(app, pilot)
        source = app.main.panes["source"]
        assert source.area.cursor_location[0] + 1 == line_of(MODEL, ("bodies", "rod"))
        await typed(app, "down", "end", "backspace", "5")
        await settled(app, pilot)
        await typed(app, "7")
        await settled(app, pilot)
        assert app.work.data["bodies"]["rod"]["mass"] == 1.57
        assert app.work.document.position == 1, "of one line: one undo step"
        assert app.work.document.undo_label == "write line 8"
        journal = app.work.document.journal.file.read_text().splitlines()
        assert "mass = 1.57" in json.loads(journal[-1])["text"], "nothing that is typed is lost"
        await typed(app, *["down"] * 11)
        await settled(app, pilot)
        assert app.work.selection == ("simulate",), "the tree follows the cursor"
        assert "t_end: end of the run [s]" in screen_text(app)
        await typed(app, "escape", *"/rod", "enter", "escape")
        await settled(app, pilot)
        assert source.area.cursor_location[0] + 1 == line_of(MODEL, ("bodies", "rod"))
        await typed(app, "u")
        await settled(app, pilot)
        assert app.work.document.now.text == MODEL == source.area.text
        await typed(app, "escape", "escape")
        assert "source" not in app.main.rects and "inspector" in app.main.rects


async def test_a_broken_file_is_mended_inside(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text(MODEL.replace("axis = [0, 1, 0]", "axis = [0, 1, 0"))
    app = make_app(str(file))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await typed(app, "]", "t")
        await settled(app, pilot)
        line = app.work.problems[0].line
        row = app.main.panes["source"].area.cursor_location[0] + 1
        assert row == line and "✗" in screen_text(app)
        await typed(app, "up", "end", "]")
        await settled(app, pilot)
        assert app.work.checked.count("error") == 0 and app.work.document.now.broken is None
        assert app.work.data["joints"]["hinge"]["axis"] == [0, 1, 0]
        await typed(app, "enter", *"fric", "tab")
        await settled(app, pilot)
        assert "nothing is known that fits here" in app.work.message, "it is written already"


async def test_a_text_that_would_change_by_being_shown_is_not_written_in(tmp_path):
    file = tmp_path / "odd.toml"
    file.write_bytes(MODEL.replace("\n", "\r\n", 3).encode())
    app = make_app(str(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await typed(app, "t", "x")
        await settled(app, pilot)
        assert "line ends of several kinds" in app.work.message
        assert app.work.document.now.text == file.read_bytes().decode()
