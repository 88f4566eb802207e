"""States moved onto the constraints: posture by Newton's method, velocities in one step."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine.memory import at, compiled, entry, put
from vbg.assemble.program.machine.plans import CLOSED, MOVED, WANTS_CORRECTION
from vbg.assemble.program.machine.pointer import run_at
from vbg.assemble.program.machine.series.running import evaluate

PROJECTIONS = 8  # Newton steps at most; one is the rule between two time steps


@entry
def normalise(quaternions, x):
    """Unit quaternions, in place."""
    for q in quaternions:
        size = np.sqrt(x[q] ** 2 + x[q + 1] ** 2 + x[q + 2] ** 2 + x[q + 3] ** 2)
        for i in range(4):
            x[q + i] /= size


@entry
def measure(address, plan, t, x):
    """Joint coordinates from the posture, in place; angles keep their turns."""
    if plan.measured.shape[0] == 0:
        return
    evaluate(address, plan.measure, t, x)
    for k in range(plan.measured.shape[0]):
        value, period = at(plan.measure.work, plan.measure.first + k), plan.period[k]
        if period > 0.0:
            value += period * np.rint((x[plan.measured[k]] - value) / period)
        x[plan.measured[k]] = value


@compiled
def largest(work, first, last):
    """Largest amount of the words from `first` to `last`; not a number if one is none."""
    worst = 0.0
    for i in range(first, last):
        amount = abs(at(work, i))
        if amount > worst or amount != amount:
            worst = amount
            if worst != worst:
                return worst
    return worst


@compiled
def farthest(work, first, lengths):
    """The same of residuals from the word `first` on, divided by `lengths`."""
    worst = 0.0
    for i in range(lengths.shape[0]):
        amount = abs(at(work, first + i)) / lengths[i]
        if amount > worst or amount != amount:
            worst = amount
            if worst != worst:
                return worst
    return worst


@compiled
def correct(address, plan, t, x, first, words, places):
    """One step of the states `places` against the residuals from the word `first` on."""
    p, n = plan.correction, x.shape[0]
    for i in range(n):
        put(p.work, i, x[i])
    put(p.work, n, t)
    for i in range(plan.rows):
        put(p.work, n + 1 + i, -at(plan.residual.work, first + i))
    run_at(address, p.work, p.segments, p.operands, p.factors, p.stream, p.kept)
    for k in range(words.shape[0]):
        x[places[k]] += at(p.work, words[k])


@entry
def project(address, plan, t, x, position_tol, velocity_tol, left):
    """Brings the residuals below the tolerances if they exceed them, in place; whether x was
    moved, or could not be for want of a lowered correction.  left[0]: what is left of the
    position.  All residuals count in the plan's lengths."""
    left[0] = 0.0
    if plan.rows == 0:
        return CLOSED
    said, first = CLOSED, plan.residual.first
    middle = first + plan.rows
    measure(address, plan, t, x)
    evaluate(address, plan.residual, t, x)
    for _ in range(PROJECTIONS):
        if farthest(plan.residual.work, first, plan.lengths) <= position_tol:
            break
        if plan.correction.segments.shape[0] == 0:
            return WANTS_CORRECTION
        correct(address, plan, t, x, first, plan.posture_from, plan.posture_to)
        normalise(plan.quaternions, x)
        measure(address, plan, t, x)
        said = MOVED
        evaluate(address, plan.residual, t, x)
    left[0] = farthest(plan.residual.work, first, plan.lengths)
    if said == MOVED or not farthest(plan.residual.work, middle, plan.lengths) <= velocity_tol:
        if plan.correction.segments.shape[0] == 0:
            return WANTS_CORRECTION
        correct(address, plan, t, x, middle, plan.velocity_from, plan.velocity_to)
        said = MOVED
    return said


@entry
def project_each(address, plan, times, states, begin, position_tol, velocity_tol, left):
    """Projects the states from number `begin` on; where it had to stop, or their number."""
    for i in range(begin, times.shape[0]):
        normalise(plan.quaternions, states[i])
        if project(address, plan, times[i], states[i], position_tol, velocity_tol, left) == (
            WANTS_CORRECTION
        ):
            return i
    return times.shape[0]
