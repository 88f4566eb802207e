"""Where each pane goes: rectangles in cells for a view and a size of the screen.

The panes of a view tile the screen between the bars.  Below 80 columns one
pane is shown at a time; from 120 columns on, more are.
"""

from __future__ import annotations

from typing import NamedTuple

LEAST = (60, 18)
NARROW, WIDE = 80, 120
LOW, TALL = 24, 30

# The panes of a view in the order of Tab.
ORDER = {
    "edit": ("tree", "graph", "source", "inspector", "problems", "preview"),
    "graph": ("graph", "why"),
    "run": ("runs", "job", "live", "log"),
    "plot": ("signals", "curves", "cursor", "sliders"),
    "validate": ("channels", "overlay", "error", "sides", "verdict"),
    "space": ("space", "slider"),
}
# The pane that a narrow screen starts with, and that has the keys at first.
FIRST = {
    "edit": "tree",
    "graph": "graph",
    "run": "runs",
    "plot": "signals",
    "validate": "channels",
    "space": "space",
}
# Panes that only show.
PASSIVE = frozenset({"preview", "cursor", "sides", "problemline"})


class Rect(NamedTuple):
    """A rectangle of cells."""

    x: int
    y: int
    width: int
    height: int


def fits(width: int, height: int) -> bool:
    """Whether the screen is large enough for the smallest arrangement."""
    return width >= LEAST[0] and height >= LEAST[1]


def arrange(
    view: str,
    width: int,
    height: int,
    active: str,
    zoomed: str,
    *,
    troubled: bool = False,
    texted: bool = False,
    sliding: bool = False,
) -> dict[str, Rect]:
    """Rectangles of all widgets shown, bars included, for a screen that `fits`.

    active : the pane with the keys, the one shown on a narrow screen;
    zoomed : the pane that takes all room, or "";  troubled : whether there are problems to read;
    texted : whether the text of the file stands beside the tree;  sliding : whether numbers
    stand on sliders below the curves.
    """
    bars = {"status": Rect(0, 0, width, 1), "footer": Rect(0, height - 1, width, 1)}
    top = 1
    if width < WIDE:
        bars["tabs"] = Rect(0, 1, width, 1)
        top = 2
    bottom = height - 1
    if height >= LOW:
        bottom -= 1
        bars["undo"] = Rect(0, bottom, width, 1)
    room = Rect(0, top, width, bottom - top)
    if zoomed in ORDER[view]:
        return bars | {zoomed: room}
    if width < NARROW:
        shown = active if active in ORDER[view] else FIRST[view]
        return bars | {shown: room}
    panes = _edit_troubled(room) if view == "edit" and troubled else _PANES[view](room)
    if view == "edit" and texted:
        panes = _with_text(panes, room)
    if view == "plot" and sliding:
        panes = _with_sliders(panes, room)
    return bars | panes


def _with_text(panes: dict[str, Rect], room: Rect) -> dict[str, Rect]:
    """The text in the place of the graph, or of the inspector where there is no graph."""
    place = "graph" if "graph" in panes else "inspector"
    rest = {name: rect for name, rect in panes.items() if name != place}
    return rest | {"source": panes[place]}


