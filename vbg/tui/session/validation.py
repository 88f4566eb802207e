"""Both solvers on one text, followed and cancelled like a run."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from vbg import runner
from vbg.tui.session.child import Child
from vbg.tui.session.jobs import Report, clock, failed, finished
from vbg.tui.session.runs import Run, coarse_file, remember

_JUDGE = "vbg.tui.session.judging"
_AGAIN = "second run"


@dataclass
class Validation:
    """Two runs and the child process that makes both; `report` gets each at its changes."""

    runs: dict[str, Run]
    model: str
    text: str
    report: Report
    child: Child = field(default_factory=lambda: Child([*runner.command()[:-1], _JUDGE]))
    cancelled: bool = False
    both: ClassVar[bool] = True

    @property
    def ending(self) -> asyncio.Task[str] | None:
        """The end of the child, to be waited for when leaving."""
        return self.child.ending

    async def follow(self) -> tuple[Run, Run]:
        """Run both to their end; the runs as they ended, the second with the evidence."""
        for solver, run in self.runs.items():
            words = f"{clock()} {run.title}: started, to be compared"
            self._change(solver, state="running", started=time.time(), log=(words,))
        ended = False
        async for message in self.child.messages(self._order()):
            ended = self._hear(message)
        ending = self.child.close()
        if not ended:
            self._died(await ending)
        for run in self.runs.values():
            remember(run)
        return self.runs["vbg"], self.runs["mstmm"]

    async def cancel(self) -> None:
        """Stop the child and both solvers; returns when they are gone."""
        self.cancelled = True
        if self.child.process is not None and self.child.process.returncode is None:
            for solver in self.runs:
                self._change(solver, state="cancelling")
            await self.child.stop()

    def _order(self) -> str:
        files = {solver: run.result for solver, run in self.runs.items()}
        coarse = str(coarse_file(self.runs["mstmm"]))
        return json.dumps({"model": self.model, "text": self.text, "coarse": coarse, **files})

    def _hear(self, message: dict[str, Any]) -> bool:
        """Take in one message of the child; whether it was the last."""
        kind = message["kind"]
        if kind == "progress" and message["solver"] in self.runs:
            self._progress(message["solver"], message["fraction"])
        elif kind == "finished":
            for solver, run in self.runs.items():
                self._change(solver, **finished(run, message[solver]))
            evidence = {key: message[key] for key in ("notes", "replayed", "least")}
            self._change("mstmm", evidence=evidence)
        elif kind == "failed":
            for solver, run in self.runs.items():
                self._change(solver, **failed(run, message["message"]))
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

    def _change(self, solver: str, **values: Any) -> None:
        self.runs[solver] = replace(self.runs[solver], **values)
        self.report(self.runs[solver])
