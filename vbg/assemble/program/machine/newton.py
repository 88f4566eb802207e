"""Algebraic loops: dense elimination and Newton's iteration on the tape."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine.memory import compiled

NEWTON_LIMIT = 300  # iterations and halvings of one algebraic loop
NEWTON_CLOSE = 1e-9  # relative step after which one more makes the root exact to rounding
NEWTON_ROUNDED = 16.0 * 2.0**-52  # of its terms: a residual that is rounding
LEAST_GAIN = 0.1  # of what a step promises to take off the residual


@compiled
def solve_dense(work, a, d, m, n):
    """D = A^-1 D with A (m x m) at `a`, used up, and D (m x n): partial pivoting."""
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
def begin_newton(work, y, record, m):
    """Starts from the last root, or from zero where there is none."""
    for i in range(m):
        if not np.isfinite(work[y + i].real):
            work[y + i] = 0.0 * work[record]
            if not np.isfinite(work[y + i].real):
                work[y + i] = 0.0
    for i in range(4):
        work[record + i] = 0.0


@compiled
def newton_size(work, residual, terms, m):
    """The largest part of the residual that is more than rounding of its terms; 0 where all
    are rounding."""
    size = 0.0
    for i in range(m):
        part, scale = abs(work[residual + i].real), work[terms + i].real
        if not np.isfinite(part):
            return np.inf
        if not (scale < np.inf and part <= NEWTON_ROUNDED * scale):
            size = max(size, part)
    return size


@compiled
def step_newton(work, y, residual, slope, record, m):
    """One Newton step on the m words at `y`; whether to go on.

    Record: iterations, halvings of the present step, size of the residual before it,
    steps made after convergence (they bring imaginary parts to rounding), then the
    last y, the last step and the terms of the residual at y (`vbg.blocks.rounding`), which tell
    when it is rounding: y may be what is left of numbers far larger.
    A step is halved that does not make the residual smaller by a tenth of what it should
    (between the limits of an amplifier, or on the two sides of an orifice, whole steps may go to
    and fro for ever).
    """
    before, step = record + 4, record + 4 + m
    size = newton_size(work, residual, record + 4 + 2 * m, m)
    iterations = work[record].real
    if iterations >= NEWTON_LIMIT:
        for i in range(m):
            work[y + i] = np.nan
        return False
    work[record] = iterations + 1.0
    halvings, polished = work[record + 1].real, work[record + 3].real
    enough = (1.0 - LEAST_GAIN * 0.5**halvings) * work[record + 2].real
    too_long = size > 0.0 and not size < enough
    if iterations > 0.0 and polished == 0.0 and halvings < 40.0 and too_long:
        for i in range(m):
            work[step + i] *= 0.5
            work[y + i] = work[before + i] - work[step + i]
        work[record + 1] = halvings + 1.0
        return True
    for i in range(m):
        work[before + i] = work[y + i]
        work[step + i] = work[residual + i]
    solve_dense(work, slope, step, m, 1)
    small = True
    for i in range(m):
        work[y + i] = work[before + i] - work[step + i]
        if not abs(work[step + i].real) <= NEWTON_CLOSE * abs(work[y + i].real) + 1e-30:
            small = False
    work[record + 1] = 0.0
    work[record + 2] = size
    if small or size == 0.0:
        work[record + 3] = polished + 1.0
        return polished < 1.0
    return True
