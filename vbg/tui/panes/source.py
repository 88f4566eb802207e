"""Edit: the text of the model file, beside the tree; both have the same part marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import TextArea

from vbg.draw.text.rows import Row, Rows, printable, wrap
from vbg.edit.commands import ReplaceText
from vbg.edit.source import line_of, path_at
from vbg.errors import Problem
from vbg.model.text.places import spelled
from vbg.tui.content.model.completing import completions, field_at
from vbg.tui.content.model.fields import field_rows, unit_of
from vbg.tui.content.model.locating import place_of
from vbg.tui.panes.pane import Pane
from vbg.tui.state.workspace import Path

# Seconds without a key after which what was typed is an edit, in the journal; of a large text
# each edit takes its time.
TAKEN_AFTER, _LARGE_AFTER, _LARGE = 0.05, 0.5, 50_000
_BELOW = 2  # rows for the problem, or the meaning, of the line of the cursor
_TOKENS = re.compile(
    r"(?P<dim>#.*)|(?P<title>^\s*\[\[?[^\]]*\]\]?)|(?P<ok>\"(?:[^\"\\]|\\.)*\"?|'[^']*'?)"
    r"|(?P<bar>^\s*[\w.\"'-]+(?=\s*=)|[\w-]+(?=\s*=))"
    r"|(?P<note>\b(?:true|false)\b|(?<![\w.])[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)"
)

_CHANGES: dict[str, Callable[[TextArea], Any]] = {
    "enter": lambda area: area.replace("\n", *area.selection),
    "backspace": TextArea.action_delete_left,
    "delete": TextArea.action_delete_right,
    "ctrl+w": TextArea.action_delete_word_left,
    "ctrl+u": TextArea.action_delete_to_start_of_line,
    "ctrl+k": TextArea.action_delete_to_end_of_line,
    "ctrl+d": TextArea.action_delete_line,
    "ctrl+x": TextArea.action_cut,
    "ctrl+v": TextArea.action_paste,
}
_MOVES: dict[str, Callable[[TextArea], Any]] = {
    "left": TextArea.action_cursor_left,
    "right": TextArea.action_cursor_right,
    "up": TextArea.action_cursor_up,
    "down": TextArea.action_cursor_down,
    "home": TextArea.action_cursor_line_start,
    "end": TextArea.action_cursor_line_end,
    "pageup": TextArea.action_cursor_page_up,
    "pagedown": TextArea.action_cursor_page_down,
    "ctrl+home": lambda area: area.move_cursor((0, 0)),
    "ctrl+end": lambda area: area.move_cursor(area.document.end),
    "ctrl+left": TextArea.action_cursor_word_left,
    "ctrl+right": TextArea.action_cursor_word_right,
    "shift+left": lambda area: area.action_cursor_left(select=True),
    "shift+right": lambda area: area.action_cursor_right(select=True),
    "shift+up": lambda area: area.action_cursor_up(select=True),
    "shift+down": lambda area: area.action_cursor_down(select=True),
    "shift+home": lambda area: area.action_cursor_line_start(select=True),
    "shift+end": lambda area: area.action_cursor_line_end(select=True),
    "ctrl+c": TextArea.action_copy,
}
_EDITS = {**_CHANGES, **_MOVES}


class Writing(TextArea):
    """The text, coloured; lines with problems are underlined."""

    DEFAULT_CSS = """
    Writing, Writing:focus {
        border: none; padding: 0; background: $background; scrollbar-size: 0 0;
    }
    """

    def __init__(self, source: Source):
        super().__init__(soft_wrap=False, highlight_cursor_line=True, id="writing")
        self.source = source
        self.cursor_blink = False
        self.match_cursor_bracket = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.source.repaint()

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        words = self.source.home.words
        for token in _TOKENS.finditer(line.plain):
            style = words[token.lastgroup or ""]
            line.stylize(style.without_color + style.from_color(style.color), *token.span())
        if line_index + 1 in self.source.troubles:
            line.stylize("underline")
        return line


class Source(Pane):
    """The text of the file.  What is typed is an edit of the document once the typing rests,
    one undo step for each line; the tree, the inspector and the checks follow."""

    JUMP = "w"

    def __init__(self, name: str):
        super().__init__(name)
        self.area = Writing(self)
        self.troubles: dict[int, Problem] = {}
        self.shown = ""
        self.followed: tuple[int, Path, int] = (-1, (), 0)
        self.edited: tuple[int, int] = (-1, -1)
        self.has_keys = False
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self.area

    def title(self) -> str:
        row, column = self.area.cursor_location
        return f"Text  {row + 1}:{column + 1}"

    def hint(self) -> str:
        return "Tab completes  Esc back" if self.home.active == "source" else "t edits"

    @property
    def numbering(self) -> int:
        """Columns of marks and numbers left of the text."""
        return len(str(self.area.document.line_count)) + 2

    def repaint(self) -> None:
        if not self.display:
            return
        self._take_in()
        width, height = self.inner
        self.area.styles.offset = (1 + self.numbering, 1)
        self.area.styles.width = max(width - self.numbering, 1)
        self.area.styles.height = max(height - _BELOW - 1, 1)
        self.has_keys = self.home.active == "source"
        if self.has_keys != self.area.has_focus and self.screen.is_active:
            self.screen.set_focus(self.area if self.has_keys else None)
        super().repaint()

    def _take_in(self) -> None:
        """Show what the document and the selection are, unless they are from here."""
        work = self.work
        now = work.document.now
        if not self.pending and now.text != self.shown:
            at = self.area.cursor_location
            self.area.load_text(now.text)
            self.area.move_cursor(at)
            # line ends of several kinds, form feeds: what would be typed is not what is there
            self.area.read_only = self.area.document.text != now.text
            self.shown = now.text
        troubles = {p.line: p for p in reversed(work.problems) if p.line}
        if troubles != self.troubles:
            self.troubles = troubles
            self.area.refresh()
        if not self.pending:
            self._follow()

    def _follow(self) -> None:
        """The cursor to the problem or the field that was marked elsewhere."""
        work, before = self.work, self.followed
        self.followed = (work.problem_index, work.selection, work.field_index)
        if self.followed == before or self.has_keys:
            return
        at = work.problem_index
        problem = work.problems[at] if 0 <= at < len(work.problems) else None
        if problem is not None and problem.line and at != before[0]:
            self.go(problem.line)
        elif len(work.selection) == 1 and work.data.get(str(work.selection[0])):
            first = next(iter(work.data[str(work.selection[0])]))
            self.go(line_of(self.shown, (*work.selection, first)))
        elif work.selection:
            rows = field_rows(work.data, work.selection)
            marked = work.field_index if self.home.active == "inspector" else len(rows)
            written = marked < len(rows) and rows[marked].written
            self.go(line_of(self.shown, rows[marked].path if written else work.selection))
        else:
            self.go(1)

    def go(self, line: int) -> None:
        """The cursor to a line, from 1, in sight."""
        self.area.move_cursor((line - 1, 0))
        self.call_after_refresh(self.area.scroll_cursor_visible, center=True, animate=False)

    @property
    def pending(self) -> bool:
        """Whether something was typed that is no edit yet."""
        return self._rest is not None

    def body(self, width: int, height: int) -> Rows:
        top, at = self.area.scroll_offset.y, self.area.cursor_location[0]
        count, numbers = self.area.document.line_count, self.numbering - 2
        rows: list[Row] = []
        for line in range(top + 1, top + 1 + max(height - _BELOW - 1, 1)):
            problem = self.troubles.get(line)
            severity = problem.severity if problem is not None else ""
            mark = {"error": self.work.marks.error, "warning": self.work.marks.warn}
            style = {"error": "error", "warning": "warn"}.get(severity, "dim")
            number = f"{line:>{numbers}} " if line <= count else ""
            here = "focus" if line == at + 1 else "dim"
            rows.append(((mark.get(severity, " "), style), (number, here)))
        self.extent = (top, count, len(rows))
        rows.append(((self.work.marks.across * width, "dim"),))
        return (*rows, *self._meaning(at + 1, width))

    def _meaning(self, line: int, width: int) -> Rows:
        """What is wrong with the line of the cursor, or what it means."""
        problem = self.troubles.get(line)
        if problem is not None:
            style = "error" if problem.severity == "error" else "warn"
            text = f"{problem.what} {problem.remedy}"
        else:
            style, text = "dim", self._about(line)
        return tuple(((row, style),) for row in wrap(printable(text), width)[:_BELOW])

    def _about(self, line: int) -> str:
        path = path_at(self.area.text, line)
        field = field_at(self.work.data, path) if path else None
        if field is None:
            return ".".join(map(str, path))
        unit = unit_of(field)
        return f"{path[-1]}: {field.doc}{f' [{unit}]' if unit else ''}"

    def types(self, event: events.Key) -> bool:
        """Do a key of the text; whether it was one."""
        if self.area.read_only and (event.is_printable or event.key in _CHANGES):
            words = "this text has line ends of several kinds; ctrl+e opens your editor"
            self.work.say(words, "warn")
            self.home.paint("undo", "status")
            return True
        before = self.area.document.text
        if event.is_printable and event.character:
            self.area.replace(event.character, *self.area.selection)
        elif event.key in _EDITS:
            _EDITS[event.key](self.area)
        else:
            return False
        self._moved(self.area.document.text != before)
        return True

    def pasted(self, text: str) -> None:
        if self.area.read_only:
            return
        self.area.replace(text, *self.area.selection)
        self._moved(True)

    def put(self, start: int, text: str) -> None:
        """`text` in the place of what is between column `start` and the cursor."""
        row, column = self.area.cursor_location
        self.area.replace(text, (row, start), (row, column))
        self._moved(True)

    def _moved(self, changed: bool) -> None:
        """After a key: the part of the cursor's line is selected; what was typed rests."""
        if changed:
            if self._rest is not None:
                self._rest.stop()
            large = len(self.shown) > _LARGE
            self._rest = self.set_timer(_LARGE_AFTER if large else TAKEN_AFTER, self.take)
        else:
            self._select()
        self._show_cursor()
        self.home.paint("source", "tree")

    def _show_cursor(self) -> None:
        """The cursor in sight, and the beginning of the lines too if that is possible."""
        if self.area.cursor_location[1] < self.area.size.width:
            self.area.scroll_to(x=0, animate=False)
        self.area.scroll_cursor_visible()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.repaint()
        self.call_after_refresh(self._show_cursor)

    def _select(self) -> None:
        """What the line of the cursor is about is selected everywhere."""
        path = path_at(self.area.document.text, self.area.cursor_location[0] + 1)
        part, row = place_of(self.work.data, spelled(path))
        self.home.main.select(part)
        self.work.field_index = row
        self.followed = (self.work.problem_index, self.work.selection, row)

    def take(self) -> None:
        """What was typed becomes an edit of the document: of the same line as the last one, in
        the place of that."""
        if self._rest is None:
            return
        self._rest.stop()
        self._rest = None
        document, text = self.work.document, self.area.document.text
        line = self.area.cursor_location[0] + 1
        if text == document.now.text:
            return
        again = self.edited == (document.position, line) and not document.redo_label
        self.shown = text
        document.apply(ReplaceText(text, f"write line {line}"), instead=again)
        self.edited = (document.position, line)
        self._select()
        self.home.paint()

    def completions(self) -> tuple[int, Any]:
        """Where what can be completed begins, and what fits."""
        row, column = self.area.cursor_location
        return completions(self.work.data, self.area.document.text, row + 1, column)

    def move(self, direction: str) -> None:
        """By the wheel."""
        self.area.scroll_relative(y=3 if direction == "down" else -3, animate=False)

    def copied(self) -> str:
        return self.area.selected_text

    def clicked(self, column: int, row: int) -> None:
        self._select()

    def double_clicked(self) -> None:
        """The word is selected, by the text itself."""


def panes() -> list[Pane]:
    return [Source("source")]
