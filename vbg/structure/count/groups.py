"""Simple structural groups: the strongly connected parts of who-depends-on-whom.

Where the flow sends an equation of a pair to body o, o depends on the other
bodies of that pair (not on the frame).  Bodies that depend on each other form
a simple structural group, for any saturating flow gives the same parts (the
fine partition of Dulmage and Mendelsohn).  The paper finds the same groups by
trying chains of growing length, in exponential time.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbg.structure.count.flow import Flow, Network
from vbg.structure.topology.pairs import ORDER, PLANAR
from vbg.structure.topology.topology import Pair, Topology


@dataclass(frozen=True, slots=True)
class Group:
    """One simple structural group; bodies and pairs by index in the topology.

    `external` pairs join it to the frame or to groups solved before,
    `internal` ones its own bodies; through `handed` it gives freedoms to
    groups solved later.  `driven` is n_c of its active pairs, `level` 1 for
    the groups that need the frame only.
    """

    number: int
    bodies: tuple[int, ...]
    type_name: str
    driven: int
    level: int
    external: tuple[int, ...]
    internal: tuple[int, ...]
    handed: tuple[int, ...]
    needs: tuple[int, ...]


def dependencies(topology: Topology, net: Network, flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """(k,), (k,) bodies that depend and bodies depended on, without the frame."""
    fed = flow.amount > 0
    count = len(topology.pairs)
    first = np.fromiter((pair.ends[0] - 1 for pair in topology.pairs), np.int64, count)
    last = np.fromiter((pair.ends[-1] - 1 for pair in topology.pairs), np.int64, count)
    owner, pair = net.arc_body[fed], net.arc_pair[fed]
    many = [i for i, p in enumerate(topology.pairs) if len(p.ends) > 2]
    owners, others = [owner, owner], [first[pair], last[pair]]
    for i in many:
        for body in owner[pair == i]:
            middle = np.array(topology.pairs[i].ends[1:-1], dtype=np.int64) - 1
            owners.append(np.full(len(middle), body))
            others.append(middle)
    depends, on = np.concatenate(owners), np.concatenate(others)
    keep = (on >= 0) & (depends != on)
    return depends[keep], on[keep]


def strong_parts(count: int, depends: np.ndarray, on: np.ndarray) -> np.ndarray:
    """(count,) the number of the strongly connected part of each body."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    graph = csr_matrix((np.ones(len(on), np.int8), (on, depends)), shape=(count, count))
    return connected_components(graph, directed=True, connection="strong")[1]


@dataclass(frozen=True, slots=True)
class Parts:
    """Bodies that depend on each other, in the paper's order of solution.

    `bodies` : bodies of each part; `needs` : the parts, by place in `bodies`,
    that must be solved before.
    """

    bodies: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]


def dependent_parts(
    topology: Topology, net: Network, flow: Flow, *, as_printed: bool = False
) -> Parts:
    """The strongly connected parts in the order of the paper's Algorithm 3.

    All parts of one body that are ready, by body number; when there is none,
    the smallest ready chain, then the first by body numbers; and again.  As the
    paper's tables are printed, a single body that received its freedoms at
    different times comes behind the chains of two: INDIVIDUALS_SG_3D marks all
    its pairs as counted when it first looks at it.
    """
    depends, on = dependencies(topology, net, flow)
    part = strong_parts(len(net.demand), depends, on)
    members: list[list[int]] = [[] for _ in range(int(part.max(initial=-1)) + 1)]
    for body, p in enumerate(part.tolist()):
        members[p].append(body + 1)
    between = part[depends] != part[on]
    edges = np.unique(np.stack([part[depends][between], part[on][between]], axis=1), axis=0)
    needs: list[list[int]] = [[] for _ in members]
    for later, earlier in edges.tolist():
        needs[later].append(earlier)
    late = _received_in_turn(topology, members, needs) if as_printed else set()
    order = _order(members, needs, late)
    place = {p: i for i, p in enumerate(order)}
    bodies = tuple(tuple(members[p]) for p in order)
    return Parts(bodies, tuple(tuple(sorted(place[q] for q in needs[p])) for p in order))


