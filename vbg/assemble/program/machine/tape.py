"""The interpreter: one compiled function for every model."""

from __future__ import annotations

from vbg.assemble.program.machine.elimination.factor import factorise
from vbg.assemble.program.machine.elimination.smallest import make_smallest
from vbg.assemble.program.machine.elimination.stream import unknowns_of
from vbg.assemble.program.machine.elimination.substitution import solve_factored
from vbg.assemble.program.machine.memory import at, compiled, entry, put
from vbg.assemble.program.machine.operations.newton import begin_newton, solve_refined, step_newton
from vbg.assemble.program.machine.operations.products import axpy, cross, multiply, times
from vbg.assemble.program.machine.operations.rotations import quaternion_rates, rotations, skews
from vbg.assemble.program.machine.operations.scalars import calls, lookups
from vbg.assemble.program.program import Op

GEMM, AXPY, CROSS = int(Op.GEMM), int(Op.AXPY), int(Op.CROSS)
ROTATION, SKEW, QUATERNION_RATE = int(Op.ROTATION), int(Op.SKEW), int(Op.QUATERNION_RATE)
TIMES, CALL, COPY = int(Op.TIMES), int(Op.CALL), int(Op.COPY)
LOOKUP = int(Op.LOOKUP)
FACTOR, SOLVE = int(Op.FACTOR), int(Op.SOLVE)
LINEAR_SOLVE, NEWTON, NEWTON_STEP = int(Op.LINEAR_SOLVE), int(Op.NEWTON), int(Op.NEWTON_STEP)


@compiled
def solve_segment(work, operands, stream, first, start, scratch, kept, solved):
    """One solution, the smallest one where a copy of the matrix stands for that; `solved`: what
    stands at the right-hand side is one."""
    x, rhs = at(operands, 4 * first), at(operands, 4 * first + 1)
    matrix, spare = at(operands, 4 * first + 2), at(operands, 4 * first + 3)
    if solved:
        for i in range(unknowns_of(stream, start)):
            put(work, x + i, at(work, rhs + i))
    else:
        solve_factored(work, stream, start, x, rhs)
    if matrix > 0:
        make_smallest(work, stream, start, scratch, matrix, kept, x, spare)


@entry
def run(work, segments, operands, factors, stream, kept):
    """Runs the whole tape on `work`; `kept`: 1 for each constraint row that is eliminated
    with, 0 for those that depend on these."""
    s = -1
    while s + 1 < segments.shape[0]:
        s += 1
        op, count, first = segments[s, 0], segments[s, 1], segments[s, 2]
        accumulate = segments[s, 3] != 0
        m, k, n = segments[s, 4], segments[s, 5], segments[s, 6]
        dr, dc = segments[s, 7], segments[s, 8]
        ar, ac = segments[s, 9], segments[s, 10]
        br, bc = segments[s, 11], segments[s, 12]
        if op == GEMM:
            multiply(
                work, operands, factors, first, count, accumulate, m, k, n, dr, dc, ar, ac, br, bc
            )
        elif op == AXPY:
            axpy(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac)
        elif op == CROSS:
            cross(work, operands, factors, first, count, accumulate, dr, ar, br)
        elif op == ROTATION:
            rotations(work, operands, first, count, dr, dc, ar)
        elif op == SKEW:
            skews(work, operands, first, count, dr, dc, ar)
        elif op == QUATERNION_RATE:
            quaternion_rates(work, operands, first, count, dr, ar, br)
        elif op == TIMES:
            times(work, operands, factors, first, count, accumulate, m, n, dr, dc, br, bc)
        elif op == CALL:
            calls(work, operands, first, count, m)
        elif op == LOOKUP:
            lookups(work, operands, first, count, m, n)
        elif op == COPY:
            for i in range(first, first + count):
                d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
                for j in range(m):
                    put(work, d + j, at(work, a + j))
        elif op == FACTOR:
            start, scratch = at(stream, 1 + 2 * m), at(stream, 2 + 2 * m)
            factorise(work, stream, start, scratch, kept, at(factors, first), k != 0)
        elif op == SOLVE:
            start, scratch = at(stream, 1 + 2 * m), at(stream, 2 + 2 * m)
            for i in range(first, first + count):
                solve_segment(work, operands, stream, i, start, scratch, kept, k != 0)
        elif op == LINEAR_SOLVE:
            for i in range(first, first + count):
                solve_refined(work, at(operands, 4 * i + 1), at(operands, 4 * i), m, n)
        elif op == NEWTON:
            begin_newton(work, at(operands, 4 * first), at(operands, 4 * first + 1), m)
        elif op == NEWTON_STEP:
            y, residual, slope = (
                at(operands, 4 * first),
                at(operands, 4 * first + 1),
                at(operands, 4 * first + 2),
            )
            if step_newton(work, y, residual, slope, at(operands, 4 * first + 3), m):
                s = k - 1
