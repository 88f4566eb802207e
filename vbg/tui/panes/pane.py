"""The widget that shows rows of text: every pane and bar is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from vbg.draw.text.rows import Row, Rows, fit
from vbg.tui.content.bars import framed
from vbg.tui.content.style import strip

if TYPE_CHECKING:
    from vbg.tui.state.desk import Stage
    from vbg.tui.state.workspace import Workspace


class Pane(Widget):
    """A rectangle of rows, painted from the workspace; only rows that changed
    are sent to the terminal.

    A pane shows and reports; it never changes the model.  `body` gives what is
    inside the frame; `move` and `enter` are told by the keys of the table.
    """

    FRAMED: ClassVar[bool] = True
    JUMP: ClassVar[str] = ""
    ALLOW_SELECT = False

    def __init__(self, name: str):
        super().__init__(id=name)
        self.pane = name
        self.painted: Rows = ()
        self.top = 0

    @property
    def work(self) -> Workspace:
        return self.home.work

    @property
    def home(self) -> Stage:
        return cast("Stage", self.screen)

    @property
    def inner(self) -> tuple[int, int]:
        """Columns and rows inside the frame."""
        edge = 2 if self.FRAMED else 0
        return max(self.size.width - edge, 1), max(self.size.height - edge, 1)

    def title(self) -> str:
        """The name in the frame."""
        return ""

    def hint(self) -> str:
        """The keys named in the frame, if there is room."""
        return ""

    def body(self, width: int, height: int) -> Rows:
        """The rows inside the frame."""
        raise NotImplementedError

    def move(self, direction: str) -> None:
        """A movement of the table: up, down, left, right, page_up, page_down, first, last."""

    def enter(self) -> None:
        """Enter on what is marked."""

    def clicked(self, column: int, row: int) -> None:
        """A click inside the frame."""

    def repaint(self) -> None:
        """Paint again; rows that are as before are left alone."""
        if not self.display or self.size.width < 1:
            return
        before, self.painted = self.painted, self._framed_rows()
        if len(before) != len(self.painted):
            self.refresh()
            return
        changed = [y for y, row in enumerate(self.painted) if row != before[y]]
        if changed:
            width = self.size.width
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        if len(self.painted) != self.size.height:
            self.painted = self._framed_rows()
        words = self.home.words
        row: Row = self.painted[y] if y < len(self.painted) else ()
        ascii_only = self.work.marks.name == "ascii"
        return strip(fit(row, self.size.width), words, ascii_only=ascii_only)

    def _framed_rows(self) -> Rows:
        width, height = self.inner
        rows = tuple(self.body(width, height))[:height]
        rows = tuple(fit(row, width) for row in rows)
        rows += (fit((), width),) * (height - len(rows))
        if not self.FRAMED:
            return rows
        style = "focus" if self.home.active == self.pane else "dim"
        title = f"{self.JUMP}: {self.title()}" if self.home.jumping and self.JUMP else self.title()
        return framed(rows, self.size.width, title, self.hint(), self.work.marks, style)

    def on_resize(self, event: events.Resize) -> None:
        self.painted = ()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        edge = 1 if self.FRAMED else 0
        self.home.activate(self.pane)
        self.clicked(event.x - edge, event.y - edge)
        self.home.paint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.home.scrolled(self, "down")

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.home.scrolled(self, "up")


def scrolled(top: int, index: int, count: int, height: int) -> int:
    """The first row shown so that row `index` of `count` is in sight."""
    top = min(max(top, index - height + 1), index)
    return max(0, min(top, count - height))


def stepped(index: int, count: int, direction: str, page: int) -> int:
    """The row after a movement, kept in range."""
    change = {
        "up": -1,
        "down": 1,
        "page_up": -page,
        "page_down": page,
        "first": -count,
        "last": count,
    }.get(direction, 0)
    return max(0, min(index + change, count - 1))
