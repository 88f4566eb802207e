"""Both solvers on one text, followed and cancelled like a run."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from vbg import runner
from vbg.errors import VbgError
from vbg.tui.session.runs import Run, remember
from vbg.tui.session.solving.child import Child
from vbg.tui.session.solving.jobs import Report, clock, failed, finished
from vbg.tui.session.validation import Validation

_JUDGE = "vbg.tui.session.solving.judging"
_AGAIN = "second run"


@dataclass
class ValidationJob:
    """A validation, its two runs and the child process that makes both; `report` gets each
    run at its changes.  Files of further evidence begin with `stem`."""

    validation: Validation
    runs: dict[str, Run]
    model: str
    text: str
    stem: str
    report: Report
    child: Child = field(default_factory=lambda: Child([*runner.command()[:-1], _JUDGE]))
    cancelled: bool = False
    both: ClassVar[bool] = True

    @property
    def ending(self) -> asyncio.Task[str] | None:
        """The end of the child, to be waited for when leaving."""
        return self.child.ending

    @property
    def _scratch(self) -> str:
        return f"{self.stem}.scratch"

    async def follow(self) -> Validation:
        """Run both to their end; the validation, with the evidence if they came to it."""
        for solver, run in self.runs.items():
            words = f"{clock()} {run.title}: started, to be compared"
            state = "cancelling" if self.cancelled else "running"
            self._change(solver, state=state, started=time.time(), log=(words,))
        ended = False
        async for message in self.child.messages(self._order()):
            ended = self._hear(message)
        ending = self.child.close()
        if not ended:
            self._died(await ending)
            shutil.rmtree(self._scratch, ignore_errors=True)
        for solver, run in self.runs.items():
            try:
                remember(run)
            except VbgError as error:  # the disk is full: it is known as long as the program
                self._change(solver, log=(*run.log, str(error)))
        return self.validation

    async def cancel(self) -> None:
        """Stop the child and both solvers; returns when they are gone."""
        if self.runs["vbg"].active:
            self.cancelled = True
            for solver in self.runs:
                self._change(solver, state="cancelling")
            await self.child.stop()

    def _order(self) -> str:
        files = {solver: run.result for solver, run in self.runs.items()}
        where = {"stem": self.stem, "scratch": self._scratch}
        return json.dumps({"model": self.model, "text": self.text, **where, **files})

    def _hear(self, message: dict[str, Any]) -> bool:
        """Take in one message of the child; whether it was the last."""
        kind = message["kind"]
        if kind == "progress" and message["solver"] in self.runs:
            self._progress(message["solver"], message["fraction"])
        elif kind == "finished":
            for solver, run in self.runs.items():
                self._change(solver, **finished(run, message[solver]))
            self.validation = replace(
                self.validation, evidence=message["evidence"], machine=message["machine"]
            )
        elif kind == "failed":
            for solver, run in self.runs.items():
                self._change(solver, **failed(run, message["message"]))
            words = message["message"].splitlines()[0]
            self.validation = replace(self.validation, sentence=words)
        return kind in ("finished", "failed")

    def _progress(self, solver: str, fraction: float) -> None:
        run = self.runs[solver]
        stage = _AGAIN if fraction < run.fraction else run.stage
        wall = time.time() - run.started
        self._change(solver, fraction=fraction, time=fraction * run.t_end, stage=stage, wall=wall)

    def _died(self, complaint: str) -> None:
        """The child is gone without a last word."""
        words, lines = self.child.last_words(complaint)
        for solver, run in self.runs.items():
            if self.cancelled:
                line = f"{clock()} stopped on request"
                said = "A validation that is stopped keeps neither run."
                self._change(solver, state="cancelled", sentence=said, log=(*run.log, line))
            else:
                self._change(solver, **failed(run, "\n".join([words, *lines])))
        if self.cancelled:
            words = "The validation was cancelled. R starts it again."
        self.validation = replace(self.validation, sentence=words)

    def _change(self, solver: str, **values: Any) -> None:
        self.runs[solver] = replace(self.runs[solver], **values)
        self.report(self.runs[solver])
