"""What the raised diagonal leaves of a solution: directions of an eigenvalue near the raise.

A long closed machine has them although each of its pivots is large (a scissor lift of 40
stages: eigenvalues of 1e-9, pivots of 1e-4 of the diagonal).  There the matrix itself is
eliminated, raised only at the pivots that are small; see docs/derivations/redundancy.md.
"""

from __future__ import annotations

from vbg.assemble.program.machine.factor import factorise
from vbg.assemble.program.machine.memory import at, compiled, put
from vbg.assemble.program.machine.stream import first_pivot, stream_head, unknowns_of
from vbg.assemble.program.machine.substitution import refine, residual_of, solve_factored

LEFT = 1e-11  # part of the right-hand side, in the norm r^T D^-1 r, that may be left
FOUND = 0.1  # where no more than this part of the rest is left by the second elimination, it counts
SMALL_PIVOT = 1e-5  # of the diagonal: below, a row counts as dependent
WHOLE = 1.0  # raise of its pivot, so that it takes no part


@compiled
def is_above(work, diagonal, total, r, part, whole):
    """Whether r exceeds `part` of the vector at `whole`."""
    of_r, of_whole = 0.0, 0.0
    for i in range(total):
        scale = at(work, diagonal + i).real
        if scale > 0.0:
            of_r += at(work, r + i).real ** 2 / scale
            of_whole += at(work, whole + i).real ** 2 / scale
    return of_r > part * part * of_whole


@compiled
def factor_words(stream, start):
    """Words of the factor, whose blocks stand one behind the other in their order."""
    first = at(stream, first_pivot(stream, start) + 1)
    last = at(stream, start + at(stream, start)) + start
    m, d, _, _ = stream_head(stream, last)
    return d + m * m - first


@compiled
def copy(work, to, source, words):
    for i in range(words):
        put(work, to + i, at(work, source + i))


@compiled
def solve_rest(work, stream, start, scratch, kept, x, rhs, spare):
    """Adds to x what is missing in H x = rhs, if it is more than rounding and not merely
    inconsistent; the factor is the one before afterwards."""
    total = unknowns_of(stream, start)
    rest, found = spare + 2 * total, spare + 3 * total
    residual_of(work, stream, start, kept, x, rhs, rest)
    if not is_above(work, scratch, total, rest, LEFT, rhs):
        return
    factor, words = at(stream, first_pivot(stream, start) + 1), factor_words(stream, start)
    saved = kept + words
    copy(work, saved, factor, words)
    copy(work, factor, kept, words)
    factorise(work, stream, start, scratch, WHOLE, SMALL_PIVOT)
    solve_factored(work, stream, start, found, rest)
    residual_of(work, stream, start, kept, found, rest, spare)
    if not is_above(work, scratch, total, spare, FOUND, rest):
        refine(work, stream, start, kept, found, rest, spare)
        for i in range(total):
            put(work, x + i, at(work, x + i) + at(work, found + i))
    copy(work, factor, saved, words)
