"""The panes, one module for each view."""

from __future__ import annotations

from vbg.tui.pane import Pane


def make_panes() -> list[Pane]:
    """One of each pane."""
    from vbg.tui.panes import bars, edit, graph, plot, run, space, validate

    modules = (bars, edit, graph, run, plot, validate, space)
    return [pane for module in modules for pane in module.panes()]
