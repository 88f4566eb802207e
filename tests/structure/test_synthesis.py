"""Mechanisms from groups: Assur families, known counts of linkages, isomorphism."""

import numpy as np
import pytest

from vbg.errors import UsageError
from vbg.structure import Topology, analyse_topology
from vbg.structure.routes.synthesis import (
    add_group,
    assur,
    assur_family,
    driven_at_the_end,
    dyads,
    frame_only,
    isomorphic,
    primary,
    synthesise,
    template_of,
)
from vbg.structure.topology.topology import with_drives


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_assur_families(order, groups):
    topology = assur_family(order, groups, np.random.default_rng(order + 10 * groups))
    assert len(topology.bodies) == 2 + 2 * order * groups
    assert len(topology.pairs) == 1 + 3 * order * groups
    structure = analyse_topology(topology)
    assert structure.mobility == 1
    assert [group.type_name for group in structure.groups] == ["1R2D"] + [
        f"{3 * order}R2D"
    ] * groups
    moved = analyse_topology(driven_at_the_end(topology))
    assert moved.determined
    assert sum(group.driven for group in moved.groups) == 1


def test_dyads_of_the_plane_and_of_space():
    assert [t.name for t in dyads(3, "RP")] == ["3R2D", "2R1P2D", "2R1P2D", "1R2P2D", "1R2P2D"]
    for template in dyads(6, ["R", "P", "C", "U", "S"]):
        start = add_group(frame_only(6), primary(6), [0])
        structure = analyse_topology(add_group(start, template, [0, 1]))
        assert [group.bodies for group in structure.groups] == [(1,), (2, 3)]


def undriven(topology):
    return with_drives(topology, [0] * len(topology.pairs))


def test_six_bar_linkages():
    """Watt and Stephenson: five different mechanisms when the frame is told apart.

    With a crank on the frame and two dyads, or one Assur group of class 2.
    """
    crank = add_group(frame_only(3), primary(3), [0])
    made = [*synthesise(crank, [assur(1)], 2), *synthesise(crank, [assur(2)], 1)]
    kinds: list[Topology] = []
    for topology in made:
        if not rigid_triangle(topology) and not any(
            isomorphic(undriven(topology), kind) for kind in kinds
        ):
            kinds.append(undriven(topology))
    six = [kind for kind in kinds if len(kind.bodies) == 6]
    degrees = [sorted(degree(kind).values()) for kind in six]
    watt_and_stephenson = [k for k, d in zip(six, degrees, strict=True) if d == [2, 2, 2, 2, 3, 3]]
    assert len(watt_and_stephenson) == 5
    # the others have a multiple joint on one body: a quaternary link, two four-bars on one frame
    assert all(max(d) == 4 for d in degrees if d != [2, 2, 2, 2, 3, 3])


def degree(topology):
    return {b: sum(b in p.ends for p in topology.pairs) for b in range(len(topology.bodies))}


def rigid_triangle(topology):
    edges = {frozenset(pair.ends) for pair in topology.pairs}
    bodies = range(len(topology.bodies))
    return any(
        {frozenset((a, b)), frozenset((b, c)), frozenset((a, c))} <= edges
        for a in bodies
        for b in range(a)
        for c in range(b)
    )


def test_synthesis_keeps_the_mobility_and_repeats_nothing():
    start = add_group(frame_only(6), primary(6, "P"), [0])
    made = list(synthesise(start, dyads(6, ["R", "U", "S"]), 2))
    assert len(made) > 20
    assert all(analyse_topology(topology).determined for topology in made[::7])
    chosen = made[:25]
    assert not any(isomorphic(a, b) for i, a in enumerate(chosen) for b in chosen[:i])


def test_a_group_out_of_an_analysis_is_a_template():
    topology = assur_family(2, 3, np.random.default_rng(4))
    group = analyse_topology(topology).groups[-1]
    again = add_group(topology, template_of(topology, group), [0, 1, 2])
    assert analyse_topology(again).groups[-1].type_name == group.type_name


def test_misuse():
    with pytest.raises(UsageError, match="class 1 or more"):
        assur(0)
    with pytest.raises(UsageError, match="2 external pairs"):
        add_group(frame_only(3), assur(1), [0])
