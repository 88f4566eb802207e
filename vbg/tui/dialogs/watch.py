"""Watch something that grows, in rows that are painted anew."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows
from vbg.tui.dialogs.dialog import Dialog, RowsWidget

SECONDS = 0.25


class Watch(Dialog):
    """Rows made for the size that there is, four times a second; any key of `keys` answers, Esc
    leaves and what is watched goes on."""

    DEFAULT_CSS = """
    Watch > Vertical { width: 100%; }
    """

    def __init__(
        self, title: str, make: Callable[[int, int], Rows], marks: Marks, *, keys: tuple[str, ...]
    ):
        super().__init__(title, marks)
        self.keys = keys
        self.text = RowsWidget(make, id="text")

    def compose(self) -> ComposeResult:
        with self.box():
            yield self.text

    def begin(self) -> None:
        self.text.styles.height = max(self.app.size.height - 4, 3)
        self.set_interval(SECONDS, self.repaint)

    def repaint(self) -> None:
        """Show what is known now: what ends is seen to end, not a quarter of a second later."""
        self.text.refresh()

    def press(self, event: events.Key) -> None:
        answer = event.character if event.is_printable else event.key
        if answer in self.keys:
            self.answer(answer)
        elif event.key in ("escape", "enter", "q"):
            self.answer(None)

    def paste(self, text: str) -> None:
        """There is nothing to paste into."""
