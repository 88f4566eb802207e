"""Nodes for rates of quaternions and for scalar functions."""

from __future__ import annotations

import numpy as np

from vbg.blocks.node import Block, const, is_zero, zeros
from vbg.blocks.scalars import SCALARS


def quaternion_rate(quaternion: Block, w_WB_B: Block) -> Block:
    """1/2 quat o (0, w_B): rate of quat_WB (4 x 1)."""
    if is_zero(w_WB_B):
        return zeros(4)
    return Block("quaternion_rate", (quaternion, w_WB_B), None, 4, 1)


def call(name: str, *args: Block) -> Block:
    """A scalar function of scalars by name, folded where all are constant."""
    function = SCALARS[name]
    if all(arg.is_const for arg in args):
        with np.errstate(all="ignore"):
            value = float(function(*(float(arg.data[0, 0]) for arg in args)))
        if np.isfinite(value):
            return const(value)
    return Block("call", tuple(args), name, 1, 1)


def whole(block: Block) -> Block:
    """The same, computed by itself: a sum that it is a term of does not take it apart, so that
    what is small beside its terms can be added to it."""
    if block.op in ("const", "leaf"):
        return block
    return Block("whole", (block,), (0,), block.rows, block.cols)
