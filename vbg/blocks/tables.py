"""Tables as blocks: a row of numbers chosen by a scalar.

Long characteristics are data: a machine looks a row up by halving, where a choice between pieces
that are all computed would cost every one of them at every evaluation.
"""

from __future__ import annotations

import numpy as np

from vbg.blocks.calls import call
from vbg.blocks.node import Block, const, rows, stack


def lookup(x: Block, starts: Block, table: Block) -> Block:
    """The row of `table` (k, n), as a column, that the scalar x is in: the last that begins at or
    before x, the first also before its own begin.  `starts` (k, 1) and `table` are constants.

    It is constant in the derivative, as `positive` is.
    """
    if not x.is_const or np.isnan(x.data[0, 0]):
        return Block("lookup", (x, starts, table), None, table.cols, 1)
    return const(table.data[np.searchsorted(starts.data[1:, 0], x.data[0, 0], side="right")])


def beyond_jump(node: Block) -> Block | None:
    """How far the scalar of a lookup is beyond the nearest place where its row changes; None
    where it never does."""
    x, starts, _ = node.args
    places = starts.data[1:, 0]
    return x - rows(_nearest(x, places, places[:, None]), 0, 1) if len(places) else None


def on_side(node: Block, side: Block) -> Block:
    """A lookup behind the nearest such place where `side` is positive, before it where it is
    negative, itself where it is zero."""
    x, starts, table = node.args
    places = starts.data[1:, 0]
    before, behind = (_nearest(x, places, of) for of in (table.data[:-1], table.data[1:]))
    chosen = [
        call("select", side, b, call("select", -side, a, own))
        for a, b, own in (
            tuple(rows(of, i, i + 1) for of in (before, behind, node)) for i in range(table.cols)
        )
    ]
    return stack(*chosen)


def _nearest(x: Block, places: np.ndarray, table: np.ndarray) -> Block:
    """The row of the place that is nearest to x."""
    middles = np.concatenate([places[:1], 0.5 * (places[1:] + places[:-1])])
    return lookup(x, const(middles), const(table))
