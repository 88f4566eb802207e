"""The widget that shows rows of text: every pane and bar is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from vbg.draw.text.rows import Row, Rows, fit, printable, wrap
from vbg.tui.content.bars import framed, with_thumb
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
    DRAGGED: ClassVar[bool] = False
    ALLOW_SELECT = False

    def __init__(self, name: str):
        super().__init__(id=name)
        self.pane = name
        self.painted: Rows = ()
        self.top = 0
        # first row shown, rows there are, rows there is room for: where the thumb is
        self.extent = (0, 0, 0)
        self.held: tuple[int, int] | None = None

    @property
    def work(self) -> Workspace:
        return self.home.work

    @property
    def home(self) -> Stage:
        return cast("Stage", self.screen)

    @property
    def inner(self) -> tuple[int, int]:
        """Columns and rows inside the frame, as the pane is placed: a key may be faster than the
        library's layout."""
        placed = self.home.rects.get(self.pane, self.size)
        return self._inside(placed.width, placed.height)

    def _inside(self, width: int, height: int) -> tuple[int, int]:
        edge = 2 if self.FRAMED else 0
        return max(width - edge, 1), max(height - edge, 1)

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

    def types(self, event: events.Key) -> bool:
        """Write a key, in a pane that is written in; whether it was one to write."""
        return False

    def pasted(self, text: str) -> None:
        """A pasted text, in a pane that is written in."""

    def take(self) -> None:
        """What is written but not yet an edit becomes one."""

    def clicked(self, column: int, row: int) -> None:
        """A click inside the frame."""

    def double_clicked(self) -> None:
        """A second click at the same place."""
        self.enter()

    def copied(self) -> str:
        """What is marked, as text for the clipboard; by default all that is seen."""
        lines = ["".join(text for text, _ in row).rstrip() for row in self.body(*self.inner)]
        return "\n".join(lines).strip("\n")

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
        width, height = self._inside(self.size.width, self.size.height)
        try:
            rows = tuple(self.body(width, height))[:height]
        except Exception as error:  # noqa: BLE001 - the other panes are as good as before
            words = self.home.main.broke(error)
            rows = tuple(((line, "error"),) for line in wrap(printable(words), width))[:height]
        rows = tuple(fit(row, width) for row in rows)
        rows += (fit((), width),) * (height - len(rows))
        if not self.FRAMED:
            return rows
        style = "focus" if self.home.active == self.pane else "dim"
        title = f"{self.JUMP}: {self.title()}" if self.home.jumping and self.JUMP else self.title()
        shown = framed(rows, self.size.width, title, self.hint(), self.work.marks, style)
        return with_thumb(shown, self.extent, self.work.marks)

    def on_resize(self, event: events.Resize) -> None:
        self.painted = ()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        edge = 1 if self.FRAMED else 0
        self.home.activate(self.pane)
        self.clicked(event.x - edge, event.y - edge)
        if event.chain == 2:
            self.double_clicked()
        self.home.paint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.wheel("down", event.x - 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.wheel("up", event.x - 1)

    def wheel(self, direction: str, column: int) -> None:
        """The wheel, turned over a column inside the frame."""
        self.home.scrolled(self, direction)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self.DRAGGED:
            self.held = (event.x - 1, event.y - 1)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.held is not None and (event.delta_x or event.delta_y):
            self.dragged(event.delta_x, event.delta_y)
            self.home.paint()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self.held is not None:
            start, self.held = self.held, None
            self.release_mouse()
            self.dropped(start, (event.x - 1, event.y - 1))
            self.home.paint()

    def dragged(self, columns: int, rows: int) -> None:
        """The mouse was moved with its button down."""

    def dropped(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """The button was let go, at a column and row inside the frame."""


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