def _received_in_turn(
    topology: Topology, members: list[list[int]], needs: list[list[int]]
) -> set[int]:
    """Parts of one body that receive freedoms from several parts, the frame among them."""
    at_frame = {body for pair in topology.pairs if 0 in pair.ends for body in pair.ends}
    return {
        part
        for part, bodies in enumerate(members)
        if len(bodies) == 1 and len(needs[part]) + (bodies[0] in at_frame) > 1
    }


def _order(members: list[list[int]], needs: list[list[int]], late: set[int]) -> list[int]:
    """Parts in the order in which Algorithm 3 of the paper finds them; `late` ones, single
    bodies, behind chains of two."""
    feeds: list[list[int]] = [[] for _ in members]
    waiting = [len(n) for n in needs]
    for later, earlier in enumerate(needs):
        for part in earlier:
            feeds[part].append(later)
    last = 1 + max((body for bodies in members for body in bodies), default=0)
    singles: list[tuple[int, int]] = []
    chains: list[tuple[int, list[int], int]] = []

    def ready(part: int) -> None:
        if part in late:
            heapq.heappush(chains, (2, [last, *members[part]], part))
        elif len(members[part]) == 1:
            singles.append((members[part][0], part))
        else:
            heapq.heappush(chains, (len(members[part]), members[part], part))

    for part, n in enumerate(waiting):
        if n == 0:
            ready(part)
    order: list[int] = []
    while singles or chains:
        found = [part for _, part in sorted(singles)] if singles else [heapq.heappop(chains)[2]]
        singles.clear()
        order += found
        for part in found:
            for later in feeds[part]:
                waiting[later] -= 1
                if waiting[later] == 0:
                    ready(later)
    return order


def structural_groups(topology: Topology, parts: Parts) -> tuple[Group, ...]:
    """The parts of a determined mechanism as groups, numbered from 1."""
    of_body = [0] * len(topology.bodies)
    for number, bodies in enumerate(parts.bodies, 1):
        for body in bodies:
            of_body[body] = number
    touching: list[list[int]] = [[] for _ in range(len(parts.bodies) + 1)]
    for index, pair in enumerate(topology.pairs):
        for number in {of_body[body] for body in pair.ends}:
            touching[number].append(index)
    groups: list[Group] = []
    for number, needs in enumerate(parts.needs, 1):
        level = 1 + max((groups[i].level for i in needs), default=0)
        groups.append(_group(topology, parts, number, level, touching[number], of_body))
    return tuple(groups)


def _group(
    topology: Topology,
    parts: Parts,
    number: int,
    level: int,
    touching: list[int],
    of_body: list[int],
) -> Group:
    external, internal, handed = [], [], []
    for index in touching:
        numbers = [of_body[body] for body in topology.pairs[index].ends]
        if max(numbers) > number:
            handed.append(index)
        elif min(numbers) == number:
            internal.append(index)
        else:
            external.append(index)
    active = [topology.pairs[i] for i in (*external, *internal)]
    return Group(
        number,
        parts.bodies[number - 1],
        type_name(topology.dimension, active),
        sum(pair.driven for pair in active),
        level,
        tuple(external),
        tuple(internal),
        tuple(handed),
        tuple(i + 1 for i in parts.needs[number - 1]),
    )


def type_name(dimension: int, active: Sequence[Pair]) -> str:
    """The paper's name, such as 1R1P1U1S3D: pairs counted in the order of Table 3."""
    counts = Counter(pair.code for pair in active)
    codes = sorted(counts, key=ORDER.__getitem__)
    ending = "2D" if dimension == PLANAR else "3D"
    return "".join(f"{counts[code]}{code}" for code in codes) + ending
