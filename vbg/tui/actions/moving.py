"""Views, panes, movement, filter, problems."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.mending import no_problem, show_problem
from vbg.tui.state.keys import VIEWS

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _view(view: str, app: Desk) -> None:
    app.main.show_view(view)


def _move(direction: str, app: Desk) -> None:
    app.main.panes[app.main.active].move(direction)


def _enter(app: Desk) -> None:
    app.main.panes[app.main.active].enter()


def _back(app: Desk) -> None:
    """Undo one step of looking closer: zoom, filter, pane."""
    if app.main.zoomed:
        app.main.toggle_zoom()
    elif app.work.filter and app.work.view == "edit":
        app.work.filter = ""
    elif app.work.signal_filter and app.work.view == "plot":
        app.work.signal_filter = ""
    elif app.main.active != _first(app):
        app.main.activate(_first(app))
    elif app.work.view == "edit" and app.work.texted:
        app.work.texted = False
        app.main.place()
    app.work.say("")


def _first(app: Desk) -> str:
    from vbg.tui.state.arrange import FIRST

    return FIRST[app.work.view]


def _jump(app: Desk) -> None:
    app.main.jumping = True
    app.work.say("press a letter in a frame, or 1-6", "focus")


async def _filter(app: Desk) -> None:
    plot = app.work.view == "plot"
    old = app.work.signal_filter if plot else app.work.filter
    text = await app.ask("Filter", old, lambda text: ("rows that contain this text", True))
    if text is None:
        return
    if plot:
        app.work.signal_filter, app.work.signal_index = text, 0
    else:
        app.main.show_view("edit")
        app.main.activate("tree")
        app.work.filter = text
        _best_hit(app, text)


def _best_hit(app: Desk, wanted: str) -> None:
    """The part that is called so, or begins so, or the first that the filter shows."""
    from vbg.tui.panes.edit import Tree

    pane = app.main.panes["tree"]
    assert isinstance(pane, Tree)
    wanted = wanted.lower()
    found = [(row.label.lower(), i) for i, row in enumerate(pane.lines) if len(row.path) > 1]
    if found:
        ranked = sorted(found, key=lambda r: (r[0] != wanted, not r[0].startswith(wanted), r[1]))
        pane.select(ranked[0][1])


def _next_hit(app: Desk) -> None:
    """The next part that the filter shows."""
    from vbg.tui.panes.edit import Tree

    pane = app.main.panes["tree"]
    assert isinstance(pane, Tree)
    parts = [i for i, row in enumerate(pane.lines) if len(row.path) > 1]
    after = [i for i in parts if i > pane.index]
    if parts:
        pane.select(after[0] if after else parts[0])


def _problem(step: int, app: Desk) -> None:
    count = len(app.work.problems)
    if app.work.view == "graph" and app.work.graph is not None and app.work.graph.conflicts:
        app.act_id("graph.next")
    elif count:
        index = app.work.problem_index
        app.go_to_problem((index + step) % count if index >= 0 else 0 if step > 0 else count - 1)


def _no_problem(app: Desk) -> str:
    conflicts = app.work.graph.conflicts if app.work.graph else ()
    return "" if app.work.problems or conflicts else "there are no problems"


HANDLERS: dict[str, Handler] = {
    **{f"view.{view}": partial(_view, view) for view in VIEWS},
    **{
        f"move.{name}": partial(_move, name)
        for name in ("up", "down", "left", "right", "page_up", "page_down", "first", "last")
    },
    "pane.next": lambda app: app.main.next_pane(1),
    "pane.previous": lambda app: app.main.next_pane(-1),
    "enter": _enter,
    "back": _back,
    "zoom": lambda app: app.main.toggle_zoom(),
    "jump": _jump,
    "filter": _filter,
    "filter.next": _next_hit,
    "problem.next": partial(_problem, 1),
    "problem.previous": partial(_problem, -1),
    "problem.show": show_problem,
}
REFUSALS: dict[str, Refusal] = {
    "problem.next": _no_problem,
    "problem.previous": _no_problem,
    "problem.show": no_problem,
    "filter.next": lambda app: "" if app.work.filter else "press / first",
}
