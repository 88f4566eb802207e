"""A simulation in a child process: started, followed, cancelled; never in the way.

A child that is asked to stop does so at its next accepted step and keeps the
result so far.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from vbg import runner
from vbg.errors import VbgError
from vbg.tui.session.runs import Run, remember
from vbg.tui.session.solving.child import Child
from vbg.tui.session.solving.solver import Solver

Report = Callable[[Run], None]


@dataclass
class Job:
    """A run and its child process; `report` gets the run anew at each change."""

    run: Run
    order: runner.Job
    report: Report
    child: Child | Solver = field(default_factory=lambda: Child(runner.command()))
    cancelled: bool = False
    both: ClassVar[bool] = False

    @property
    def ending(self) -> asyncio.Task[str] | None:
        """The end of the child, to be waited for when leaving."""
        return self.child.ending

    async def follow(self) -> Run:
        """Start the child and follow it to its end; the run as it ended."""
        self._change(started=time.time(), log=(f"{clock()} {self.run.title}: started",))
        ended = False
        async for message in self.child.messages(self.order.to_json()):
            ended = self._hear(message)
        ending = self.child.close()
        if not ended:
            self._died(await ending)
        try:
            remember(self.run)
        except VbgError as error:  # the disk is full: the run is known as long as the program
            self._change(log=(*self.run.log, str(error)))
        return self.run

    async def cancel(self) -> None:
        """Stop the child; returns when it is gone."""
        if self.run.active:
            self.cancelled = True
            self._change(state="cancelling")
            await self.child.stop()

    def _hear(self, message: dict[str, Any]) -> bool:
        """Take in one message of the child; whether it was the last."""
        kind = message["kind"]
        if kind == "stage":
            self._change(
                stage=message["stage"], log=(*self.run.log, f"{clock()} {message['stage']}")
            )
        elif kind == "progress":
            state = self.run.state if self.run.state == "cancelling" else "running"
            self._change(
                state=state,
                fraction=message["fraction"],
                time=message["time"],
                eta=message.get("eta"),
                wall=time.time() - self.run.started,
            )
        elif kind == "finished":
            self._change(**finished(self.run, message))
        elif kind == "failed":
            self._change(**failed(self.run, message["message"], message.get("problems", ())))
        return kind in ("finished", "failed")

    def _died(self, complaint: str) -> None:
        """The child is gone without a last word."""
        wall = time.time() - self.run.started
        if self.cancelled:
            self._change(
                state="cancelled",
                sentence="Stopped before the next accepted step.",
                wall=wall,
                log=(*self.run.log, f"{clock()} killed on request"),
            )
            return
        words, lines = self.child.last_words(complaint)
        self._change(
            state="failed",
            sentence=words,
            remedy="The log has what it said last; the rows written so far can be plotted.",
            wall=wall,
            log=(*self.run.log, f"{clock()} {lines[0]}", *lines[1:]),
        )

    def _change(self, **values: Any) -> None:
        self.run = replace(self.run, **values)
        self.report(self.run)


def finished(run: Run, message: dict[str, Any]) -> dict[str, Any]:
    """What a run becomes with the last word of its child."""
    status, audit = message["status"], message["audit"]
    whole = status["code"] == "finished"
    events = [f"t = {e['time']:.6g} s: {e['where']} {e['what']}" for e in audit.get("events", ())]
    answers = [_answer(measure) for measure in message.get("measures", ())]
    return {
        "state": status["code"],
        "sentence": status["sentence"],
        "remedy": status.get("remedy", ""),
        "fraction": 1.0 if whole else run.fraction,
        "time": message.get("time") or (run.t_end if whole else run.time),
        "eta": None,
        "wall": time.time() - run.started,
        "audit": audit,
        "made_by": message.get("made_by", {}),
        "told": tuple(message.get("notes", ())),
        "log": (*run.log, *events, *answers, f"{clock()} {status['sentence']}"),
    }


def _answer(measure: dict[str, Any]) -> str:
    """A measure as a line of the log."""
    value = measure["value"]
    told = measure["why"] if value is None else f"{value:.6g} {measure['unit']}".strip()
    note = measure.get("note", "")
    return f"{measure['name']} = {told}" + (f"; {note}" if note else "")


def failed(run: Run, words: str, problems: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What a run becomes whose solver refused it."""
    lines = words.splitlines()
    return {
        "state": "failed",
        "sentence": lines[0],
        "told": tuple(problems),
        "eta": None,
        "wall": time.time() - run.started,
        "log": (*run.log, *lines),
    }


def clock() -> str:
    """The time of day in a log."""
    return time.strftime("%H:%M:%S")
