"""Help: what a pane is for, and its keys, from the key table."""

from __future__ import annotations

from vbg.draw.text.rows import Row, Rows, pad
from vbg.tui.state.keys import VIEW_TITLES, Keymap, shown

ABOUT = {
    "tree": "The model. What is marked here is selected in all views.",
    "source": "The text of the file: type. Tab completes, the tree follows, Esc goes back to it.",
    "inspector": "The fields of the marked part. Enter edits; units and expressions are fine.",
    "problems": "What is wrong with the model. Enter opens a problem with its fixes by number.",
    "graph": "The bond graph: half arrows, strokes, double vectors. Space plays the powers in it.",
    "why": "Why the strokes are where they are, and what can be done about a conflict.",
    "runs": "The runs of this model; they are kept from one time to the next.",
    "job": "The run that is under way, or the marked one.",
    "live": "A signal of the run, while it runs.",
    "log": "What the solver said.",
    "signals": "The signals of the run. Space shows one.",
    "curves": "The curves. Left, right, a click: cursor. + - 0, wheel, drag, double click: zoom.",
    "sliders": "Numbers of the model. Left, right, a click, a drag: the machine runs with it.",
    "channels": "Joint forces by both solvers, each with its verdict.",
    "overlay": "The marked channel by both solvers.",
    "error": "The difference of the two, on a logarithmic scale.",
    "verdict": "The verdict and its reason.",
    "space": "The machine. Arrows and the mouse turn the view; hidden edges are dotted.",
    "slider": "The time shown. Left and right step.",
}


def help_rows(keymap: Keymap, view: str, pane: str) -> Rows:
    """The help of one pane: its keys, those of its view, and those that hold everywhere."""
    rows: list[Row] = [((ABOUT.get(pane, ""), ""),), ()]
    headings = {f"pane:{pane}": "This pane", view: VIEW_TITLES[view], "": "Everywhere"}
    for scope, heading in headings.items():
        actions = [action for action in keymap.actions if action.scope == scope and action.keys]
        if not actions:
            continue
        rows.append(((heading, "title"),))
        for action in actions:
            keys = "  ".join(shown(key) for key in action.keys)
            rows.append(((pad(f" {keys}", 14), "focus"), (action.help, "")))
        rows.append(())
    rows.append((("Text is selected with Shift and the mouse in most terminals.", "dim"),))
    return tuple(rows)
