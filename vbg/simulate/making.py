"""Steppers for a run, of each method with its tolerances, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.conditioning import Conditioning
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.plumbing.once import once
from vbg.simulate.minimal.stepper import Minimal
from vbg.simulate.settings import Settings
from vbg.simulate.steppers.choice import Choice
from vbg.simulate.steppers.implicit.sparsity import Pattern
from vbg.simulate.steppers.stepper import Adaptive, FixedStep, Stepper
from vbg.simulate.steppers.tolerances import LINE, Tolerances

# DOP853 runs at this part of rtol: its dense output, which gives the rows between two
# steps, has order 7 and no error control of its own (energy of the rows: 6e-9 -> 8e-10)
ROWS = 0.1

Array = NDArray[np.float64]


def stepper_of(
    method: str,
    start: Start,
    settings: Settings,
    t: float,
    x: Array,
    jacobian: Callable[[], Any],
    weak: Callable[[float, Array, float], bool],
    longest: float,
    *,
    finer: bool,
) -> tuple[Stepper, Callable[[], float]]:
    """A stepper from x at t whose steps are no longer than `longest`, and what tells the condition
    of the constraint matrix of its last rate (0 in minimal form).

    `jacobian` gives that of the rate when it is first needed; `weak` as of SteadyDOP853; `finer`:
    at ROWS of rtol, as what follows a motion in explicit steps is."""
    s = settings
    if method == "adams":
        minimal = Minimal(start, t, x, s.rtol, s.atol, duration=s.t_end, longest=longest)
        return minimal, float
    rate = start.evaluator("rate")
    condition = Conditioning(rate).worst
    if method == "rk4":
        return FixedStep(rate, t, x, s.t_end, s.output_step), condition
    part = ROWS if finer else 1.0
    rtol = max(part * s.rtol, 1e-13)
    atol = Tolerances(start.system, s.atol, s.t_end, supplied=method != "radau")
    made = Adaptive(method, rate, t, x, s.t_end, rtol, atol, jacobian, condition, weak, longest)
    return made, condition


def choice_of(
    start: Start,
    settings: Settings,
    jacobian: Callable[[], Any],
    pattern: Callable[[], Pattern | None],
) -> Choice | None:
    """What chooses the method where that is left to the run."""
    if settings.method != "auto":
        return None
    system, operations = start.system, len(start.rate_program.operands)
    line = _line_states(system)
    choice = Choice(jacobian, pattern, operations, system.size, settings.t_end, line)
    choice.tries = settings.formulation == "constraint"
    return choice


@once
def _line_states(system: System) -> NDArray[np.int64]:
    """Places of the states of circuits, oil, shafts and controllers."""
    vertices = system.causal.graph.vertices.values()
    stores = {v.state.data for v in vertices if v.state is not None and v.frame == LINE}
    return np.array(
        [
            i
            for s in system.slices
            if s.state.name in stores or s.state.kind == "signal"
            for i in range(s.first, s.last)
        ],
        dtype=np.int64,
    )
