"""Synthesis: published counts, isomorphism by brute force, machines that close and run."""

from itertools import permutations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.errors import UsageError
from vbg.structure import analyse_topology
from vbg.structure.routes.synthesis import (
    add_group,
    assur,
    frame_only,
    isomorphic,
    primary,
    synthesise,
)
from vbg.structure.synthesis.canonical import canonical
from vbg.structure.synthesis.chains import chains
from vbg.structure.synthesis.generic import equations, loop_signs
from vbg.structure.synthesis.machines import machine
from vbg.structure.synthesis.structures import (
    Wanted,
    assur_groups,
    driven_mechanisms,
    labelled_chains,
    mechanisms,
)
from vbg.structure.topology.topology import with_drives

R = (("R", 0, 99),)


def spatial(codes, mobility, bodies):
    return Wanted(6, mobility, bodies, tuple((code, 0, 99) for code in codes.split()))


@pytest.mark.parametrize(
    ("mobility", "bodies", "count"),
    [  # OEIS A233288; Tuttle, Mech. Mach. Theory 31 (1996) 729; Mruthyunjaya, 38 (2003) 279
        (1, 4, 1),
        (1, 6, 2),
        (1, 8, 16),
        (1, 10, 230),
        (2, 5, 1),
        (2, 7, 4),
        (2, 9, 40),
        (3, 6, 1),
        (3, 8, 7),
        (3, 10, 98),
    ],
)
def test_planar_chains_with_revolutes(mobility, bodies, count):
    assert sum(1 for _ in labelled_chains(Wanted(3, mobility, bodies, R))) == count


@pytest.mark.parametrize(("bodies", "count"), [(4, 1), (6, 5), (8, 71), (10, 1834)])
def test_inversions(bodies, count):
    """1834 is the number that section 1 of the MBSSA3D paper quotes."""
    assert sum(1 for _ in mechanisms(Wanted(3, 1, bodies, R))) == count


@pytest.mark.parametrize(("order", "trusses", "groups"), [(1, 1, 1), (2, 1, 2), (3, 3, 10)])
def test_baranov_trusses_and_assur_groups(order, trusses, groups):
    wanted = Wanted(3, 0, 2 * order + 1, R)
    assert sum(1 for _ in labelled_chains(wanted)) == trusses
    templates = assur_groups(order)
    assert len(templates) == groups
    crank = add_group(frame_only(3), primary(3), [0])
    for template in templates:
        carriers = [1, *[0] * (len(template.external) - 1)]
        found = analyse_topology(add_group(crank, template, carriers)).groups
        assert [len(group.bodies) for group in found] == [1, 2 * order]
    assert any(t.external == assur(order).external for t in templates) or order > 2


def test_assur_groups_of_eight_bodies():
    assert len(assur_groups(4)) == 173


def test_spatial_prime_structures():
    """Of three bodies, idle rods among them; all others in test_spatial_trusses."""
    three = [found.codes for found in labelled_chains(spatial("R C S", 0, 3))]
    assert len(three) == 4
    assert ("S", "S", "S") in three


def test_all_eight_bars_come_out_of_groups():
    """71 inversions by adding groups to a crank: what one template a class leaves at 59."""
    crank = add_group(frame_only(3), primary(3), [0])
    groups = {order: assur_groups(order) for order in (1, 2, 3)}
    mixed = [
        made
        for first, second in ((1, 2), (2, 1))
        for start in synthesise(crank, groups[first], 1)
        for made in synthesise(start, groups[second], 1)
    ]
    built = [*synthesise(crank, groups[1], 3), *mixed, *synthesise(crank, groups[3], 1)]

    def form(topology):
        count = len(topology.bodies)
        links = [[0] * count for _ in range(count)]
        for pair in topology.pairs:
            a, b = pair.ends
            links[a][b] = links[b][a] = links[a][b] + 1
        return canonical([int(body == 0) for body in range(count)], links).form

    wanted = {form(topology) for topology in mechanisms(Wanted(3, 1, 8, R))}
    assert len(wanted) == 71
    assert wanted <= {form(topology) for topology in built}


def test_chains_by_brute_force():
    """All graphs of six bodies and seven pairs, two pairs or more a body, by relabelling."""
    edges = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    orders = list(permutations(range(6)))
    found = set()
    from itertools import combinations

    for chosen in combinations(edges, 7):
        degrees = [sum(i in edge for edge in chosen) for i in range(6)]
        if min(degrees) >= 2 and connected(chosen, 6) and sorted(degrees) == degrees:
            found.add(
                min(tuple(sorted(tuple(sorted((o[a], o[b]))) for a, b in chosen)) for o in orders)
            )
    made = {
        min(tuple(sorted(tuple(sorted((o[a], o[b]))) for a, b in chain.pairs)) for o in orders)
        for chain in chains(6, 2)
    }
    assert made == found
    assert len(made) == sum(1 for _ in chains(6, 2))


