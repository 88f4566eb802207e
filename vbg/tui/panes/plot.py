"""Plot: signals, curves, values at the cursor."""

from __future__ import annotations

from dataclasses import replace

from vbg.draw.text.curves import Range
from vbg.draw.text.rows import Rows, pad, printable, shortened
from vbg.solution import Solution
from vbg.tui.content import plotting
from vbg.tui.content.plotting import Signal
from vbg.tui.panes.pane import Pane, scrolled, stepped
from vbg.tui.state import results


class PlotPane(Pane):
    """What the panes of Plot have in common: the run they show."""

    @property
    def solution(self) -> Solution | None:
        run = results.plotted(self.work)
        return self.work.solutions.get(run.number) if run else None

    @property
    def other(self) -> Solution | None:
        return self.work.solutions.get(self.work.plot.overlay)

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


class Signals(PlotPane):
    """The signals of the run."""

    JUMP = "a"

    def lines(self) -> tuple[Signal, ...]:
        solution = self.solution
        if solution is None:
            return ()
        return plotting.shown_signals(solution, self.work.signal_filter, self.work.part_name)

    def title(self) -> str:
        wanted = self.work.signal_filter
        return f"Signals: {wanted}" if wanted else "Signals"

    def hint(self) -> str:
        return "/"

    def body(self, width: int, height: int) -> Rows:
        work, lines = self.work, self.lines()
        if not lines:
            text = "no such signal" if self.solution else "no run: r runs it"
            return (((text, "dim"),),)
        index = min(work.signal_index, len(lines) - 1)
        self.top = scrolled(self.top, index, len(lines), height)
        rows = []
        for i, signal in enumerate(lines[self.top : self.top + height], self.top):
            on = signal.name in work.plot.signals
            ink = f"ink{1 + work.plot.signals.index(signal.name) % 6}" if on else "dim"
            style = "cursor" if i == index else "" if on else "dim"
            mark = work.marks.on if on else work.marks.off
            if signal.name == self.x:
                mark = work.marks.on_x
            left = work.marks.cursor if i == index else " "
            room = width - 5 - len(signal.unit) - 1
            rows.append(
                (
                    (left, "focus"),
                    (f"{mark} ", ink),
                    (pad(shortened(printable(signal.name), room), room), style),
                    (f" {signal.unit}", "dim"),
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
        return plotting.picture_rows(picture, width, height, self.work.marks)

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

    def clicked(self, column: int, row: int) -> None:
        window = self.window or self.full()
        width = max(self.inner[0] - 8, 1)
        part = min(max((column - 6) / width, 0.0), 1.0)
        cursor = window.low + part * (window.high - window.low)
        self.work.plot = replace(self.work.plot, cursor=cursor)


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
