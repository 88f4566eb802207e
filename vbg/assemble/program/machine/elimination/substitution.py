"""Solutions with a factor, and products with the matrix."""

from __future__ import annotations

from vbg.assemble.program.machine.elimination.stream import first_pivot, stream_head, unknowns_of
from vbg.assemble.program.machine.memory import at, compiled, put, unrolled


@unrolled
def forward(work, d, size, y):
    """Forward substitution at a pivot block at d of `size` unknowns at y."""
    for i in range(1, size):
        value = at(work, y + i)
        for k in range(i):
            value -= at(work, d + i * size + k) * at(work, y + k)
        put(work, y + i, value)


@unrolled
def forward_coupling(work, b, size, n, to, y):
    """What that takes from the n unknowns at `to`, by their coupling at b."""
    for r in range(n):
        value = at(work, to + r)
        for k in range(size):
            value -= at(work, b + r * size + k) * at(work, y + k)
        put(work, to + r, value)


@unrolled
def backward_coupling(work, b, size, n, to, y):
    """What these n take from the unknowns at y on the way back."""
    for k in range(size):
        value = at(work, y + k)
        for r in range(n):
            value -= at(work, b + r * size + k) * at(work, to + r)
        put(work, y + k, value)


@unrolled
def backward(work, d, size, y):
    """Backward substitution at the pivot block; what was found last is taken last, so that the sums
    of the others wait for nothing."""
    for i in range(size - 1, -1, -1):
        value = at(work, y + i)
        for k in range(size - 1, i, -1):
            value -= at(work, d + k * size + i) * at(work, y + k)
        put(work, y + i, value)


@compiled
def forward_step(work, stream, here, x):
    """Forward substitution of the pivot that stands at `here` in the stream."""
    m, d, first, later = stream_head(stream, here)
    here += 4
    y = x + first
    if m == 5:
        forward(work, d, 5, y)
    elif m == 3:
        forward(work, d, 3, y)
    else:
        forward(work, d, m, y)
    for a in range(later):
        n, b, to = at(stream, here), at(stream, here + 1), x + at(stream, here + 2)
        if m == 5:
            forward_coupling(work, b, 5, n, to, y)
        elif m == 3:
            forward_coupling(work, b, 3, n, to, y)
        else:
            forward_coupling(work, b, m, n, to, y)
        here += 3 + a + 1


@compiled
def backward_step(work, stream, here, x):
    """Division by the pivots and backward substitution."""
    m, d, first, later = stream_head(stream, here)
    here += 4
    y = x + first
    for i in range(m):
        put(work, y + i, at(work, y + i) * at(work, d + i * m + i))
    for a in range(later):
        n, b, to = at(stream, here), at(stream, here + 1), x + at(stream, here + 2)
        if m == 5:
            backward_coupling(work, b, 5, n, to, y)
        elif m == 3:
            backward_coupling(work, b, 3, n, to, y)
        else:
            backward_coupling(work, b, m, n, to, y)
        here += 3 + a + 1
    if m == 5:
        backward(work, d, 5, y)
    elif m == 3:
        backward(work, d, 3, y)
    else:
        backward(work, d, m, y)


@compiled
def solve_factored(work, stream, start, x, rhs):
    """x = solution; forward and backward through the stream, whose first words after
    the number of pivots are the places of the pivots."""
    pivots = at(stream, start)
    total = unknowns_of(stream, start)
    for i in range(total):
        put(work, x + i, at(work, rhs + i))
    for step in range(pivots):
        forward_step(work, stream, at(stream, start + 1 + step) + start, x)
    for step in range(pivots - 1, -1, -1):
        backward_step(work, stream, at(stream, start + 1 + step) + start, x)


@compiled
def subtract_product(work, stream, start, shift, x, r):
    """r -= H x, with the blocks of H `shift` words behind those of the factor."""
    pivots = at(stream, start)
    here = first_pivot(stream, start)
    for _ in range(pivots):
        m, d, first, later = stream_head(stream, here)
        d += shift
        here += 4
        for i in range(m):  # the lower half of the diagonal block is complete
            for k in range(m):
                h = at(work, d + i * m + k) if k <= i else at(work, d + k * m + i)
                put(work, r + first + i, at(work, r + first + i) - (h * at(work, x + first + k)))
        for a in range(later):
            n, b, to = at(stream, here), at(stream, here + 1) + shift, at(stream, here + 2)
            for i in range(n):
                for k in range(m):
                    h = at(work, b + i * m + k)
                    put(work, r + to + i, at(work, r + to + i) - (h * at(work, x + first + k)))
                    put(work, r + first + k, at(work, r + first + k) - (h * at(work, x + to + i)))
            here += 3 + a + 1


@compiled
def residual_of(work, stream, start, matrix, x, rhs, r):
    """r = rhs - H x, with a copy of H at `matrix`."""
    # the first pivot's block is the first of the factor
    shift = matrix - at(stream, first_pivot(stream, start) + 1)
    for i in range(unknowns_of(stream, start)):
        put(work, r + i, at(work, rhs + i))
    subtract_product(work, stream, start, shift, x, r)
