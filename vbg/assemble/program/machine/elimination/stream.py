"""Reading the description of an elimination (`Schedule.stream`)."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, compiled


@compiled
def stream_head(stream, here):
    """Size, block offset, first unknown and number of neighbours of a pivot."""
    return at(stream, here), at(stream, here + 1), at(stream, here + 2), at(stream, here + 3)


@compiled
def first_pivot(stream, start):
    """Place of the first pivot of a schedule."""
    return start + 3 + at(stream, start)


@compiled
def unknowns_of(stream, start):
    """Number of scalar unknowns of a schedule."""
    last = at(stream, start)
    return at(stream, start + 1 + last)


@compiled
def vectors_of(stream, start):
    """Place of the list of vectors of a schedule."""
    return start + at(stream, start + 2 + at(stream, start))
