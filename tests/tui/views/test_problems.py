"""Problems can be read and mended at every size; what the mouse and the clipboard do."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from textual import events

from tests.edit.test_mechanism import DOOR
from tests.tui.conftest import MODEL
from vbg.edit.mechanism import start_problems
from vbg.errors import UsageError
from vbg.tui import make_app
from vbg.tui.picturing import press, screen_text, settled
from vbg.tui.session.kept.document import digest
from vbg.tui.session.runs import Run, remember, runs_folder

BAD = MODEL.replace('"rod.A"]', '"rodd.A"]').replace(
    'hinge]\nkind = "revolute', 'hinge]\nkind = "revolut'
)
SIZES = [(60, 18), (80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_remedy_is_read_and_done_by_keys(tmp_path, size):
    file = tmp_path / "bad.toml"
    file.write_text(BAD)
    app = make_app(str(file), marks="unicode")
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        if size[0] >= 80:
            assert "Did you mean" in screen_text(app), "without a key"
        await press(app, pilot, ["]", "!"])
        seen = screen_text(app)
        assert "Did you mean" in seen and "1: " in seen and "Enter goes to the place" in seen
        await press(app, pilot, ["1"])
        await press(app, pilot, ["!", "1"])
        assert app.work.checked.count("error") == 0
        assert app.work.document.now.text == MODEL
        assert "problems" not in app.main.rects or size[0] >= 120
        await press(app, pilot, ["u", "u"])
        assert app.work.document.now.text == BAD, "each fix is one step"


async def test_a_broken_text_is_mended_by_its_number(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(MODEL.replace("mass = 1.0", "mass = 3 kg"))
    app = make_app(str(file), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert app.work.document.now.broken is not None
        await press(app, pilot, ["!"])
        assert '1: line 8: write "3 kg"' in screen_text(app)
        await press(app, pilot, ["1"])
        assert app.work.document.now.text == MODEL.replace("mass = 1.0", 'mass = "3 kg"')
        assert not app.work.checked.count("error")
        await press(app, pilot, ["u"])
        assert app.work.document.now.broken is not None, "one step"


async def test_what_a_run_says_of_the_start_is_a_problem_of_its_text(tmp_path):
    """It is mended by a number, in one step, and is no problem of another text."""
    file = tmp_path / "door.toml"
    file.write_text(DOOR)
    told = tuple(asdict(problem) for problem in start_problems(DOOR, str(file)))
    remember(Run(1, "vbg", digest(DOOR), str(result_of(file)), "finished", told=told))
    app = make_app(str(file), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "1 warning" in screen_text(app)
        await press(app, pilot, ["!"])
        seen = screen_text(app)
        assert "redundant" in seen and "1: delete joints.high" in seen
        await press(app, pilot, ["1"])
        assert "high" not in app.work.data["joints"]
        assert not app.work.problems
        await press(app, pilot, ["u"])
        assert len(app.work.problems) == 1


def result_of(file):
    """An empty file where the first run of a model would be."""
    result = runs_folder(file) / "0001-vbg.h5"
    result.touch()
    return result


async def test_all_of_a_long_problem_is_there(tmp_path):
    """In a low pane it is scrolled, in its dialog all of it is seen."""
    file = tmp_path / "bad.toml"
    parts = "".join(f"\n[parameters.p{i}]\nvalue = 1\nunitt = 'm'\n" for i in range(20))
    file.write_text(MODEL + parts)
    app = make_app(str(file), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert len(app.work.problems) >= 20
        app.main.activate("problems")
        await press(app, pilot, ["end"])
        assert app.work.problems[-1].where in screen_text(app)
        await press(app, pilot, ["enter"])
        words = " ".join(screen_text(app).replace("│", " ").split())
        assert app.work.problems[-1].remedy in words


async def drag(app, pilot, pane: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Move the mouse with its button down, in cells of the pane."""
    widget = app.main.panes[pane]
    x0, y0 = widget.region.offset
    await pilot.mouse_down(widget, offset=start)
    steps = 4
    before = start
    for i in range(1, steps + 1):
        at = tuple(a + (b - a) * i // steps for a, b in zip(start, end, strict=True))
        dx, dy = at[0] - before[0], at[1] - before[1]
        sx, sy = x0 + at[0], y0 + at[1]
        widget.post_message(
            events.MouseMove(widget, *at, dx, dy, 1, False, False, False, sx, sy, None)
        )
        before = at
        await pilot.pause()
    await pilot.mouse_up(widget, offset=end)
    await pilot.pause()


async def test_curves_are_zoomed_and_moved_by_the_mouse(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4"])
        curves = app.main.panes["curves"]
        await drag(app, pilot, "curves", (20, 10), (50, 10))
        low, high = app.work.plot.window
        assert 0.0 < low < high < 2.0, "a box about a part of the time"
        await drag(app, pilot, "curves", (50, 10), (40, 10))
        assert app.work.plot.window[0] > low, "pulled to the left, later times come"
        assert app.work.plot.window[1] - app.work.plot.window[0] == pytest.approx(high - low)
        size = high - low
        curves.wheel("up", 30)
        low, high = app.work.plot.window
        assert high - low == pytest.approx(0.8 * size)
        assert curves.time_at(30) == pytest.approx(low + (high - low) * 0.5, abs=size)
        curves.double_clicked()
        assert app.work.plot.window is None


async def test_the_machine_is_turned_by_the_mouse(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["6"])
        before = app.work.space
        await drag(app, pilot, "space", (40, 10), (50, 14))
        assert app.work.space.azimuth != before.azimuth
        assert app.work.space.elevation > before.elevation
        app.main.panes["space"].wheel("up", 10)
        assert app.work.space.zoom > before.zoom


async def test_a_double_click_edits_and_tabs_are_clicked(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        app.select(("bodies", "rod"))
        await pilot.click("#inspector", offset=(6, 1))
        assert app.screen is app.main, "one click marks"
        await pilot.click("#inspector", offset=(6, 1), times=2)
        await pilot.pause()
        assert app.screen is not app.main, "two edit"
        await press(app, pilot, ["escape"])
        row = screen_text(app).splitlines()[0]
        await pilot.click("#status", offset=(row.index("4 Plot"), 0))
        assert app.work.view == "plot"


async def test_what_is_marked_is_copied(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        app.select(("joints", "hinge"))
        app.main.activate("tree")
        await press(app, pilot, ["y"])
        assert app.clipboard.startswith("[joints.hinge]") and "viscous = 0.05" in app.clipboard
        await press(app, pilot, ["5"])
        app.main.activate("verdict")
        await press(app, pilot, ["y"])
        assert "PASS" in app.clipboard


async def test_a_run_is_never_its_own_overlay(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4", "o", "enter"])
        behind = app.work.plot.overlay
        assert behind
        await press(app, pilot, ["R", *f"run {behind}".replace(" ", ""), "enter"])
        assert app.work.plot.overlay != app.work.plot.run


def test_an_unknown_theme_is_refused(model):
    with pytest.raises(UsageError, match="no such theme"):
        make_app(str(model), theme="nightly")


async def test_the_theme_is_kept(model):
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.act_id("theme")
        await pilot.pause()
        await press(app, pilot, [*"contrast", "enter"])
        assert app.theme == "vbg-contrast"
    assert make_app(str(model)).theme == "vbg-contrast"


async def test_a_cylinder_is_asked_where_it_acts(model):
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["a", "h", *"cylinder", "enter"])
        assert "where does it act" in screen_text(app)
        await press(app, pilot, ["down", "enter", "enter"])
        asked = []
        while app.screen is not app.main:
            asked.append(app.screen.heading)
            if app.screen.heading == "cylinder: stroke":
                await press(app, pilot, [*"2"])
            await press(app, pilot, ["enter"])
            assert len(asked) < 9, asked
        (name,) = app.work.data["hydraulic"]
        part = app.work.data["hydraulic"][name]
        assert part["on"] == "joints.hinge" and part["stroke"] == 2 and "length" in part
        mine = [p for p in app.work.problems if p.where.startswith(f"hydraulic.{name}")]
        assert not [p for p in mine if p.severity == "error" and "needs" in p.what]
