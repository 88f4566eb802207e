"""How long the equations in symbols would be, told before a symbol is made.

The blocks share what they have in common, their formulas do not: a product of two sums written
out holds both whole, so their length grows with every level of nesting, of a chain of twelve
matrix products by orders of magnitude while its blocks are twelve.  Counted is therefore the
symbols and numbers of every entry,

    a + b:  |a| + |b|        (A B)_ij:  sum of |a_ik| + |b_kj| where neither is zero

which is what the reader of `vbg.assemble.matrices.symbolic` writes before terms cancel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.blocks import Block, dependencies
from vbg.errors import VbgError

LENGTH = 300_000  # symbols and numbers of equations still written out: some megabyte, 10 s

Lengths = NDArray[np.float64]


def require_length(system: System) -> None:
    """Raises VbgError where the equations of motion would be too long: few blocks nested deep, as
    the laws of beams and bushings are, make long formulas."""
    e = system.equations
    rates = [
        e.rates[s.state.leaf]
        for s in system.slices
        if s.state.kind not in ("quadrature", "discrete")
    ]
    symbols = {e.efforts.key, *(c.unknown.key for c in e.constraints)}
    length = written_length([*rates, e.residual], symbols)
    if length > LENGTH:
        raise too_long(system, length)


ELSE = (
    "Ask for a smaller model, or use `vbg show graph` and `vbg show matrices`, which has numbers."
)


class TooLong(VbgError):
    """Equations that nobody could read."""


def too_long(system: System, length: float, remedy: str = ELSE) -> TooLong:
    """The error of equations that would be `length` symbols and numbers long."""
    return TooLong(
        f"the equations of {system.model.name} would be about {length:.1g} symbols and "
        f"numbers long, as their blocks are nested; up to {LENGTH} are written out. {remedy}"
    )


def written_length(roots: Iterable[Block], symbols: Collection[bytes] = ()) -> float:
    """Symbols and numbers of `roots` written out [1]; blocks whose keys are among `symbols`
    stay symbols.  Infinite beyond what a float holds."""
    roots = list(roots)
    lengths: dict[bytes, Lengths] = {}
    for block in dependencies(roots, symbols):
        args = [_of(arg, lengths) for arg in block.args]
        lengths[block.key] = _length(block, args)
    return float(sum(_of(root, lengths).sum() for root in roots))


def _of(block: Block, lengths: dict[bytes, Lengths]) -> Lengths:
    found = lengths.get(block.key)
    return np.ones((block.rows, block.cols)) if found is None else found


def _length(block: Block, args: list[Lengths]) -> Lengths:
    """Of every entry; zero where the entry vanishes."""
    match block.op:
        case "const":
            return np.asarray(block.data != 0.0, dtype=float)
        case _ if not args:
            return np.ones((block.rows, block.cols))
        case "sum":
            return np.asarray(sum(args[1:], args[0]))
        case "mul" | "product":
            result = args[-1]
            for factor in reversed(args[:-1]):
                result = _product(factor, result)
            return result
        case "times":
            return np.where((args[0] > 0.0) & (args[1] > 0.0), args[0] + args[1], 0.0)
        case "transpose":
            return args[0].T
        case "stack":
            return np.vstack(args)
        case "rows":
            return args[0][block.data[0] : block.data[1], :]
        case "skew":
            x, y, z = args[0].ravel()
            return np.array([[0.0, z, y], [z, 0.0, x], [y, x, 0.0]])
        case "lookup":  # every row with its condition, in every entry
            return np.full((block.rows, 1), len(args[1]) * (2.0 + float(args[0].sum())))
        case "linear_solve":
            return _solved(args[0], args[1])
        case "rotation" if block.args[0].op == "leaf":
            return np.ones((3, 3))  # symbols, defined once
        case _:  # all arguments in every entry: functions, rotations, rates of quaternions
            return np.full((block.rows, block.cols), sum(float(a.sum()) for a in args))


def _product(a: Lengths, b: Lengths) -> Lengths:
    both = (a[:, :, None] > 0.0) & (b[None, :, :] > 0.0)
    return np.asarray(np.where(both, a[:, :, None] + b[None, :, :], 0.0).sum(axis=1))


def _solved(matrix: Lengths, right: Lengths) -> Lengths:
    """x of A x = b by elimination, as sympy's LUsolve writes it."""
    n = len(matrix)
    work: Any = np.hstack([matrix, right])
    for k in range(n):
        pivot = next((i for i in range(k, n) if work[i, k] > 0.0), k)
        work[[k, pivot]] = work[[pivot, k]]
        for i in range(k + 1, n):
            if work[i, k] > 0.0:
                row = np.where(work[k] > 0.0, work[i, k] + work[k, k] + work[k], 0.0)
                work[i] += row
                work[i, k] = 0.0
    x = np.zeros_like(right)
    for k in reversed(range(n)):
        rest = work[k, n:] + _product(work[k : k + 1, k + 1 : n], x[k + 1 :])[0]
        x[k] = np.where(rest > 0.0, rest + work[k, k], 0.0)
    return x
