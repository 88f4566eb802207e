"""A child process of this vbg that talks in JSON lines: started, heard, stopped.

The child does not hear the terminal's Ctrl-C.  To stop it, it
is asked on its standard input, never by a signal that it may not be ready for;
it and what it started are killed after `KILL_SECONDS`.  A child also stops when its input
closes, so nothing runs on after the terminal interface is gone.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from vbg import runner
from vbg.platform.processes import end_tree, of_its_own

KILL_SECONDS = 3.0

# The line of a traceback that names the error.
_ERROR = re.compile(r"[\w.]+(Error|Exception|Interrupt)\b")


@dataclass
class Child:
    """One child process, started by `command`."""

    command: list[str]
    process: asyncio.subprocess.Process | None = None
    complaints: asyncio.Task[bytes] | None = None
    ending: asyncio.Task[str] | None = None
    stopping: asyncio.Task[None] | None = None
    unwanted: bool = False

    async def begin(self) -> None:
        """Start it, if it is not there yet."""
        if self.process is not None:
            return
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=runner.environment(),
            limit=1 << 24,
            **of_its_own(),
        )
        assert self.process.stderr
        self.complaints = asyncio.create_task(self.process.stderr.read())

    async def messages(self, order: str) -> AsyncIterator[dict[str, Any]]:
        """Start it, hand it `order` (one line), and yield what it says until its last word."""
        await self.begin()
        assert self.process and self.process.stdout
        self._write(order)
        if self.unwanted:
            # it was to be stopped while it was being started
            self.stopping = asyncio.create_task(self.stop())
        async for line in self.process.stdout:
            try:
                message = json.loads(line)
            except json.JSONDecodeError:
                # the half line of a child that was killed while it wrote
                continue
            yield message
            if message["kind"] in ("finished", "failed"):
                break

    def close(self) -> asyncio.Task[str]:
        """Let it end; the task gives what it wrote on standard error.

        After its last word a child only tidies up: that is not waited for,
        except when leaving.
        """
        if self.ending is None:
            self.ending = asyncio.create_task(self._wait())
        return self.ending

    async def _wait(self) -> str:
        assert self.process and self.process.stdin and self.complaints
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), KILL_SECONDS)
        except TimeoutError:
            end_tree(self.process.pid, kill=True)
            await self.process.wait()
        return (await self.complaints).decode(errors="replace")

    async def stop(self) -> None:
        """Ask it to stop, and kill it if it does not; returns when it is gone.
        One that is not there yet is stopped as soon as it is."""
        self.unwanted = True
        if self.process is None or self.process.returncode is not None:
            return
        self._write(json.dumps({"cmd": "cancel"}))
        try:
            await asyncio.wait_for(self.process.wait(), KILL_SECONDS)
        except TimeoutError:
            if self.process.returncode is None:
                end_tree(self.process.pid, kill=True)
                await self.process.wait()

    def say(self, word: dict[str, Any]) -> None:
        """One line on its standard input."""
        self._write(json.dumps(word))

    def kill(self) -> None:
        """End it at once, and what it started."""
        if self.process is not None and self.process.returncode is None:
            end_tree(self.process.pid, kill=True)

    def last_words(self, complaint: str) -> tuple[str, list[str]]:
        """Why it ended without a last word: the line that names the error, and its lines."""
        code = self.process.returncode if self.process else None
        ended = f"the solver's process ended with code {code}"
        last = [line for line in complaint.splitlines() if line.strip()][-12:]
        named = [line for line in last if _ERROR.match(line)]
        return (named or last or [ended])[-1], [ended, *last]

    def _write(self, line: str) -> None:
        stream = self.process.stdin if self.process else None
        if stream is not None and not stream.is_closing():
            stream.write(line.encode() + b"\n")
