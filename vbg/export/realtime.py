"""Code for a task with a period: steps of fixed length and of bounded work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from vbg.errors import UsageError
from vbg.export.machine import TAPES, Machine
from vbg.export.tables import words_of
from vbg.export.tuning import Tuning
from vbg.simulate import simulate

TRIED = 1000  # steps
CLOSE = 1e-9  # of a step: instants on its end but for rounding


def with_step(machine: Machine, step: float, tell: Callable[[str], None]) -> Machine:
    """The machine in steps of `step` [s], which it was run with for TRIED steps; `tell` hears of
    samples that come late.

    Raises UsageError where such a run does not reach its end, and where a clock ticks more than
    once in a step.
    """
    for clock in machine.clocks:
        if clock.period < step * (1.0 - CLOSE):
            raise UsageError(
                f"--step {step:g} s: samples of every {clock.period:g} s would fall together in "
                "one step, as events happen at the ends of steps. Take a step of "
                f"{clock.period:g} s or a part of it."
            )
        late = max(_beside(clock.first, step), _beside(clock.period, step))
        if late > CLOSE:
            tell(
                f"samples of every {clock.period:g} s lie between the ends of the steps of "
                f"{step:g} s, where events happen: each comes up to a step late."
            )
    simulated = machine.system.model.simulate
    t_end = min(simulated.t_end, TRIED * step)
    run = simulate(
        machine.start, t_end=t_end, output_step=step, method="rk4", formulation="constraint"
    )
    if run.status.code != "finished":
        raise UsageError(
            f"--step {step:g} s: a run by Runge-Kutta of order 4 in such steps does not reach "
            f"{t_end:g} s: {run.status.sentence} If vbg run reaches it, the steps are too long for "
            "the fastest part of the machine: take shorter ones, or make that part slower or rigid."
        )
    return replace(machine, step=step)


def _beside(time: float, step: float) -> float:
    """How far a time lies from the nearest end of a step, in steps."""
    return abs(math.remainder(time, step)) / step


def doubles_of(machine: Machine, tuning: Tuning) -> int:
    """What `vbg_doubles` says of the machine in steps of fixed length, before anything is compiled:
    the workspaces of the tapes, and the rooms of vbg_machine.c."""
    dependent = int((machine.start.kept[: len(machine.system.constraint_names)] == 0.0).sum())
    total = 0
    for n, name in enumerate(TAPES):
        program = machine.programs[name]
        total += words_of(program, dependent) + (len(program.factors) if tuning.of(n) else 0)
    rows = len(machine.system.constraint_names)
    total += 4 * machine.system.size + rows + 9 * len(machine.switches)
    total += 2 * len(machine.programs["turns"].outputs)
    return total + len(machine.clocks) + 2 * len(machine.inputs) + len(tuning.parameters)
