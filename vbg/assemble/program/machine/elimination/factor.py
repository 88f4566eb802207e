"""Block LDL^T of the constraint matrix in a fixed order, right-looking.

The sizes of pivot blocks are constants where the kernels are called, so that the compiler
unrolls their loops for each size.  Rows that are not kept take no part: they depend on others
(`vbg.assemble.rows`), and their unknowns come out as zero.
"""

from __future__ import annotations

from vbg.assemble.program.machine.elimination.stream import first_pivot, stream_head, unknowns_of
from vbg.assemble.program.machine.memory import at, compiled, put, unrolled


@unrolled
def diagonal(work, d, size, original, kept, first, least, comes):
    """LDL^T of the block in place: unit lower triangle, inverse pivots on the
    diagonal; zero for a row that is not kept.  A pivot below `least` of the diagonal before
    elimination is lost in rounding: a row that `comes` depends on others and is left out, any
    other one is held by that least pivot, and closing finds what it is
    (`vbg.assemble.derive.closings`).  Pivots below zero are those of inertias below zero
    (`vbg.assemble.start.constraints.signs`)."""
    for j in range(size):
        scale = at(work, original + j)
        pivot = at(work, d + j * size + j)
        for k in range(j):
            x = at(work, d + j * size + k)  # L_jk D_k, turned into L_jk
            factor = x * at(work, d + k * size + k)
            pivot -= x * factor
            put(work, d + j * size + k, factor)
        inverse, bound = 0.0 * pivot, least * abs(scale.real)
        if at(kept, first + j) != 0.0:
            if abs(pivot.real) > bound:
                inverse = 1.0 / pivot
            elif not comes and bound > 0.0:
                inverse = 1.0 / bound + 0.0 * pivot
        put(work, d + j * size + j, inverse)
        for i in range(j + 1, size):
            value = at(work, d + i * size + j)
            for k in range(j):
                value -= at(work, d + i * size + k) * at(work, d + j * size + k)
            put(work, d + i * size + j, value)


@unrolled
def coupling(work, d, size, b, n, w):
    """n rows at b: W = H L^-T into the scratch w, M = W D^-1 in place."""
    for r in range(n):
        here, to = b + r * size, w + r * size
        for j in range(size):
            value = at(work, here + j)
            for k in range(j):
                value -= at(work, to + k) * at(work, d + j * size + k)
            put(work, to + j, value)
        for j in range(size):
            put(work, here + j, at(work, to + j) * at(work, d + j * size + j))


@unrolled
def downdate(work, t, w, n, b, p, size, symmetric):
    """H_t -= W M^T; W has n rows at w, M p rows at b; the lower half if symmetric."""
    for r in range(n):
        last = r + 1 if symmetric else p
        for c in range(last):
            value = at(work, t + r * p + c)
            for k in range(size):
                value -= at(work, w + r * size + k) * at(work, b + c * size + k)
            put(work, t + r * p + c, value)


@compiled
def eliminate_diagonal(work, d, m, original, kept, first, least, comes):
    if m == 5:
        diagonal(work, d, 5, original, kept, first, least, comes)
    elif m == 1:
        diagonal(work, d, 1, original, kept, first, least, comes)
    elif m == 3:
        diagonal(work, d, 3, original, kept, first, least, comes)
    elif m == 4:
        diagonal(work, d, 4, original, kept, first, least, comes)
    elif m == 2:
        diagonal(work, d, 2, original, kept, first, least, comes)
    else:
        diagonal(work, d, 6, original, kept, first, least, comes)


@compiled
def eliminate_coupling(work, d, m, b, n, w):
    if m == 5:
        coupling(work, d, 5, b, n, w)
    elif m == 1:
        coupling(work, d, 1, b, n, w)
    elif m == 3:
        coupling(work, d, 3, b, n, w)
    elif m == 4:
        coupling(work, d, 4, b, n, w)
    elif m == 2:
        coupling(work, d, 2, b, n, w)
    else:
        coupling(work, d, 6, b, n, w)


@compiled
def downdate_coupling(work, t, w, n, b, p, m, symmetric):
    if m == 5:
        downdate(work, t, w, n, b, p, 5, symmetric)
    elif m == 1:
        downdate(work, t, w, n, b, p, 1, symmetric)
    elif m == 3:
        downdate(work, t, w, n, b, p, 3, symmetric)
    elif m == 4:
        downdate(work, t, w, n, b, p, 4, symmetric)
    elif m == 2:
        downdate(work, t, w, n, b, p, 2, symmetric)
    else:
        downdate(work, t, w, n, b, p, 6, symmetric)


@compiled
def factorise(work, stream, start, scratch, kept, least, comes):
    """Block LDL^T of the `kept` rows in the fixed order; `scratch`: original diagonal, then W."""
    pivots = at(stream, start)
    unknowns = unknowns_of(stream, start)
    mark = first_pivot(stream, start)
    here = mark
    for _ in range(pivots):  # remember the diagonal before anything is eliminated
        m, d, first, later = stream_head(stream, here)
        here += 4 + 3 * later + later * (later + 1) // 2
        for j in range(m):
            put(work, scratch + first + j, at(work, d + j * m + j))
    w = scratch + unknowns
    here = mark
    for _ in range(pivots):
        m, d, first, later = stream_head(stream, here)
        here += 4
        eliminate_diagonal(work, d, m, scratch + first, kept, first, least, comes)
        neighbours = here
        for a in range(later):
            n, b = at(stream, here), at(stream, here + 1)
            eliminate_coupling(work, d, m, b, n, w)
            other = neighbours
            for c in range(a + 1):
                p, h = at(stream, other), at(stream, other + 1)
                downdate_coupling(work, at(stream, here + 3 + c), w, n, h, p, m, c == a)
                other += 3 + c + 1
            here += 3 + a + 1
