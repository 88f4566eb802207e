"""The pebble game: which equation is independent of those already there.

Every body and the frame hold B pebbles.  A new equation between bodies u and v
is independent if B + 1 pebbles can be gathered on the two; it then takes one.
In the end B pebbles are left if the whole is determined.  The rule counts by
Tay's condition; the game is that of Lee and Streinu ("Pebble game algorithms
and sparse graphs", 2008), used for mechanisms by Sljoka, Shai and Whiteley
(2011, reference 37 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vbg.structure.count.flow import Flow, Network
from vbg.structure.topology.topology import Topology


@dataclass(slots=True)
class Pebbles:
    """A position of the game, private to one search.

    `free[v]` : pebbles on body v; `covers[v][u]` : equations with u that a
    pebble of v covers, so that v depends on u.
    """

    dimension: int
    free: list[int]
    covers: list[dict[int, int]]

    def copy(self) -> Pebbles:
        """The same position, to be played on independently."""
        return Pebbles(self.dimension, self.free[:], [dict(row) for row in self.covers])

    @property
    def missing(self) -> int:
        """Equations still missing for all bodies to be determined."""
        return sum(self.free) - self.dimension

    def add(self, u: int, v: int) -> bool:
        """Cover one more equation between u and v; False if it depends on the others."""
        for body, other in ((u, v), (v, u)):
            while self.free[u] + self.free[v] <= self.dimension and self._fetch(body, other):
                pass
        if self.free[u] + self.free[v] <= self.dimension:
            return False
        body, other = (u, v) if self.free[u] else (v, u)
        self.free[body] -= 1
        self.covers[body][other] = self.covers[body].get(other, 0) + 1
        return True

    def _fetch(self, body: int, hold: int) -> bool:
        """Move a pebble to `body` from anywhere but `hold`, turning a path round."""
        came = {body: body, hold: hold}
        front = [body]
        for w in front:
            for u in self.covers[w]:
                if u in came:
                    continue
                came[u] = w
                if self.free[u]:
                    self._turn(u, came)
                    return True
                front.append(u)
        return False

    def _turn(self, giver: int, came: dict[int, int]) -> None:
        self.free[giver] -= 1
        while came[giver] != giver:
            taker = came[giver]
            left = self.covers[taker].pop(giver) - 1
            if left:
                self.covers[taker][giver] = left
            self.covers[giver][taker] = self.covers[giver].get(taker, 0) + 1
            giver = taker
        self.free[giver] += 1


def untouched(topology: Topology) -> Pebbles:
    """The position before any equation."""
    count = len(topology.bodies)
    return Pebbles(topology.dimension, [topology.dimension] * count, [{} for _ in range(count)])


def play(pebbles: Pebbles, topology: Topology, equations: Iterable[int]) -> list[int]:
    """Add `equations[i]` equations of each pair; how many of them depend on others."""
    dependent = []
    for pair, count in zip(topology.pairs, equations, strict=True):
        added = sum(pebbles.add(pair.ends[0], pair.ends[-1]) for _ in range(count))
        dependent.append(count - added)
    return dependent


def position_of(topology: Topology, net: Network, flow: Flow) -> Pebbles:
    """The position that a flow has reached, of a mechanism without self-constrained parts."""
    pebbles = untouched(topology)
    pebbles.free[1:] = flow.deficit.tolist()
    used = np.flatnonzero(flow.amount)
    rows = zip(net.arc_pair[used].tolist(), net.arc_body[used].tolist(), flow.amount[used].tolist())
    for index, owner, amount in rows:
        body, ends = owner + 1, topology.pairs[index].ends
        other = ends[0] if ends[-1] == body else ends[-1]
        covers = pebbles.covers[body]
        covers[other] = covers.get(other, 0) + amount
    return pebbles


def drives_that_fix(topology: Topology, pebbles: Pebbles) -> list[int]:
    """Freedoms of each pair to drive besides the driven ones, until nothing is missing."""
    driven = [0] * len(topology.pairs)
    missing = pebbles.missing
    for index, pair in enumerate(topology.pairs):
        while missing and driven[index] < pair.grade - pair.driven:
            if not pebbles.add(pair.ends[0], pair.ends[-1]):
                break
            driven[index] += 1
            missing -= 1
    return driven
