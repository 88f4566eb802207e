"""The key table and the arrangement of panes: complete, reachable, inside the screen."""

from __future__ import annotations

import re
import sys

import pytest

from vbg.tui import make_app
from vbg.tui.actions import handler
from vbg.tui.content import bars, helping
from vbg.tui.picturing import screen_text, settled, typed
from vbg.tui.state import arrange, keys
from vbg.tui.state.keys import TABLE, Keymap, read_keymap

SIZES = [(60, 18), (79, 24), (80, 24), (100, 30), (119, 40), (120, 36), (160, 48), (250, 70)]


def test_every_action_does_something_and_says_what():
    for action in TABLE:
        do, _ = handler(action)
        assert callable(do), action.id
        assert action.label and action.help, action.id
    assert len({action.id for action in TABLE}) == len(TABLE)


def test_no_key_is_one_that_terminals_lose():
    for action in TABLE:
        assert not any(keys.is_banned(key) for key in action.keys), action.id
    assert keys.is_banned("alt+x") and keys.is_banned("ctrl+b") and not keys.is_banned("ctrl+q")


@pytest.mark.parametrize("view", keys.VIEWS)
def test_a_key_means_one_thing_in_one_place(view):
    for pane in arrange.ORDER[view]:
        for scope in ("", view, f"pane:{pane}"):
            used = [key for a in TABLE if a.scope == scope for key in a.keys]
            assert len(used) == len(set(used)), (scope, used)
        everything = [key for a in Keymap().here(view, pane) for key in a.keys]
        prefixes = {key.split(" ")[0] for key in everything if " " in key and len(key) > 1}
        for prefix in prefixes:
            action = Keymap().find(prefix, view, pane)
            assert action is None or Keymap().continues(prefix, view, pane), prefix


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", keys.VIEWS)
def test_panes_tile_the_screen(view, size):
    width, height = size
    for pane in arrange.ORDER[view]:
        for zoomed, sliding in (("", False), (pane, False), ("", True)):
            rects = arrange.arrange(view, width, height, pane, zoomed, sliding=sliding)
            cells = [
                (x, y)
                for r in rects.values()
                for x in range(r.x, r.x + r.width)
                for y in range(r.y, r.y + r.height)
            ]
            assert len(cells) == len(set(cells)) == width * height
            assert all(r.width > 0 and r.height > 0 for r in rects.values())
            if zoomed:
                assert pane in rects


@pytest.mark.parametrize("size", [(60, 18), (80, 24)])
async def test_the_popup_has_every_key_that_may_follow(model, size):
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        await typed(app, "a")
        while "popup" not in app.main.rects:
            await pilot.pause(0.05)
        await pilot.pause()
        seen = screen_text(app)
        for action in app.work.keymap.continues("a", "edit", "tree"):
            assert re.search(rf" {action.keys[0][2]}  +{action.label}", seen), action.id


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", keys.VIEWS)
def test_every_pane_that_has_keys_can_be_reached_by_tab(view, size):
    active = arrange.FIRST[view]
    seen = set()
    for _ in range(12):
        rects = arrange.arrange(view, *size, active, "")
        assert active in rects
        seen.add(active)
        panes = arrange.focusable(view, rects)
        active = panes[(panes.index(active) + 1) % len(panes)]
    wanted = {p for p in arrange.ORDER[view] if p not in arrange.PASSIVE}
    if size[0] < arrange.NARROW:
        assert seen == wanted
    else:
        assert seen == {p for p in wanted if p in rects}


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("view", keys.VIEWS)
def test_footer_entries_are_whole_and_can_be_clicked(view, width):
    for pane in arrange.ORDER[view]:
        actions = keys.footer_entries(Keymap(), view, pane)
        row, spots = bars.footer(actions, width)
        text = "".join(part for part, _ in row)
        assert len(text) == width and "…" not in text
        assert text.rstrip().endswith("^p palette")
        for first, last, id in spots[:-1]:
            action = Keymap().by_id(id)
            assert action.label in text[first : last + 1]
        assert len(spots) >= 5


def test_help_names_all_keys_of_a_pane():
    rows = helping.help_rows(Keymap(), "plot", "curves")
    text = "\n".join("".join(part for part, _ in row) for row in rows)
    for action in Keymap().here("plot", "curves"):
        assert not action.keys or action.help in text


def test_the_keymap_file_changes_keys_and_bad_lines_are_told(tmp_path):
    file = tmp_path / "keymap.toml"
    assert read_keymap(file).complaints == ()
    file.write_text('[keys]\n"edit.delete" = ["D"]\nrun = "ctrl+b"\nnonsense = "x"\nsave = 3\n')
    keymap = read_keymap(file)
    assert keymap.find("D", "edit", "tree").id == "edit.delete"
    assert keymap.find("d", "edit", "tree") is None
    assert keymap.find("r", "edit", "tree").id == "run"
    assert len(keymap.complaints) == 3
    file.write_text("[keys")
    assert read_keymap(file).actions == TABLE and len(read_keymap(file).complaints) == 1


def test_the_core_does_not_load_a_terminal_library():
    import subprocess

    code = (
        "import sys, vbg, vbg.cli.main, vbg.tui\n"
        "vbg.cli.main.build_parser()\n"
        "assert 'textual' not in sys.modules\n"
        "import vbg.draw.text.curves, vbg.draw.text.bonds, vbg.draw.text.wire\n"
        "import vbg.tui.session.kept.document, vbg.tui.session.solving.jobs, vbg.tui.session.runs\n"
        "assert 'textual' not in sys.modules and 'rich' not in sys.modules\n"
        "import vbg.tui.app\n"
        "heavy = {'scipy', 'numba', 'h5py', 'sympy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_frame_waits_for_nothing_heavy():
    import subprocess

    code = (
        "import sys, vbg.tui.app\n"
        "from vbg.tui.panes import first_panes\n"
        "first_panes()\n"
        "heavy = {'numpy', 'vbg.model', 'vbg.solution'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
