"""The obvious reader of a Program: numpy, one operation after the other.

It is the oracle for the compiled machine and takes complex workspaces too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import all_rows
from vbg.assemble.program.program import Op, Program
from vbg.blocks.functions import FUNCTIONS

ITERATIONS = 300
ROUNDED = 4.0 * 2.0**-52  # of its terms: a residual that is rounding
TINY = 1e-300  # scale of what is nothing
_FUNCTIONS = list(FUNCTIONS.values())


def evaluate(program: Program, workspace: NDArray, kept: NDArray | None = None) -> NDArray:
    """Runs the tape on `workspace` (filled inputs, modified in place); `kept`: as of an
    Evaluator."""
    kept = all_rows(program) if kept is None else kept
    least: dict[int, tuple[float, bool]] = {}
    at = -1
    while at + 1 < len(program.segments):
        at += 1
        segment = program.segments[at]
        op, count, first, accumulate, m, k, n, *strides = (int(word) for word in segment)
        for i in range(first, first + count):
            operands = [int(word) for word in program.operands[i]]
            factor = program.factors[i]
            if op == Op.FACTOR:
                least[m] = factor, bool(k)
            elif op == Op.SOLVE:
                _solve(program, m, operands, workspace, kept, *least[m], solved=bool(k))
            elif op == Op.COPY:
                d, a = operands[:2]
                workspace[d : d + m] = workspace[a : a + m]
            elif op == Op.CALL:
                _call(m, operands, workspace)
            elif op == Op.LOOKUP:
                _lookup(m, n, operands, workspace)
            elif op == Op.LINEAR_SOLVE:
                d, a = operands[:2]
                right = workspace[d : d + m * n].reshape(m, n)
                matrix = workspace[a : a + m * m].reshape(m, m)
                found = np.linalg.solve(matrix, right)
                found += np.linalg.solve(matrix, right - matrix @ found)
                workspace[d : d + m * n] = found.ravel()
            elif op == Op.NEWTON:
                workspace[operands[1] : operands[1] + 4] = 0.0
            elif op == Op.NEWTON_STEP:
                if _newton_step(operands, m, workspace):
                    at = k - 1
            else:
                _block(Op(op), accumulate, (m, k, n), strides, operands, factor, workspace)
    return workspace


def _newton_step(operands: list[int], m: int, work: NDArray) -> bool:
    """A step, or half of the last one where the slope behind it finds the root no nearer than from
    there (natural monotonicity); whether to go on.

    The oracle ends later than the machine: where no step changes y by more than 1e-14 of it.
    """
    y, residual, slope, record = operands
    before, last, terms = (work[at : at + m] for at in range(record + 4, record + 4 + 3 * m, m))
    kept = work[record + 4 + 4 * m : record + 4 + 4 * m + m * m].reshape(m, m)
    left = work[residual : residual + m]
    sizes = np.where(np.isfinite(terms.real), terms.real, 0.0)
    rounded = bool((np.abs(left.real) <= ROUNDED * sizes).all())
    work[record] += 1.0
    first, share, length = work[record].real == 1.0, work[record + 1].real, 1.0

    def measured(step: NDArray) -> float:
        scale = np.maximum(np.maximum(np.abs(before.real), np.abs(last.real)), TINY)
        return float(np.linalg.norm(step.real / scale))

    if not first and not rounded and share > 1e-12:
        length, ahead = measured(last), measured(_step(kept, left))
        if not ahead <= (1.0 - 0.25 * share) * length:
            work[record + 1] = 0.5 * share
            work[y : y + m] = before - 0.5 * share * last
            return work[record].real < ITERATIONS
    before[:] = work[y : y + m]
    kept[:] = work[slope : slope + m * m].reshape(m, m)
    last[:] = _step(kept, left)
    longest, now = 4.0 * share * length, measured(last)
    work[record + 1] = longest / now if not first and not rounded and longest < now else 1.0
    work[y : y + m] = before - work[record + 1] * last
    still = bool((np.abs(last.real) <= 1e-14 * np.abs(before.real)).all())
    return not still and not rounded and work[record].real < ITERATIONS


def _step(slope: NDArray, residual: NDArray) -> NDArray:
    """J^-1 F; infinite where the residual has no value."""
    if not np.isfinite(residual).all():
        return np.full(len(residual), np.inf)
    return np.linalg.solve(slope, residual)


def _view(work: NDArray, offset: int, shape: tuple[int, int], row: int, col: int) -> NDArray:
    size = work.itemsize
    return np.lib.stride_tricks.as_strided(work[offset:], shape, (row * size, col * size))


def _block(
    op: Op,
    accumulate: int,
    shape: tuple[int, int, int],
    strides: list[int],
    operands: list[int],
    factor: float,
    work: NDArray,
) -> None:
    m, k, n = shape
    d_row, d_col, a_row, a_col, b_row, b_col = strides
    d, a, b, _ = operands
    if op == Op.GEMM:
        left = _view(work, a, (m, k), a_row, a_col)
        value = factor * (left @ _view(work, b, (k, n), b_row, b_col))
    elif op == Op.AXPY:
        value = factor * _view(work, a, (m, n), a_row, a_col)
    elif op == Op.TIMES:
        value = factor * work[a] * _view(work, b, (m, n), b_row, b_col)
    elif op == Op.CROSS:
        left = _view(work, a, (3, 1), a_row, 0)[:, 0]
        value = factor * np.cross(left, _view(work, b, (3, 1), b_row, 0)[:, 0])[:, None]
    elif op == Op.ROTATION:
        value = _rotation(_view(work, a, (4, 1), a_row, 0)[:, 0])
    elif op == Op.SKEW:
        x, y, z = _view(work, a, (3, 1), a_row, 0)[:, 0]
        value = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    else:
        value = _quaternion_rate(
            _view(work, a, (4, 1), a_row, 0)[:, 0], _view(work, b, (3, 1), b_row, 0)[:, 0]
        )
    target = _view(work, d, value.shape, d_row, d_col)
    target[...] = target + value if accumulate else value


def _lookup(m: int, n: int, operands: list[int], work: NDArray) -> None:
    d, a, starts, table = operands
    x = work[a]
    row = np.count_nonzero(work[starts + 1 : starts + m].real <= x.real)
    work[d : d + n] = x if np.isnan(x) else work[table + row * n : table + (row + 1) * n]


def _rotation(q: NDArray) -> NDArray:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion_rate(q: NDArray, w_B: NDArray) -> NDArray:
    vector = q[0] * w_B + np.cross(q[1:], w_B)
    return 0.5 * np.concatenate([[-(q[1:] @ w_B)], vector])[:, None]


def _call(code: int, operands: list[int], work: NDArray) -> None:
    from inspect import signature

    function = _FUNCTIONS[code]
    count = len(signature(function.partials).parameters)
    args = [work[at] for at in operands[1 : 1 + count]] if count else [work[operands[1]]]
    work[operands[0]] = function.numpy(*args)


def _matrix(program: Program, index: int, work: NDArray) -> NDArray:
    """The whole matrix from its stored blocks."""
    schedule = program.schedules[index]
    whole = np.zeros((schedule.unknowns, schedule.unknowns), dtype=work.dtype)
    for p in schedule.pivots:
        span = slice(p.first, p.first + p.size)
        whole[span, span] = work[p.block : p.block + p.size * p.size].reshape(p.size, p.size)
        for c in p.couplings:
            block = work[c.block : c.block + c.size * p.size].reshape(c.size, p.size)
            whole[c.first : c.first + c.size, span] = block
            whole[span, c.first : c.first + c.size] = block.T
    return whole


def _solve(
    program: Program,
    index: int,
    operands: list[int],
    work: NDArray,
    kept: NDArray,
    least: float,
    comes: bool,
    solved: bool,
) -> None:
    """The kept rows by elimination in the fixed order, or as they are given; the smallest solution
    if wanted."""
    d, b, wanted = operands[:3]
    matrix = _matrix(program, index, work)
    rhs = np.array(work[b : b + len(matrix)])
    schedule = program.schedules[index]
    order = [i for i in schedule.scalar_order() if kept[i]]
    x = rhs if solved else _eliminated(matrix, rhs, order, least, comes)
    if wanted and len(order) < len(matrix):
        weights = np.diag(matrix).copy()
        for first, size in schedule.vectors:
            weights[first : first + size] = weights[first : first + size].mean()
        weights[weights.real <= 0.0] = 1.0
        others = [i for i in range(len(matrix)) if not kept[i]]
        N = np.stack(
            [_eliminated(matrix, -matrix[:, i], order, least, comes) for i in others], axis=1
        )
        N[others, np.arange(len(others))] = 1.0
        x = x - N @ np.linalg.solve((N.T * weights) @ N, N.T @ (weights * x))
    work[d : d + len(matrix)] = x


def _eliminated(
    matrix: NDArray, rhs: NDArray, order: list[int], least: float, comes: bool
) -> NDArray:
    """LDL^T solution for the rows in `order`; a row whose pivot is lost in rounding gets the
    solution zero, as all others do, if it `comes`, else the least pivot."""
    solution = np.zeros_like(rhs)
    matrix, x = matrix[np.ix_(order, order)].copy(), rhs[order].copy()
    before, count = np.real(np.diag(matrix)).copy(), len(order)
    lower, pivots = np.eye(count, dtype=matrix.dtype), np.zeros(count, dtype=matrix.dtype)
    for i in range(count):
        if abs(np.real(matrix[i, i])) <= least * abs(before[i]):
            if comes or before[i] == 0.0:
                continue
            matrix[i, i] = least * abs(before[i])
        pivots[i] = 1.0 / matrix[i, i]
        lower[i + 1 :, i] = matrix[i + 1 :, i] * pivots[i]
        matrix[i + 1 :, i + 1 :] -= np.outer(lower[i + 1 :, i], matrix[i, i + 1 :])
    for i in range(count):
        x[i + 1 :] -= lower[i + 1 :, i] * x[i]
    x *= pivots
    for i in reversed(range(count)):
        x[i] -= lower[i + 1 :, i] @ x[i + 1 :]
    solution[order] = x
    return solution