def test_short_loops_left_out_at_once_are_those_that_would_fall_anyway():
    """Every chain that `shortest` leaves out has a loop of fewer pairs."""
    import networkx

    for bodies, loops, shortest in ((8, 3, 4), (9, 3, 5), (7, 1, 7)):
        every = {chain.pairs for chain in chains(bodies, loops)}
        kept = {chain.pairs for chain in chains(bodies, loops, shortest=shortest)}
        assert kept <= every
        for pairs in every - kept:
            assert networkx.girth(networkx.Graph(pairs)) < shortest
        long = {p for p in every if networkx.girth(networkx.Graph(p)) >= shortest}
        assert long <= kept


def connected(edges, count):
    part = set(range(count))
    reached = {0}
    while True:
        more = {b for e in edges for a, b in (e, e[::-1]) if a in reached} - reached
        if not more:
            return reached == part
        reached |= more


def test_canonical_forms_of_shuffled_graphs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(2, 9))
        links = np.triu(rng.integers(0, 3, size=(n, n)), 1)
        links = links + links.T
        colours = rng.integers(0, 2, size=n)
        order = rng.permutation(n)
        first = canonical(colours.tolist(), links.tolist())
        second = canonical(colours[order].tolist(), links[np.ix_(order, order)].tolist())
        assert first.form == second.form
        for s in first.symmetries:
            assert (links[np.ix_(s, s)] == links).all()
        brute = [
            p
            for p in permutations(range(n))
            if n < 7
            and (links[np.ix_(p, p)] == links).all()
            and (colours[list(p)] == colours).all()
        ]
        assert n >= 7 or set(first.symmetries) == set(brute)


def test_sliding_pairs_that_could_not_turn_are_left_out():
    """Of a planar loop two pairs must be revolutes: one could not turn alone."""
    codes = {
        "".join(sorted(found.codes))
        for found in labelled_chains(Wanted(3, 1, 4, (("R", 0, 9), ("P", 0, 9))))
    }
    assert codes == {"RRRR", "PRRR", "PPRR"}


def test_driven_mechanisms_are_determined_and_different():
    made = list(driven_mechanisms(Wanted(3, 1, 6, (("R", 0, 9), ("P", 0, 1)))))
    assert all(analyse_topology(topology).determined for topology in made)
    assert not any(isomorphic(a, b) for i, a in enumerate(made) for b in made[:i])
    rods = list(driven_mechanisms(spatial("R S", 1, 4)))
    assert [[g.type_name for g in analyse_topology(t).groups] for t in rods] == [
        ["1R3D", "1R2S3D"]
    ] * 2


def test_no_mobility_is_made_of_loops_that_repeat():
    """The rank of loop equations at other dimensions than those that decided."""
    rng = np.random.default_rng(8)
    for found in labelled_chains(Wanted(3, 1, 8, R)):
        points = rng.normal(size=(10, 2))
        columns = [np.array([[1.0], [y], [-x]]) for x, y in points]
        sizes = np.linalg.svd(equations(loop_signs(found.chain), columns), compute_uv=False)
        assert len(sizes) == 9
        assert sizes[-1] > 1e-6


@pytest.mark.parametrize(
    ("wanted", "number"),
    tail(
        [
            (spatial("R S", 1, 4), 0),
            (Wanted(3, 1, 6, (("R", 0, 9), ("P", 1, 2))), 100),
            (Wanted(3, 1, 8, R), 40),
            (spatial("R P U S", 1, 4), 9),
        ],
        first=1,
    ),
)
def test_machines_close_and_run(wanted, number):
    topology = list(driven_mechanisms(wanted))[number]
    model = machine(topology)
    assert not [problem for problem in vbg.check(model) if problem.severity == "error"]
    solution = vbg.simulate(model)
    assert solution.status.code == "finished"
    moved = np.abs(solution["energy.kinetic"]).max()
    assert moved > 1e-3
    assert np.abs(solution["energy.residual"]).max() < 1e-6 * moved
    assert machine(topology).document == model.document  # by seed
    assert machine(topology, seed=1).document != model.document


def test_a_machine_keeps_the_structure_it_was_made_of():
    topology = list(driven_mechanisms(Wanted(3, 1, 6, R)))[3]
    structure = vbg.structure.analyse(machine(topology))
    groups = analyse_topology(topology).groups
    assert [len(g.bodies) for g in structure.groups] == [len(g.bodies) for g in groups]


def test_misuse():
    with pytest.raises(UsageError, match="takes R, P"):
        Wanted(3, 1, 4, (("S", 0, 9),))
    with pytest.raises(UsageError, match="driven at R, P, H"):
        topology = next(driven_mechanisms(spatial("R S", 1, 4)))
        machine(with_drives(topology, [0, 0, 1, 0]))
