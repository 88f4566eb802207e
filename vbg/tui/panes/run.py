"""Run: the runs, the one under way, its curve while it grows, its log."""

from __future__ import annotations

from vbg.draw.text.rows import Rows
from vbg.tui.content.results import plotting, running
from vbg.tui.panes.pane import Pane, scrolled, stepped
from vbg.tui.state import results


class Runs(Pane):
    """All runs of the model."""

    JUMP = "a"

    def title(self) -> str:
        return f"Runs: {len(self.work.runs)}" if self.work.runs else "Runs"

    def body(self, width: int, height: int) -> Rows:
        work = self.work
        if not work.runs:
            return ((("r runs the model", "dim"),),)
        index = work.runs.index(work.marked_run) if work.marked_run else 0
        self.top = scrolled(self.top, index, len(work.runs), height)
        self.extent = (self.top, len(work.runs), height)
        return tuple(
            running.run_row(
                run,
                width,
                work.marks,
                current=i == index,
                stale=not run.active and results.stale(work, run),
            )
            for i, run in enumerate(work.runs[self.top : self.top + height], self.top)
        )

    def move(self, direction: str) -> None:
        work = self.work
        if work.runs and work.marked_run is not None:
            at = work.runs.index(work.marked_run)
            work.run_index = stepped(at, len(work.runs), direction, self.inner[1])
            self.home.main.prepare_view("run")

    def enter(self) -> None:
        self.home.main.act_id("run.plot")

    def clicked(self, column: int, row: int) -> None:
        if self.top + row < len(self.work.runs):
            self.work.run_index = self.top + row
            self.home.main.prepare_view("run")


class JobPane(Pane):
    """How far the run is, and how well it went."""

    JUMP = "s"

    def title(self) -> str:
        run = self.work.active_run or self.work.marked_run
        return run.title if run else "Run"

    def hint(self) -> str:
        return "x cancel" if self.work.active_run else ""

    def body(self, width: int, height: int) -> Rows:
        run = self.work.active_run or self.work.marked_run
        return running.job_rows(run, width, self.work.marks)


class Live(Pane):
    """The plotted signals of the run, as far as it is."""

    JUMP = "d"

    def title(self) -> str:
        names = self._names()
        paused = "  (paused)" if self.work.live_paused else ""
        return f"Live: {', '.join(names)}{paused}" if names else "Live"

    def hint(self) -> str:
        return "4 full plot"

    def _names(self) -> tuple[str, ...]:
        run = self.work.active_run or self.work.marked_run
        solution = results.shown(self.work, run.number) if run else None
        if solution is None:
            return ()
        known = {signal.name for signal in plotting.signals(solution)}
        chosen = tuple(name for name in self.work.plot.signals if name in known)
        return chosen or plotting.default_signals(solution, self.work.part_name)

    def body(self, width: int, height: int) -> Rows:
        work = self.work
        run = work.active_run or work.marked_run
        solution = results.shown(work, run.number) if run else None
        if run is None or solution is None or len(solution.time) < 2:
            text = "waiting for the first rows" if run and run.active else "nothing to show yet"
            return (((text, "dim"),),)
        ghost = results.shown(work, work.plot.overlay) if work.plot.overlay != run.number else None
        picture = plotting.Picture(solution, self._names(), ghost)
        return plotting.picture_rows(picture, width, height, self.work.marks)


class Log(Pane):
    """What the solver said."""

    JUMP = "f"

    def title(self) -> str:
        return "Log"

    def body(self, width: int, height: int) -> Rows:
        return running.log_rows(self.work.active_run or self.work.marked_run, width, height)


class Preview(Live):
    """The last run, beside the model."""

    JUMP = "g"

    def title(self) -> str:
        run = self.work.active_run or self.work.marked_run
        names = ", ".join(self._names())
        return f"Last run: {names}" if run and names else "Last run"

    def body(self, width: int, height: int) -> Rows:
        if self.work.marked_run is None:
            return ((("no run yet: r runs the model", "dim"),),)
        return super().body(width, height)


def panes() -> list[Pane]:
    return [Runs("runs"), JobPane("job"), Live("live"), Log("log"), Preview("preview")]
