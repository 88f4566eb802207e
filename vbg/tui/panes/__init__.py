"""The panes, one module for each view."""

from __future__ import annotations

from vbg.tui.panes.pane import Pane


def first_panes() -> list[Pane]:
    """What the first frame shows: quick to load."""
    from vbg.tui.panes import bars, edit

    return [pane for module in (bars, edit) for pane in module.panes()]


def load() -> None:
    """What the keys need and the first frame does without: the parts there are, the journal's
    lock, and the other panes, which draw curves and machines.

    Loaded while a model is checked it would give way to that at each file it reads.
    """
    import filelock  # noqa: F401 - used by vbg.platform.locks

    from vbg.model.catalogue import catalogue

    catalogue()
    later_panes()


def later_panes() -> list[Pane]:
    """One of each other pane."""
    from vbg.tui.panes import graph, plot, run, sliders, source, space, validate

    modules = (graph, source, run, plot, sliders, validate, space)
    return [pane for module in modules for pane in module.panes()]
