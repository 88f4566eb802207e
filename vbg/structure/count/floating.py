"""Parts that over-constrain themselves: too many equations among bodies off the frame.

m bodies that do not hang on the frame have only B (m - 1) relative freedoms.
With more equations among them they are over-constrained, though the count of
the whole may be right.  The flow alone does not see it, for it lets the
surplus fix where the part floats.

For bodies joined by generic equations the complete condition is Tay's ("Rigidity of
multi-graphs I", 1984): B arc-disjoint ways from the frame to every body, along
the arcs that the flow orients.  A body with B ways is as good as the frame and
is absorbed by it, so that almost every search ends after a few steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vbg.structure.count.flow import Flow, Network
from vbg.structure.topology.topology import Topology


@dataclass(slots=True)
class _Search:
    """Private to one run: arcs between bodies not yet absorbed, and ways from the frame.

    `into[v][u]`, `out[u][v]` : number of arcs u -> v; `root[v]` : arcs to v
    from the frame and all that it has absorbed, plus unknowns of v that no
    equation fills, which constrain nobody.
    """

    into: list[dict[int, int]]
    out: list[dict[int, int]]
    root: list[int]
    absorbed: list[bool]
    touched: list[int] = field(default_factory=list)


def self_constrained(
    topology: Topology, net: Network, flow: Flow, order: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], int], ...]:
    """(bodies, surplus equations) of every part that over-constrains itself.

    `order` lists the bodies by mutual dependence, what depends on nothing
    first: the searches then stay inside one such part.
    """
    search = _oriented(topology, net, flow)
    need = topology.dimension
    start = [v for v, ways in enumerate(search.root) if ways >= need]
    _absorb(search, start, need)
    found = []
    for part in order:
        search.touched = sorted(part, key=search.root.__getitem__)
        inside = set(part)
        while (body := _next(search, inside)) is not None:
            ways, side = _ways(search, body, need)
            if ways < need:
                found.append((tuple(sorted(side)), need - ways))
                _absorb(search, sorted(side), need)
            else:
                _absorb(search, [body], need)
    return tuple(found)


def _oriented(topology: Topology, net: Network, flow: Flow) -> _Search:
    count = len(topology.bodies)
    into: list[dict[int, int]] = [{} for _ in range(count)]
    out: list[dict[int, int]] = [{} for _ in range(count)]
    root = [0, *flow.deficit.tolist()]
    used = np.flatnonzero(flow.amount)
    rows = zip(net.arc_pair[used].tolist(), net.arc_body[used].tolist(), flow.amount[used].tolist())
    for index, owner, amount in rows:
        body, ends = owner + 1, topology.pairs[index].ends
        other = ends[0] if ends[-1] == body else ends[-1]
        if len(ends) > 2 or other == 0:
            # A coupling of several bodies is taken as tied to the frame: no false alarm.
            root[body] += amount
        else:
            into[body][other] = into[body].get(other, 0) + amount
            out[other][body] = out[other].get(body, 0) + amount
    return _Search(into, out, root, [True] + [False] * (count - 1))


def _absorb(search: _Search, start: list[int], need: int) -> None:
    """Take `start` into the frame, and every body that then has its ways directly."""
    front = list(start)
    while front:
        body = front.pop()
        if search.absorbed[body]:
            continue
        search.absorbed[body] = True
        for u in search.into[body]:
            search.out[u].pop(body, None)
        for w, arcs in search.out[body].items():
            search.into[w].pop(body, None)
            search.root[w] += arcs
            if search.root[w] >= need:
                front.append(w)
            else:
                search.touched.append(w)


def _next(search: _Search, inside: set[int]) -> int | None:
    """A body of `inside` not absorbed yet, next to what was absorbed last."""
    while search.touched:
        body = search.touched.pop()
        if body in inside and not search.absorbed[body]:
            return body
    return None


def _ways(search: _Search, target: int, need: int) -> tuple[int, set[int]]:
    """Number of arc-disjoint ways to `target`, `need` at most, and its side of the cut."""
    net_flow: defaultdict[tuple[int, int], int] = defaultdict(int)
    used: defaultdict[int, int] = defaultdict(int)
    ways = 0
    while True:
        onward = {target: target}
        front = [target]
        entry = -1
        for w in front:
            if search.root[w] > used[w]:
                entry = w
                break
            near = {**search.into[w], **dict.fromkeys(search.out[w], 0)}
            for u in near:
                arcs = search.into[w].get(u, 0)
                if u not in onward and arcs > net_flow[u, w]:
                    onward[u] = w
                    front.append(u)
        if entry < 0:
            return ways, set(onward)
        used[entry] += 1
        while entry != target:
            following = onward[entry]
            net_flow[entry, following] += 1
            net_flow[following, entry] -= 1
            entry = following
        ways += 1
        if ways == need:
            return ways, set()
