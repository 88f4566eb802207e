"""Type a text that is judged while it is typed."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.widgets import Input

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, printable, wrap
from vbg.tui.dialogs.dialog import Dialog, RowsWidget

# What a typed text means: its message, and whether it may be accepted.
Judge = Callable[[str], tuple[str, bool]]


class Ask(Dialog):
    """Type a text; a message below judges it while it is typed.

    Answers the text, or None.  A text that is refused stays in the field.
    """

    DEFAULT_CSS = """
    Ask #said { height: 4; }
    """

    def __init__(self, title: str, text: str, judge: Judge, marks: Marks, *, about: str = ""):
        super().__init__(title, marks)
        self.text = text
        self.judge = judge
        self.about = about
        self.said, self.fine = about, True
        self.judged = text
        self.input = Input(text, id="value", select_on_focus=False)
        self.saying = RowsWidget(self._said, id="said")

    @property
    def field(self) -> Input:
        return self.input

    def compose(self) -> ComposeResult:
        with self.box():
            yield self.input
            yield self.saying

    def begin(self) -> None:
        self.field.focus()
        self.field.select_all()

    def _said(self, width: int, height: int) -> Rows:
        style = "dim" if self.fine else "error"
        mark = "" if self.fine else f"{self.marks.error} "
        lines = wrap(mark + printable(self.said), width)
        rows: list[Row] = [((line, style),) for line in lines[: height - 1]]
        rows += [()] * (height - 1 - len(rows))
        rows.append((("Enter accepts, Esc leaves it as it was", "dim"),))
        return tuple(rows)

    def changed(self, value: str) -> None:
        """Judged once the burst of typing is over."""
        self.later(self._judge_typed)

    def _judge_typed(self) -> None:
        value = self.field.value
        if value != self.judged:
            self._judge(value)

    def _judge(self, value: str) -> None:
        self.judged = value
        if value == self.text:
            self.said, self.fine = self.about, True
        else:
            message, self.fine = self.judge(value)
            self.said = message or self.about
        self.saying.refresh()

    def submit(self, value: str) -> None:
        message, self.fine = self.judge(value)
        self.said, self.judged = message or self.about, value
        if self.fine:
            self.answer(value)
        else:
            self.saying.refresh()
