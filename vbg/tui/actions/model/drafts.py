"""Parts that were being made when Esc was pressed: kept, and taken up where they were left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vbg.plumbing.words import with_article
from vbg.tui.state.items import Item

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

GO_ON, ANEW = "go on", "start anew"


def keep(app: Desk, table: str, kind: str, values: Mapping[str, Any], given: int) -> None:
    """Keep the answers given so far; the first `given` values were no answers."""
    answers = len(values) - given
    if answers <= 0:
        return
    app.work.drafts[table, kind] = dict(values)
    kept = "its answer is" if answers == 1 else f"its {answers} answers are"
    app.work.say(f"{kind} not added; {kept} kept: add {with_article(kind)} again to go on")


async def taken_up(
    app: Desk, table: str, kind: str, given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The values to begin with: those of the half-made part if the user goes on with it,
    else what was `given`; None where the question is left with Esc."""
    draft = app.work.drafts.get((table, kind))
    if draft is None or any(draft.get(name) != value for name, value in given.items()):
        return dict(given)
    answers = {name: value for name, value in draft.items() if name not in given}
    so_far = ", ".join(f"{name} = {value}" for name, value in answers.items())
    items = (Item(GO_ON, GO_ON, so_far), Item(ANEW, ANEW, "ask everything again"))
    chosen = await app.choose(f"A half-made {kind} was kept", items)
    if chosen is None:
        return None
    return dict(draft) if chosen == GO_ON else dict(given)


def done(app: Desk, table: str, kind: str) -> None:
    """The part is in the model: nothing is half made any more."""
    app.work.drafts.pop((table, kind), None)
