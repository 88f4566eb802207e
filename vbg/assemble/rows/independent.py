"""An independent set of constraint rows by a sparse orthogonal factorisation of J^T.

The columns of J^T (the rows of J) are eliminated constraint by constraint, in the order of least
degree in which H4 is: all pieces of J^T that contain a constraint are stacked, its columns
are factorised with pivoting (G. Golub, Numer. Math. 7, 1965), and what the reflections
leave below is a piece for the constraints that come later (multifrontal QR: J. Liu,
SIAM J. Sci. Stat. Comput. 7, 1986).  A column of which less than `tolerance` is left depends
on those before it and is passed over (M. Heath, SIAM J. Sci. Stat. Comput. 3, 1982).  The
cost grows with the number of constraints, as that of the elimination of H4.

Dependent rows are combinations of kept ones, J_d = C J_i.  Where |C| is large a dependent row
would have been the better choice: they are exchanged until no entry exceeds LARGEST, so the kept
rows span nearly the largest volume there is (M. Gu, S. Eisenstat, SIAM J. Sci. Comput. 17, 1996).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.elimination import Elimination
from vbg.assemble.rows.scaled import ScaledRows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOLERANCE = 1e-9  # of a row of length 1: what is left of a dependent one
LARGEST = 2.0  # entry of C, beyond which rows are exchanged
NEGLIGIBLE = 1e-11  # entry of C that is rounding
EXCHANGED = 4_000_000  # entries of C up to which rows are exchanged


@dataclass(frozen=True, slots=True)
class Independent:
    """`kept` (m,): an independent set of rows, `dependent` the numbers of the others that are
    not zero; `combinations` (dependent, m): each of these as combination of kept rows, all of
    length 1."""

    kept: Mask
    dependent: NDArray[np.int64]
    combinations: Array

    def null_efforts(self, lengths: Array) -> Array:
        """Columns (m, dependent): efforts on the rows that do nothing, lengths of rows given."""
        found = -self.combinations.T.copy()
        found[self.dependent, np.arange(len(self.dependent))] = 1.0
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        return np.asarray(found * inverse[:, None])


@dataclass(frozen=True, slots=True)
class _Front:
    """What the elimination of constraint `block` leaves: kept and dropped columns by number
    within it, R on the kept, on the dropped and on the columns of the `later` constraints."""

    block: int
    kept: NDArray[np.int64]
    dropped: NDArray[np.int64]
    triangle: Array
    on_dropped: Array
    on_later: Array
    later: tuple[int, ...]


def independent_rows(
    rows: ScaledRows, order: Elimination, tolerance: float = TOLERANCE
) -> Independent:
    """Rows that are independent as far as `tolerance` tells."""
    fronts = _factorised(rows, order, tolerance)
    first, count = rows.first, int(rows.first[-1])
    kept = np.zeros(count, dtype=bool)
    for front in fronts:
        kept[first[front.block] + front.kept] = True
    dependent = np.flatnonzero(~kept & (rows.lengths > 0.0))
    combinations = np.zeros((len(dependent), count))
    if len(dependent):
        _combine(rows, order, fronts, dependent, combinations)
        if combinations.size <= EXCHANGED:
            _exchange(kept, dependent, combinations)
    return Independent(kept, dependent, combinations)


def _factorised(rows: ScaledRows, order: Elimination, tolerance: float) -> list[_Front]:
    """The fronts in the order of elimination."""
    position = {block: step for step, block in enumerate(order.order)}
    waiting: dict[int, list[tuple[tuple[int, ...], Array]]] = {b: [] for b in order.order}
    for columns, matrix in _pieces(rows, position):
        waiting[columns[0]].append((columns, matrix))
    fronts = []
    for block in order.order:
        columns, matrix = _stacked(waiting.pop(block), rows.sizes, position, block)
        front, rest = _eliminated(block, columns, matrix, rows.sizes, tolerance)
        fronts.append(front)
        if front.later and len(rest):
            waiting[front.later[0]].append((front.later, rest))
    return fronts


def _pieces(rows: ScaledRows, position: dict[int, int]) -> list[tuple[tuple[int, ...], Array]]:
    """J^T by stores: the constraints on each, in the order of their elimination, and their
    columns."""
    users: dict[int, list[int]] = {}
    for i, row in enumerate(rows.blocks):
        for z in row:
            users.setdefault(z, []).append(i)
    found = []
    for z, constraints in users.items():
        constraints.sort(key=position.__getitem__)
        matrix = np.hstack([rows.blocks[i][z].T for i in constraints])
        found.append((tuple(constraints), matrix))
    return found


def _stacked(
    pieces: Sequence[tuple[tuple[int, ...], Array]],
    sizes: tuple[int, ...],
    position: dict[int, int],
    block: int,
) -> tuple[tuple[int, ...], Array]:
    """Pieces one below the other on the union of their constraints, `block` first."""
    union = {b for columns, _ in pieces for b in columns} | {block}
    columns = tuple(sorted(union, key=position.__getitem__))
    if len(pieces) == 1 and len(columns) == len(pieces[0][0]):
        return columns, pieces[0][1]
    starts, width = {}, 0
    for b in columns:
        starts[b] = width
        width += sizes[b]
    matrix = np.zeros((sum(len(piece) for _, piece in pieces), width))
    row = 0
    for of_piece, piece in pieces:
        at = 0
        for b in of_piece:
            there = starts[b]
            matrix[row : row + len(piece), there : there + sizes[b]] = piece[:, at : at + sizes[b]]
            at += sizes[b]
        row += len(piece)
    return columns, matrix


def _eliminated(
    block: int, columns: tuple[int, ...], matrix: Array, sizes: tuple[int, ...], tolerance: float
) -> tuple[_Front, Array]:
    """The front of a constraint, and the piece that is left for the later ones."""
    size = sizes[block]
    turned, pivots, rank = _turned(matrix, size, tolerance)
    rest = turned[rank:, size:]
    if len(rest) > rest.shape[1]:
        rest = np.asarray(np.linalg.qr(rest, mode="r"))
    R, later = turned[:rank, :size], turned[:rank, size:]
    front = _Front(
        block, pivots[:rank], pivots[rank:], R[:, :rank], R[:, rank:], later, columns[1:]
    )
    return front, rest


def _turned(matrix: Array, size: int, tolerance: float) -> tuple[Array, NDArray[np.int64], int]:
    """Q^T M such that the first `size` columns, in the order of the pivots, are triangular as
    far as their rank: each pivot is the column of which most is left.  scipy has this, too,
    but takes longer to load than most machines take to start."""
    turned, order = matrix.copy(), np.arange(size)
    for rank in range(min(len(matrix), size)):
        left = np.sqrt((turned[rank:, rank:size] ** 2).sum(axis=0))
        best = rank + int(np.argmax(left))
        if not left[best - rank] > tolerance:
            return turned, order, rank
        if best != rank:
            turned[:, [rank, best]] = turned[:, [best, rank]]
            order[[rank, best]] = order[[best, rank]]
        mirror = turned[rank:, rank].copy()
        length = left[best - rank] if mirror[0] < 0.0 else -left[best - rank]
        mirror[0] -= length
        mirror /= np.linalg.norm(mirror)
        turned[rank:, rank:] -= np.outer(2.0 * mirror, mirror @ turned[rank:, rank:])
        turned[rank, rank], turned[rank + 1 :, rank] = length, 0.0
    return turned, order, min(len(matrix), size)


def _combine(
    rows: ScaledRows, order: Elimination, fronts: Sequence[_Front],
    dependent: NDArray[np.int64], combinations: Array,
) -> None:  # fmt: skip
    """C by substitution back through the fronts: R_ii c = R_id.  Only fronts are visited that
    reach what has been found: loops that are closed locally stay local."""
    place = {int(row): k for k, row in enumerate(dependent)}
    step_of = {front.block: step for step, front in enumerate(fronts)}
    before: dict[int, list[int]] = {front.block: [] for front in fronts}
    for step, front in enumerate(fronts):
        for b in front.later:
            before[b].append(step)
    first = rows.first
    for front in fronts:
        there = [d for d in front.dropped if int(first[front.block] + d) in place]
        if not there:
            continue
        columns = [place[int(first[front.block] + d)] for d in there]
        known = _substituted(fronts, before, step_of[front.block], np.array(there), rows.sizes)
        for b, values in known.items():
            combinations[np.ix_(columns, first[b] + fronts[step_of[b]].kept)] = values.T


def _substituted(
    fronts: Sequence[_Front], before: dict[int, list[int]], start: int,
    dropped: NDArray[np.int64], sizes: tuple[int, ...],
) -> dict[int, Array]:  # fmt: skip
    """Coefficients (kept, dropped) by constraint of the columns `dropped` of a front."""
    root = fronts[start]
    where = [int(np.flatnonzero(root.dropped == d)[0]) for d in dropped]
    known: dict[int, Array] = {}
    waiting, seen = [-start], {start}
    kept_of = {front.block: front.kept for front in (fronts[start],)}
    while waiting:
        step = -heapq.heappop(waiting)
        front = fronts[step]
        if step == start:
            right = front.on_dropped[:, where].copy()
        else:
            right = np.zeros((len(front.kept), len(dropped)))
            at = 0
            for b in front.later:
                block = front.on_later[:, at : at + sizes[b]]
                at += sizes[b]
                if b == root.block:
                    right += block[:, dropped]
                if b in known:
                    right -= block[:, kept_of[b]] @ known[b]
        if len(front.kept) and np.abs(right).max(initial=0.0) > NEGLIGIBLE:
            found = np.asarray(np.linalg.solve(front.triangle, right))
            found[np.abs(found) < NEGLIGIBLE] = 0.0
            known[front.block], kept_of[front.block] = found, front.kept
        if step == start or front.block in known:
            for earlier in before[front.block]:
                if earlier not in seen:
                    seen.add(earlier)
                    heapq.heappush(waiting, -earlier)
    return known


def _exchange(kept: Mask, dependent: NDArray[np.int64], C: Array) -> None:
    """Exchanges rows until no entry of C exceeds LARGEST, all in place."""
    while True:
        d, j = np.unravel_index(int(np.argmax(np.abs(C))), C.shape)
        if abs(C[d, j]) <= LARGEST:
            return
        row = C[d] / -C[d, j]  # the kept row j by the others and the dependent one
        row[j], row[dependent[d]] = 0.0, 1.0 / C[d, j]
        factors = C[:, j].copy()
        factors[d] = 0.0
        C[:, j] = 0.0
        C += np.outer(factors, row)
        C[d] = row
        kept[j], kept[dependent[d]] = False, True
        dependent[d] = j
