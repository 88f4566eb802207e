"""Nothing that stands in a user's file is ever interpreted: not as markup, not by the terminal."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.tui.conftest import MODEL, put_run, recorded
from vbg.io.runs import hdf5
from vbg.tui import make_app
from vbg.tui.picturing import press, screen_text, settled, typed
from vbg.tui.session.kept.journal import Journal
from vbg.tui.state.keys import VIEWS

NASTY = ("[red]x[/]", "[@click=app.quit]y[/]", "[/]", "[bold", "\\[z]", "$a{b}", "曲柄[b]")
ESCAPES = "\x1b[31mred\x1b[0m\x07"


def nasty_model() -> str:
    """A model whose every text is nasty; the names of its parts are no names."""
    lines = ["vbg = 1", f'name = "{NASTY[0]} {NASTY[1]}"', f"description = '{NASTY[2]}'"]
    lines += ["[parameters]", "L = { value = 0.5, note = '[red]note[/]', unit = 'm' }"]
    lines += ["bad = '[@click=app.quit]'", 'esc = "\\u001b[31mred\\u0007"']
    for name in NASTY:
        lines += [f"[bodies.'{name}']", "mass = '[red]1[/] kg'", f"points = {{ '{name}' = [0] }}"]
    lines += ["[joints.'[blink]j[/]']", "kind = '[red]revolute[/]'"]
    lines += [f"between = ['{NASTY[0]}.A', '[ground]']", "'[red]key[/]' = 1"]
    lines += ["[forces.'[i]f']", "kind = 'spring'", "between = ['[a]', '[b]']"]
    lines += ["[electric.'[i]e']", "kind = 'resistor'", "nodes = ['[a]', '[/b]']", "R = '[x]'"]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
async def test_a_file_of_markup_is_shown_as_it_is(tmp_path):
    file = tmp_path / "[red]m[b].toml"
    file.write_text(nasty_model(), encoding="utf-8")
    app = make_app(str(file))
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        shown = screen_text(app)
        for text in ("[red]m[b].toml", "[red]x[/] [@click=app", "[blink]j[/]", "曲柄[b]"):
            assert text in shown, text
        for path in (("parameters", "esc"), ("parameters", "bad"), ("joints", "[blink]j[/]")):
            app.select(path)
            app.main.activate("inspector")
            await press(app, pilot, ["e"])
            await typed(app, "escape", "escape")
            assert "\x1b" not in screen_text(app)
        for name in NASTY:
            app.select(("bodies", name))
            app.main.activate("tree")
            for key in ("c", "d", "R", "a", "w", "E", "?"):
                await typed(app, key)
                await settled(app, pilot)
                while app.screen is not app.main:
                    await typed(app, "escape")
                await typed(app, "escape", "1")
        for _ in range(app.work.checked.count("error") + 1):
            await typed(app, "]")
        app.act_id("history")
        await settled(app, pilot)
        assert app.is_running and app.screen is not app.main


async def test_names_in_results_and_dialogs_are_shown_as_they_are(model, monkeypatch):
    signals = recorded(0.0, "vbg").signals
    wild = {f"[red]x[/]{i}.force" if v.ndim > 1 else f"[@click=app.quit]{i}": v
            for i, v in enumerate(signals.values())}  # fmt: skip
    run = put_run(model, 1, "vbg")
    units = dict.fromkeys(wild, "[N]")
    hdf5.write(replace(recorded(0.0, "vbg"), signals=wild, units=units), run.result)
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        for number in range(1, len(VIEWS) + 1):
            await press(app, pilot, [str(number)])
        await press(app, pilot, ["4", "C", "space", "down", "space", "right", "X"])
        assert "[red]x[/]0.force.x" in screen_text(app)
        assert "[N]" in screen_text(app)
        app.work.say(f"{ESCAPES} [red]message[/]", "warn")
        app.main.paint()
        await pilot.pause()
        assert "[red]message[/]" in screen_text(app) and "\x1b" not in screen_text(app)


@pytest.mark.parametrize("title", ["[red]t[/]", "[@click=app.quit]t", "[/]"])
async def test_dialogs_show_titles_items_and_values_as_they_are(model, title):
    from vbg.tui.dialogs.ask import Ask
    from vbg.tui.dialogs.choose import Choose
    from vbg.tui.dialogs.read import Read
    from vbg.tui.state.items import Item

    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        marks = app.work.marks
        judge = lambda text: (f"{title} {text}", False)  # noqa: E731
        for dialog in (
            Ask(title, title, judge, marks, about=title),
            Choose(title, (Item("a", title, title), Item("b", "b", "", title)), marks),
            Read(title, (((title, "dim"),),), marks),
        ):
            app.push_screen(dialog)
            await pilot.pause()
            await typed(app, "x", "backspace")
            assert screen_text(app).count(title) >= 2
            await typed(app, "escape")
            await pilot.pause()


async def test_labels_of_recovered_edits_are_shown_as_they_are(model):
    from vbg.edit.commands import SetValue
    from vbg.tui.session.kept.document import Document

    journal = Journal.start(model, MODEL)
    document = Document.opened(model, MODEL, journal)
    document.apply(SetValue(("parameters", "L"), "[red]1[/]", "set [red]L[/]"))
    file = next(journal.file.parent.glob("*.journal"))
    journal.close()
    file.rename(file.with_name(file.name.replace(str(os.getpid()), "999999")))
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if app.screen is not app.main:
                break
        await typed(app, "l", "o", "o", "k", "enter")
        await pilot.pause(0.3)
        assert "set [red]L[/]" in screen_text(app)
