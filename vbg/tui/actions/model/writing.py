"""Writing in the text of the model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.panes.source import Source

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _source(app: Desk) -> Source:
    pane = app.main.panes["source"]
    assert isinstance(pane, Source)
    return pane


async def _complete(app: Desk) -> None:
    """One thing that fits is written, several are offered."""
    pane = _source(app)
    start, items = pane.completions()
    if not items:
        app.work.say("nothing is known that fits here", "dim")
        return
    chosen = items[0].key
    if len(items) > 1:
        answer = await app.choose("What fits here", items)
        if answer is None:
            return
        chosen = answer
    pane.put(start, chosen)


HANDLERS: dict[str, Handler] = {
    "source.complete": _complete,
    "source.leave": lambda app: app.act_id("back"),
    "source.undo": lambda app: app.act_id("undo"),
}
REFUSALS: dict[str, Refusal] = {}
