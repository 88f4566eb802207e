"""The paper's own search for structural groups: chains of growing length, all tried.

Algorithm 3 of Celdran, Saura and Dopico (2022), written for clarity.  It takes
exponential time; it is the twin of the flow in `vbg.structure`.
"""

from __future__ import annotations

from itertools import combinations

from vbg.structure.topology.topology import Topology


def fits(topology: Topology, chain: set[int], solved: set[int]) -> bool:
    """Eq. 3: S_c - n_c = B (P - N_m), over the active pairs of `chain`."""
    active = [
        pair
        for pair in topology.pairs
        if chain & set(pair.ends) and set(pair.ends) <= chain | solved
    ]
    freedoms = sum(pair.grade - pair.driven for pair in active)
    return freedoms == topology.dimension * (len(active) - len(chain))


def connected(topology: Topology, chain: set[int]) -> bool:
    """Whether pairs inside `chain` join all of it."""
    reached = {min(chain)}
    grown = True
    while grown:
        grown = False
        for pair in topology.pairs:
            ends = set(pair.ends)
            if ends <= chain and ends & reached and not ends <= reached:
                reached |= ends
                grown = True
    return reached == chain


def search_groups(topology: Topology) -> list[tuple[int, ...]] | None:
    """Bodies of the groups in the order found, or None when the search ends early."""
    solved, groups = {0}, []
    moving = range(1, len(topology.bodies))
    while len(solved) < len(topology.bodies):
        found = next_group(topology, [body for body in moving if body not in solved], solved)
        if found is None:
            return None
        groups.append(found)
        solved |= set(found)
    return groups


def next_group(topology: Topology, left: list[int], solved: set[int]) -> tuple[int, ...] | None:
    """The shortest chain of bodies in `left`, one of them a candidate, that fits."""
    candidates = {body for pair in topology.pairs if solved & set(pair.ends) for body in pair.ends}
    for size in range(1, len(left) + 1):
        for chain in combinations(left, size):
            part = set(chain)
            if part & candidates and connected(topology, part) and fits(topology, part, solved):
                return chain
    return None


def sound(topology: Topology) -> bool:
    """Tay's condition by trying every set of bodies: m of them, the frame among them or
    not, carry B (m - 1) equations at most, and all together exactly that many."""
    bodies = range(len(topology.bodies))
    for size in range(1, len(topology.bodies) + 1):
        for chain in combinations(bodies, size):
            inside = set(chain)
            asked = sum(topology.equations(p) for p in topology.pairs if set(p.ends) <= inside)
            if asked > topology.dimension * (size - 1):
                return False
    return topology.mobility == topology.driven
