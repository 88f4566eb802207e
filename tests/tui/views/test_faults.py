"""Errors of vbg's own: told and reported, the document as it was; and what comes too late."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest
from textual.events import Key
from textual.screen import ModalScreen

from benchmarks.speed.tui import reports
from tests.tail import tail
from vbg.tui import make_app
from vbg.tui.app import VbgApp
from vbg.tui.picturing import screen_text, settled, typed


def _break(*_: object, **__: object) -> None:
    raise ZeroDivisionError("a fault")


def took_reports(state: Path) -> str:
    """The reports there are, and remove them."""
    said = reports(state)
    for file in (state / "vbg").glob("crash-*.txt"):
        file.unlink()
    return said


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        ("vbg.tui.tasks.checking.check_text", "apk\r2\r"),
        ("vbg.tui.state.graphing.made", "apq\r1\r2"),
        ("vbg.tui.state.motion.motion_of", "6"),
        ("vbg.tui.content.model.tree.tree_row", "j"),
        ("vbg.edit.commands.SetValue.change_text", "apk\r2\r"),
        ("vbg.tui.content.helping.help_rows", "?"),
    ],
)
async def test_an_error_of_its_own_is_told_and_ends_nothing(
    app_with_runs, monkeypatch, tmp_path, place, keys
):
    """In the check, a drawing, a pane, an edit, a dialog: every key does what it did before."""
    app = app_with_runs
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        with monkeypatch.context() as patch:
            patch.setattr(place, _break)
            await typed(app, *_names(keys))
            await settled(app, pilot)
            assert "an error of vbg's own, nothing is lost; report:" in screen_text(app)
        said = took_reports(tmp_path / "state")
        assert said.count("ZeroDivisionError: a fault") == 1, said
        await typed(app, *_names("1apz\r3\r"))
        await settled(app, pilot)
        assert app.work.data["parameters"]["z"] == 3
        assert app.work.checked.count("error") == 0 and app.report is None
        assert "parameters" in screen_text(app).lower()


def _names(keys: str) -> list[str]:
    return ["enter" if key == "\r" else key for key in keys]


async def test_a_burst_that_answers_dialogs_before_they_are_painted(model):
    """What is done after the next painting finds the dialog answered and its widgets gone."""
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        for i in range(5):
            await typed(app, *_names(f"apk{i}\r{i}\r"))
        await typed(app, *_names("/L\r"), "escape", *_names("ap"), "escape", *_names("e7\r"))
        await settled(app, pilot)
        parameters = app.work.data["parameters"]
        assert parameters == {"L": 7} | {f"k{i}": i for i in range(5)}


BURSTS = (
    *("4P+", "5t0.01\re", "4o1\rD", "5jj\r", "26  d", "1apk\r1\r2kke", "4ll2...4+", "52jj2hy"),
    *("2O5jg", "6.t2.", "4jj ll", "42lk\ro", "1]", "1apk\rnothing\r]", "3j\rj "),
)


@pytest.mark.parametrize("keys", tail(BURSTS, 2))
async def test_keys_faster_than_what_they_are_about_wait_for_it(app_with_runs, monkeypatch, keys):
    """Checks, graphs, results, motions and verdicts that take long, at random: each key does what
    it does later on."""
    late, chance = asyncio.to_thread, random.Random(keys)

    async def slowly(function, *words):
        await asyncio.sleep(chance.choice((0.0, 0.02, 0.2)))
        return await late(function, *words)

    ends = []
    for patient in (True, False):
        app = make_app(str(app_with_runs.work.file), marks="unicode")
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "to_thread", slowly)
            async with app.run_test(size=(100, 30)) as pilot:
                await settled(app, pilot)
                for key in _names(keys):
                    await typed(app, key)
                    if patient:
                        await settled(app, pilot)
                await settled(app, pilot)
                ends.append(_seen(app))
                # a graph that nobody waited for is there once somebody looks
                while isinstance(app.screen, ModalScreen):  # a question without an answer
                    await typed(app, "escape")
                    await settled(app, pilot)
                await typed(app, "2")
                await settled(app, pilot)
                graph = app.work.graph
                assert graph is not None
                ends[-1]["graph"] = (graph.mark, graph.opened, graph.zoom, graph.text_hash)
    assert ends[0] == ends[1]


def _seen(app: VbgApp) -> dict[str, object]:
    """What keys can have done to what is looked at."""
    work = app.work
    return {
        "panes": (work.view, app.main.active, app.main.zoomed),
        "marked": (work.selection, work.field_index, work.signal_index, work.channel_index),
        "problem": (work.problem_index, work.checked.problems),
        "shown": (work.plot, work.space),
        "said": work.message,
        "text": work.document.now.text,
    }


async def test_what_comes_while_vbg_is_left_finds_no_screen(model, monkeypatch):
    """Its timers fire and keys come when the last screen is gone already."""
    monkeypatch.setattr("vbg.tui.app.WATCH_SECONDS", 1e-3)
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
    assert app.front is None and not app.listens()
    app.keyboard.put(Key("j", "j"))
    app.show_run(app.keyboard.heard)
    assert app.report is None


async def test_answers_that_come_late_are_for_nobody(app_with_runs, monkeypatch):
    """Checks, graphs, motions and results that take long, while the user does other things."""
    late, now = asyncio.to_thread, [0.0]

    async def slowly(function, *words):
        now[0] = (now[0] + 0.037) % 0.1
        return await late(lambda: (time.sleep(now[0]), function(*words))[1])

    monkeypatch.setattr(asyncio, "to_thread", slowly)
    app = app_with_runs
    written = app.work.document.now.text
    async with app.run_test(size=(160, 48)) as pilot:
        for view in "236415623145":
            await typed(app, view, *_names("apk\r1\r"), "u", *"oo")
        await typed(app, "1", *_names("/rod\r"), "escape", "d", "enter", "6", "2", "5", "4")
        await settled(app, pilot)
        # what the keys found there, a graph or none yet, says what they did; all of it comes back
        await typed(app, "escape", "escape", *"u" * 20, "1")
        await settled(app, pilot)
        assert app.work.document.now.text == written
        assert app.work.checked.text_hash == app.work.document.now.hash
        assert app.work.checked.count("error") == 0
