"""The dialogs: choose from a list, type a value, read a text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, cells, clip, fit, pad, printable, wrap
from vbg.tui.content.style import strip
from vbg.tui.dialogs.field import Field
from vbg.tui.panes.pane import scrolled, stepped

if TYPE_CHECKING:
    from vbg.tui.screen import MainScreen

_MOVES = {
    "up": "up",
    "down": "down",
    "pageup": "page_up",
    "pagedown": "page_down",
    "home": "first",
    "end": "last",
    "ctrl+p": "up",
    "ctrl+n": "down",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list; `refusal` says why it cannot be chosen now."""

    key: str
    label: str
    detail: str = ""
    refusal: str = ""


class RowsWidget(Widget):
    """Rows in a dialog."""

    ALLOW_SELECT = False

    def __init__(self, rows: Callable[[int, int], Rows], id: str, classes: str = ""):
        super().__init__(id=id, classes=classes)
        self._make = rows

    def render_line(self, y: int) -> Strip:
        rows = self._make(self.size.width, self.size.height)
        row: Row = rows[y] if y < len(rows) else ()
        dialog = self.screen
        assert isinstance(dialog, Dialog)
        ascii_only = dialog.marks.name == "ascii"
        return strip(fit(row, self.size.width), dialog.words, ascii_only=ascii_only)


