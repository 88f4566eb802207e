"""Validate: the joint forces of both solvers, channel by channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbg.draw.text.rows import Rows
from vbg.tui.content.results import validating
from vbg.tui.panes.pane import Pane, scrolled, stepped
from vbg.tui.session.runs import Run

if TYPE_CHECKING:
    # only for the types: it brings the compiled kernels of a solver
    from vbg.solution import Solution
    from vbg.validate.comparison.values import Channel, Verdict


class ValidatePane(Pane):
    """What the panes of Validate have in common."""

    def __init__(self, name: str):
        super().__init__(name)
        self._of: tuple[object, ...] = ()
        self._courses: validating.Courses | None = None

    @property
    def verdict(self) -> Verdict | None:
        return self.work.validate.verdict

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels, failed ones first."""
        if self.verdict is None:
            return ()
        from vbg.validate.report import ordered

        return tuple(ordered(self.verdict))

    @property
    def marked(self) -> Channel | None:
        channels = self.channels
        return channels[min(self.work.channel_index, len(channels) - 1)] if channels else None

    def pair(self) -> tuple[tuple[Run, Solution], tuple[Run, Solution]] | None:
        """The two runs that are compared, with their results."""
        shown, work = self.work.validate.shown, self.work
        found = []
        for number in (shown.first, shown.second) if shown is not None else (0, 0):
            run, solution = work.run(number), work.solutions.get(number)
            if run is None or solution is None:
                return None
            found.append((run, solution))
        return found[0], found[1]

    def courses(self) -> validating.Courses | None:
        """The marked channel by both solvers; made anew only when another one is marked."""
        pair, channel, verdict, checked = self.pair(), self.marked, self.verdict, self.work.checked
        if pair is None or channel is None or verdict is None:
            return None
        (run, first), (_, second) = pair
        model = checked.model if run.text_hash == checked.text_hash else None
        of = (first, second, channel, verdict, model)
        if len(of) != len(self._of) or any(a is not b for a, b in zip(of, self._of, strict=True)):
            self._of, self._courses = of, validating.courses_of(*of)
        return self._courses


class Channels(ValidatePane):
    """One row for each channel."""

    JUMP = "a"

    def title(self) -> str:
        verdict = self.verdict
        counted = f": {validating.counts(verdict)}" if verdict is not None else ""
        return f"Joint forces and motion{counted}"

    def hint(self) -> str:
        return "Enter 3D there"

    def body(self, width: int, height: int) -> Rows:
        channels = self.channels
        if not channels:
            text = self.work.validate.waiting or "R runs both solvers and compares them"
            active = tuple(run for run in self.work.runs if run.active)
            bars = validating.progress_rows(active, width, self.work.marks)
            return (((text, "focus"),), *bars)
        index = min(self.work.channel_index, len(channels) - 1)
        self.top = scrolled(self.top, index, len(channels), height - 1)
        self.extent = (self.top, len(channels), height - 1)
        return validating.channel_rows(
            channels, width, self.work.marks, top=self.top, height=height, index=index
        )

    def move(self, direction: str) -> None:
        count = len(self.channels)
        self.work.channel_index = max(
            0, stepped(self.work.channel_index, count, direction, self.inner[1])
        )

    def enter(self) -> None:
        self.home.main.act_id("validate.worst")

    def clicked(self, column: int, row: int) -> None:
        if 0 < row <= len(self.channels):
            self.work.channel_index = self.top + row - 1


class Overlay(ValidatePane):
    """The marked channel by both solvers."""

    JUMP = "s"

    def title(self) -> str:
        return self.marked.name if self.marked else "Both solvers"

    def body(self, width: int, height: int) -> Rows:
        pair, channel = self.pair(), self.marked
        if pair is None or channel is None:
            return ()
        return validating.overlay_rows(self.courses(), channel, width, height, self.work.marks)


class Error(ValidatePane):
    """Their difference."""

    JUMP = "d"

    def title(self) -> str:
        return f"|Δ| {self.marked.name}" if self.marked else "Difference"

    def body(self, width: int, height: int) -> Rows:
        pair, channel = self.pair(), self.marked
        if pair is None or channel is None:
            return ()
        return validating.error_rows(self.courses(), channel, width, height, self.work.marks)


class Sides(ValidatePane):
    """The two runs side by side."""

    def title(self) -> str:
        return "Side by side"

    def body(self, width: int, height: int) -> Rows:
        pair = self.pair()
        if pair is None or self.verdict is None:
            return ()
        return validating.side_rows(*pair, self.verdict, width)


class VerdictPane(ValidatePane):
    """The verdict in words."""

    JUMP = "f"

    def title(self) -> str:
        return "Verdict"

    def body(self, width: int, height: int) -> Rows:
        state = self.work.validate
        rows = validating.verdict_rows(state.verdict, state.waiting, width, self.work.marks)
        self.top = max(0, min(self.top, len(rows) - height))
        self.extent = (self.top, len(rows), height)
        return rows[self.top : self.top + height]

    def move(self, direction: str) -> None:
        self.top = max(0, self.top + {"up": -1, "down": 1}.get(direction, 0))


def panes() -> list[Pane]:
    return [
        Channels("channels"),
        Overlay("overlay"),
        Error("error"),
        Sides("sides"),
        VerdictPane("verdict"),
    ]
