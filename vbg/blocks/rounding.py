"""How large the numbers are from which an expression is computed: what its rounding is a share of.

To first order, what every operation rounds and what its arguments bring add up (running error
analysis, J. Wilkinson). With T the terms and |.| the size (of a column its length):

    T(a + b) = T(a) + T(b)                T(f(a)) = |f'(a)| T(a) + |f(a)|
    T(a b) = T(a) |b| + |a| T(b)          T(a) = |a| of what is given,

so that the value has an error of some eps T: eps 1e7 Pa of a pressure difference of 1e-3 Pa
between two sides of an orifice at 100 bar.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vbg.blocks.calculus import Substitution, dependencies
from vbg.blocks.composed import norm
from vbg.blocks.functions import FUNCTIONS, rate
from vbg.blocks.node import Block, call, const, linear, rows, stack, times
from vbg.blocks.systems import linear_solve


def terms_of(block: Block) -> Block:
    """T of each row of a column, in what the column is written in."""
    return stack(*(_terms(rows(block, i, i + 1)) for i in range(block.rows)))


def _terms(root: Block) -> Block:
    done: dict[bytes, Block] = {}
    for node in dependencies([root]):
        done[node.key] = _of(node, done)
    return done[root.key]


def _of(node: Block, done: Mapping[bytes, Block]) -> Block:
    """T of a node, a scalar, from those of its arguments."""
    below = [done[arg.key] for arg in node.args]
    match node.op:
        case "sum":
            return linear(*((abs(f), T) for f, T in zip(node.data, below, strict=True)))
        case "mul" | "product" | "times":
            sizes = [_size(arg, T) for arg, T in zip(node.args, below, strict=True)]
            return linear(*((1.0, _product(sizes, i, T)) for i, T in enumerate(below)))
        case "call":
            return call("abs", node) + _brought(node, below)
        case "implicit":
            return _size(_of_root(node), const(0.0)) + _size(node, const(0.0))
        case "factor":
            return const(0.0)  # its solutions have sizes
        case "leaf" | "const" | "solve" | "linear_solve" | "lookup":
            return _size(node, const(0.0))
        case "rows" if node.args[0].op == "lookup":  # each entry is given, in a unit of its own
            return _size(node, const(0.0))
        case _:  # rearranged only
            return linear(*((1.0, T) for T in below))


def _brought(node: Block, below: list[Block]) -> Block:
    """What the arguments of a function bring: of one that takes a side, those of this side."""
    if node.data in ("select", "min", "max"):
        return rate(node.data, node.args, below)
    partials = FUNCTIONS[node.data].partials(*node.args)
    brought = [times(call("abs", p), T) for p, T in zip(partials, below, strict=True)]
    return linear(*((1.0, T) for T in brought))


def _of_root(node: Block) -> Block:
    """What the terms of an inner residual change at its root: slope^-1 T."""
    body = node.data
    inside = dict(zip(body.inputs, node.args, strict=True)) | {body.unknown: node}
    outside = Substitution(inside)
    return linear_solve(outside(body.slope), outside(terms_of(body.residual)))


def _size(block: Block, terms: Block) -> Block:
    """Its size, of a matrix a bound by its `terms`."""
    if block.is_const:
        return const(float(np.linalg.norm(block.data)))
    if block.shape == (1, 1):
        return call("abs", block)
    return norm(block) if block.cols == 1 else terms


def _product(sizes: list[Block], place: int, terms: Block) -> Block:
    """`terms` at one place, the sizes of the others."""
    result = terms
    for i, size in enumerate(sizes):
        if i != place:
            result = times(size, result)
    return result
