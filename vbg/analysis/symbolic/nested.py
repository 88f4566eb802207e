"""Parts of long formulas that have names of their own.

A product of sums written out holds these whole, so that formulas nested ten deep grow by orders
of magnitude while their blocks are ten.  Parts that occur more than once, and long ones, are
therefore written by names, each of which is told once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from vbg.blocks import Block, dependencies

REPEATED = 12  # symbols and constants of a formula that is named where it occurs twice
LONG = 150  # of one that is named wherever it stands
OPERATIONS = ("sum", "mul", "product", "times", "call", "linear_solve", "skew", "stack")


def named_parts(roots: Sequence[Block], taken: Collection[str] = ()) -> dict[Block, str]:
    """Parts of `roots` that are named N1, N2, ..., each after those that it needs; no name is
    `taken`."""
    every = list(dependencies(roots))
    uses = Counter(arg.key for block in every for arg in block.args)
    uses.update(root.key for root in roots)
    above = {arg.key for block in every for arg in block.args}
    lengths: dict[bytes, int] = {}
    found: dict[Block, str] = {}
    number = 0
    for block in every:
        length = 1 + sum(lengths.get(arg.key, 1) for arg in block.args)
        named = length > LONG if block.key in above else False
        named = named or (length > REPEATED and uses[block.key] > 1)
        if named and block.op in OPERATIONS:
            number += 1
            while f"N{number}" in taken:
                number += 1
            found[block] = f"N{number}"
            length = 1
        lengths[block.key] = length
    return found
