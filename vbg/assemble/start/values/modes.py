"""Modes (contact, stick, conduct) that agree with their conditions at a state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.junctions.latch import MODE

ROUNDS = 20  # changes that may follow from one another


def agree(system: System, t: float, x: NDArray[np.float64], kept: NDArray[np.float64]) -> None:
    """Turns modes over, in place, until each is on where its condition is positive.  Joints that
    open and close stay as they are: what their closing costs is for the run, which turns them."""
    latches = {f"{c.name}.{MODE}" for c in system.equations.constraints if c.latches}
    modes = [m for m in system.causal.graph.modes if m.name not in latches]
    if not modes:
        return
    evaluate = Evaluator(system.programs.switch, kept=kept)
    places = {s.state.name: s.first for s in system.slices}
    for _ in range(ROUNDS):
        evaluate(t, x)
        conditions = {m.name: float(evaluate.output(m.name)[0]) for m in modes}
        wrong = [n for n, c in conditions.items() if c != 0.0 and (c > 0.0) != (x[places[n]] > 0.5)]
        if not wrong:
            return
        for name in wrong:
            x[places[name]] = 1.0 - x[places[name]]
