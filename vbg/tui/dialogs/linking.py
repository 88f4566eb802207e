"""Enter a topology pair by pair, the picture growing (Celdran et al., section 3.1, Fig. 10)."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, printable, wrap
from vbg.errors import UsageError
from vbg.structure.topology.entry import Entry, begun, codes_of, state_of, with_pair
from vbg.tui.content.model.linking import graph_rows, pair_rows, verdict
from vbg.tui.dialogs.dialog import Dialog, RowsWidget

SPACE = "plane or space?  Enter alone: space"
BODIES = "how many bodies are there, with the frame as body 1?"
PAIRS = "a pair and what is driven: 1 2 R 1  ? codes  ^z back  Enter ends"
SAID = 4  # rows of what is said


@dataclass(frozen=True, slots=True)
class Linked:
    """What was entered of a topology, and whether to its end."""

    entry: Entry | None
    finished: bool = False


class Linking(Dialog):
    """Answers what was entered, and whether to its end: Esc leaves with what is there."""

    DEFAULT_CSS = f"""
    Linking > Vertical {{ width: 100%; }}
    Linking #beside {{ height: auto; }}
    Linking #pairs {{ width: 15; }}
    Linking #picture {{ width: 1fr; }}
    Linking #said {{ height: {SAID}; }}
    """

    def __init__(self, entry: Entry | None, marks: Marks):
        super().__init__("Linkage", marks)
        self.entry = entry
        self.space: str | None = None
        self.said = ""
        self.style = "dim"
        self.codes = ""
        self.input = Input(placeholder="type an answer", id="value", select_on_focus=False)
        self.pairs = RowsWidget(self._pairs, id="pairs")
        self.picture = RowsWidget(self._picture, id="picture")
        self.saying = RowsWidget(self._said, id="said")

    @property
    def field(self) -> Input:
        return self.input

    def compose(self) -> ComposeResult:
        with self.box():
            with Horizontal(id="beside"):
                yield self.pairs
                yield self.picture
            yield self.input
            yield self.saying

    def begin(self) -> None:
        rows = max(self.app.size.height - SAID - 4, 3)
        self.pairs.styles.height = rows
        self.picture.styles.height = rows
        self.field.focus()

    def _pairs(self, width: int, height: int) -> Rows:
        return pair_rows(self.entry, width, height, self.marks) if self.entry else ()

    def _picture(self, width: int, height: int) -> Rows:
        if self.codes:
            return tuple(((line, ""),) for line in self.codes.splitlines()[:height])
        return graph_rows(self.entry, width, height, self.marks) if self.entry else ()

    def _said(self, width: int, height: int) -> Rows:
        """What is wrong, or what is there, and what is asked."""
        mark = f"{self.marks.error} " if self.style == "error" else ""
        lines = wrap(mark + printable(self.said), width) if self.said else []
        rows: list[Row] = [((line, self.style),) for line in lines[: height - 1]]
        rows += [()] * (height - 1 - len(rows))
        return (*rows, ((self._question(), "dim"),))

    def _question(self) -> str:
        if self.entry is not None:
            return PAIRS
        return SPACE if self.space is None else BODIES

    def press(self, event: events.Key) -> None:
        if event.key == "escape":
            self.answer(Linked(self.entry))
        elif event.key == "ctrl+z":
            self._take_back()
        else:
            super().press(event)

    def submit(self, value: str) -> None:
        text, self.codes = value.strip(), ""
        try:
            self._do(text)
        except UsageError as error:
            self.say(str(error), "error")
        else:
            self.field.clear()

    def _do(self, text: str) -> None:
        """One answer; raises UsageError with what is wrong with it."""
        if self.entry is None:
            if self.space is None:
                begun(text, "2")
                self.space = text
            else:
                self.entry = begun(self.space, text)
            self._tell()
        elif not text:
            self._end(self.entry)
        elif text == "?":
            self.codes = codes_of(self.entry)
            self._tell()
        elif text == "undo":
            self._take_back()
        else:
            self.entry = with_pair(self.entry, text)
            self._tell()

    def _end(self, entry: Entry) -> None:
        if entry.loose:
            raise UsageError(f"{state_of(entry)} (F joins what floats in space, FP in the plane)")
        self.answer(Linked(entry, finished=True))

    def _take_back(self) -> None:
        """The last pair; before the first one the number of bodies, then the space."""
        if self.entry is not None and self.entry.pairs:
            self.entry = self.entry.without_last()
        elif self.entry is not None:
            self.entry = None
        else:
            self.space = None
        self._tell()

    def _tell(self) -> None:
        """Paint what there is now."""
        if self.entry is None:
            self.say("", "dim")
            return
        words, style = verdict(self.entry)
        state = state_of(self.entry)
        self.say(f"{state}; {words}" if words else state, style or "dim")

    def say(self, text: str, style: str) -> None:
        """Say it below the field."""
        self.said, self.style = text, style
        for widget in (self.pairs, self.picture, self.saying):
            widget.refresh()
