"""Mechanisms made by adding simple structural groups to a frame.

Section 1.2 of the paper: primary elements (one driven body at the frame) and
Assur groups of class k, chains of 2k bodies and 3k pairs without mobility.
Joined to bodies that are there already, each group leaves the mobility as it
is, so every mechanism made here is determined by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.structure.count.groups import Group, type_name
from vbg.structure.topology.pairs import BY_CODE, PLANAR
from vbg.structure.topology.topology import Pair, Topology, make_pair

if TYPE_CHECKING:
    import networkx
    import numpy as np


# class and number of groups in Table 16 -> the seed with which both the linkage and its variant B
# have as many structural groups as are printed
TABLE_16 = {
    (1, 2): 3,
    (1, 4): 0,
    (1, 8): 0,
    (2, 2): 0,
    (2, 4): 2,
    (2, 8): 0,
    (3, 2): 0,
    (3, 4): 0,
}


@dataclass(frozen=True, slots=True)
class GroupTemplate:
    """A simple structural group without its surroundings.

    `internal` rows are (body, body, code, driven), `external` rows (body,
    code, driven), bodies counted from 0 to `bodies` - 1.
    """

    dimension: int
    bodies: int
    internal: tuple[tuple[int, int, str, int], ...]
    external: tuple[tuple[int, str, int], ...]

    @property
    def name(self) -> str:
        """Its type name, such as 3R2D."""
        rows = [(0, 0, code, 0) for _, code, _ in self.external]
        pairs = [make_pair("", 0, 0, code) for _, _, code, _ in (*self.internal, *rows)]
        return type_name(self.dimension, pairs)


def primary(dimension: int, code: str = "R") -> GroupTemplate:
    """One body whose freedoms against its carrier are all driven."""
    return GroupTemplate(dimension, 1, (), ((0, code, BY_CODE[code].grade),))


def assur(order: int) -> GroupTemplate:
    """The planar Assur group of class `order` with revolutes: 2k bodies, 3k pairs.

    Class 1 is the dyad.  Class k > 1 is a row of k - 1 ternary bodies that
    carry k + 1 binary ones, each joined to the outside.
    """
    if order < 1:
        raise UsageError(f"an Assur group has class 1 or more, not {order}")
    if order == 1:
        return GroupTemplate(PLANAR, 2, ((0, 1, "R", 0),), ((0, "R", 0), (1, "R", 0)))
    ternary = order - 1
    row = [(i, i + 1, "R", 0) for i in range(ternary - 1)]
    room = [3 - sum(i in pair[:2] for pair in row) for i in range(ternary)]
    carriers = [i for i in range(ternary) for _ in range(room[i])]
    legs = [(carrier, ternary + n, "R", 0) for n, carrier in enumerate(carriers)]
    return GroupTemplate(
        PLANAR, 2 * order, (*row, *legs), tuple((b, "R", 0) for _, b, _, _ in legs)
    )


def dyads(dimension: int, codes: Sequence[str]) -> tuple[GroupTemplate, ...]:
    """All two-body groups of undriven pairs with `codes`: grades sum to B.

    Eq. 5 of the paper, L_th = B (P - N_m) with P = 3.  The planar PPP is left
    out: three sliding pairs leave the rotation of the bodies undetermined.
    """
    found = []
    for first, inner, second in product(codes, repeat=3):
        grades = sum(BY_CODE[code].grade for code in (first, inner, second))
        mirrored = codes.index(first) > codes.index(second)
        slides = dimension == PLANAR and first == inner == second == "P"
        if grades == dimension and not mirrored and not slides:
            ends = ((0, first, 0), (1, second, 0))
            found.append(GroupTemplate(dimension, 2, ((0, 1, inner, 0),), ends))
    return tuple(found)


def template_of(topology: Topology, group: Group) -> GroupTemplate:
    """The group of an analysed mechanism, to be used again elsewhere."""
    local = {body: i for i, body in enumerate(group.bodies)}
    internal, external = [], []
    for index in group.internal:
        pair = topology.pairs[index]
        internal.append((local[pair.ends[0]], local[pair.ends[1]], pair.code, pair.driven))
    for index in group.external:
        pair = topology.pairs[index]
        own = next(body for body in pair.ends if body in local)
        external.append((local[own], pair.code, pair.driven))
    return GroupTemplate(topology.dimension, len(local), tuple(internal), tuple(external))


def frame_only(dimension: int) -> Topology:
    """A frame, named "1", and nothing else."""
    return Topology(dimension, ("1",), ())


def add_group(topology: Topology, template: GroupTemplate, carriers: Sequence[int]) -> Topology:
    """`topology` and the group, its external pairs joined to bodies `carriers`."""
    if len(carriers) != len(template.external):
        raise UsageError(
            f"{template.name} has {len(template.external)} external pairs; "
            f"{len(carriers)} bodies to join them to were given"
        )
    start = len(topology.bodies)
    pairs = [(start + i, start + j, code, n) for i, j, code, n in template.internal]
    joined = zip(template.external, carriers, strict=True)
    pairs += [(start + i, carrier, code, n) for (i, code, n), carrier in joined]
    made = tuple(make_pair(f"KP({a + 1}-{b + 1})", a, b, code, n) for a, b, code, n in pairs)
    names = tuple(str(start + i + 1) for i in range(template.bodies))
    return replace(topology, bodies=topology.bodies + names, pairs=topology.pairs + made)


def assur_family(order: int, groups: int, rng: np.random.Generator) -> Topology:
    """ASSUR k-n of the paper's Table 16: a crank and n Assur groups of class k.

    The first group is joined to the crank and the frame, the others at random.
    It has 2 + 2kn bodies (frame counted) and 1 + 3kn pairs; the pair counts
    printed in Table 16 fit this only for I-2, and with revolutes the others do
    not have mobility 1.
    """
    template = assur(order)
    outside = len(template.external)
    made = add_group(frame_only(PLANAR), primary(PLANAR), [0])
    made = add_group(made, template, [1, *[0] * (outside - 1)])
    for _ in range(groups - 1):
        made = add_group(made, template, _two_or_more(rng, len(made.bodies), outside))
    return made


def driven_at_the_end(topology: Topology) -> Topology:
    """Variant "B" of Table 16: the drive moved to a pair of the last two bodies.

    The last body's pair with the last body but one, or with the highest
    numbered body that it has a pair with.
    """
    last = len(topology.bodies) - 1
    chosen = max(
        (i for i, pair in enumerate(topology.pairs) if last in pair.ends),
        key=lambda i: min(topology.pairs[i].ends),
    )
    pairs = [replace(pair, driven=int(i == chosen)) for i, pair in enumerate(topology.pairs)]
    return replace(topology, pairs=tuple(pairs))


def random_mechanism(
    templates: Sequence[GroupTemplate], bodies: int, rng: np.random.Generator
) -> Topology:
    """A random determined mechanism of about `bodies` moving bodies.

    Every group is drawn from `templates` and joined to bodies drawn from all
    that are there.
    """
    pairs: list[Pair] = []
    count = 1
    while count <= bodies:
        template = templates[int(rng.integers(len(templates)))]
        outside = len(template.external)
        carriers = [0] * outside if count == 1 else _two_or_more(rng, count, outside)
        part = add_group(Topology(template.dimension, ("1",) * count, ()), template, carriers)
        pairs += part.pairs
        count += template.bodies
    names = tuple(str(i + 1) for i in range(count))
    return Topology(templates[0].dimension, names, tuple(pairs))


def _two_or_more(rng: np.random.Generator, bodies: int, outside: int) -> list[int]:
    """Random carriers, two different ones at least: else the group would be rigid with one."""
    carriers = [int(body) for body in rng.integers(bodies, size=outside)]
    while outside > 1 and len(set(carriers)) == 1:
        carriers = [int(body) for body in rng.integers(bodies, size=outside)]
    return carriers


def synthesise(
    start: Topology, templates: Sequence[GroupTemplate], groups: int
) -> Iterator[Topology]:
    """Every different mechanism of `start` and `groups` groups out of `templates`.

    Left out are groups that would be rigid with a single body, and mechanisms
    isomorphic to one already given (frame, codes and drives must correspond).
    """
    layer: Iterable[Topology] = (start,)
    for _ in range(groups - 1):
        layer = tuple(_different(_grown(layer, templates)))
    yield from _different(_grown(layer, templates))


def _grown(layer: Iterable[Topology], templates: Sequence[GroupTemplate]) -> Iterator[Topology]:
    for topology in layer:
        for template in templates:
            outside = len(template.external)
            for carriers in product(range(len(topology.bodies)), repeat=outside):
                if outside == 1 or len(set(carriers)) > 1:
                    yield add_group(topology, template, carriers)


def _different(topologies: Iterable[Topology]) -> Iterator[Topology]:
    """Without isomorphic repetitions: WL hash first, the exact test within a hash."""
    import networkx

    seen: dict[str, list[networkx.Graph]] = {}
    for topology in topologies:
        graph = labelled_graph(topology)
        key = networkx.weisfeiler_lehman_graph_hash(graph, node_attr="kind", edge_attr="kind")
        alike = seen.setdefault(key, [])
        if not any(_same(graph, other) for other in alike):
            alike.append(graph)
            yield topology


def labelled_graph(topology: Topology) -> networkx.Graph:
    """Bodies and pairs as nodes, so that several pairs of two bodies are told apart."""
    import networkx

    graph = networkx.Graph()
    for i in range(len(topology.bodies)):
        graph.add_node(("body", i), kind="body" if i else "frame")
    for n, pair in enumerate(topology.pairs):
        graph.add_node(("pair", n), kind=f"{pair.code}{pair.driven}")
        for body in pair.ends:
            graph.add_edge(("pair", n), ("body", body), kind="end")
    return graph


def isomorphic(first: Topology, second: Topology) -> bool:
    """Whether a renumbering of bodies makes one mechanism the other, frames apart."""
    return _same(labelled_graph(first), labelled_graph(second))


def _same(first: networkx.Graph, second: networkx.Graph) -> bool:
    import networkx
    from networkx.algorithms.isomorphism import categorical_node_match

    return networkx.is_isomorphic(first, second, node_match=categorical_node_match("kind", ""))
