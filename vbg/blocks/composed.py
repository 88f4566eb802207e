"""Products and quotients that are made of other operations."""

from __future__ import annotations

from collections.abc import Sequence

from vbg.blocks.calls import call
from vbg.blocks.node import Block, linear, mul, skew, stack, times, transpose


def cross(a: Block, b: Block) -> Block:
    """a x b of columns of three."""
    return mul(skew(a), b)


def dot(a: Block, b: Block) -> Block:
    """a^T b, 1 x 1."""
    return mul(transpose(a), b)


def norm(a: Block) -> Block:
    """Euclidean length of a column, 1 x 1."""
    return call("sqrt", dot(a, a))


def divide(a: Block, b: Block) -> Block:
    """a / b of scalars."""
    if b.is_const and float(b.data[0, 0]) != 0.0:
        return linear((1.0 / float(b.data[0, 0]), a))
    return times(call("reciprocal", b), a)


def column(parts: Sequence[Block]) -> Block:
    """The parts below one another."""
    return stack(*parts)
