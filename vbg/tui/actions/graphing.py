"""Graph: open parts, explain strokes, apply fixes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.mending import offer
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
    """Explain: in Validate the verdict, in Plot and 3D a joint force, elsewhere the strokes of the
    marked part."""
    if app.work.view in ("plot", "space"):
        from vbg.tui.actions.results.forces import explain

        await explain(app)
        return
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


async def _fixes(app: Desk) -> None:
    """Why there is a conflict, and its fixes by number."""
    state = _state(app)
    if state.conflict < 0:
        _next(app)
        state = _state(app)
    conflict = state.conflicts[state.conflict]
    found = why.fixes(state, conflict, app.work.data)
    rows = why.conflict_rows(state, conflict, app.work.data, 70, app.work.marks)
    await offer(app, f"Conflict {state.conflict + 1} of {len(state.conflicts)}", rows, found)


def _no_graph(app: Desk) -> str:
    state = app.work.graph
    return "" if state is not None and state.graph is not None else "there is no graph yet"


def _no_conflict(app: Desk) -> str:
    state = app.work.graph
    return "" if state is not None and state.conflicts else "there is no causality conflict"


HANDLERS: dict[str, Handler] = {
    "graph.in": partial(_zoom, 1),
    "graph.out": partial(_zoom, -1),
    "graph.open": _open,
    "graph.all": _open_all,
    "graph.next": _next,
    "graph.goto": _goto,
    "why": _why,
    "graph.fixes": _fixes,
}
REFUSALS: dict[str, Refusal] = {
    **{f"graph.{name}": _no_graph for name in ("in", "out", "open", "all", "goto")},
    "graph.next": _no_conflict,
    "graph.fixes": _no_conflict,
}
