"""Exceptions that the topology alone shows: multiple joints, spins, rolling, contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from vbg.structure.count.loops import world_axis
from vbg.structure.topology.findings import Finding
from vbg.structure.topology.linkage import Linkage
from vbg.structure.topology.pairs import BY_CODE
from vbg.structure.topology.topology import Pair, Topology, make_pair

_SAME = 1e-9


def expansions(bodies: Sequence[int], code: str = "R") -> Iterator[tuple[Pair, ...]]:
    """All ways to write one joint of n bodies as n - 1 pairs: trees over the bodies.

    The paper tries all choices of n - 1 out of n (n - 1) / 2 pairs; those that
    close a loop and leave a body out are no expansions and are passed over.
    """
    for edges in combinations(combinations(bodies, 2), len(bodies) - 1):
        if _is_tree(bodies, edges):
            yield tuple(make_pair(f"KP({a + 1}-{b + 1})", a, b, code) for a, b in edges)


def _is_tree(bodies: Sequence[int], edges: Sequence[tuple[int, int]]) -> bool:
    part = {body: body for body in bodies}

    def root(body: int) -> int:
        while part[body] != body:
            body = part[body]
        return body

    for a, b in edges:
        if root(a) == root(b):
            return False
        part[root(a)] = root(b)
    return True


def with_multijoints(
    topology: Topology, joints: Sequence[tuple[Sequence[int], str]]
) -> Iterator[Topology]:
    """`topology` with every combination of expansions of `joints`, (bodies, code) each."""
    if not joints:
        yield topology
        return
    (bodies, code), *others = joints
    for pairs in expansions(bodies, code):
        yield from with_multijoints(replace(topology, pairs=topology.pairs + pairs), others)


def coaxial_sets(linkage: Linkage) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """(bodies, pairs) of every pin that joins three bodies or more."""
    pairs = linkage.topology.pairs
    lines = {i: world_axis(linkage, i) for i, pair in enumerate(pairs) if pair.code == "R"}
    sets: list[tuple[set[int], list[int]]] = []
    for index, (point, axis) in lines.items():
        joined = [(set(pairs[index].ends), [index])]
        apart: list[tuple[set[int], list[int]]] = []
        for bodies, members in sets:
            other, along = lines[members[0]]
            same = np.linalg.norm(np.cross(axis, along)) < _SAME
            same = same and np.linalg.norm(np.cross(point - other, axis)) < _SAME
            (joined if same and bodies & set(pairs[index].ends) else apart).append(
                (bodies, members)
            )
        union = set().union(*(bodies for bodies, _ in joined))
        sets = [*apart, (union, sorted(i for _, members in joined for i in members))]
    return tuple((tuple(sorted(b)), tuple(m)) for b, m in sets if len(b) > 2)


def multijoint_findings(linkage: Linkage) -> tuple[Finding, ...]:
    """Pins of three bodies and more, and the pairs on them that repeat others."""
    found = []
    for bodies, pairs in coaxial_sets(linkage):
        surplus = len(pairs) - (len(bodies) - 1)
        what = f"one pin joins {len(bodies)} bodies by {len(pairs)} revolutes."
        action = "Any tree of pairs over them gives the same mobility."
        if surplus > 0:
            what += f" {surplus} of them repeat the others."
            action = (
                "The equations of the repeated ones are dropped; the pin's forces do not split."
            )
        names = _names(linkage, bodies, pairs)
        found.append(
            Finding("multiple joint", "multiple joint", *names, max(surplus, 0), what, action)
        )
    return tuple(found)


def spin_sets(topology: Topology) -> tuple[tuple[tuple[int, ...], tuple[int, int]], ...]:
    """(bodies, two spherical pairs) that join a part to the rest by nothing else."""
    part = list(range(len(topology.bodies)))

    def root(body: int) -> int:
        while part[body] != body:
            part[body] = part[part[body]]
            body = part[body]
        return body

    for pair in topology.pairs:
        if pair.code != "S":
            for body in pair.ends[1:]:
                part[root(body)] = root(pair.ends[0])
    held: dict[int, list[int]] = {}
    for index, pair in enumerate(topology.pairs):
        if pair.code == "S" and root(pair.ends[0]) != root(pair.ends[1]):
            for body in pair.ends:
                held.setdefault(root(body), []).append(index)
    found = []
    for top, pairs in held.items():
        if len(pairs) == 2 and top != root(0):
            bodies = tuple(b for b in range(len(part)) if root(b) == top)
            if _in_a_loop(topology, bodies, pairs):
                found.append((bodies, (pairs[0], pairs[1])))
    return tuple(found)


def _in_a_loop(topology: Topology, bodies: Sequence[int], pairs: Sequence[int]) -> bool:
    """Whether the rest joins what the two `pairs` hold; the links of an open chain swing."""
    others = [next(b for b in topology.pairs[i].ends if b not in bodies) for i in pairs]
    neighbours: dict[int, set[int]] = {}
    for pair in topology.pairs:
        for body in pair.ends:
            neighbours.setdefault(body, set()).update(pair.ends)
    reached, front = {others[0]}, [others[0]]
    while front:
        ahead = neighbours[front.pop()] - reached - set(bodies)
        reached |= ahead
        front += ahead
    return others[1] in reached


def hold_spins(topology: Topology) -> Topology:
    """`topology` with every redundant spin held by one more equation of a spherical pair."""
    pairs = list(topology.pairs)
    for _, (_, last) in spin_sets(topology):
        pairs[last] = replace(pairs[last], dropped=pairs[last].dropped - 1)
    return replace(topology, pairs=tuple(pairs))


def spin_findings(linkage: Linkage) -> tuple[Finding, ...]:
    """Bodies that spin about the line between two spherical pairs."""
    found = []
    for bodies, pairs in spin_sets(linkage.topology):
        what = "turns freely about the line through its two spherical pairs; nothing sees it."
        action = "The count holds it by one equation more; a simulation integrates it."
        name = "double-spherical rod" if len(bodies) == 1 else "double-spherical group"
        names = _names(linkage, bodies, pairs)
        found.append(Finding("redundant spin", name, *names, -1, what, action))
    return tuple(found)


def contact_findings(linkage: Linkage) -> tuple[Finding, ...]:
    """Pairs that roll, and pairs held together by contact unless they are `bilateral`."""
    found = []
    topology = linkage.topology
    for index, pair in enumerate(topology.pairs):
        row = BY_CODE.get(pair.code)
        if row is None:
            continue
        names = _names(linkage, pair.ends, (index,))
        if row.rolling and linkage.frames[index].radius > 0.0:
            what = "rolls without slip: 2 of its equations hold speeds only."
            action = "They are counted as speeds; two coordinates more are integrated."
            found.append(Finding("rolling", "rolling", *names, 2, what, action))
        elif row.contact and not linkage.bilateral:
            lost = topology.dimension - pair.grade
            what = f"{row.meaning}: where a force closes it, it may open ({lost} freedoms more)."
            action = "It is taken as closed; the sign of its force says when it would open."
            found.append(Finding("contact", "contact pair", *names, lost, what, action))
    return tuple(found)


def _names(
    linkage: Linkage, bodies: Sequence[int], pairs: Sequence[int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    topology = linkage.topology
    return (
        tuple(topology.bodies[body] for body in bodies),
        tuple(topology.pairs[index].name for index in pairs),
    )
