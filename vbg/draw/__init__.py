"""Pictures of models, graphs and results; nothing here asks or decides."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vbg.draw.dot import to_pydot
    from vbg.draw.networks import to_networkx

__all__ = ["to_networkx", "to_pydot"]

# Loaded when they are asked for: the text drawings of the terminal interface need neither.
_HOMES = {"to_networkx": "vbg.draw.networks", "to_pydot": "vbg.draw.dot"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'vbg.draw' has no attribute {name!r}")
