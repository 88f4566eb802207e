"""What stands behind steps that become too small, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start
from vbg.assemble.start.values.valueless import without_value
from vbg.simulate.steppers.tolerances import Tolerances

# of an output step: where the rate is looked at behind the last state; the part of a law that has
# no value may be as short as rounding makes it
AHEAD = tuple(10.0 ** (0.5 * n) for n in range(-24, -11))
DOMAIN = (
    "Keep what a root, a logarithm, asin or acos reads where that has a value, also by rounding:"
    " asin(min(1, max(-1, ...))), sqrt(max(0, ...)); or end the run before."
)
QUICK = 1e-3  # of an output step: a change within it is worth a word
TINY = 1e-12  # errors of effort or flow below which a store counts as empty

Array = NDArray[np.float64]


def fastest_change(start: Start, t: float, x: Array, step: float) -> tuple[str, str]:
    """The state component whose rate ends at t, or which changes fastest beside its own size, in
    words, and the remedy, empty where that is none of its own.

    The time in which it changes by all it is, |x| / |x'|, tells what shrinks to nothing: the
    oil in a chamber at its end, a mass without weight.  `step` is the time between outputs; the
    signals at the state tell the node whose pressure or voltage nothing gives.  Empty where nothing
    changes much faster than that.
    """
    system, rate = start.system, start.evaluator("rate")
    n, names = len(x), system.state_names
    found = rate(t, x)[:n].copy()
    for after in (ahead * step for ahead in AHEAD):
        later, beyond = t + after, x + after * np.nan_to_num(found)
        lost = np.flatnonzero(~(np.isfinite(rate(later, beyond)[:n]) & np.isfinite(found)))
        if len(lost):
            said = [f"From there on the rate of {names[lost[0]]} has no value."]
            problems = without_value(system.model, start.outputs(later, beyond))
            said += [f"{p.what[0].upper()}{p.what[1:]}" for p in problems]
            return " ".join(said), " ".join(p.remedy for p in problems) or DOMAIN
    quickness = np.abs(found) * QUICK * step / (np.abs(x) + Tolerances(system, TINY)(t, x))
    if not n or np.max(quickness) < 1.0:
        return "", ""
    k = int(np.argmax(quickness))
    within = QUICK * step / quickness[k]
    what = f"{names[k]} changes fastest there, {x[k]:.3g} by as much as that in {within:.1g} s."
    return what, ""
