"""Order and fill of the block LDL^T factorisation, once per model.

Minimum degree: the unknown with the fewest neighbours goes first, so the
leaves of a tree come first and a tree has no fill at all (D. Baraff,
Linear-time dynamics using Lagrange multipliers, 1996); what loops leave is
filled in between the remaining neighbours.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Elimination:
    """`order[s]` is the unknown eliminated in step s; `later[s]` the unknowns it is
    coupled to then, in order of their own elimination."""

    order: tuple[int, ...]
    later: tuple[tuple[int, ...], ...]


def eliminate(count: int, couplings: Sequence[tuple[int, int]]) -> Elimination:
    """Minimum-degree elimination of the graph on `count` unknowns."""
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for i, j in couplings:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    heap = [(len(n), i) for i, n in enumerate(neighbours)]
    heapq.heapify(heap)
    position = [-1] * count
    order: list[int] = []
    left: list[set[int]] = []
    while heap:
        degree, i = heapq.heappop(heap)
        if position[i] >= 0 or degree != len(neighbours[i]):
            continue  # an entry from before its degree changed
        position[i] = len(order)
        order.append(i)
        around = neighbours[i]
        left.append(around)
        for j in around:
            neighbours[j].discard(i)
            neighbours[j] |= around - {j}
            heapq.heappush(heap, (len(neighbours[j]), j))
    later = tuple(tuple(sorted(around, key=position.__getitem__)) for around in left)
    return Elimination(tuple(order), later)
