"""The solver's process of the terminal interface, kept from one run to the next.

It is started ahead of the first run that is likely and loads the kernels meanwhile.  A
process that dies, or that does not stop when asked, costs nothing: the next run has another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from vbg import runner
from vbg.tui.session.solving.child import KILL_SECONDS, Child

_SERVING = "vbg.tui.session.solving.serving"


def _fresh() -> Child:
    return Child([*runner.command()[:-1], _SERVING])


@dataclass
class Solver:
    """One lasting child; `messages`, `stop`, `close` are those of a Child, for one run."""

    child: Child = field(default_factory=_fresh)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    unwanted: bool = False
    said_last: bool = False

    @property
    def process(self) -> asyncio.subprocess.Process | None:
        return self.child.process

    @property
    def ending(self) -> asyncio.Task[str] | None:
        """Nothing to be waited for after a run: the process stays."""
        return None

    async def warm(self) -> None:
        """Have a process that is, or soon will be, ready for a run."""
        if self.child.process is not None and self.child.process.returncode is not None:
            self.child = _fresh()
        await self.child.begin()

    async def messages(self, order: str) -> AsyncIterator[dict[str, Any]]:
        """Hand over one job, and yield what is told until its last word."""
        self.said_last = False
        self.idle.clear()
        kept = self.child.process is not None
        try:
            await self.warm()
            if self.unwanted:
                # cancelled before it was begun: a process that did nothing yet is not needed
                self.child.kill()
            heard = False
            async for message in self.child.messages(order):
                heard, self.said_last = True, message["kind"] in ("finished", "failed")
                yield message
            if kept and not heard and not self.unwanted:
                # it had died while it rested, and nobody knew
                self.child = _fresh()
                async for message in self.child.messages(order):
                    self.said_last = message["kind"] in ("finished", "failed")
                    yield message
        finally:
            if not self.said_last:
                # nobody listens to it any more: what it says later is not for the next run
                self.drop()
            self.unwanted = False
            self.idle.set()

    async def stop(self) -> None:
        """Ask the run to stop, and kill the process if it does not; returns when it stands."""
        self.unwanted = True
        if self.child.process is None or self.child.process.returncode is not None:
            return
        self.child.say({"cmd": "cancel"})
        try:
            await asyncio.wait_for(self.idle.wait(), KILL_SECONDS)
        except TimeoutError:
            self.child.kill()

    def close(self) -> asyncio.Task[str]:
        """After a run: what a process that died wrote on standard error, else nothing."""
        if self.said_last:
            return asyncio.create_task(_nothing())
        return self.child.close()

    def last_words(self, complaint: str) -> tuple[str, list[str]]:
        return self.child.last_words(complaint)

    def drop(self) -> None:
        """The process is not needed any more."""
        if self.child.process is not None and self.child.process.returncode is None:
            self.child.kill()


async def _nothing() -> str:
    return ""
