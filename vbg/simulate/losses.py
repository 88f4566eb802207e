"""Whether one elimination keeps the digits that a run needs, looked at while it goes on."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.rounding import LossOfLoads
from vbg.assemble.start.start import WEAK, Start

Array = NDArray[np.float64]

LOOK = 50  # steps between two looks: loads change with the motion, which the steps follow
BEARABLE = 1e-2  # of rtol: nearer to it steps follow the noise, and forces miss the tolerance


class LossWatch:
    """Looks at what one elimination loses of the accelerations of a machine whose rounding could
    be more than a run bears, but not more than its tolerance, on loads that it need not have:
    those of a long chain are smooth (docs/derivations/redundancy.md)."""

    def __init__(self, start: Start, rtol: float):
        self._bearable, self._ahead = BEARABLE * rtol, 0
        self._open = start.condition > WEAK and self._bearable < start.rounding <= rtol
        # what could be lost at worst is borne as long as no look has found it
        self._start = replace(start, bearable=rtol if self._open else self._bearable)

    @property
    def start(self) -> Start:
        """By which the run goes on."""
        return self._start

    def is_large(self, t: float, x: Array) -> bool:
        """To be asked before the first step and after each: whether the loads at this state lose
        more than is bearable.  From then on `start` closes its rates once more."""
        self._ahead -= 1
        if not self._open or self._ahead >= 0:
            return False
        self._ahead = LOOK
        efforts = self._rate(t, x)[self._start.system.size :]
        if self._loss.at(t, x, efforts) <= self._bearable:
            return False
        self._open, self._start = False, replace(self._start, bearable=0.0)
        return True

    def look_soon(self) -> None:
        """Behind an event, which may change the loads at once."""
        self._ahead = 0

    @cached_property
    def _rate(self) -> Evaluator:
        return self._start.evaluator("rate")

    @cached_property
    def _loss(self) -> LossOfLoads:
        return LossOfLoads(self._start.system, self._start.kept, self._start.state)
