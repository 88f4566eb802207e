"""Programs run many times over without Python: stages of Runge-Kutta methods, series of states."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, compiled, entry, put
from vbg.assemble.program.machine.pointer import run_at


@compiled
def evaluate(address, p, t, x):
    """Runs the program p with the inputs x and then t."""
    n = x.shape[0]
    for i in range(n):
        put(p.work, i, x[i])
    put(p.work, n, t)
    run_at(address, p.work, p.segments, p.operands, p.factors, p.stream, p.kept)


@entry
def evaluate_each(address, p, times, states, values):
    """Outputs of p at each time and state, in the rows of `values`."""
    for i in range(times.shape[0]):
        evaluate(address, p, times[i], states[i])
        for j in range(p.last - p.first):
            values[i, j] = at(p.work, p.first + j)


@compiled
def stages(address, p, t, x, h, A, C, K, begin, end, to):
    """Stages begin to end - 1 of a Runge-Kutta method from (t, x) with the step h:

        K_s = f(t + C_s h, x + h sum_{j<s} A_sj K_j),

    f being the first outputs of p; `to` is left with the state of the last one."""
    n = x.shape[0]
    for s in range(begin, end):
        to[:] = 0.0
        for j in range(s):
            a = A[s, j]
            if a != 0.0:
                for i in range(n):
                    to[i] += a * K[j, i]
        for i in range(n):
            to[i] = x[i] + h * to[i]
        evaluate(address, p, t + C[s] * h, to)
        for i in range(n):
            K[s, i] = at(p.work, p.first + i)


@entry
def rk4_step(address, p, t, h, first, x, total, to):
    """One step of the classical Runge-Kutta method from x, where the rate is `first`; x is
    replaced; room for two states."""
    n = x.shape[0]
    for i in range(n):
        total[i] = x[i] + h / 6.0 * first[i]
        to[i] = x[i] + 0.5 * h * first[i]
    for stage in range(1, 4):
        evaluate(address, p, t + (h if stage == 3 else 0.5 * h), to)
        weight = h / 6.0 if stage == 3 else h / 3.0
        shift = h if stage == 2 else 0.5 * h
        for i in range(n):
            rate = at(p.work, p.first + i)
            total[i] += weight * rate
            to[i] = x[i] + shift * rate
    for i in range(n):
        x[i] = total[i]
