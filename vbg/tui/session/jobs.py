"""Simulations in child processes: started, followed, cancelled; never in the way.

A child that is asked to stop does so at its next accepted step and keeps the
result so far.  It is asked on its standard input, then by SIGTERM after 1 s,
and killed after `KILL_SECONDS`.  A child also stops when its input closes, so
nothing runs on after the terminal interface is gone.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from vbg import runner
from vbg.tui.session.runs import Run, remember

TERMINATE_SECONDS = 1.0
KILL_SECONDS = 3.0

# The line of a traceback that names the error.
_ERROR = re.compile(r"[\w.]+(Error|Exception|Interrupt)\b")

Report = Callable[[Run], None]


@dataclass
class Job:
    """A run and its child process; `report` gets the run anew at each change."""

    run: Run
    order: runner.Job
    report: Report
    process: asyncio.subprocess.Process | None = None
    cancelled: bool = False
    ending: asyncio.Task[bytes] | None = None

    async def follow(self) -> Run:
        """Start the child and follow it to its end; the run as it ended."""
        pipe = asyncio.subprocess.PIPE
        self._change(started=time.time(), log=(f"{_clock()} {self.run.title}: started",))
        self.process = await asyncio.create_subprocess_exec(
            *runner.command(),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=runner.environment(),
            limit=1 << 24,
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        complaints = asyncio.create_task(self.process.stderr.read())
        self._write(self.order.to_json())
        ended = False
        async for line in self.process.stdout:
            ended = self._hear(json.loads(line))
            if ended:
                break
        self.ending = asyncio.create_task(self._wait(complaints))
        if not ended:
            self._died((await self.ending).decode(errors="replace"))
        remember(self.run)
        return self.run

    async def _wait(self, complaints: asyncio.Task[bytes]) -> bytes:
        """Wait until the child is gone; what it wrote on standard error.

        After its last word a child only tidies up: that is not waited for,
        except when leaving.
        """
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), KILL_SECONDS)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        return await complaints

    async def cancel(self) -> None:
        """Stop the child in three steps; returns when it is gone."""
        self.cancelled = True
        if self.process is None or self.process.returncode is not None:
            return
        self._change(state="cancelling")
        self._write(json.dumps({"cmd": "cancel"}))
        for seconds, harder in (
            (TERMINATE_SECONDS, self.process.terminate),
            (KILL_SECONDS - TERMINATE_SECONDS, self.process.kill),
        ):
            try:
                await asyncio.wait_for(self.process.wait(), seconds)
                return
            except TimeoutError:
                if self.process.returncode is None:
                    harder()

    def _write(self, line: str) -> None:
        stream = self.process.stdin if self.process else None
        if stream is not None and not stream.is_closing():
            stream.write(line.encode() + b"\n")

    def _hear(self, message: dict[str, Any]) -> bool:
        """Take in one message of the child; whether it was the last."""
        kind = message["kind"]
        if kind == "stage":
            self._change(
                stage=message["stage"], log=(*self.run.log, f"{_clock()} {message['stage']}")
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
            self._finished(message)
        elif kind == "failed":
            self._change(
                state="failed",
                sentence=message["message"].splitlines()[0],
                wall=time.time() - self.run.started,
                log=(*self.run.log, *message["message"].splitlines()),
            )
        return kind in ("finished", "failed")

    def _finished(self, message: dict[str, Any]) -> None:
        status, audit = message["status"], message["audit"]
        t = self.run.t_end if status["code"] == "finished" else self.run.time
        events = [
            f"t = {e['time']:.6g} s: {e['where']} {e['what']}" for e in audit.get("events", ())
        ]
        self._change(
            state=status["code"],
            sentence=status["sentence"],
            remedy=status.get("remedy", ""),
            fraction=1.0 if status["code"] == "finished" else self.run.fraction,
            time=t,
            eta=None,
            wall=time.time() - self.run.started,
            audit=audit,
            made_by=message.get("made_by", {}),
            log=(*self.run.log, *events, f"{_clock()} {status['sentence']}"),
        )

    def _died(self, complaint: str) -> None:
        """The child is gone without a last word."""
        code = self.process.returncode if self.process else None
        wall = time.time() - self.run.started
        if self.cancelled:
            self._change(
                state="cancelled",
                sentence="Stopped before the next accepted step.",
                wall=wall,
                log=(*self.run.log, f"{_clock()} killed on request"),
            )
            return
        last = [line for line in complaint.splitlines() if line.strip()][-12:]
        named = [line for line in last if _ERROR.match(line)]
        words = (named or last or [f"the solver's process ended with code {code}"])[-1]
        self._change(
            state="failed",
            sentence=words,
            remedy="The log has what it said last; the rows written so far can be plotted.",
            wall=wall,
            log=(*self.run.log, f"{_clock()} the solver's process ended with code {code}", *last),
        )

    def _change(self, **values: Any) -> None:
        self.run = replace(self.run, **values)
        self.report(self.run)


def _clock() -> str:
    return time.strftime("%H:%M:%S")
