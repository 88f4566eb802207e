"""The application, driven by keys: everything promised is on the screen and answers."""

from __future__ import annotations

import random

import pytest
from textual import events
from textual.app import App

from tests.tui.conftest import MODEL, put_run, put_validation
from vbg.tui import make_app
from vbg.tui.driver import TypingDriver
from vbg.tui.picturing import press, screen_text, settled, typed
from vbg.tui.state import arrange
from vbg.tui.state.keys import TABLE, VIEWS

SIZES = [(60, 18), (80, 24), (120, 36), (160, 48)]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_promised_pane_is_inside_the_screen(app_with_runs, size):
    """`display` is not enough: a pane may be displayed beyond the edge."""
    app = app_with_runs
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        for number, view in enumerate(VIEWS, 1):
            await press(app, pilot, [str(number)])
            expected = arrange.arrange(view, *size, app.main.active, "")
            for name, rect in expected.items():
                pane = app.main.panes[name]
                assert pane.display and pane.region == rect, (view, name, pane.region, rect)
                assert app.screen.region.contains_region(pane.region)
            assert app.main.active in expected
            hidden = set(app.main.panes) - set(expected)
            assert not any(app.main.panes[name].display for name in hidden)


async def test_views_show_what_was_recorded(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        seen = {}
        for number, view in enumerate(VIEWS, 1):
            await press(app, pilot, [str(number)])
            seen[view] = screen_text(app)
    assert "hinge  revolute ground-rod.A" in seen["edit"]
    assert "hinge" in seen["graph"] and "⇁" in seen["graph"]
    assert "finished at t = 2 s" in seen["run"] and "energy residual 1e-9" in seen["run"]
    assert "[x] hinge.force.x" in seen["plot"] and "N" in seen["plot"]
    assert "PASS" in seen["validate"] and "VACUOUS" in seen["validate"]
    assert "rod" in seen["space"] and "longest arrow of the run" in seen["space"]


async def test_a_monkey_breaks_nothing(app_with_runs, model):
    """It may open another model by the palette; that of the file is not its to write."""
    app = app_with_runs
    generator = random.Random(3)
    names = sorted({k for a in TABLE for key in a.keys for k in key.split(" ") if k})
    names = [
        n for n in names if n not in ("ctrl+q", "ctrl+e", "r", "f5", "R", "ctrl+s", "m", "ctrl+n")
    ]
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        for i in range(250):
            await typed(app, generator.choice([*names, "escape", "enter", "x"]))
            if i % 80 == 79:
                await pilot.resize_terminal(generator.randint(20, 170), generator.randint(6, 50))
        for _ in range(4):
            await typed(app, "escape")
        await settled(app, pilot)
        app.work.document.go(0)
        assert app.work.document.now.text == MODEL or app.work.file != model
        assert model.read_text() == MODEL and app.is_running


def test_what_is_taken_from_inside_the_library_is_still_there(model):
    """Its public names have no way to hear of an error nobody expected, nor to read keys."""
    assert callable(App._handle_exception) and callable(App._fatal_error)
    assert make_app(str(model)).driver_class is TypingDriver


async def test_what_is_selected_is_selected_everywhere(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        app.select(("joints", "hinge"))
        await settled(app, pilot)
        assert app.work.graph.marked_part == "joints.hinge"
        await press(app, pilot, ["4"])
        assert app.main.panes["signals"].lines()[0].name.startswith("hinge.")
        await press(app, pilot, ["6"])
        assert "hinge force" in screen_text(app)
        await press(app, pilot, ["2", "right"])
        assert app.work.selection[1] in ("rod", "hinge")


async def test_a_field_is_edited_checked_and_taken_back(model):
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.select(("bodies", "rod"))
        app.main.activate("inspector")
        await press(app, pilot, ["e"])
        await typed(app, *"-1")
        await typed(app, "enter")
        assert "must be above 0" in screen_text(app) or "must" in screen_text(app)
        assert app.screen is not app.main, "the refused value stays in its field"
        await typed(app, "home", "delete", "enter")
        await settled(app, pilot)
        assert app.work.data["bodies"]["rod"]["mass"] == 1
        await typed(app, "e", *"nonsense", "enter")
        assert "nonsense" in screen_text(app) and app.screen is not app.main
        await typed(app, "escape")
        await press(app, pilot, ["d"])
        assert "mass" not in app.work.data["bodies"]["rod"]
        await settled(app, pilot)
        assert app.work.checked.count("error") == 1
        await press(app, pilot, ["u"])
        assert app.work.data["bodies"]["rod"]["mass"] == 1


async def test_problems_lead_to_their_field(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(
        MODEL.replace("axis = [0, 1, 0]", "axis = [0, 0, 0]").replace("rod.A", "rodd.A")
    )
    app = make_app(str(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert app.work.checked.count("error") == 2
        await typed(app, "r")
        await settled(app, pilot)
        assert not app.work.runs, "a model with errors is not run"
        seen = set()
        for _ in range(2):
            await typed(app, "]")
            await settled(app, pilot)
            seen.add(app.main.panes["inspector"].marked.label)
        assert seen == {"between", "axis"}
        assert "rod" in app.work.message, "the nearest name is offered"


async def test_keys_typed_ahead_reach_the_dialog(model):
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await typed(app, "/", *"hin", "enter")
        await settled(app, pilot)
        assert app.work.filter == "hin"
        assert app.work.selection == ("joints", "hinge")


async def test_what_comes_into_sight_is_drawn(model):
    """By a larger screen, and by Tab on a small one."""
    app = make_app(str(model))
    async with app.run_test(size=(60, 18)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["tab"])
        assert app.main.active == "graph" and "hinge" in screen_text(app)
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.resize_terminal(160, 48)
        await settled(app, pilot)
        assert "2 of 2 vertices" in screen_text(app) and "drawing ..." not in screen_text(app)


async def test_keys_typed_before_the_first_frame_are_done(model):
    """They must not hold up what they wait for."""
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.main.complete = False
        for key in "Gk":
            app.post_message(events.Key(key, key))
        await pilot.pause()
        assert app.work.selection == () and len(app.keyboard.typed) == 2
        app.main.complete = True
        app.keyboard.go_on()
        await settled(app, pilot)
        assert app.work.selection == ("simulate",)
        await typed(app, "/", "r", "o", "d", "enter", "c")
        await settled(app, pilot)
        assert "rod1" in app.work.data["bodies"]


async def test_plot_signals_cursor_zoom(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4", "C"])
        await press(app, pilot, ["3", "4"])
        assert app.work.plot.signals == ()  # also when the view is entered again
        await press(app, pilot, ["space", "down", "space"])
        assert len(app.work.plot.signals) == 2
        await press(app, pilot, ["P", "+", "+"])
        low, high = app.work.plot.window
        assert high - low == pytest.approx(0.5)
        assert low <= app.work.plot.cursor <= high
        for _ in range(60):
            await typed(app, "right")
        low, high = app.work.plot.window
        assert low <= app.work.plot.cursor <= high
        await press(app, pilot, ["0", "v"])
        assert app.work.view == "space"
        assert app.work.space.time == app.work.plot.cursor


async def test_validate_tolerance_and_events(model):
    put_validation(model, put_run(model, 1, "vbg"), put_run(model, 2, "mstmm", seed=1e-3))
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5"])
        assert "FAIL: NOT VALIDATED" in screen_text(app)
        await press(app, pilot, ["v"])
        assert app.work.validate.verdict.excluded
        await typed(app, "t", *"0.01", "enter")
        await settled(app, pilot)
        assert app.work.validate.verdict.result == "PASS"
        await press(app, pilot, ["enter"])
        assert app.work.view == "space"


async def test_a_changed_model_has_no_verdict_and_its_runs_are_marked(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        app.select(("bodies", "rod"))
        await press(app, pilot, ["c", "5"])
        assert "INCONCLUSIVE" in screen_text(app)
        await press(app, pilot, ["3"])
        assert "model changed since" in screen_text(app)


async def test_the_animation_plays_and_stops_at_the_end(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["6"])
        await typed(app, *"s" * 20, "space")
        assert app.work.space.playing  # so slowly that it still does
        await typed(app, *"S" * 26)
        for _ in range(5000):
            await pilot.pause(0.02)
            if not app.work.space.playing:
                break
        assert app.work.space.time == 2.0


async def test_jump_letters_palette_theme_zoom(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["ctrl+o"])
        assert "s: model" in screen_text(app)
        await press(app, pilot, ["s"])
        assert app.main.active == "inspector"
        await press(app, pilot, ["z"])
        assert app.main.panes["inspector"].region.width == 80
        await press(app, pilot, ["escape"])
        assert app.main.zoomed == ""
        await typed(app, "ctrl+p", *"theme", "enter")
        await settled(app, pilot)
        await typed(app, *"contrast", "enter")
        await settled(app, pilot)
        assert app.theme == "vbg-contrast"
        background = app.words[""].bgcolor
        assert background is not None and background.get_truecolor().hex == "#000000"


async def test_the_mouse_marks_and_switches(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        row = [r.path for r in app.main.panes["tree"].lines].index(("joints", "hinge"))
        await pilot.click("#tree", offset=(6, row + 1))
        assert app.work.selection == ("joints", "hinge")
        await pilot.click("#tabs", offset=(3 + screen_text(app).splitlines()[1].index("4 Plot"), 0))
        await settled(app, pilot)
        assert app.work.view == "plot"


@pytest.mark.parametrize("view", VIEWS)
async def test_ascii_marks_leave_nothing_but_ascii(model, view):
    put_run(model, 1, "vbg")
    put_run(model, 2, "mstmm")
    app = make_app(str(model), marks="ascii")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, [str(VIEWS.index(view) + 1)])
        odd = {c for c in screen_text(app) if not c.isascii()}
        assert not odd


async def test_no_colour_is_grey_and_states_have_words(model, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(str(model), theme="ansi-dark")
    assert app.theme == "vbg-dark", "an ansi theme without colour may be black on black"
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        picture = app.export_screenshot()
        assert "✓ 0 errors" in screen_text(app)
        import re

        for colour in re.findall(r"fill: #([0-9a-f]{6})", picture):
            red, green, blue = colour[:2], colour[2:4], colour[4:]
            if colour == "c5c8c6":
                continue  # of the picture's own frame
            assert red == green == blue, colour


async def test_an_unexpected_error_leaves_a_report_and_the_journal(model, monkeypatch, tmp_path):
    app = make_app(str(model))
    with pytest.raises(ZeroDivisionError):
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(app, pilot)
            app.select(("bodies", "rod"))
            await press(app, pilot, ["c"])
            app.call_later(lambda: 1 / 0)
            await pilot.pause(0.2)
    assert app.report is not None
    said = app.report.read_text()
    app.report.unlink()  # one that is left is a fault of the test
    assert "ZeroDivisionError" in said and MODEL not in said
    from vbg.tui.session.kept.recovery import abandoned

    (found,) = abandoned(model)
    assert found.unsaved == 1


async def test_a_parameter_takes_its_value_with_another_unit(tmp_path):
    file = tmp_path / "demo.toml"
    file.write_text(MODEL.replace("L = 0.5   # metres", 'L = { value = 0.5, unit = "m" } # arm'))
    app = make_app(str(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.select(("parameters", "L"))
        app.main.activate("inspector")
        await press(app, pilot, ["e"])
        await typed(app, *"60", "space", *"cn", "enter")
        assert app.screen is not app.main, "an unknown unit stays in the field"
        await typed(app, "backspace", "m", "enter")
        await settled(app, pilot)
        assert app.work.data["parameters"]["L"] == {"value": 60, "unit": "cm"}
        assert app.work.document.undo_label == "set parameters.L.value 0.5 m → 60 cm"
        assert "# arm" in app.work.document.now.text
        assert app.work.checked.model.parameters["L"] == pytest.approx(0.6)


async def test_a_drawing_that_comes_after_the_answer_finds_no_place_and_does_no_harm(model):
    """The drawing is made in a thread, which ends when it likes."""
    from textual.geometry import Size

    from vbg.tui.dialogs.choose import Choose
    from vbg.tui.state.items import Item

    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        dialog = Choose("which", (Item("a", "a"),), app.work.marks, picture=lambda *_: ())
        app.push_screen(dialog)
        await pilot.pause()
        assert dialog.query("#picture")
        await typed(app, "escape")
        await pilot.pause()
        assert not dialog.query("#picture")
        await dialog._drawn("a", Size(20, 5))


@pytest.mark.slow
async def test_what_was_typed_before_narrows_no_choice_behind_it(model):
    """Events of a field are behind fast keys: Enter took what an older text had marked."""
    from textual.widgets import Input

    from vbg.tui.dialogs.choose import Choose
    from vbg.tui.state.items import Item

    app = make_app(str(model))
    answers = []
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        items = (Item("ground", "ground"), Item("place", "ground at ..."))
        dialog = Choose("which", items, app.work.marks)
        app.push_screen(dialog, answers.append)
        await pilot.pause()
        await typed(app, *"ground", "space", "a", "t")
        dialog.on_input_changed(Input.Changed(dialog.field, "g"))
        await typed(app, "enter")
        await pilot.pause()
        assert answers == ["place"]