class Dialog(ModalScreen):
    """A framed box in the middle of the screen; the whole of a small one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 40%; }
    Dialog > Vertical {
        width: 76; max-width: 100%; height: auto; max-height: 100%;
        border: round $primary; background: $background; padding: 0 1;
        border-title-color: $primary; border-title-style: bold;
    }
    Dialog.ascii > Vertical { border: ascii $primary; }
    Dialog Field { border: none; height: 1; padding: 0; background: $surface; }
    Dialog Field:focus { border: none; }
    Dialog RowsWidget { height: auto; }
    """

    def __init__(self, title: str, marks: Marks):
        super().__init__(classes="ascii" if marks.name == "ascii" else "")
        self.heading = title
        self.marks = marks

        self.answered = False

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Give the answer; keys that are typed after it are for what comes next."""
        self.answered = True
        # the action that asked may ask again: keys wait until it has
        self.main.opening = True
        return super().dismiss(result)

    def take(self, event: events.Key) -> bool:
        """Whether a key is not for the field: it answers, moves in a list, or came too late."""
        if self.answered:
            self.main.post_message(event)
        elif event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            self.submit(self.query_one(Field).value)
        elif event.key not in ("tab", "shift+tab"):
            return False
        return True

    def submit(self, value: str) -> None:
        """Enter on `value` in the field."""

    async def on_key(self, event: events.Key) -> None:
        """A key that came before the field had the focus is not lost."""
        event.stop()
        field = self.query_one(Field)
        if event.is_printable and event.character and not self.take(event):
            field.insert_text_at_cursor(event.character)
        elif not event.is_printable:
            await field._on_key(event)

    @property
    def main(self) -> MainScreen:
        return self.app.main  # type: ignore[attr-defined]

    @property
    def words(self) -> dict[str, Style]:
        return self.app.words  # type: ignore[attr-defined]

    def box(self) -> Vertical:
        """The frame, titled; user text in it is never markup."""
        from textual.content import Content

        frame = Vertical(id="box")
        frame.border_title = Content(clip(printable(self.heading), 60))
        return frame

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)


class Choose(Dialog):
    """Choose one item; typing filters.  Answers the item's key, or None.

    `preview` gives words on an item, `picture` a drawing of it in so many columns
    and rows; drawings are made beside the keys.
    """

    DEFAULT_CSS = """
    Choose #beside { height: auto; }
    Choose #list { height: 14; width: 1fr; }
    Choose #list.beside { width: 26; }
    Choose #picture { width: 1fr; }
    Choose #about { height: 2; }
    """

    def __init__(
        self,
        title: str,
        items: tuple[Item, ...],
        marks: Marks,
        *,
        start: str = "",
        preview: Callable[[str], str] | None = None,
        picture: Callable[[str, int, int], Rows] | None = None,
    ):
        super().__init__(title, marks)
        self.picture = picture
        self.pictures: dict[str, Rows] = {}
        self.items = items
        self.shown = items
        self.narrowed = ""
        self.index = next((i for i, item in enumerate(items) if item.key == start), 0)
        self.top = 0
        self.preview = preview

    def compose(self) -> ComposeResult:
        with self.box():
            yield Field(placeholder="type to filter", id="filter", select_on_focus=False)
            with Horizontal(id="beside"):
                drawn = self.picture is not None
                yield RowsWidget(self._list, id="list", classes="beside" if drawn else "")
                if drawn:
                    yield RowsWidget(self._picture, id="picture")
            yield RowsWidget(self._about, id="about")

    def on_mount(self) -> None:
        rows = min(len(self.items), max(self.app.size.height - 8, 3), 16)
        self.query_one("#list").styles.height = max(rows, 1)
        if self.picture is not None:
            self.query_one("#picture").styles.height = max(rows, 1)
            self.call_after_refresh(self._draw)
        self.query_one("#filter").focus()

    def _picture(self, width: int, height: int) -> Rows:
        return self.pictures.get(self.shown[self.index].key, ()) if self.shown else ()

    def _draw(self) -> None:
        """Have the marked item drawn, if it is not yet."""
        if self.picture is not None and self.shown:
            key, size = self.shown[self.index].key, self.query_one("#picture").size
            if key not in self.pictures:
                work: Callable[[], Awaitable[None]] = partial(self._drawn, key, size)
                self.run_worker(work, group="picture", exclusive=True)

    async def _drawn(self, key: str, size: Size) -> None:
        assert self.picture is not None
        self.pictures[key] = await asyncio.to_thread(self.picture, key, *size)
        self.query_one("#picture").refresh()

    def _list(self, width: int, height: int) -> Rows:
        self.top = scrolled(self.top, self.index, len(self.shown), height)
        if not self.shown:
            return ((("nothing with this text", "dim"),),)
        room = width - 4 if self.picture is not None else width // 2
        name = min(max((cells(item.label) for item in self.shown), default=0), room) + 2
        rows = []
        for i, item in enumerate(self.shown[self.top : self.top + height], self.top):
            here = i == self.index
            style = "cursor" if here else "dim" if item.refusal else ""
            left = self.marks.cursor if here else " "
            detail = (item.refusal or item.detail) if width - name > 8 else ""
            rows.append(
                (
                    (left + " " + pad(printable(item.label), name), style),
                    (clip(printable(detail), width - name - 2), style or "dim"),
                )
            )
        return tuple(rows)

    def _about(self, width: int, height: int) -> Rows:
        if not self.shown:
            return ()
        item = self.shown[self.index]
        text = item.refusal or (self.preview(item.key) if self.preview else item.detail)
        return tuple(((line, "dim"),) for line in wrap(printable(text), width)[:height])

    def on_input_changed(self, event: Input.Changed) -> None:
        if not self.answered:
            self._narrow(event.value)

    def _narrow(self, value: str) -> None:
        """Show the items that contain all words of `value`."""
        if value == self.narrowed:
            return
        self.narrowed = value
        wanted = value.lower().split()
        self.shown = tuple(
            item
            for item in self.items
            if all(word in f"{item.label} {item.detail}".lower() for word in wanted)
        )
        self.index = 0
        self._repaint()

    def _repaint(self) -> None:
        for widget in self.query(RowsWidget):
            widget.refresh()
        self._draw()

    def submit(self, value: str) -> None:
        self._narrow(value)
        self._choose()

    def _choose(self) -> None:
        if self.shown and not self.shown[self.index].refusal:
            self.dismiss(self.shown[self.index].key)

    def take(self, event: events.Key) -> bool:
        if self.answered or event.key not in _MOVES:
            return super().take(event)
        self._narrow(self.query_one(Field).value)
        self.index = max(0, stepped(self.index, len(self.shown), _MOVES[event.key], 10))
        self._repaint()
        return True

    def on_click(self, event: events.Click) -> None:
        if event.widget is not None and event.widget.id == "list":
            index = self.top + event.y
            if index < len(self.shown):
                self.index = index
                self._choose()
        else:
            super().on_click(event)


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

    def compose(self) -> ComposeResult:
        with self.box():
            yield Field(self.text, id="value", select_on_focus=True)
            yield RowsWidget(self._said, id="said")

    def on_mount(self) -> None:
        self.query_one("#value").focus()

    def _said(self, width: int, height: int) -> Rows:
        style = "dim" if self.fine else "error"
        mark = "" if self.fine else f"{self.marks.error} "
        lines = wrap(mark + printable(self.said), width)
        rows: list[Row] = [((line, style),) for line in lines[: height - 1]]
        rows += [()] * (height - 1 - len(rows))
        rows.append((("Enter accepts, Esc leaves it as it was", "dim"),))
        return tuple(rows)

    def on_input_changed(self, event: Input.Changed) -> None:
        if self.answered:
            return
        if event.value == self.text:
            self.said, self.fine = self.about, True
        else:
            self._judge(event.value)
        self.query_one("#said").refresh()

    def _judge(self, value: str) -> None:
        message, self.fine = self.judge(value)
        self.said = message or self.about

    def submit(self, value: str) -> None:
        self._judge(value)
        if self.fine:
            self.dismiss(value)
        else:
            self.query_one("#said").refresh()


class Read(Dialog):
    """A text to read, scrolled with the arrows; any other key of `keys` answers."""

    DEFAULT_CSS = """
    Read #text { height: 16; }
    """

    def __init__(self, title: str, rows: Rows, marks: Marks, *, keys: tuple[str, ...] = ()):
        super().__init__(title, marks)
        self.rows = rows
        self.keys = keys
        self.top = 0

    def compose(self) -> ComposeResult:
        with self.box():
            yield RowsWidget(self._text, id="text")

    def on_mount(self) -> None:
        room = max(self.app.size.height - 4, 3)
        self.query_one("#text").styles.height = max(min(len(self.rows), room), 1)

    def _text(self, width: int, height: int) -> Rows:
        self.top = max(0, min(self.top, len(self.rows) - height))
        return self.rows[self.top : self.top + height]

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.answered:
            self.take(event)
            return
        height = self.query_one("#text").size.height
        if event.key in ("escape", "enter", "question_mark", "f1", "q") and not (
            event.character and event.character in self.keys
        ):
            self.dismiss(None)
        elif event.character and event.character in self.keys:
            self.dismiss(event.character)
        elif event.key in _MOVES or event.key in ("j", "k", "space"):
            word = {"j": "down", "k": "up", "space": "page_down"}.get(event.key, "")
            word = word or _MOVES[event.key]
            self.top = stepped(self.top, len(self.rows), word, height)
            self.query_one("#text").refresh()
