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
    "add": "adding",
    "edit": "editing",
    "source": "writing",
    "undo": "editing",
    "redo": "editing",
    "history": "editing",
    "graph": "graphing",
    "why": "graphing",
    "run": "running",
    "runs": "keeping",
    "cancel": "running",
    "nudge": "nudging",
    "live": "nudging",
    "sweep": "sweeping",
    "study": "studying",
    "picture": "showing",
    "linkage": "linking",
    "plot": "plotting",
    "validate": "validating",
    "space": "moving3d",
    "powers": "moving3d",
}


def handler(action: Action) -> tuple[Handler, Refusal | None]:
    """What `action` does, and what may refuse it; loads its module on first use."""
    group = action.id.split(".")[0]
    module = import_module(f"vbg.tui.actions.{_MODULES.get(group, 'general')}")
    return module.HANDLERS[action.id], module.REFUSALS.get(action.id)
