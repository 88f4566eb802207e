"""All closed kinematic chains of so many bodies and loops, none twice.

Franke's way: the bodies with three and more pairs, joined by strings of binary
bodies, form a *contracted* graph; there are few of these for a number of
independent loops.  Every chain is one way to string the binary bodies on the
edges of one contracted graph, and two such ways are the same chain exactly
where a symmetry of the contracted graph takes one into the other.

Contracted graphs grow from the one with a single vertex by splitting vertices:
whatever has V vertices becomes one with V - 1 by contracting an edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from vbg.structure.synthesis.canonical import Permutation, canonical, is_least

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Bodies 0 to `bodies` - 1 and the pairs between them, (i, j) with i < j."""

    bodies: int
    pairs: tuple[tuple[int, int], ...]

    @property
    def loops(self) -> int:
        """nu = P - N + 1, the number of independent loops."""
        return len(self.pairs) - self.bodies + 1

    def degrees(self) -> tuple[int, ...]:
        """How many pairs every body has."""
        return tuple(sum(i in pair for pair in self.pairs) for i in range(self.bodies))

    def symmetries(self) -> tuple[tuple[Permutation, Permutation], ...]:
        """Permutations of the bodies that keep the chain, each with that of its pairs."""
        place = {pair: n for n, pair in enumerate(self.pairs)}
        links = [[0] * self.bodies for _ in range(self.bodies)]
        for i, j in self.pairs:
            links[i][j] = links[j][i] = 1
        return tuple(
            (s, tuple(place[min(s[i], s[j]), max(s[i], s[j])] for i, j in self.pairs))
            for s in canonical([0] * self.bodies, links).symmetries
        )


def chains(bodies: int, loops: int, *, shortest: int = 3) -> Iterator[Chain]:
    """Every chain of `bodies` bodies with `loops` independent loops, two pairs or more a body.

    Two bodies have one pair at most, as in an adjacency matrix.  `shortest` leaves out
    chains that are seen at once to have a loop of fewer pairs, though not all of these.
    """
    if loops == 1:
        if bodies >= shortest:
            ring = [sorted((i, (i + 1) % bodies)) for i in range(bodies)]
            yield Chain(bodies, tuple(sorted((i, j) for i, j in ring)))
        return
    for graph in contracted(loops):
        if len(graph) <= bodies:
            yield from _strung(graph, bodies - len(graph), shortest)


def contracted(loops: int) -> tuple[Matrix, ...]:
    """Connected multigraphs, all vertices of degree 3 or more.

    Entry (i, j) is the number of edges between i and j, (i, i) that of loops
    at i; `loops` = E - V + 1, 2 or more.
    """
    layer: list[Matrix] = [((loops,),)]
    found = list(layer)
    while layer:
        grown: dict[tuple[object, ...], Matrix] = {}
        for graph in layer:
            for larger in _split(graph):
                colours = [larger[i][i] for i in range(len(larger))]
                grown.setdefault(canonical(colours, larger).form, larger)
        layer = list(grown.values())
        found += layer
    return tuple(found)


def _split(graph: Matrix) -> Iterator[Matrix]:
    """`graph` with one vertex made two, joined by an edge, both of degree 3 or more."""
    count = len(graph)
    for v in range(count):
        others = [u for u in range(count) if u != v]
        for moved in product(*(range(graph[v][u] + 1) for u in others)):
            own = graph[v][v]
            for kept, across in product(range(own + 1), repeat=2):
                taken = own - kept - across  # loops that go with the new vertex
                if taken < 0:
                    continue
                here = sum(graph[v][u] for u in others) - sum(moved) + 2 * kept + across
                there = sum(moved) + 2 * taken + across
                if here < 2 or there < 2:
                    continue
                rows = [[*row, 0] for row in graph] + [[0] * (count + 1)]
                for u, m in zip(others, moved, strict=True):
                    rows[v][u] = rows[u][v] = graph[v][u] - m
                    rows[count][u] = rows[u][count] = m
                rows[v][v], rows[count][count] = kept, taken
                rows[v][count] = rows[count][v] = across + 1
                yield tuple(tuple(row) for row in rows)


def _strung(graph: Matrix, binaries: int, shortest: int) -> Iterator[Chain]:
    """Every different way to put `binaries` bodies on the edges of `graph`."""
    count = len(graph)
    slots = [(i, j) for i in range(count) for j in range(i, count) if graph[i][j]]
    place = {slot: n for n, slot in enumerate(slots)}
    colours = [graph[i][i] for i in range(count)]
    images = [
        tuple(place[min(s[i], s[j]), max(s[i], s[j])] for i, j in slots)
        for s in canonical(colours, graph).symmetries
    ]
    least = [shortest - 1 if i == j else 0 for i, j in slots]
    room = [graph[i][j] for i, j in slots]
    for lengths in _shared(binaries, room, least, shortest):
        if is_least(lengths, images):
            yield _chain(count, slots, lengths)


def _shared(
    total: int, room: list[int], least: list[int], shortest: int
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """A rising tuple of string lengths for every slot, `total` bodies together."""
    if not room:
        if total == 0:
            yield ()
        return
    for lengths in _rising(room[0], least[0], total):
        if not least[0] and len(lengths) > 1 and sum(lengths[:2]) + 2 < shortest:
            continue  # the two shortest strings side by side close a loop
        for rest in _shared(total - sum(lengths), room[1:], least[1:], shortest):
            yield (lengths, *rest)


def _rising(count: int, least: int, most: int) -> Iterator[tuple[int, ...]]:
    """Tuples of `count` numbers from `least` on that do not fall, at most `most` together."""
    if count == 0:
        yield ()
        return
    for first in range(least, most // count + 1):
        for rest in _rising(count - 1, first, most - first):
            yield (first, *rest)


def _chain(count: int, slots: list[tuple[int, int]], lengths: tuple[tuple[int, ...], ...]) -> Chain:
    pairs: list[tuple[int, int]] = []
    body = count
    for (i, j), strings in zip(slots, lengths, strict=True):
        for length in strings:
            row = [i, *range(body, body + length), j]
            body += length
            pairs += [(min(a, b), max(a, b)) for a, b in pairwise(row)]
    return Chain(body, tuple(sorted(pairs)))
