"""Graph: open parts, explain strokes, apply fixes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.content import why
from vbg.tui.state import graphing
from vbg.tui.state.graphing import GraphState

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _state(app: Desk) -> GraphState:
    assert app.work.graph is not None
    return app.work.graph


def _zoom(step: int, app: Desk) -> None:
    app.work.graph = graphing.zoomed(_state(app), step)


def _open(app: Desk) -> None:
    app.work.graph = graphing.opened(_state(app), _state(app).marked_part)


def _open_all(app: Desk) -> None:
    app.work.graph = graphing.opened_all(_state(app))


def _next(app: Desk) -> None:
    """The next conflict, with its parts opened and its explanation."""
    state = _state(app)
    index = (state.conflict + 1) % len(state.conflicts)
    conflict = state.conflicts[index]
    assert state.graph is not None
    part = state.graph.vertices[conflict.vertex].part
    state = replace(state, conflict=index, opened=state.opened | {part}, mark=conflict.vertex)
    app.work.graph = graphing.drawn(state)
    if app.work.view != "graph":
        app.main.show_view("graph")
    app.main.activate("why")


async def _why(app: Desk) -> None:
    """Explain: in Validate the verdict, elsewhere the strokes of the marked part."""
    if app.work.view == "validate":
        app.main.activate("verdict")
        return
    if app.work.view != "graph":
        app.main.show_view("graph")
    while app.work.checking or (app.work.checked.model is not None and _old(app)):
        await asyncio.sleep(0.02)
    state = app.work.graph
    if state is not None and state.conflicts and state.conflict < 0:
        _next(app)
    else:
        app.main.activate("why")


def _old(app: Desk) -> bool:
    """Whether the graph is yet to be drawn for the text that is open."""
    state = app.work.graph
    return state is None or state.text_hash != app.work.checked.text_hash


def _goto(app: Desk) -> None:
    app.main.show_view("edit")
    app.main.activate("inspector")


def _fix(number: int, app: Desk) -> None:
    """Apply a fix of the marked conflict as one undo step."""
    state = _state(app)
    found = why.fixes(state, state.conflicts[state.conflict], app.work.data)
    fix = found[number - 1]
    app.do(fix.as_one(app.work.document.now.text))
    app.work.say(f"{fix.label}; u takes it back", "ok")


def _no_graph(app: Desk) -> str:
    state = app.work.graph
    return "" if state is not None and state.graph is not None else "there is no graph yet"


def _no_conflict(app: Desk) -> str:
    state = app.work.graph
    return "" if state is not None and state.conflicts else "there is no causality conflict"


def _no_fix(number: int, app: Desk) -> str:
    state = app.work.graph
    if state is None or not 0 <= state.conflict < len(state.conflicts):
        return "no conflict is marked; c goes to the first"
    count = len(why.fixes(state, state.conflicts[state.conflict], app.work.data))
    return "" if number <= count else f"there are {count} fixes"


HANDLERS: dict[str, Handler] = {
    "graph.in": partial(_zoom, 1),
    "graph.out": partial(_zoom, -1),
    "graph.open": _open,
    "graph.all": _open_all,
    "graph.next": _next,
    "graph.goto": _goto,
    "why": _why,
    **{f"fix.{i}": partial(_fix, i) for i in range(1, 5)},
}
REFUSALS: dict[str, Refusal] = {
    **{f"graph.{name}": _no_graph for name in ("in", "out", "open", "all", "goto")},
    "graph.next": _no_conflict,
    **{f"fix.{i}": partial(_no_fix, i) for i in range(1, 5)},
}
