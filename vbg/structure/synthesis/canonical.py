"""Canonical forms and symmetries of small coloured graphs.

Two graphs are isomorphic if and only if their canonical forms are equal: the
vertices are put in an order by colour refinement, a tie is broken by taking
each of the tied vertices first, and of all orders so found the one with the
least matrix counts.  The orders that give this matrix differ by the symmetries
of the graph.  (The search tree of McKay, "Practical graph isomorphism", 1981,
without its pruning: mechanisms have a dozen bodies.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Canonical:
    """`form`, equal for isomorphic graphs, and the `symmetries` of this one.

    A symmetry s takes vertex i to s[i]; the identity is among them.
    """

    form: tuple[Any, ...]
    symmetries: tuple[Permutation, ...]


def canonical(colours: Sequence[Any], links: Sequence[Sequence[Any]]) -> Canonical:
    """The canonical form of a graph.

    `colours[i]` of vertex i, `links[i][j]` = `links[j][i]` what joins i and j
    (0 for nothing): values that can be ordered, the same kind in graphs that
    are to be compared.
    """
    best: tuple[Any, ...] | None = None
    orders: list[Permutation] = []
    ranks = sorted(set(colours))
    for order in _orders([ranks.index(colour) for colour in colours], links):
        form = tuple(links[i][j] for n, i in enumerate(order) for j in order[: n + 1])
        if best is None or form < best:
            best, orders = form, [order]
        elif form == best:
            orders.append(order)
    first = orders[0] if orders else ()
    symmetries = []
    for order in orders:
        image = dict(zip(first, order, strict=True))
        symmetries.append(tuple(image[i] for i in range(len(colours))))
    return Canonical((tuple(colours[i] for i in first), best or ()), tuple(symmetries))


def _orders(ranks: list[int], links: Sequence[Sequence[Any]]) -> Iterator[Permutation]:
    """All orders of the vertices that refinement and the breaking of ties lead to."""
    ranks = _refined(ranks, links)
    cells: dict[int, list[int]] = {}
    for vertex, rank in enumerate(ranks):
        cells.setdefault(rank, []).append(vertex)
    tied = next((cells[rank] for rank in sorted(cells) if len(cells[rank]) > 1), None)
    if tied is None:
        yield tuple(sorted(range(len(ranks)), key=ranks.__getitem__))
        return
    for vertex in tied:
        broken = [2 * rank + 1 for rank in ranks]
        broken[vertex] -= 1
        yield from _orders(broken, links)


def _refined(ranks: list[int], links: Sequence[Sequence[Any]]) -> list[int]:
    """Ranks that tell vertices apart by what they are joined to, as far as that goes."""
    count = len(set(ranks))
    while True:
        told = [(rank, sorted(zip(row, ranks, strict=True))) for rank, row in zip(ranks, links)]
        different: list[Any] = []
        for value in sorted(told):
            if not different or different[-1] != value:
                different.append(value)
        ranks = [different.index(value) for value in told]
        if len(different) == count:
            return ranks
        count = len(different)


def is_least(labels: Sequence[Any], images: Sequence[Permutation]) -> bool:
    """Whether no symmetry makes `labels` smaller: true of one labelling of every orbit.

    `images[k][i]` is the place that symmetry k takes place i to.
    """
    own = tuple(labels)
    return all(tuple(own[i] for i in image) >= own for image in images)


def stabiliser(labels: Sequence[Any], images: Sequence[Permutation]) -> tuple[int, ...]:
    """The numbers of the symmetries that leave `labels` as they are."""
    own = tuple(labels)
    return tuple(k for k, image in enumerate(images) if tuple(own[i] for i in image) == own)
