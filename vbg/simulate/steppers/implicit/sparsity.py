"""Which rates depend on which states, read off the tape; columns to be differentiated at once.

A set of states is an integer whose bit i stands for state i: unions are single machine-word
loops, and a ladder of 1000 sections is read in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from inspect import signature

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.program import Op, Program
from vbg.blocks.functions import FUNCTIONS

AXPY = int(Op.AXPY)
PLAIN = frozenset(
    int(op)
    for op in (
        Op.AXPY,
        Op.TIMES,
        Op.GEMM,
        Op.CROSS,
        Op.ROTATION,
        Op.SKEW,
        Op.QUATERNION_RATE,
    )
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Places of a Jacobian that are not zero by structure, and the groups of its columns.

    rows, columns : (nonzeros,) places, by row.
    group : (n,) number of each column's group, -1 of one that is not moved; columns of a group
        share no row, so that one derivative in the direction of their sum holds the entries of
        all of them (A. Curtis, M. Powell, J. Reid, J. Inst. Math. Appl. 13, 1974).
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    group: NDArray[np.int64]

    @property
    def groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1


def pattern(
    program: Program, size: int, left_out: frozenset[int], discrete: NDArray[np.bool_]
) -> Pattern:
    """The pattern of the first `size` outputs by the first `size` inputs.

    Rows `left_out` are taken as zero, and so are columns of `discrete` states.
    """
    sets = dependencies(program, size)
    for row in left_out:
        sets[row] = 0
    moving = sum(1 << int(i) for i in np.flatnonzero(~discrete))
    places = [(row, column) for row in range(size) for column in members(sets[row] & moving)]
    rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
    return Pattern(rows, columns, np.where(discrete, -1, _grouped(rows, columns, size)))


def dependencies(program: Program, size: int) -> list[int]:
    """For each of the first `size` outputs the set of those of the first `size` inputs that it
    may depend on."""
    sets = [0] * len(program.workspace)
    for i in range(size):
        sets[i] = 1 << i
    segments, operands = program.segments.tolist(), program.operands.tolist()
    at = 0
    while at < len(segments):
        segment = segments[at]
        at += 1
        grew = False
        for i in range(segment[2], segment[2] + segment[1]):
            grew |= _operation(program, segment, operands[i], sets)
        if grew:  # what a Newton iteration finds depends on all that its residual does
            at = segment[5]
    first = next(iter(program.outputs.values()))[0]
    return sets[first : first + size]


def _operation(program: Program, segment: list[int], places: list[int], sets: list[int]) -> bool:
    """Carries the sets through one operation; whether an iteration's unknowns got more."""
    op, m, n = segment[0], segment[4], segment[6]
    d, a, b, c = places
    if op in PLAIN:
        _block(segment, places, sets)
    elif op == Op.CALL:
        sets[d] = _union(sets[place] for place in (a, b, c)[: _arguments(m)])
    elif op == Op.LOOKUP:
        sets[d : d + n] = [sets[a]] * n
    elif op == Op.COPY:
        sets[d : d + m] = sets[a : a + m]
    elif op == Op.SOLVE:
        plan = program.schedules[m]
        known = _union(sets[word] for word in _matrix_words(program, m))
        known |= _union(sets[a : a + plan.unknowns])
        sets[d : d + plan.unknowns] = [known] * plan.unknowns
    elif op == Op.LINEAR_SOLVE:
        known = _union(sets[a : a + m * m]) | _union(sets[d : d + m * n])
        sets[d : d + m * n] = [known] * (m * n)
    elif op == Op.NEWTON_STEP:
        known = _union(sets[a : a + m]) | _union(sets[b : b + m * m])
        grew = any(known | sets[d + i] != sets[d + i] for i in range(m))
        sets[d : d + m] = [known | old for old in sets[d : d + m]]
        return grew
    return False


def _block(segment: list[int], places: list[int], sets: list[int]) -> None:
    """Products, sums and rotations."""
    op, accumulate, m, k, n = segment[0], segment[3], *segment[4:7]
    d, a, b, _ = places
    if op == AXPY and m == n == 1:
        sets[d] = sets[a] | sets[d] if accumulate else sets[a]
        return
    dr, dc, ar, ac, br, bc = segment[7:]

    def put(row: int, column: int, value: int) -> None:
        word = d + row * dr + column * dc
        sets[word] = sets[word] | value if accumulate else value

    if op in (Op.AXPY, Op.TIMES, Op.GEMM):
        inner = range(k) if op == Op.GEMM else ()
        for row in range(m):
            for column in range(n):
                if op == Op.AXPY:
                    value = sets[a + row * ar + column * ac]
                elif op == Op.TIMES:
                    value = sets[a] | sets[b + row * br + column * bc]
                else:
                    value = _union(sets[a + row * ar + i * ac] for i in inner) | _union(
                        sets[b + i * br + column * bc] for i in inner
                    )
                put(row, column, value)
        return
    shape, read_a, read_b = _GEOMETRY[Op(op)]
    value = _union(sets[a + i * ar] for i in range(read_a))
    value |= _union(sets[b + i * br] for i in range(read_b))
    for row in range(shape[0]):
        for column in range(shape[1]):
            put(row, column, value)


# shape of the result, and the words of the two vectors that it is made from
_GEOMETRY = {
    Op.CROSS: ((3, 1), 3, 3),
    Op.ROTATION: ((3, 3), 4, 0),
    Op.SKEW: ((3, 3), 3, 0),
    Op.QUATERNION_RATE: ((4, 1), 4, 3),
}


def _union(sets: Iterator[int] | list[int]) -> int:
    whole = 0
    for part in sets:
        whole |= part
    return whole


@cache
def _arguments(code: int) -> int:
    return len(signature(list(FUNCTIONS.values())[code].partials).parameters) or 1


def _matrix_words(program: Program, index: int) -> Iterator[int]:
    """Places of the matrix of a schedule in the workspace."""
    for pivot in program.schedules[index].pivots:
        yield from range(pivot.block, pivot.block + pivot.size * pivot.size)
        for coupling in pivot.couplings:
            yield from range(coupling.block, coupling.block + coupling.size * pivot.size)


def members(states: int) -> Iterator[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


def _grouped(rows: NDArray[np.int64], columns: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Each column goes into the first group with which it shares no row."""
    met = [0] * size
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        met[column] |= 1 << row
    taken: list[int] = []
    group = np.zeros(size, dtype=np.int64)
    for column in range(size):
        number = next((g for g, set_ in enumerate(taken) if not set_ & met[column]), len(taken))
        if number == len(taken):
            taken.append(0)
        taken[number] |= met[column]
        group[column] = number
    return group
