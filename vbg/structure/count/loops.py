"""The loops of a linkage taken apart: blocks that share one body at most.

What happens in one block does not constrain another, so exceptions of
geometry are looked for block by block, each with its own frame: its body
nearest to the frame of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vbg.structure.topology.linkage import Linkage
from vbg.structure.topology.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A part of a linkage: `linkage` by itself, `bodies` and `pairs` in the whole.

    Body 0 of the block is `bodies[0]`, at the origin as a frame has to be.
    """

    linkage: Linkage
    bodies: tuple[int, ...]
    pairs: tuple[int, ...]

    @property
    def is_single_loop(self) -> bool:
        """As many pairs as bodies, each body with two."""
        return len(self.pairs) == len(self.bodies)


def blocks_of(linkage: Linkage) -> tuple[Block, ...]:
    """The blocks that contain loops (biconnected components with more than one pair)."""
    import networkx

    topology = linkage.topology
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(topology.bodies)))
    for pair in topology.pairs:
        ends = pair.ends
        graph.add_edges_from((a, b) for i, a in enumerate(ends) for b in ends[:i] if a != b)
    depth = networkx.single_source_shortest_path_length(graph, 0)
    found = []
    for members in networkx.biconnected_components(graph):
        bodies = sorted(members, key=lambda body: (depth.get(body, len(depth)), body))
        inside = set(members)
        pairs = [i for i, pair in enumerate(topology.pairs) if inside.issuperset(pair.ends)]
        if len(pairs) > 1:
            found.append(sub_linkage(linkage, bodies, pairs))
    return tuple(sorted(found, key=lambda block: block.pairs))


def sub_linkage(linkage: Linkage, bodies: list[int], pairs: list[int]) -> Block:
    """`bodies` and `pairs` of `linkage` by themselves, bodies[0] as the frame."""
    topology = linkage.topology
    local = {body: i for i, body in enumerate(bodies)}
    of_pair = {pair: i for i, pair in enumerate(pairs)}
    R_WO, p_WO = linkage.R_WB[bodies[0]], linkage.p_WB[bodies[0]]
    R_OB = np.array([R_WO.T @ linkage.R_WB[body] for body in bodies])
    p_OB = np.array([R_WO.T @ (linkage.p_WB[body] - p_WO) for body in bodies])
    kept = tuple(
        replace(topology.pairs[i], ends=tuple(local[b] for b in topology.pairs[i].ends))
        for i in pairs
    )
    couplings = tuple(
        replace(
            c,
            pair=of_pair[c.pair],
            first=(of_pair[c.first[0]], c.first[1]),
            second=(of_pair[c.second[0]], c.second[1]),
        )
        for c in linkage.couplings
        if {c.pair, c.first[0], c.second[0]} <= of_pair.keys()
    )
    part = Linkage(
        Topology(topology.dimension, tuple(topology.bodies[b] for b in bodies), kept),
        tuple(linkage.frames[i] for i in pairs),
        tuple(linkage.drives[i] for i in pairs),
        p_OB,
        R_OB,
        couplings,
        R_WO.T @ linkage.normal,
    )
    return Block(part, tuple(bodies), tuple(pairs))


def world_axis(linkage: Linkage, pair: int) -> tuple[np.ndarray, np.ndarray]:
    """Point (3,) and unit direction (3,) of a pair's axis as the bodies stand."""
    body = linkage.topology.pairs[pair].ends[0]
    frame, R = linkage.frames[pair], linkage.R_WB[body]
    return linkage.p_WB[body] + R @ frame.p_AF_A, R @ frame.R_AF[:, 2]


def order_around(linkage: Linkage) -> tuple[int, ...]:
    """The pairs of a single loop in the order in which they follow each other."""
    pairs = linkage.topology.pairs
    order, body, left = [], 0, set(range(len(pairs)))
    while left:
        following = min((i for i in left if body in pairs[i].ends), default=None)
        if following is None:
            break
        order.append(following)
        left.remove(following)
        ends = pairs[following].ends
        body = ends[1] if ends[0] == body else ends[0]
    return tuple(order)
