"""Algebraic loops: dense elimination and Newton's iteration on the tape.

    F(y) = 0,   y_next = y - s d,   J(y) d = F(y)

A step is shortened until what the slope behind it makes of the residual ahead, the simplified step
J(y)^-1 F(y_next), is shorter than d by a quarter of s or more (the natural monotonicity test, which
no scale of the equations changes: P. Deuflhard, Newton Methods for Nonlinear Problems, 2004,
3.2-3.3), or until each residual is. The largest residual alone does not tell: that of an
exponential diode is 1e17 A or nothing.

The root is where every residual is rounding of its terms (`vbg.blocks.rounding`), or behind a small
whole step that left a thousandth of itself, where the method squares what is left. A small step
alone is no end, nor one that is small beside the one before: of a current of 7 A, a billionth can
be the thermal voltage of a diode through a switch's conductance, and Newton's method, which comes
there in one step, goes on in steps of that size, each of which leaves an e-th of the diode's
current.
"""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine.memory import compiled

NEWTON_LIMIT = 300  # steps and trials of one algebraic loop
NEWTON_CLOSE = 1e-9  # relative step behind which the root may be
NEWTON_CONTRACTS = 1e-3  # of the step before: Newton's method squares what is left by now
NEWTON_ROUNDED = 16.0 * 2.0**-52  # of its terms: a residual that is rounding
NEWTON_STILL = 4.0 * 2.0**-52  # relative step that is rounding of y
NEWTON_WRONG = 1e-3  # of its terms: a residual that no root has
NEWTON_GAIN = 0.25  # of what a share of a step promises to take off the simplified step
NEWTON_GROWS = 4.0  # a shortened step to the next one, at most
NEWTON_SHORTEST = 1e-12  # share of a step that is taken whatever comes of it


@compiled
def towards_one(size):
    """The power of two, which rounds nothing, by which a size is from 1 to 2; of what has none 1,
    and of the least sizes the largest there is."""
    factor, step = 1.0, 2.0**512
    if not 0.0 < size < np.inf:
        return factor
    while step >= 2.0:
        if size * factor >= step:
            factor /= step
        elif size * factor * step < 2.0:
            factor *= step
        step = np.sqrt(step)
    return factor


@compiled
def scale_rows(work, a, d, m, n):
    """Rows of A and D in units in which the largest entry of A is about 1: one of amperes, 1e-12 S
    of diodes that block, is lost where one of volts is taken off it for the 1e-10 that stand there
    beside 10, though in this unknown it has nothing and the first has all."""
    for i in range(m):
        largest = 0.0
        for k in range(m):
            largest = max(largest, abs(work[a + i * m + k].real))
        factor = towards_one(largest)
        for k in range(m):
            work[a + i * m + k] *= factor
        for k in range(n):
            work[d + i * n + k] *= factor


@compiled
def solve_dense(work, a, d, m, n):
    """D = A^-1 D with A (m x m) at `a`, used up, and D (m x n): partial pivoting of scaled rows."""
    if m > 1:
        scale_rows(work, a, d, m, n)
    for j in range(m):
        pivot = j
        for i in range(j + 1, m):
            if abs(work[a + i * m + j].real) > abs(work[a + pivot * m + j].real):
                pivot = i
        if pivot != j:
            for k in range(m):
                held = work[a + j * m + k]
                work[a + j * m + k] = work[a + pivot * m + k]
                work[a + pivot * m + k] = held
            for k in range(n):
                held = work[d + j * n + k]
                work[d + j * n + k] = work[d + pivot * n + k]
                work[d + pivot * n + k] = held
        inverse = 1.0 / work[a + j * m + j]
        for i in range(j + 1, m):
            factor = work[a + i * m + j] * inverse
            if factor.real == 0.0 and factor.imag == 0.0:
                continue
            for k in range(j + 1, m):
                work[a + i * m + k] -= factor * work[a + j * m + k]
            for k in range(n):
                work[d + i * n + k] -= factor * work[d + j * n + k]
    for k in range(n):
        for i in range(m - 1, -1, -1):
            value = work[d + i * n + k]
            for j in range(i + 1, m):
                value -= work[a + i * m + j] * work[d + j * n + k]
            work[d + i * n + k] = value / work[a + i * m + i]


@compiled
def solve_refined(work, a, d, m, n):
    """The same, and once more for what is left of D, which makes each of its numbers as exact as
    those of A and D are, whatever units rows and columns are in (R. Skeel, Math. Comp. 35, 1980):
    elimination alone loses ten digits of millivolts beside megaohms. Behind A, `work` has room
    for A and D once more."""
    own, rest = a + m * m, a + 2 * m * m
    for i in range(m * m):
        work[own + i] = work[a + i]
    for i in range(m * n):
        work[rest + i] = work[d + i]
    solve_dense(work, a, d, m, n)
    for i in range(m):
        for k in range(n):
            for j in range(m):
                work[rest + i * n + k] -= work[own + i * m + j] * work[d + j * n + k]
    for i in range(m * m):
        work[a + i] = work[own + i]
    solve_dense(work, a, rest, m, n)
    for i in range(m * n):
        work[d + i] += work[rest + i]


@compiled
def begin_newton(work, y, record, m):
    """Starts from the last root, or from zero where there is none."""
    from_zero = 1.0
    for i in range(m):
        if not np.isfinite(work[y + i].real):
            work[y + i] = 0.0 * work[record]
            if not np.isfinite(work[y + i].real):
                work[y + i] = 0.0
        if work[y + i].real != 0.0:
            from_zero = 0.0
    for i in range(3):
        work[record + i] = 0.0
    work[record + 3] = from_zero


