"""Steps of Dormand and Prince's method of order 8, and the states between their ends."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine.memory import at, compiled, entry, put
from vbg.assemble.program.machine.plans import LOST
from vbg.assemble.program.machine.pointer import run_at
from vbg.assemble.program.machine.series.running import stages
from vbg.plumbing.dormand_prince import END, STAGES

DEFECT = 300.0  # tolerances that h (rate - slope) in the middle of a step may be


@compiled
def worst_pivot(p, pivots):
    """Largest diagonal over pivot of the kept rows, LOST where one has no pivot any more."""
    worst = 1.0 if pivots.rows.shape[0] == 0 else 0.0
    for k in range(pivots.rows.shape[0]):
        inverse = at(p.work, pivots.inverse[k])
        if inverse == 0.0 and p.kept[pivots.rows[k]] != 0.0:
            return LOST
        amount = abs(inverse * at(p.work, pivots.diagonal[k]))
        if not amount <= worst:
            worst = amount
    return worst


@entry
def attempt(address, a, t, h):
    """A step of h from (t, a.x) to a.end, K[0] being the rate there: its error over the
    tolerance (II.5, with orders 5 and 3) and the condition at its end, in a.found."""
    x, end, K, n = a.x, a.end, a.K, a.x.shape[0]
    stages(address, a.rate, t, x, h, a.tableau.weights, a.tableau.nodes, K, 1, END + 1, end)
    fifth, third = 0.0, 0.0
    for i in range(n):
        scale = a.atol[i] + a.rtol[i] * max(abs(x[i]), abs(end[i]))
        e5, e3 = 0.0, 0.0
        for s in range(END + 1):
            e5 += a.tableau.fifth[s] * K[s, i]
            e3 += a.tableau.third[s] * K[s, i]
        fifth += (e5 / scale) ** 2
        third += (e3 / scale) ** 2
    none = fifth == 0.0 and third == 0.0
    a.found[0] = 0.0 if none else abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * n)
    a.found[1] = worst_pivot(a.rate, a.pivots)


@entry
def terms(address, a, t, h):
    """The polynomial of the step just made, in a.F.  1 where one of its three additional
    stages, which no error estimate sees, lies further outside the rates of the step than these
    are apart, or where its slope in the middle is not the rate there, else 0."""
    x, end, K, F, n = a.x, a.end, a.K, a.F, a.x.shape[0]
    weights, nodes = a.tableau.weights, a.tableau.nodes
    stages(address, a.rate, t, x, h, weights, nodes, K, END + 1, STAGES, F[6])
    for i in range(n):
        low, high = K[0, i], K[0, i]
        for s in range(1, END + 1):
            low, high = min(low, K[s, i]), max(high, K[s, i])
        slack = high - low + (a.atol[i] + a.rtol[i] * abs(end[i])) / abs(h)
        for s in range(END + 1, STAGES):
            if not (K[s, i] >= low - slack and K[s, i] <= high + slack):
                return 1
        moved = end[i] - x[i]
        F[0, i] = moved
        F[1, i] = h * K[0, i] - moved
        F[2, i] = 2.0 * moved - h * (K[END, i] + K[0, i])
        for j in range(4):
            total = 0.0
            for s in range(STAGES):
                total += a.tableau.dense[j, s] * K[s, i]
            F[3 + j, i] = h * total
    return 1 if defect(address, a, t, h) > DEFECT else 0


@compiled
def defect(address, a, t, h):
    """h (f - x') in the middle of a step over the tolerance, root mean square, x' being the slope
    of its polynomial: where stability and not accuracy sets the steps, the additional stages may
    stray within the rates of the step, and the polynomial with them (W. Enright, J. Comput. Appl.
    Math. 125, 2000, on control by the defect)."""
    x, end, F, work, n = a.x, a.end, a.F, a.rate.work, a.x.shape[0]
    for i in range(n):
        total = 0.0
        for j in range(6, -1, -1):
            total = 0.5 * (total + F[j, i])
        put(work, i, x[i] + total)
    put(work, n, t + 0.5 * h)
    run_at(
        address, work, a.rate.segments, a.rate.operands, a.rate.factors, a.rate.stream, a.rate.kept
    )
    squares = 0.0
    for i in range(n):
        total, slope = 0.0, 0.0
        for j in range(6, -1, -1):
            total += F[j, i]
            slope = 0.5 * slope + (total if j % 2 == 0 else -total)
            total *= 0.5
        scale = a.atol[i] + a.rtol[i] * max(abs(x[i]), abs(end[i]))
        squares += ((h * at(work, a.rate.first + i) - slope) / scale) ** 2
    return np.sqrt(squares / n)


@entry
def inside(F, x, begin, h, times, states):
    """The states at `times` in a step of h from (begin, x): x + s (F0 + (1 - s) (F1 + ...))."""
    for k in range(times.shape[0]):
        s = (times[k] - begin) / h
        for i in range(x.shape[0]):
            total = 0.0
            for j in range(6, -1, -1):
                total = (total + F[j, i]) * (s if j % 2 == 0 else 1.0 - s)
            states[k, i] = x[i] + total
