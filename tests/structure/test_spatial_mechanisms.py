"""Spatial chains of mobility one against a count by brute force and a rank of its own.

Every graph without a cut body, every choice of pairs with one to three freedoms (R, C, S) whose
count of freedoms is one and that has no rigid part.  What vbg lists less than that has a freedom
of a pair that nothing moves, as a hinge between two bodies that a rod between two balls ties; what
it lists moves in all of them.  Rank and motions are those of rows written here.
"""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from tests.structure.test_spatial_trusses import GRADES, PAIRS, form, has_no_rigid_part, rods
from vbg.structure.synthesis.structures import Wanted, labelled_chains


def counted(count):
    """Chains whose freedoms count to one, idle spins of rods aside: one of each by renaming."""
    found = {}
    for graph in nx.graph_atlas_g():
        if graph.number_of_nodes() != count or not nx.is_biconnected(graph):
            continue
        edges = [tuple(sorted(edge)) for edge in graph.edges]
        place = {edge: i for i, edge in enumerate(edges)}
        same = [
            [place[tuple(sorted((turn[a], turn[b])))] for a, b in edges]
            for turn in nx.isomorphism.GraphMatcher(graph, graph).isomorphisms_iter()
        ]
        for grades in product((1, 2, 3), repeat=len(edges)):
            freedoms = 6 * (count - 1) - sum(6 - grade for grade in grades)
            if not 1 <= freedoms <= count + 1 or freedoms - len(rods(edges, grades)) != 1:
                continue
            if grades == min(tuple(grades[i] for i in turn) for turn in same) and (
                has_no_rigid_part(count, edges, grades, rods(edges, grades))
            ):
                found[form(count, edges, grades)] = True
    return set(found)


def moving(rows, rng):
    """Whether every freedom of every pair moves, at random places and axes."""
    bodies, lines, free = 1 + max(b for _, b, _ in rows), [], []
    for a, b, grade in rows:
        p, (R, _) = rng.uniform(-1, 1, 3), np.linalg.qr(rng.normal(size=(3, 3)))
        at_p = np.hstack([np.cross(np.eye(3), p), np.eye(3)])  # v + w x p
        turning = np.hstack([np.eye(3), np.zeros((3, 3))])
        slides = {1: 0, 2: 1, 3: 0}[grade]
        turns = {1: 1, 2: 1, 3: 3}[grade]
        held = np.vstack([R[: 3 - slides] @ at_p, R[: 3 - turns] @ turning])
        left = np.vstack([R[3 - slides :] @ at_p, R[3 - turns :] @ turning])
        for block, into in ((held, lines), (left, free)):
            row = np.zeros((len(block), 6 * bodies))
            row[:, 6 * a : 6 * a + 6], row[:, 6 * b : 6 * b + 6] = block, -block
            into.append(row)
    _, sizes, motions = np.linalg.svd(np.vstack(lines))
    motions = motions[np.sum(sizes > 1e-9) :]
    return bool(np.all(np.linalg.norm(np.vstack(free) @ motions.T, axis=1) > 1e-9))


def listed(count):
    chains = labelled_chains(Wanted(6, 1, count, PAIRS))
    return {form(count, c.chain.pairs, [GRADES[code] for code in c.codes]) for c in chains}


@pytest.mark.parametrize(
    ("count", "by_freedoms", "number"),
    [(4, 8, 8), (5, 70, 59), pytest.param(6, 1124, 863, marks=pytest.mark.slow)],
)
def test_chains_of_mobility_one(count, by_freedoms, number):
    brute, found, rng = counted(count), listed(count), np.random.default_rng(3)
    assert (len(brute), len(found)) == (by_freedoms, number)
    assert found <= brute
    assert all(moving(rows, rng) for rows in found)
    assert not any(moving(rows, rng) for rows in brute - found)


def test_single_loops_follow_the_sum_of_freedoms():
    """Seven freedoms in a loop move with one, idle spins of rods aside; orders of pairs that are
    the same but for where one begins and which way one goes count once."""

    def loops(count):
        made = [
            c for c in labelled_chains(Wanted(6, 1, count, PAIRS)) if c.chain.pairs[count:] == ()
        ]
        return sorted("".join(sorted(c.codes)) for c in made)

    assert loops(3) == ["CCS", "CSS"]
    assert loops(4) == ["CCCR", "CRRS", "CRRS", "RRSS"]  # C beside S or across; two balls on a rod
    assert loops(5) == ["CCRRR", "CCRRR", "RRRRS"]  # C beside C or not