@compiled
def begins_again(work, y, record, m):
    """Whether what leads nowhere is begun again from zero: it began at the last root, which may be
    that of a trial step of megaamperes, and a root does not depend on what was asked before."""
    if work[record + 3].real > 0.0:
        return False
    for i in range(m):
        work[y + i] = 0.0
    begin_newton(work, y, record, m)
    return True


@compiled
def beyond_rounding(work, residual, terms, i):
    """A part of the residual that is more than rounding of its terms, as a step takes it off; 0
    where it is rounding."""
    part, scale = abs(work[residual + i].real), work[terms + i].real
    rounded = scale < np.inf and part <= NEWTON_ROUNDED * scale
    return 0.0 * work[residual + i] if rounded else work[residual + i]


@compiled
def newton_size(work, residual, terms, m):
    """The largest part of the residual that is more than rounding of its terms; 0 where all
    are rounding."""
    size = 0.0
    for i in range(m):
        part = abs(beyond_rounding(work, residual, terms, i).real)
        if not np.isfinite(part):
            return np.inf
        size = max(size, part)
    return size


@compiled
def newton_length(work, vector, record, m):
    """The length of a step, each component as part of the larger of y and of Newton's step where
    this began: the unknowns are volts and amperes of any size."""
    before, step = record + 4, record + 4 + m
    total = 0.0
    for i in range(m):
        part = abs(work[vector + i].real)
        if part > 0.0:
            total += (part / max(abs(work[before + i].real), abs(work[step + i].real))) ** 2
    return np.sqrt(total)


@compiled
def all_smaller(work, residual, record, share, m):
    """Whether every part of the residual is smaller than where the step began, or rounding: where
    one diode carries 1e4 A beside one that blocks the slope is singular to rounding, and steps by
    it are noise."""
    terms, was = record + 4 + 2 * m, record + 4 + 4 * m + 2 * m * m
    for i in range(m):
        part = abs(beyond_rounding(work, residual, terms, i).real)
        if not part <= (1.0 - NEWTON_GAIN * share) * abs(work[was + i].real):
            return False
    return True


@compiled
def simplified_step(work, residual, record, m):
    """The step for what of this residual is no rounding, by the slope of the step before, into the
    record; its length."""
    terms, ahead, kept = record + 4 + 2 * m, record + 4 + 3 * m, record + 4 + 4 * m
    used = kept + m * m
    for i in range(m):
        work[ahead + i] = beyond_rounding(work, residual, terms, i)
    for i in range(m * m):
        work[used + i] = work[kept + i]
    solve_dense(work, used, ahead, m, 1)
    return newton_length(work, ahead, record, m)


@compiled
def whole_step(work, y, residual, slope, record, m):
    """Newton's step for this residual, with where it begins and its slope into the record."""
    before, step, kept = record + 4, record + 4 + m, record + 4 + 4 * m
    was = kept + 2 * m * m
    for i in range(m):
        work[before + i] = work[y + i]
        work[step + i] = work[was + i] = work[residual + i]
    for i in range(m * m):
        work[kept + i] = work[slope + i]
    solve_dense(work, slope, step, m, 1)


@compiled
def newton_small(work, record, m, part):
    """Whether the step in the record is no more than this part of y in each component."""
    for i in range(m):
        if not abs(work[record + 4 + m + i].real) <= part * abs(work[record + 4 + i].real) + 1e-30:
            return False
    return True


@compiled
def newton_wrong(work, residual, record, m):
    """Whether a residual is no small part of its terms, as at no root."""
    for i in range(m):
        part, scale = abs(work[residual + i].real), work[record + 4 + 2 * m + i].real
        if not part <= NEWTON_WRONG * scale:
            return True
    return False


@compiled
def step_newton(work, y, residual, slope, record, m):
    """One Newton step on the m words at `y`, or a shorter one where the last was too long; whether
    to go on.

    Record: iterations, share of the present step, steps made after convergence (they bring
    imaginary parts to rounding), whether it began at zero; then (m each) y and Newton's step where
    the present one began, the terms of the residual at y, the simplified step; (m x m each) the
    slope where the present step began and room to solve with it; (m) the residual there.
    """
    iterations, share, polished = work[record].real, work[record + 1].real, work[record + 2].real
    size = newton_size(work, residual, record + 4 + 2 * m, m)
    if iterations >= NEWTON_LIMIT:
        if begins_again(work, y, record, m):
            return True
        for i in range(m):
            work[y + i] = np.nan
        return False
    work[record] = iterations + 1.0
    judged = iterations > 0.0 and polished == 0.0 and size > 0.0
    length, left = 1.0, 0.0
    if judged:
        length = newton_length(work, record + 4 + m, record, m)
        left = simplified_step(work, residual, record, m) if size < np.inf else np.inf
    nearer = left <= (1.0 - NEWTON_GAIN * share) * length
    if judged and not nearer and share > NEWTON_SHORTEST:
        nearer = all_smaller(work, residual, record, share, m)
    if judged and not nearer and share > NEWTON_SHORTEST:
        share *= 0.5
    else:
        squares = judged and share == 1.0 and left <= NEWTON_CONTRACTS * length
        squares = squares and newton_small(work, record, m, NEWTON_CLOSE)
        whole_step(work, y, residual, slope, record, m)
        longest = NEWTON_GROWS * share * length
        now = newton_length(work, record + 4 + m, record, m)
        share = longest / now if judged and longest < now else 1.0
        found = squares or newton_small(work, record, m, NEWTON_STILL)
        if polished > 0.0 or size == 0.0 or (found and not newton_wrong(work, residual, record, m)):
            share, polished = 1.0, polished + 1.0
    for i in range(m):
        work[y + i] = work[record + 4 + i] - share * work[record + 4 + m + i]
    work[record + 1], work[record + 2] = share, polished
    return polished < 2.0
