"""A study that is watched: points of parameters with one measure each, found by a child process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from vbg import runner
from vbg.tui.session.solving.child import Child
from vbg.tui.session.solving.studying import Order

METHODS = {"grid": "map", "nelder-mead": "optimise", "differential-evolution": "optimise globally"}
State = Literal["running", "finished", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Tried:
    """One point: values of the parameters as the model writes them, and the measure in its unit;
    None with the reason where it could not be run."""

    point: tuple[float, ...]
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Study:
    """What is studied and what is known of it; `units` of the parameters, `unit` of the measure,
    `total`: runs there will be at most."""

    order: Order
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    total: int = 0
    state: State = "running"
    sentence: str = ""
    table: str = ""
    unit: str = ""

    @property
    def best(self) -> Tried | None:
        """The point with the smallest measure."""
        done = [one for one in self.tried if one.value is not None]
        return min(done, key=lambda one: one.value or 0.0) if done else None

    @property
    def outcome(self) -> str:
        """How far it is, or how it ended."""
        words = f"{len(self.tried)} of {self.total} runs"
        if self.state == "failed":
            return f"failed: {self.sentence}"
        return words if self.state == "running" else f"{self.state}, {len(self.tried)} runs"


@dataclass
class StudyJob:
    """A study and its child process; `report` gets it anew at each point."""

    study: Study
    report: Callable[[Study], None]
    child: Child = field(
        default_factory=lambda: Child([*runner.command()[:-1], "vbg.tui.session.solving.studying"])
    )
    cancelled: bool = False
    both: ClassVar[bool] = False

    @property
    def ending(self) -> asyncio.Task[str] | None:
        return self.child.ending

    async def follow(self) -> Study:
        """Start the child and follow it to its end; the study as it ended."""
        async for message in self.child.messages(json.dumps(asdict(self.study.order))):
            self._hear(message)
        complaint = await self.child.close()
        if self.study.state == "running" and self.cancelled:
            self._change(state="cancelled")
        elif self.study.state == "running":
            self._change(state="failed", sentence=self.child.last_words(complaint)[0])
        return self.study

    async def cancel(self) -> None:
        """Stop the child; what it has found is kept."""
        self.cancelled = True
        await self.child.stop()

    def _hear(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "begun":
            named = {key: tuple(message[key]) for key in ("names", "units")}
            self._change(**named, unit=message["unit"])
        elif kind == "point":
            one = Tried(tuple(message["point"]), message["value"], message["reason"])
            self._change(tried=(*self.study.tried, one), total=message["total"])
        elif kind == "finished":
            self._change(state="finished", table=message["table"])
        elif kind == "failed":
            self._change(state="failed", sentence=message["message"].splitlines()[0])

    def _change(self, **values: Any) -> None:
        self.study = replace(self.study, **values)
        self.report(self.study)
