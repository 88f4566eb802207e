"""What the actions of the key table do, one module for each group of them.

A handler takes the app; it may be a coroutine, then it may ask.  A refusal
says why an action cannot be done now.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from vbg.tui.state.keys import Action

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

Handler = Callable[["Desk"], "Awaitable[None] | None"]
Refusal = Callable[["Desk"], str]

_MODULES = {
    "view": "moving",
    "pane": "moving",
    "move": "moving",
    "enter": "moving",
    "back": "moving",
    "zoom": "moving",
    "jump": "moving",
    "filter": "moving",
    "problem": "moving",
    "add": "model.adding",
    "edit": "model.editing",
    "source": "model.writing",
    "undo": "model.editing",
    "redo": "model.editing",
    "history": "model.editing",
    "graph": "graphing",
    "why": "graphing",
    "run": "results.running",
    "runs": "results.keeping",
    "cancel": "results.running",
    "nudge": "model.nudging",
    "live": "model.nudging",
    "sweep": "results.sweeping",
    "study": "results.studying",
    "picture": "showing",
    "linkage": "model.linking",
    "plot": "results.plotting",
    "validate": "results.validating",
    "space": "moving3d",
    "powers": "moving3d",
}


def handler(action: Action) -> tuple[Handler, Refusal | None]:
    """What `action` does, and what may refuse it; loads its module on first use."""
    group = action.id.split(".")[0]
    module = import_module(f"vbg.tui.actions.{_MODULES.get(group, 'general')}")
    return module.HANDLERS[action.id], module.REFUSALS.get(action.id)
