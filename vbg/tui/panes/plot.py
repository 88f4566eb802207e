"""Plot: signals, curves, values at the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vbg.draw.text.curves import Range
from vbg.draw.text.rows import Rows, cells, pad, printable, shortened
from vbg.solution import Solution
from vbg.tui.content.results import plotting
from vbg.tui.content.results.plotting import Signal
from vbg.tui.panes.pane import Pane, scrolled, stepped
from vbg.tui.state import results


class PlotPane(Pane):
    """What the panes of Plot have in common: the run they show."""

    @property
    def solution(self) -> Solution | None:
        run = results.plotted(self.work)
        return results.shown(self.work, run.number) if run else None

    @property
    def other(self) -> Solution | None:
        """The run behind it, never the same one."""
        run = results.plotted(self.work)
        if run is not None and run.number == self.work.plot.overlay:
            return None
        return results.shown(self.work, self.work.plot.overlay)

    @property
    def names(self) -> tuple[str, ...]:
        """The signals shown: those chosen that the run has."""
        solution = self.solution
        if solution is None:
            return ()
        known = {signal.name for signal in plotting.signals(solution)}
        return tuple(name for name in self.work.plot.signals if name in known)

    @property
    def x(self) -> str:
        """The signal of the x axis if the run has it; empty for time."""
        solution, wanted = self.solution, self.work.plot.x
        if not wanted or solution is None:
            return ""
        return wanted if wanted in {s.name for s in plotting.signals(solution)} else ""

    @property
    def window(self) -> Range | None:
        chosen = self.work.plot.window
        return Range(*chosen) if chosen else None

    def full(self) -> Range:
        """The whole time of the run."""
        solution = self.solution
        if solution is None or len(solution.time) < 2:
            return Range(0.0, 1.0)
        return Range(float(solution.time[0]), float(solution.time[-1]))


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %" if part >= 0.1 else f"{100 * part:.2g} %"


class Signals(PlotPane):
    """The signals of the run."""

    JUMP = "a"

    def __init__(self, name: str):
        super().__init__(name)
        self._compared: tuple[Solution | None, Solution | None] = (None, None)
        self._gaps: dict[str, float] = {}

    @property
    def gaps(self) -> dict[str, float]:
        """How much each signal differs from that of the run behind, if that is asked for."""
        solution, other = self.solution, self.other
        if not self.work.plot.ranked or solution is None or other is None:
            return {}
        if self._compared[0] is not solution or self._compared[1] is not other:
            self._compared = (solution, other)
            self._gaps = plotting.differences(solution, other)
        return self._gaps

    def lines(self) -> tuple[Signal, ...]:
        solution, gaps = self.solution, self.gaps
        if solution is None:
            return ()
        first = "" if gaps else self.work.part_name
        found = plotting.shown_signals(solution, self.work.signal_filter, first)
        return tuple(sorted(found, key=lambda s: -gaps.get(s.name, -1.0))) if gaps else found

    def title(self) -> str:
        wanted = self.work.signal_filter
        name = "Difference" if self.gaps else "Signals"
        return f"{name}: {wanted}" if wanted else name

    def hint(self) -> str:
        return "/"

    def body(self, width: int, height: int) -> Rows:
        work, lines = self.work, self.lines()
        if not lines:
            text = "no such signal" if self.solution else "no run: r runs it"
            return (((text, "dim"),),)
        index = min(work.signal_index, len(lines) - 1)
        self.top = scrolled(self.top, index, len(lines), height)
        self.extent = (self.top, len(lines), height)
        rows, gaps = [], self.gaps
        for i, signal in enumerate(lines[self.top : self.top + height], self.top):
            on = signal.name in work.plot.signals
            ink = f"ink{1 + work.plot.signals.index(signal.name) % 6}" if on else "dim"
            style = "cursor" if i == index else "" if on else "dim"
            mark = work.marks.on if on else work.marks.off
            if signal.name == self.x:
                mark = work.marks.on_x
            left = work.marks.cursor if i == index else " "
            behind = signal.unit
            if gaps:
                behind = _percent(gaps[signal.name]) if signal.name in gaps else "-"
            room = width - 5 - len(behind) - 1
            rows.append(
                (
                    (left, "focus"),
                    (f"{mark} ", ink),
                    (pad(shortened(printable(signal.name), room), room), style),
                    (f" {behind}", "note" if gaps else "dim"),
                )
            )
        return tuple(rows)

    @property
    def marked(self) -> Signal | None:
        lines = self.lines()
        return lines[min(self.work.signal_index, len(lines) - 1)] if lines else None

    def move(self, direction: str) -> None:
        if direction in ("left", "right"):
            self.home.panes["curves"].move(direction)
        else:
            count = len(self.lines())
            self.work.signal_index = max(
                0, stepped(self.work.signal_index, count, direction, self.inner[1])
            )

    def enter(self) -> None:
        self.home.main.act_id("plot.toggle")

    def clicked(self, column: int, row: int) -> None:
        if self.top + row < len(self.lines()):
            self.work.signal_index = self.top + row
            self.enter()


class Curves(PlotPane):
    """The curves of the chosen signals."""

    JUMP = "s"
    DRAGGED = True

    def __init__(self, name: str):
        super().__init__(name)
        self._of: tuple[Solution | None, Solution | None] = (None, None)
        self._seen: tuple[Any, ...] = ()
        self._drawn: Rows = ()

    def title(self) -> str:
        run = results.plotted(self.work)
        if run is None:
            return "Plot"
        over = f"  and run {self.work.plot.overlay} dashed" if self.other else ""
        changed = "  model changed since" if results.stale(self.work, run) else ""
        return f"{run.title}: {run.outcome}{over}{changed}"

    def hint(self) -> str:
        return "+/- zoom"

    def body(self, width: int, height: int) -> Rows:
        solution = self.solution
        if solution is None:
            text = "reading the run ..." if results.plotted(self.work) else "no run yet: r runs it"
            return (((text, "dim"),),)
        plot = self.work.plot
        picture = plotting.Picture(
            solution, self.names, self.other, self.window, plot.cursor, plot.split, self.x
        )
        # drawn once for all that is painted while nothing of it changes
        seen = (self.names, self.window, plot, self.x, width, height, self.work.marks)
        if self._of[0] is not solution or self._of[1] is not self.other or self._seen != seen:
            self._of, self._seen = (solution, self.other), seen
            self._drawn = plotting.picture_rows(picture, width, height, self.work.marks)
        return self._drawn

    def move(self, direction: str) -> None:
        """Left and right move the cursor by a hundredth of what is in sight."""
        if direction in ("up", "down"):
            self.home.panes["signals"].move(direction)
            return
        window = self.window or self.full()
        size = (window.high - window.low) / 100
        plot = self.work.plot
        start = window.low + 50 * size
        cursor = plot.cursor if plot.cursor is not None else start
        step = {"left": -size, "right": size, "page_up": -10 * size, "page_down": 10 * size}
        if direction in ("first", "last"):
            cursor = window.low if direction == "first" else window.high
        elif plot.cursor is not None:
            cursor += step.get(direction, 0.0)
        full = self.full()
        cursor = min(max(cursor, full.low), full.high)
        self.work.plot = replace(plot, cursor=cursor, window=_following(plot.window, cursor))

    def _edges(self) -> tuple[int, int]:
        """The first and the last column of the curves inside the frame."""
        row = self.painted[len(self.painted) // 2] if len(self.painted) > 6 else ()
        two = len(row) > 4 and not self.work.plot.split and self._units() > 1
        left = cells(row[1][0]) if len(row) > 3 else 6
        return left, self.inner[0] - 1 - (cells(row[-2][0]) if two else 0)

    def _units(self) -> int:
        solution = self.solution
        return len(plotting.units_of(solution, self.names)) if solution is not None else 0

    def time_at(self, column: int) -> float:
        """The time [s] at a column inside the frame."""
        window = self.window or self.full()
        left, right = self._edges()
        part = min(max((column - left) / max(right - left, 1), 0.0), 1.0)
        return window.low + part * (window.high - window.low)

    def clicked(self, column: int, row: int) -> None:
        if not self.x:
            self.work.plot = replace(self.work.plot, cursor=self.time_at(column))

    def double_clicked(self) -> None:
        """The whole time again."""
        self.work.plot = replace(self.work.plot, window=None)

    def zoom(self, factor: float, middle: float | None) -> None:
        """See a part of the time that is `factor` times as long; `middle` [s] stays in place."""
        plot, full = self.work.plot, self.full()
        window = self.window or full
        size = (window.high - window.low) * factor
        if size >= full.high - full.low:
            self.work.plot = replace(plot, window=None)
            return
        inside = middle is not None and window.low <= middle <= window.high
        at = middle if middle is not None and inside else (window.low + window.high) / 2
        part = (at - window.low) / (window.high - window.low)
        low = min(max(at - part * size, full.low), full.high - size)
        self.work.plot = replace(plot, window=(low, low + size))

    def wheel(self, direction: str, column: int) -> None:
        """Nearer or farther about the time under the mouse."""
        self.zoom(0.8 if direction == "up" else 1.25, self.time_at(column))
        self.home.paint()

    def dragged(self, columns: int, rows: int) -> None:
        """A part of the time that is in sight is moved along."""
        window, full = self.window, self.full()
        if window is None or self.x:
            return
        left, right = self._edges()
        size = window.high - window.low
        low = window.low - columns * size / max(right - left, 1)
        low = min(max(low, full.low), full.high - size)
        self.work.plot = replace(self.work.plot, window=(low, low + size))

    def dropped(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """With the whole time in sight, what was dragged over is what is seen from now on."""
        low, high = sorted((self.time_at(start[0]), self.time_at(end[0])))
        if self.window is None and not self.x and abs(end[0] - start[0]) > 2:
            self.work.plot = replace(self.work.plot, window=(low, high))


def _following(window: tuple[float, float] | None, cursor: float) -> tuple[float, float] | None:
    """The window moved so that the cursor is inside."""
    if window is None:
        return None
    low, high = window
    shift = min(cursor - low, 0.0) or max(cursor - high, 0.0)
    return (low + shift, high + shift)


class Cursor(PlotPane):
    """Values at the cursor."""

    def title(self) -> str:
        cursor = self.work.plot.cursor
        return f"Cursor  t = {cursor:.6g} s" if cursor is not None else "Range"

    def body(self, width: int, height: int) -> Rows:
        solution = self.solution
        if solution is None:
            return ()
        cursor = self.work.plot.cursor
        names = tuple(dict.fromkeys((*self.names, self.x))) if self.x else self.names
        return plotting.cursor_rows(solution, self.other, names, cursor, width, height)


def panes() -> list[Pane]:
    return [Signals("signals"), Curves("curves"), Cursor("cursor")]
