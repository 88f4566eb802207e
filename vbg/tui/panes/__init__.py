"""The panes, one module for each view."""

from __future__ import annotations

from vbg.tui.pane import Pane


def make_panes() -> list[Pane]:
    """One of each pane."""
    from vbg.tui.panes import bars, edit, graph, plot, run

    return [*bars.panes(), *edit.panes(), *graph.panes(), *run.panes(), *plot.panes()]
