"""Live parameters: numbers of the model on sliders, the machine run again at every move."""

from __future__ import annotations

from vbg.draw.text.rows import Row, Rows, clip, pad, printable
from vbg.tui.content.model import sliding
from vbg.tui.content.model.fields import FieldRow
from vbg.tui.content.model.sliding import Ends
from vbg.tui.panes.pane import Pane, scrolled, stepped

_NAME, _VALUE = 16, 14  # cells


class Sliders(Pane):
    """Left and right, a click or a drag change the marked number; up and down mark another."""

    JUMP = "f"
    DRAGGED = True

    def __init__(self, name: str):
        super().__init__(name)
        self.index = 0
        self.ends: dict[tuple[str | int, ...], Ends] = {}
        self._grip = 0.0

    def lines(self) -> tuple[FieldRow, ...]:
        inspector = self.home.panes["inspector"]
        return sliding.slider_rows(self.work.data, inspector.marked)

    @property
    def marked(self) -> FieldRow | None:
        lines = self.lines()
        return lines[min(self.index, len(lines) - 1)] if lines else None

    def title(self) -> str:
        return "Live"

    def hint(self) -> str:
        return "left, right: run with it  L closes"

    def body(self, width: int, height: int) -> Rows:
        lines = self.lines()
        if not lines:
            text = "no parameter is a number; mark a number in Edit, or a p adds a parameter"
            return (((clip(text, width), "dim"),),)
        index = min(self.index, len(lines) - 1)
        self.top = scrolled(self.top, index, len(lines), height)
        self.extent = (self.top, len(lines), height)
        shown = lines[self.top : self.top + height]
        return tuple(self._row(row, width, i == index) for i, row in enumerate(shown, self.top))

    def _row(self, row: FieldRow, width: int, current: bool) -> Row:
        marks, at = self.work.marks, sliding.place_of(self._ends(row), self._number(row))
        room = self.room(width)
        knob = round(at * (room - 1))
        name = str(row.path[1]) if row.path[0] == "parameters" else ".".join(map(str, row.path[1:]))
        value = sliding.told(self.work.data, row)
        look = "focus" if current and self.home.active == "sliders" else ""
        return (
            (marks.cursor if current else " ", "focus"),
            (pad(clip(printable(name), _NAME), _NAME), look),
            (f" {marks.tick_right}{marks.line * knob}", "dim"),
            (marks.knob, look or "bar"),
            (f"{marks.line * (room - 1 - knob)}{marks.tick_left} ", "dim"),
            (pad(clip(printable(value), _VALUE), _VALUE), look),
        )

    def room(self, width: int) -> int:
        return max(width - _NAME - _VALUE - 6, 6)

    def _number(self, row: FieldRow) -> float:
        number = sliding.number_of(row.value)
        assert number is not None
        return number

    def _ends(self, row: FieldRow) -> Ends:
        """The ends that the slider had when it was first seen, wider where its value left them."""
        number = self._number(row)
        ends = self.ends.get(row.path) or sliding.ends_about(number)
        self.ends[row.path] = sliding.widened(ends, number)
        return self.ends[row.path]

    def move(self, direction: str) -> None:
        if direction in ("left", "right"):
            self._shift(1 if direction == "right" else -1)
        else:
            count = len(self.lines())
            self.index = max(0, stepped(self.index, count, direction, self.inner[1]))

    def clicked(self, column: int, row: int) -> None:
        if self.top + row < len(self.lines()):
            self.index = self.top + row
            left = _NAME + 3
            if left <= column < left + self.room(self.inner[0]):
                marked = self.lines()[self.index]
                ends = self._ends(marked)
                part = (column - left) / (self.room(self.inner[0]) - 1)
                self._set(marked, ends, sliding.at_place(ends, part))

    def dragged(self, columns: int, rows: int) -> None:
        row = self.marked
        if row is not None:
            ends = self._ends(row)
            steps = (ends.high - ends.low) / sliding.step_of(ends)
            self._grip += columns / (self.room(self.inner[0]) - 1) * steps
            moved = int(self._grip)
            self._grip -= moved
            self._shift(moved)

    def _shift(self, steps: int) -> None:
        """So many steps up."""
        row = self.marked
        if row is not None:
            ends = self._ends(row)
            self._set(row, ends, self._number(row) + steps * sliding.step_of(ends))

    def _set(self, row: FieldRow, ends: Ends, number: float) -> None:
        """Set the marked number, as far as its slider goes, and run."""
        number = sliding.rounded(ends, min(max(number, ends.low), ends.high))
        if number != self._number(row):
            self.home.main.try_number(row, sliding.with_number(row.value, number))


def panes() -> list[Pane]:
    return [Sliders("sliders")]
