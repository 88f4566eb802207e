"""A run done again with effort and flow of every bond kept, in a file beside its result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from vbg import runner
from vbg.tui.session.runs import Run, bonds_file
from vbg.tui.session.solving.solver import Solver

MOST_VALUES = 2e7  # of the file: longer runs are kept with wider steps


@dataclass
class BondsJob:
    """The run of `text` once more, in the process of the solver; it can be cancelled."""

    model: str
    text: str
    run: Run
    child: Solver
    settings: Mapping[str, float]
    cancelled: bool = False
    both: ClassVar[bool] = False

    @property
    def ending(self) -> asyncio.Task[str] | None:
        """The process stays."""
        return None

    async def follow(self) -> str:
        """Do it; why it failed, or nothing."""
        order = runner.Job(
            model=self.model,
            text=self.text,
            settings=self.settings,
            bonds=True,
            result=str(bonds_file(self.run)),
        )
        said = "the solver's process ended"
        async for message in self.child.messages(order.to_json()):
            if message["kind"] == "failed":
                said = message["message"]
            if message["kind"] == "finished":
                said = "" if message["status"]["code"] == "finished" else "cancelled"
        self.child.close()
        if said:
            Path(bonds_file(self.run)).unlink(missing_ok=True)
        return said

    async def cancel(self) -> None:
        """Stop it; returns when it stands."""
        self.cancelled = True
        await self.child.stop()


def step_of(t_end: float, output_step: float, values: int) -> float:
    """The output step [s] at which `values` numbers a row stay below the limit."""
    return max(output_step, t_end * values / MOST_VALUES)
