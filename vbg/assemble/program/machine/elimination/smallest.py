"""The smallest efforts among those that do the same.

Where rows depend on others, efforts are unique up to combinations N that do nothing, G^T N = 0.
With the rows that are not kept, d, and the kept ones, i,

    N = [ -H_ii^-1 H_id ]        x - N z smallest:   (N^T W N) z = N^T W x,
        [       1       ]

in the norm x^T W x, W the diagonal of H, its mean for the components of one force or torque: it
weighs forces and torques by the motion they cause, whatever axes they are written in.
"""

from __future__ import annotations

from vbg.assemble.program.machine.elimination.stream import unknowns_of, vectors_of
from vbg.assemble.program.machine.elimination.substitution import residual_of, solve_factored
from vbg.assemble.program.machine.memory import at, compiled, give_back, put, room
from vbg.assemble.program.machine.operations.newton import solve_dense

FEW = 24  # dependent rows up to which N is formed
CLOSE = 1e-13  # of the norm of x: last step of the conjugate gradients that take its place else
PART = 4  # of the number of dependent rows: as many steps cost half of what N does
SETTLED = 1e-9  # of it: from where on a step that is no shorter than the last is rounding's


@compiled
def weights(work, stream, start, scratch, to):
    """W at `to`; 1 for a row of zeros."""
    for i in range(unknowns_of(stream, start)):
        put(work, to + i, at(work, scratch + i))
    here = vectors_of(stream, start)
    for v in range(at(stream, here)):
        first, size = to + at(stream, here + 1 + 2 * v), at(stream, here + 2 + 2 * v)
        total = at(work, first)
        for i in range(1, size):
            total += at(work, first + i)
        for i in range(size):
            put(work, first + i, total / size)
    for i in range(unknowns_of(stream, start)):
        if at(work, to + i).real <= 0.0:
            put(work, to + i, 0.0 * at(work, to + i) + 1.0)


@compiled
def combination(work, stream, start, matrix, kept, p, n, spare):
    """n = N p: `p` holds efforts of the rows that are not kept, and zero at the others."""
    total = unknowns_of(stream, start)
    for i in range(total):
        put(work, n + i, 0.0 * at(work, p + i))
    residual_of(work, stream, start, matrix, p, n, spare)
    solve_factored(work, stream, start, n, spare)
    for i in range(total):
        if at(kept, i) == 0.0:
            put(work, n + i, at(work, p + i))


@compiled
def transposed(work, stream, start, matrix, kept, w, v, to, spare):
    """At the rows that are not kept, N^T W v at `to`; zero at the others."""
    total = unknowns_of(stream, start)
    for i in range(total):
        value = at(work, w + i) * at(work, v + i)
        put(work, to + i, value if at(kept, i) != 0.0 else 0.0 * value)
    solve_factored(work, stream, start, spare, to)
    for i in range(total):
        put(work, spare + total + i, at(work, w + i) * at(work, v + i))
    residual_of(work, stream, start, matrix, spare, spare + total, to)
    for i in range(total):
        if at(kept, i) != 0.0:
            put(work, to + i, 0.0 * at(work, to + i))


@compiled
def smallest_of_few(work, stream, start, matrix, kept, count, x, w, spare):
    """x - N z with N (total, count) column by column."""
    total = unknowns_of(stream, start)
    columns = room(work, total * count)
    system = room(work, count * count + count)
    c = -1
    for d in range(total):
        if at(kept, d) != 0.0:
            continue
        c += 1
        for i in range(total):
            put(work, spare + i, 0.0 * at(work, x + i))
        put(work, spare + d, 0.0 * at(work, x) + 1.0)
        combination(work, stream, start, matrix, kept, spare, spare + total, spare + 2 * total)
        for i in range(total):
            put(columns, i * count + c, at(work, spare + total + i))
    for i in range(total):
        for a in range(count):
            weighed = columns[i * count + a] * at(work, w + i)
            if weighed.real == 0.0 and weighed.imag == 0.0:
                continue
            system[count * count + a] += weighed * at(work, x + i)
            for b in range(a + 1):
                system[a * count + b] += weighed * columns[i * count + b]
    for a in range(count):
        for b in range(a):
            system[b * count + a] = system[a * count + b]
    solve_dense(system, 0, count * count, count, 1)
    for i in range(total):
        change = 0.0 * at(work, x + i)
        for a in range(count):
            change += columns[i * count + a] * system[count * count + a]
        put(work, x + i, at(work, x + i) - change)
    give_back(columns)
    give_back(system)


@compiled
def smallest_of_many(work, stream, start, matrix, kept, count, x, w, spare):
    """The same by conjugate gradients on N^T W N, preconditioned by W, and whether they converge:
    where rows are loaded whose W differ much, as those of thin rods across their axes do, there
    are more steps than columns of N, and rounding makes them grow."""
    total = unknowns_of(stream, start)
    g, p, n, rest = spare, spare + total, spare + 2 * total, spare + 3 * total
    transposed(work, stream, start, matrix, kept, w, x, g, rest)
    size, rho = 0.0, 0.0 * at(work, x)
    for i in range(total):
        step = at(work, g + i) / at(work, w + i)
        put(work, p + i, -step)
        rho += at(work, g + i) * step
        size += (at(work, x + i) * at(work, x + i) * at(work, w + i)).real
    for _ in range(count // PART):
        if rho.real <= CLOSE * CLOSE * size:
            return True
        combination(work, stream, start, matrix, kept, p, n, rest)
        curvature = 0.0 * rho
        for i in range(total):
            curvature += at(work, n + i) * at(work, n + i) * at(work, w + i)
        alpha = rho / curvature
        for i in range(total):
            put(work, x + i, at(work, x + i) + alpha * at(work, n + i))
        transposed(work, stream, start, matrix, kept, w, x, g, rest)
        before, rho = rho, 0.0 * rho
        for i in range(total):
            rho += at(work, g + i) * at(work, g + i) / at(work, w + i)
        if before.real <= min(rho.real, SETTLED * SETTLED * size):
            return True
        for i in range(total):
            step = at(work, g + i) / at(work, w + i)
            put(work, p + i, rho / before * at(work, p + i) - step)
    return rho.real <= SETTLED * SETTLED * size


@compiled
def make_smallest(work, stream, start, scratch, matrix, kept, x, spare):
    """The smallest efforts in place of x, which are zero at the rows not kept; `spare`: six
    times as many words as unknowns."""
    total = unknowns_of(stream, start)
    count = 0
    for i in range(total):
        if at(kept, i) == 0.0:
            count += 1
    if count == 0:
        return
    weights(work, stream, start, scratch, spare)
    if count > FEW and work.itemsize <= 8:  # complex steps pass through sums, not through tests
        first = room(work, total)
        for i in range(total):
            first[i] = at(work, x + i)
        small = smallest_of_many(work, stream, start, matrix, kept, count, x, spare, spare + total)
        if not small:
            for i in range(total):
                put(work, x + i, first[i])
        give_back(first)
        if small:
            return
    smallest_of_few(work, stream, start, matrix, kept, count, x, spare, spare + total)
