"""What all dialogs have in common: a framed box, one queue of keys, rows of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rich.style import Style
from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, clip, fit, printable
from vbg.tui.content.style import strip
from vbg.tui.dialogs.line import edit, insert

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


class Dialog(ModalScreen):
    """A framed box in the middle of the screen; the whole of a small one.

    Keys come from the one queue of keys by `press`, never by the library's own way:
    each is done before the next one is looked at.  Whatever is done later than its cause goes
    through `later`: the dialog may be answered by then, and its widgets gone.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 40%; }
    Dialog > Vertical {
        width: 76; max-width: 100%; height: auto; max-height: 100%;
        border: round $primary; background: $background; padding: 0 1;
        border-title-color: $primary; border-title-style: bold;
    }
    Dialog.ascii > Vertical { border: ascii $primary; }
    Dialog Input { border: none; height: 1; padding: 0; background: $surface; }
    Dialog Input:focus { border: none; }
    Dialog RowsWidget { height: auto; }
    Dialog RowsView, Dialog OptionList { scrollbar-size-vertical: 1; }
    """

    def __init__(self, title: str, marks: Marks):
        super().__init__(classes="ascii" if marks.name == "ascii" else "")
        self.heading = title
        self.marks = marks
        self.ready = False
        self.answered = False

    @property
    def desk(self) -> Desk:
        return cast("Desk", self.app)

    @property
    def words(self) -> dict[str, Style]:
        return self.desk.words

    @property
    def field(self) -> Input:
        """The one-line field; dialogs without one have no keys that ask for it."""
        raise NotImplementedError

    def box(self) -> Vertical:
        """The frame, titled; user text in it is never markup."""
        frame = Vertical(id="box")
        frame.border_title = Content(clip(printable(self.heading), 60))
        return frame

    def on_mount(self) -> None:
        self.begin()
        self.ready = True
        self.desk.keyboard.go_on()

    def begin(self) -> None:
        """Once the widgets are there, before the first key."""

    def answer(self, value: Any) -> None:
        """Close with an answer; only the first one counts."""
        if not self.answered:
            self.answered = True
            self.dismiss(value)

    def later(self, do: Callable[[], None]) -> None:
        """Do something after the next painting, unless the dialog is answered by then."""
        self.call_after_refresh(partial(self._do_open, do))

    def _do_open(self, do: Callable[[], None]) -> None:
        if not self.answered:
            do()

    def press(self, event: events.Key) -> None:
        """Do one key to its end: leave, answer, or edit the field."""
        if event.key == "escape":
            self.answer(None)
        elif event.key == "enter":
            self.submit(self.field.value)
        elif edit(self.field, event):
            self.changed(self.field.value)

    def paste(self, text: str) -> None:
        """Text from the clipboard: its first line."""
        insert(self.field, (text.splitlines() or [""])[0])
        self.changed(self.field.value)

    def submit(self, value: str) -> None:
        """Enter on `value` in the field."""

    def changed(self, value: str) -> None:
        """Another `value` is in the field."""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Changed by the mouse; after a key this is known already, and what the field had then is
        no longer true: of keys that come fast the events are behind."""
        if not self.answered:
            self.changed(event.input.value)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.answer(None)


def _shown(widget: Widget, row: Row) -> Strip:
    """A row of text in a dialog."""
    dialog = widget.screen
    assert isinstance(dialog, Dialog)
    ascii_only = dialog.marks.name == "ascii"
    return strip(fit(row, widget.size.width), dialog.words, ascii_only=ascii_only)


class RowsWidget(Widget):
    """Rows in a dialog, made for its size."""

    ALLOW_SELECT = False

    def __init__(self, rows: Callable[[int, int], Rows], id: str):
        super().__init__(id=id)
        self._make = rows

    def render_line(self, y: int) -> Strip:
        rows = self._make(self.size.width, self.size.height)
        return _shown(self, rows[y] if y < len(rows) else ())


class RowsView(ScrollView):
    """Rows that may be more than there is room for, with a scrollbar."""

    ALLOW_SELECT = False
    can_focus = False

    def __init__(self, rows: Rows, id: str):
        super().__init__(id=id)
        self.rows = rows

    def on_mount(self) -> None:
        self.virtual_size = Size(1, len(self.rows))

    def render_line(self, y: int) -> Strip:
        at = self.scroll_offset.y + y
        return _shown(self, self.rows[at] if at < len(self.rows) else ())
