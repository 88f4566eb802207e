"""Choose from a list that typing narrows and ranks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.fuzzy import Matcher
from textual.geometry import Size
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows, cells, clip, pad, printable, wrap
from vbg.tui.content.style import as_ascii
from vbg.tui.dialogs.dialog import Dialog, RowsWidget
from vbg.tui.state.items import Item

MOST_SHOWN = 300  # items in the list; typing brings the others
_FUZZY = 2000  # items; of more, only those that contain what is typed are found


def ranked(items: tuple[Item, ...], wanted: str) -> tuple[Item, ...]:
    """The items that contain all words of `wanted`, or its letters in order; best first."""
    wanted = wanted.strip().lower()
    if not wanted:
        return items
    words = wanted.split()
    matcher = Matcher(wanted) if len(items) <= _FUZZY else None
    found = []
    for item in items:
        label = item.label.lower()
        inside = all(word in f"{label} {item.detail.lower()}" for word in words)
        score = matcher.match(item.label) if matcher is not None else 0.0
        if inside or score > 0:
            in_label = all(word in label for word in words)
            rank = (label == wanted, label.startswith(wanted), in_label, inside, score)
            found.append((rank, item))
    # stable: items of the same rank stay in their order
    return tuple(item for _, item in sorted(found, key=lambda entry: entry[0], reverse=True))


class Choose(Dialog):
    """Choose one item; typing narrows.  Answers the item's key, or None.

    `preview` gives words on an item, `picture` a drawing of it in so many columns
    and rows; drawings are made beside the keys.
    """

    DEFAULT_CSS = """
    Choose #beside { height: auto; }
    Choose OptionList {
        height: 14; width: 1fr; border: none; padding: 0; background: $background;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    Choose OptionList:focus { border: none; }
    Choose.ascii OptionList { text-overflow: clip; }
    Choose OptionList.beside { width: 26; }
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
        self.shown = items[:MOST_SHOWN]
        self.narrowed = ""
        self.name_width, self.cursor = 0, -1
        self.start = start
        self.preview = preview
        self.input = Input(placeholder="type to filter", id="filter", select_on_focus=False)
        beside = "beside" if picture is not None else ""
        self.list = OptionList(id="list", classes=beside, markup=False)
        self.drawing = RowsWidget(self._picture, id="picture")
        self.about = RowsWidget(self._about, id="about")

    @property
    def field(self) -> Input:
        return self.input

    def compose(self) -> ComposeResult:
        with self.box():
            yield self.input
            with Horizontal(id="beside"):
                yield self.list
                if self.picture is not None:
                    yield self.drawing
            yield self.about

    def begin(self) -> None:
        rows = max(min(len(self.items), max(self.app.size.height - 8, 3), 16), 1)
        self.list.styles.height = rows
        self.list.can_focus = False
        if self.picture is not None:
            self.drawing.styles.height = rows
        self.field.focus()
        allowed = next((i for i, item in enumerate(self.items) if not item.refusal), 0)
        at = next((i for i, item in enumerate(self.items) if item.key == self.start), allowed)
        if at >= MOST_SHOWN:
            self.shown, at = (self.items[at], *self.shown), 0
        self._fill(at)

    @property
    def marked(self) -> Item | None:
        at = self.list.highlighted
        return self.shown[at] if at is not None and at < len(self.shown) else None

    def _fill(self, at: int) -> None:
        """Put what is shown into the list, one of it marked."""
        self.list.clear_options()
        room = 24 if self.picture is not None else 34
        name = min(max((cells(item.label) for item in self.shown), default=0), room) + 2
        self.name_width, self.cursor = name, -1
        self.list.add_options([Option(self._line(item)) for item in self.shown])
        if not self.shown:
            self.list.add_option(Option(Content("nothing with this text"), disabled=True))
        else:
            self.list.highlighted = at
        self._mark()

    def _line(self, item: Item, *, marked: bool = False) -> Content:
        """One line; the marked one has a sign besides its colour."""
        name = self.name_width
        label, detail = printable(item.label), printable(item.refusal or item.detail)
        if self.marks.name == "ascii":
            label, detail = as_ascii(label), as_ascii(detail)
        if self.picture is not None and not item.refusal:
            detail = ""  # it stands below the list, the drawing beside it
        left = pad(f"{self.marks.cursor if marked else ' '}{clip(label, name)}", name + 1)
        return Content.assemble((left, "dim" if item.refusal else ""), (detail, "dim"))

    def _picture(self, width: int, height: int) -> Rows:
        return self.pictures.get(self.marked.key, ()) if self.marked else ()

    def _about(self, width: int, height: int) -> Rows:
        item = self.marked
        if item is None:
            return ()
        text = item.refusal or (self.preview(item.key) if self.preview else item.detail)
        left_out = len(self.items) - len(self.shown)
        if left_out and not self.narrowed:
            text = f"{text}  ({left_out} more: type to find them)".strip()
        return tuple(((line, "dim"),) for line in wrap(printable(text), width)[:height])

    def _mark(self) -> None:
        """Another item is marked: its sign, its words, its drawing."""
        at = self.list.highlighted
        for index in {self.cursor, -1 if at is None else at}:
            if 0 <= index < len(self.shown):
                line = self._line(self.shown[index], marked=index == at)
                self.list.replace_option_prompt_at_index(index, line)
        self.cursor = -1 if at is None else at
        self.about.refresh()
        if self.picture is not None:
            self.drawing.refresh()
            self.later(self._draw)

    def _draw(self) -> None:
        """Have the marked item drawn, if it is not yet."""
        item = self.marked
        if item is not None and item.key not in self.pictures:
            draw = partial(self._drawn, item.key, self.drawing.size)
            self.desk.beside(draw, "picture", exclusive=True)

    async def _drawn(self, key: str, size: Size) -> None:
        assert self.picture is not None
        self.pictures[key] = await asyncio.to_thread(self.picture, key, *size)
        if not self.answered:
            self.drawing.refresh()

    def changed(self, value: str) -> None:
        if value != self.narrowed:
            self.narrowed = value
            self.shown = ranked(self.items, value)[:MOST_SHOWN]
            self._fill(0)

    def submit(self, value: str) -> None:
        item = self.marked
        if item is not None and not item.refusal:
            self.answer(item.key)

    def press(self, event: events.Key) -> None:
        moves: dict[str, Callable[[], None]] = {
            "up": self.list.action_cursor_up,
            "ctrl+p": self.list.action_cursor_up,
            "down": self.list.action_cursor_down,
            "ctrl+n": self.list.action_cursor_down,
            "pageup": self.list.action_page_up,
            "pagedown": self.list.action_page_down,
            "home": self.list.action_first,
            "end": self.list.action_last,
        }
        if event.key in moves:
            moves[event.key]()
            self._mark()
        else:
            super().press(event)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click on an item."""
        self.submit("")
