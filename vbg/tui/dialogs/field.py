"""The one-line field of the dialogs.

Keys are done in the order in which they are typed.  The library's own input
writes letters at once but hands all other keys to its parents, where they are
done later: fast typing, or a slow connection, would shuffle them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.widgets import Input

if TYPE_CHECKING:
    from vbg.tui.dialogs.dialogs import Dialog

# What moves the cursor and deletes, by key.
_EDITING = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding) and binding.action != "submit"
    for key in binding.key.split(",")
}


class Field(Input):
    """A field that does its keys itself, after its dialog had a look at them."""

    BINDINGS = []  # noqa: RUF012 - the library's, emptied

    @property
    def dialog(self) -> Dialog:
        from vbg.tui.dialogs.dialogs import Dialog

        assert isinstance(self.screen, Dialog)
        return self.screen

    async def _on_key(self, event: events.Key) -> None:
        if self.dialog.take(event):
            event.stop()
            event.prevent_default()
        elif not event.is_printable:
            event.stop()
            event.prevent_default()
            if event.key in _EDITING:
                await self.run_action(_EDITING[event.key])