def _with_sliders(panes: dict[str, Rect], room: Rect) -> dict[str, Rect]:
    """Sliders at the lower edge, in the place of the values at the cursor on a low screen."""
    low = max(5, room.height // 4)
    edge = room.y + room.height
    if room.height < TALL:
        panes = {name: rect for name, rect in panes.items() if name != "cursor"}
        edge = max(rect.y + rect.height for rect in panes.values())
        low = room.y + room.height - edge + 2
    shift = room.y + room.height - low - edge
    lifted = {
        name: Rect(x, y + shift, width, height)
        if name == "cursor"
        else Rect(x, y, width, height + shift)
        for name, (x, y, width, height) in panes.items()
    }
    return lifted | {"sliders": Rect(room.x, room.y + room.height - low, room.width, low)}


def _edit(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    if width < WIDE:
        left = width * 37 // 80
        return {
            "tree": Rect(x, y, left, height - 1),
            "inspector": Rect(x + left, y, width - left, height - 1),
            "problemline": Rect(x, y + height - 1, width, 1),
        }
    low = height // 3 if height >= TALL else 6
    left = max(28, width * 30 // 160)
    right = max(34, width * 44 // 160)
    up = height - low
    return {
        "tree": Rect(x, y, left, up),
        "graph": Rect(x + left, y, width - left - right, up),
        "inspector": Rect(x + width - right, y, right, up),
        "problems": Rect(x, y + up, width // 2, low),
        "preview": Rect(x + width // 2, y + up, width - width // 2, low),
    }


def _edit_troubled(room: Rect) -> dict[str, Rect]:
    """Below 120 columns, with room for the words of a problem and their remedy."""
    x, y, width, height = room
    if width >= WIDE:
        return _edit(room)
    left = width * 37 // 80
    low = max(5, height // 3)
    return {
        "tree": Rect(x, y, left, height - low),
        "inspector": Rect(x + left, y, width - left, height - low),
        "problems": Rect(x, y + height - low, width, low),
    }


def _graph(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    if width < WIDE:
        up = height * 11 // 20
        return {"graph": Rect(x, y, width, up), "why": Rect(x, y + up, width, height - up)}
    right = max(50, width * 56 // 160)
    low = height * 9 // 20 if height >= TALL else 0
    panes = {
        "graph": Rect(x, y, width - right, height),
        "why": Rect(x + width - right, y, right, height - low),
    }
    # the machine itself, which moves while the bonds do
    return panes | ({"space": Rect(x + width - right, y + height - low, right, low)} if low else {})


def _run(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    if width < WIDE:
        low = max(5, height // 4)
        half = width * 9 // 20
        middle = height - 7 - low
        return {
            "job": Rect(x, y, width, 7),
            "live": Rect(x, y + 7, width, middle),
            "runs": Rect(x, y + 7 + middle, half, low),
            "log": Rect(x + half, y + 7 + middle, width - half, low),
        }
    left = 44
    low = height // 4
    return {
        "runs": Rect(x, y, left, height),
        "job": Rect(x + left, y, width - left, 7),
        "live": Rect(x + left, y + 7, width - left, height - 7 - low),
        "log": Rect(x + left, y + height - low, width - left, low),
    }


def _plot(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    left = 24 if width < WIDE else 34
    low = 4 if height < TALL else 6
    return {
        "signals": Rect(x, y, left, height - low),
        "curves": Rect(x + left, y, width - left, height - low),
        "cursor": Rect(x, y + height - low, width, low),
    }


def _validate(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    say = 4 if height < TALL else 6
    table = max(6, (height - say) * 2 // 5)
    rest = height - say - table
    wide = width >= WIDE
    left = width * 92 // 160 if wide else width
    out = {
        "channels": Rect(x, y, left, table),
        "verdict": Rect(x, y + height - say, width, say),
    }
    if height < TALL:
        half = width // 2
        out["overlay"] = Rect(x, y + table, half, rest)
        out["error"] = Rect(x + half, y + table, width - half, rest)
    else:
        up = rest - rest // 2
        out["overlay"] = Rect(x, y + table, width, up)
        out["error"] = Rect(x, y + table + up, width, rest - up)
    if wide:
        out["sides"] = Rect(x + left, y, width - left, table)
    return out


def _space(room: Rect) -> dict[str, Rect]:
    x, y, width, height = room
    return {
        "space": Rect(x, y, width, height - 3),
        "slider": Rect(x, y + height - 3, width, 3),
    }


_PANES = {
    "edit": _edit,
    "graph": _graph,
    "run": _run,
    "plot": _plot,
    "validate": _validate,
    "space": _space,
}


def focusable(view: str, shown: dict[str, Rect]) -> tuple[str, ...]:
    """The panes that can have the keys, in the order of Tab; on a narrow screen
    those not shown can be gone to as well."""
    panes = [p for p in ORDER[view] if p not in PASSIVE]
    visible = [p for p in panes if p in shown]
    return tuple(visible if len(visible) > 1 else panes)
