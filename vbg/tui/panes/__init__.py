"""The panes, one module for each view."""

from __future__ import annotations

from vbg.tui.panes.pane import Pane


def first_panes() -> list[Pane]:
    """What the first frame shows: quick to load."""
    from vbg.tui.panes import bars, edit

    return [pane for module in (bars, edit) for pane in module.panes()]


def later_panes() -> list[Pane]:
    """One of each other pane; they draw curves and machines, which takes loading."""
    from vbg.tui.panes import graph, plot, run, sliders, source, space, validate

    modules = (graph, source, run, plot, sliders, validate, space)
    return [pane for module in modules for pane in module.panes()]
