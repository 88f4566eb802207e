"""What stands behind steps that become too small, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.valueless import without_value
from vbg.assemble.system import System
from vbg.simulate.steppers.tolerances import Tolerances

AHEAD = 1e-6  # of an output step: where the rate is looked at behind the last state
QUICK = 1e-3  # of an output step: a change within it is worth a word
TINY = 1e-12  # errors of effort or flow below which a store counts as empty

Array = NDArray[np.float64]


def fastest_change(
    system: System,
    t: float,
    x: Array,
    rate: Callable[[float, Array], Array],
    outputs: Callable[[float, Array], Mapping[str, Array]],
    step: float,
) -> str:
    """The state component whose rate ends at t, or which changes fastest beside its own size.

    The time in which it changes by all it is, |x| / |x'|, tells what shrinks to nothing: the
    oil in a chamber at its end, a mass without weight.  `step` is the time between outputs,
    `rate` x' at a time and state, `outputs` all signals there, which tell the node whose pressure
    or voltage nothing gives.  Empty where nothing changes much faster than that.
    """
    n, names = len(x), system.state_names
    found = rate(t, x)[:n].copy()
    later, beyond = t + AHEAD * step, x + AHEAD * step * np.nan_to_num(found)
    ahead = rate(later, beyond)[:n] + 0.0 * found
    lost = np.flatnonzero(~np.isfinite(ahead))
    if len(lost):
        said = [f"From there on the rate of {names[lost[0]]} has no value."]
        for problem in without_value(system.model, outputs(later, beyond)):
            said.append(f"{problem.what[0].upper()}{problem.what[1:]} {problem.remedy}")
        return " ".join(said)
    quickness = np.abs(found) * QUICK * step / (np.abs(x) + Tolerances(system, TINY)(t, x))
    if not n or np.max(quickness) < 1.0:
        return ""
    k = int(np.argmax(quickness))
    within = QUICK * step / quickness[k]
    return f"{names[k]} changes fastest there, {x[k]:.3g} by as much as that in {within:.1g} s."
