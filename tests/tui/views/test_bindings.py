"""Every action of the key table does what it says, by each of its keys.

A case says where an action is tried, what is pressed before, and what it must
change; an action without a case fails the first test.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.tail import only
from tests.tui.conftest import CLASH, MODEL
from vbg.tui import make_app
from vbg.tui.actions.model import nudging
from vbg.tui.actions.results import running, validating
from vbg.tui.app import VbgApp
from vbg.tui.content.results import plotting
from vbg.tui.panes.source import Source
from vbg.tui.picturing import settled, typed
from vbg.tui.state.keys import TABLE, VIEWS, Action
from vbg.tui.state.workspace import Nudges, PlotState, SpaceState, ValidateState
from vbg.tui.tasks import bonding

Watch = Callable[[VbgApp], Any]
QUICK = ["graph", "run", "validate"]  # others press tens of keys
SLOW = 1 / 32  # of the time of the machine: what plays still does when it is looked at
HINGE, ROD = ("joints", "hinge"), ("bodies", "rod")


@dataclass(frozen=True)
class Case:
    """What an action must change: `watch` is another value afterwards, `to` if given.

    `before` are keys pressed first, in `view` and `pane`, with `part` selected.
    """

    watch: Watch
    to: Any = None
    before: tuple[str, ...] = ()
    view: str = ""
    pane: str = ""
    part: tuple[str, ...] = ROD
    clash: bool = False


def view(app: VbgApp) -> str:
    return app.work.view


def active(app: VbgApp) -> str:
    return app.main.active


def selection(app: VbgApp) -> Any:
    return app.work.selection


def text(app: VbgApp) -> str:
    return app.work.document.now.text


def written(app: VbgApp) -> str:
    """What the pane of the text shows."""
    pane = app.main.panes["source"]
    assert isinstance(pane, Source)
    return pane.area.text


def dialog(app: VbgApp) -> str:
    """The title of the dialog that is open."""
    return getattr(app.screen, "heading", "")


def message(app: VbgApp) -> str:
    return app.work.message


def on_disk(app: VbgApp) -> str:
    assert app.work.file is not None
    return app.work.file.read_text()


def plot(name: str) -> Watch:
    return lambda app: getattr(app.work.plot, name)


def space(name: str) -> Watch:
    return lambda app: getattr(app.work.space, name)


def graph(name: str) -> Watch:
    return lambda app: getattr(app.work.graph, name)


def started(app: VbgApp) -> list[str]:
    """The solvers that were started; the runs themselves are replaced by this list."""
    return list(STARTED)


STARTED: list[str] = []
SUSPENDED: list[bool] = []
EDIT, GRAPH, RUN, PLOT, VALIDATE, SPACE = (
    {"view": name} for name in ("edit", "graph", "run", "plot", "validate", "space")
)

CASES: dict[str, Case] = {
    **{f"view.{name}": Case(view, name, view="run" if name != "run" else "plot") for name in VIEWS},
    "pane.next": Case(active, "inspector", view="edit", pane="tree"),
    "pane.previous": Case(active, "tree", view="edit", pane="inspector"),
    "move.up": Case(selection, ("bodies",), **EDIT, pane="tree"),
    "move.down": Case(selection, ("joints",), **EDIT, pane="tree"),
    "move.left": Case(selection, ("bodies",), **EDIT, pane="tree"),
    "move.right": Case(active, "inspector", **EDIT, pane="tree"),
    "move.page_up": Case(selection, **EDIT, pane="tree"),
    "move.page_down": Case(selection, **EDIT, pane="tree"),
    "move.first": Case(selection, (), **EDIT, pane="tree"),
    "move.last": Case(selection, ("outputs",), **EDIT, pane="tree"),
    "enter": Case(active, "inspector", **EDIT, pane="tree"),
    "back": Case(lambda app: app.main.zoomed, "", ("z",), **EDIT),
    "undo": Case(text, MODEL, ("c",), **EDIT),
    "redo": Case(text, None, ("c", "u"), **EDIT),
    "history": Case(dialog, "History", ("c",), **EDIT),
    "save": Case(on_disk, None, ("c",), **EDIT),
    "save.as": Case(dialog, "Save as", **EDIT),
    "new": Case(dialog, "New from template", **EDIT),
    "linkage": Case(dialog, "Linkage", **EDIT),
    "open": Case(dialog, "Open", **EDIT),
    "editor": Case(text, None, **EDIT),
    "run": Case(started, ["vbg"], **EDIT),
    "run.mstmm": Case(started, ["mstmm"], **EDIT),
    "nudge.less": Case(lambda app: app.work.data["bodies"]["rod"]["mass"], 0.9, **EDIT),
    "sweep": Case(dialog, "Values of bodies.rod.mass", **EDIT),
    "study": Case(dialog, "Study", **EDIT),
    "nudge.more": Case(lambda app: app.work.data["bodies"]["rod"]["mass"], 1.1, **EDIT),
    "cancel": Case(message, "Cancel: nothing is running", **EDIT),
    "why": Case(view, "graph", **EDIT),
    "problem.next": Case(message, view="edit", clash=True),
    "problem.previous": Case(message, view="edit", clash=True),
    "filter": Case(dialog, "Filter", **EDIT),
    "filter.next": Case(selection, None, ("/", "h", "i", "n", "enter", "k"), **EDIT, pane="tree"),
    "zoom": Case(lambda app: app.main.zoomed, "tree", **EDIT, pane="tree"),
    "export": Case(dialog, "Export", **PLOT),
    "jump": Case(lambda app: app.main.jumping, True, **EDIT),
    "picture": Case(message, "Picture: Graph, Run, Plot and 3D have a picture", **EDIT),
    "palette": Case(dialog, "Commands", **EDIT),
    "theme": Case(dialog, "Theme", **EDIT),
    "help": Case(dialog, "Help: Model", **EDIT, pane="tree"),
    "add": Case(lambda app: app.main.prefix, "a", **EDIT),
    "add.body": Case(dialog, "body: mass", **EDIT),
    "add.frame": Case(dialog, "frame: on", **EDIT),
    "add.joint": Case(dialog, "Add a joint", **EDIT),
    "add.force": Case(dialog, "Add a force", **EDIT),
    "add.on": Case(dialog, "Add on a joint", **EDIT),
    "add.electric": Case(dialog, "Add an electric part", **EDIT),
    "add.hydraulic": Case(dialog, "Add a hydraulic part", **EDIT),
    "add.rotational": Case(dialog, "Add a rotational part", **EDIT),
    "add.translational": Case(dialog, "Add a translational part", **EDIT),
    "add.signal": Case(dialog, "Add a signal", **EDIT),
    "add.vertex": Case(dialog, "Add a vertex", **EDIT),
    "add.parameter": Case(dialog, "Name of the parameter", **EDIT),
    "add.solid": Case(dialog, "Add a body by its dimensions", **EDIT),
    "add.fmu": Case(dialog, "fmu: file", **EDIT),
    "add.beam": Case(dialog, "beam: between: end A", **EDIT),
    "add.measure": Case(dialog, "Name of the measure", **EDIT),
    "edit.field": Case(dialog, "bodies.rod.mass", **EDIT, pane="inspector"),
    "edit.delete": Case(
        lambda app: "[joints.hinge]" in text(app), False, **EDIT, pane="tree", part=HINGE
    ),
    "edit.rename": Case(dialog, "Rename rod", **EDIT, pane="tree"),
    "edit.copy": Case(lambda app: "rod1" in app.work.data["bodies"], True, **EDIT, pane="tree"),
    "edit.text": Case(active, "source", **EDIT, pane="tree"),
    "source.complete": Case(dialog, "What fits here", ("end", "enter"), **EDIT, pane="source"),
    "source.leave": Case(active, "tree", **EDIT, pane="source"),
    "source.undo": Case(written, MODEL, ("end", "space", "x"), **EDIT, pane="source"),
    "graph.in": Case(graph("zoom"), 2, **GRAPH),
    "graph.out": Case(graph("zoom"), 0, **GRAPH),
    "graph.open": Case(graph("opened"), frozenset({"bodies.rod"}), **GRAPH),
    "graph.all": Case(lambda app: len(app.work.graph.opened) > 1, True, **GRAPH),
    "powers.play": Case(space("playing"), True, **GRAPH),
    "powers.back": Case(plot("cursor"), 0.98, **GRAPH),
    "powers.step": Case(plot("cursor"), 1.02, **GRAPH),
    "graph.next": Case(graph("conflict"), 0, **GRAPH, clash=True),
    "graph.goto": Case(view, "edit", **GRAPH),
    "graph.fixes": Case(dialog, "Conflict 1 of 1", **GRAPH, clash=True),
    "problem.show": Case(dialog, "Error 1 of 1", view="edit", clash=True),
    "copy": Case(lambda app: app.clipboard, "1", **EDIT, pane="inspector"),
    "redraw": Case(message, "painted again", **EDIT),
    "suspend": Case(lambda app: list(SUSPENDED), [True], **EDIT),
    "run.cancel": Case(message, "Cancel: nothing is running", **RUN),
    "run.plot": Case(view, "plot", **RUN),
    "run.other": Case(started, ["mstmm"], **RUN),
    "run.delete": Case(dialog, "Remove run 2 MSTMM, finished at t = 2 s?", **RUN),
    "runs.pin": Case(lambda app: app.work.marked_run.pinned, **RUN),
    "runs.note": Case(dialog, "Note on run 2 MSTMM", **RUN),
    "runs.open": Case(dialog, "Open a result", **RUN),
    "sweep.table": Case(dialog, "Runs: signals as in Plot; c writes runs.csv", **RUN),
    "run.pause": Case(lambda app: app.work.live_paused, **RUN),
    "plot.toggle": Case(plot("signals"), **PLOT),
    "plot.clear": Case(plot("signals"), (), **PLOT),
    "plot.in": Case(plot("window"), (0.5, 1.5), **PLOT),
    "plot.out": Case(plot("window"), (0.5, 1.5), ("+", "+"), **PLOT),
    "plot.fit": Case(lambda app: plot("window")(app) is None, True, ("+",), **PLOT),
    "plot.split": Case(plot("split"), True, **PLOT),
    "plot.x": Case(plot("x"), **PLOT),
    "plot.overlay": Case(dialog, "Compare with", **PLOT),
    "plot.energy": Case(dialog, "This run kept no energies of its parts", **PLOT),
    "plot.rank": Case(plot("ranked"), True, ("o", "enter"), **PLOT),
    "live.toggle": Case(active, "sliders", **PLOT),
    "plot.run": Case(dialog, "Show the run", **PLOT),
    "plot.peak": Case(plot("cursor"), **PLOT),
    "plot.space": Case(view, "space", ("right",), **PLOT),
    "validate.events": Case(lambda app: app.work.validate.settings.skip_events, True, **VALIDATE),
    "validate.tolerance": Case(dialog, "Tolerance, relative to each channel's peak", **VALIDATE),
    "validate.rerun": Case(started, ["both"], **VALIDATE),
    "validate.worst": Case(view, "space", **VALIDATE),
    "validate.goto": Case(view, "edit", **VALIDATE),
    "space.play": Case(space("playing"), True, **SPACE),
    "space.back": Case(space("time"), 0.98, **SPACE),
    "space.step": Case(space("time"), 1.02, **SPACE),
    "space.in": Case(space("zoom"), 1.25, **SPACE),
    "space.out": Case(space("zoom"), 0.8, **SPACE),
    "space.fit": Case(space("zoom"), 1.0, ("+",), **SPACE),
    "space.forces": Case(space("forces"), False, **SPACE),
    "space.trace": Case(space("trace"), "rod", **SPACE),
    "space.look": Case(space("look"), "dots", **SPACE),
    "space.cut": Case(space("cut"), True, **SPACE),
    "space.ghosts": Case(space("ghosts"), True, **SPACE),
    "space.iso": Case(space("azimuth"), **SPACE),
    "space.slower": Case(space("speed"), SLOW / 2, **SPACE),
    "space.faster": Case(space("speed"), 2 * SLOW, **SPACE),
    "quit": Case(lambda app: (app._exit, dialog(app)), (True, ""), **EDIT),
}


def test_every_action_has_a_case():
    assert {action.id for action in TABLE} == set(CASES)


def test_every_action_has_words_and_every_scope_is_one():
    for action in TABLE:
        assert action.label and action.help, action.id
        assert action.scope.removeprefix("pane:") in ("", *VIEWS, "source"), action.id


@pytest.fixture
def nothing_runs(monkeypatch, tmp_path):
    """Solvers are not started but noted; the editor appends a comment."""

    async def simulate(app, solver):
        STARTED.append(solver)

    async def both(app):
        STARTED.append("both")

    async def bring(app, *, asked=False):
        pass

    async def nudge(app):
        app.work.nudges = Nudges()

    monkeypatch.setattr(running, "simulate", simulate)
    monkeypatch.setattr(nudging, "_follow", nudge)
    monkeypatch.setattr(validating, "_both", both)
    monkeypatch.setattr(bonding, "bring", bring)
    monkeypatch.setattr(VbgApp, "suspend", lambda self: nullcontext())
    monkeypatch.setattr(VbgApp, "action_suspend_process", lambda self: SUSPENDED.append(True))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nfor file; do :; done\necho "# mine" >> "$file"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    # a run that is removed stays on disk for the next case
    monkeypatch.setattr(running, "forget", lambda run: None)


async def brought_back(app: VbgApp, pilot, case: Case, runs: tuple) -> None:
    """Everything as it was opened, then the scene of `case`."""
    while app.screen is not app.main:
        await typed(app, "escape")
    work = app.work
    app.main.jumping, app.main.zoomed, work.texted, work.sliding = False, "", False, False
    app.main.set_prefix("")
    work.document.go(0)
    if on_disk(app) != text(app):
        work.file.write_text(text(app))
        app._watch_file()
    await settled(app, pilot)
    work.runs, work.run_index, work.filter, work.signal_filter = runs, -1, "", ""
    work.problem_index, work.live_paused, work.channel_index = -1, False, 0
    work.validate, work.space = ValidateState(), SpaceState(time=1.0, speed=SLOW)
    if not case.clash:
        solution = work.solutions.get(1)
        chosen = plotting.default_signals(solution, "hinge") if solution is not None else ()
        work.plot = PlotState(run=1, signals=chosen)
        app.select(case.part)
    if work.graph is not None:
        work.graph = replace(work.graph, opened=frozenset(), conflict=-1, zoom=1)
    STARTED.clear()
    SUSPENDED.clear()
    app.copy_to_clipboard("")
    app.main.show_view(case.view)
    app.main.activate(case.pane)
    await settled(app, pilot)
    work.say("")
    await typed(app, *case.before)
    await settled(app, pilot)


async def tried(app: VbgApp, pilot, action: Action) -> None:
    """Every key of `action`, and its name for one that has none, from the same scene."""
    case = CASES[action.id]
    runs = app.work.runs
    for keys in (*action.keys, "")[: max(len(action.keys), 1)]:
        await brought_back(app, pilot, case, runs)
        before = case.watch(app)
        if not keys:
            app.act_id(action.id)
        else:
            await typed(app, *(keys.split(" ") if len(keys) > 1 else [keys]))
        await settled(app, pilot)
        for _ in range(50):
            if case.watch(app) != before:
                break
            await pilot.pause(0.02)
        after = case.watch(app)
        where = f"{action.id} by {keys or 'name'}"
        assert after != before, f"{where}: nothing happened, still {before!r}"
        if case.to is not None:
            assert after == case.to, where


@pytest.mark.parametrize("scope", only(QUICK, sorted({CASES[a.id].view for a in TABLE})))
async def test_every_key_does_what_the_table_says(app_with_runs, nothing_runs, scope):
    app = app_with_runs
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        for action in TABLE:
            case = CASES[action.id]
            if case.view == scope and not case.clash and action.id != "quit":
                await tried(app, pilot, action)


async def test_every_key_of_a_conflict_does_what_the_table_says(tmp_path, nothing_runs):
    file = tmp_path / "clash.toml"
    file.write_text(CLASH)
    app = make_app(str(file))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        for action in TABLE:
            if CASES[action.id].clash:
                await tried(app, pilot, action)


async def test_quit_leaves(model):
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await typed(app, "ctrl+c")
        assert app.is_running and "ctrl+q quits" in app.work.message
        await typed(app, "ctrl+q")
        for _ in range(50):
            if app._exit:
                break
            await pilot.pause(0.02)
    assert app.return_code == 0 and app.return_value == 0
