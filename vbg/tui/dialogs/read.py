"""Read a text, and answer with one of its keys."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows
from vbg.tui.dialogs.dialog import Dialog, RowsView

_LEAVE = ("escape", "enter", "question_mark", "f1", "q")


class Read(Dialog):
    """A text to read, scrolled with the arrows; any key of `keys` answers."""

    def __init__(self, title: str, rows: Rows, marks: Marks, *, keys: tuple[str, ...] = ()):
        super().__init__(title, marks)
        self.keys = keys
        self.text = RowsView(rows, id="text")

    def compose(self) -> ComposeResult:
        with self.box():
            yield self.text

    def begin(self) -> None:
        room = max(self.app.size.height - 4, 3)
        self.text.styles.height = max(min(len(self.text.rows), room), 1)

    def press(self, event: events.Key) -> None:
        view = self.text
        moves = {
            "up": view.scroll_up,
            "k": view.scroll_up,
            "down": view.scroll_down,
            "j": view.scroll_down,
            "pageup": view.scroll_page_up,
            "pagedown": view.scroll_page_down,
            "space": view.scroll_page_down,
            "home": view.scroll_home,
            "end": view.scroll_end,
        }
        answer = event.character if event.is_printable else event.key
        if answer in self.keys:
            self.answer(answer)
        elif event.key in _LEAVE:
            self.answer(None)
        elif event.key in moves:
            moves[event.key](animate=False)

    def paste(self, text: str) -> None:
        """There is nothing to paste into."""
