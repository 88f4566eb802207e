"""Structural groups: the paper's cases, and the exponential search as a twin."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from tests.reference.structure_search import search_groups, sound
from vbg.structure import analyse_topology, from_pairs
from vbg.structure.count.results import (
    as_data,
    external_pairs,
    handed_pairs,
    internal_pairs,
    results_matrix,
    table_text,
    type_counts,
)
from vbg.structure.routes.synthesis import assur, dyads, primary, random_mechanism
from vbg.structure.topology.topology import Topology, make_pair, with_drives

CASES = json.loads((Path(__file__).parent.parent / "data" / "structural_groups.json").read_text())


def read(case):
    bodies = [str(i + 1) for i in range(case["bodies"])]
    rows = [(*map(str, j["between"]), j["type"], j["driven"]) for j in case["joints"]]
    return from_pairs(case["B"], bodies, rows)


def by_level(structure):
    return [
        sorted(sorted(int(name) for name in structure.names(group)) for group in level)
        for level in structure.levels
    ]


@pytest.mark.parametrize("name", CASES)
def test_cases_of_the_paper(name):
    structure = analyse_topology(read(CASES[name]))
    assert structure.determined
    assert structure.mobility == structure.driven
    assert by_level(structure) == [
        sorted(level) for level in CASES[name]["structural_groups_by_level"]
    ]


PRINTED_ROWS = {
    "spatial_four_bar": [0, 1, 2, 2],  # eq. 11
    "helicopter_rotor": [0, 7, 3, 5, 7, 3, 5, 6, 1, 1, 4, 6, 1, 4, 2, 4],  # eq. 12
    "helicopter_rotor_transformed": [0, 1, 5, 9, 6, 5, 9, 6, 4, 4, 8, 7, 2, 8, 3, 7],  # eq. 13
    "stewart_platform": [0] + [1] * 13,  # eq. 15
    "stewart_platform_inverse": [0, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1],  # eq. 16
}


TABLE_12 = [0, 2, 2, 1, 1, 1, 1, 4, 4, 3, 3, 3, 5, 5, 3, 8, 8, 7, 7, 7, 6]  # eq. 14


@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("name", PRINTED_ROWS)
def test_first_row_of_the_results_matrix(name, as_printed):
    matrix = results_matrix(analyse_topology(read(CASES[name]), as_printed=as_printed))
    assert matrix[0].tolist() == PRINTED_ROWS[name]


def test_micro_manipulator_numbers_differ_in_order_only():
    """Eq. 14 lists {21} after {8,9} and {13,14}; by Algorithm 3 a single ready body comes first.
    As printed, the matrix is that of Table 12; groups stay behind what they need."""
    row = results_matrix(analyse_topology(read(CASES["micro_manipulator"])))[0].tolist()
    found = analyse_topology(read(CASES["micro_manipulator"]), as_printed=True)
    assert results_matrix(found)[0].tolist() == TABLE_12
    assert all(max(group.needs, default=0) < group.number for group in found.groups)
    printed = TABLE_12
    renumber = {0: 0, 1: 1, 2: 2, 3: 3, 4: 5, 5: 6, 6: 4, 7: 7, 8: 8}
    assert row == [renumber[n] for n in printed]


def test_results_matrix_of_equations_11_and_16():
    four_bar = results_matrix(analyse_topology(read(CASES["spatial_four_bar"])))
    assert four_bar.tolist() == [[0, 1, 2, 2], [1, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0]]
    stewart = results_matrix(analyse_topology(read(CASES["stewart_platform_inverse"])))
    for body in range(1, 14):
        row = np.zeros(14, dtype=int)
        row[0 if body % 2 or body == 13 else 13] = 1 if body % 2 or body == 13 else 2
        assert stewart[body].tolist() == row.tolist()


def test_table_8():
    structure = analyse_topology(read(CASES["helicopter_rotor"]))
    topology = structure.topology
    rows = [
        (
            ",".join(structure.names(group)),
            group.type_name,
            external_pairs(topology, group),
            internal_pairs(topology, group),
            handed_pairs(topology, group),
        )
        for group in structure.groups
    ]
    assert rows == [
        ("9,10,13", "1R1P1U1S3D", "10&1U.13&1P.", "9&10S.9&13R.", "9&6S.9&8R.9&11R.13&15R."),
        ("15", "1R3D", "15&13R.", "-", "15&16R."),
        ("3,6", "1P1U1S3D", "3&1P.6&9S.", "3&6U.", "-"),
        ("11,14,16", "2R1U1S3D", "11&9R.16&15R.", "11&14U.14&16S.", "11&7S.16&12S."),
        ("4,7", "1P1U1S3D", "4&1P.7&11S.", "4&7U.", "-"),
        ("8,12", "1R1U1S3D", "8&9R.12&16S.", "8&12U.", "8&5S."),
        ("2,5", "1P1U1S3D", "2&1P.5&8S.", "2&5U.", "-"),
    ]
    counts = type_counts(structure, ["1R3D", "1P1U1S3D", "1R1U1S3D"])
    assert [(row.type_name, row.groups, row.in_library) for row in counts] == [
        ("1R1P1U1S3D", 1, False),
        ("1R3D", 1, True),
        ("1P1U1S3D", 3, True),
        ("2R1U1S3D", 1, False),
        ("1R1U1S3D", 1, True),
    ]


def test_text_and_data_name_every_group():
    structure = analyse_topology(read(CASES["helicopter_rotor"]))
    text, data = table_text(structure), json.loads(json.dumps(as_data(structure)))
    assert all("/" + ", ".join(structure.names(group)) + "/" in text for group in structure.groups)
    assert [group["bodies"] for group in data["groups"]] == [
        list(structure.names(group)) for group in structure.groups
    ]


PLANAR_GROUPS = [*[primary(3), primary(3, "P")] * 3, assur(1), assur(2), *dyads(3, ["R", "P"])]
SPATIAL_GROUPS = [*[primary(6), primary(6, "C")] * 9, *dyads(6, ["R", "P", "C", "U", "S"])]


def random_topology(rng):
    """Any mechanism of at most 9 bodies; drives added where the analysis asks for them."""
    if rng.random() < 0.5:
        groups = PLANAR_GROUPS if rng.random() < 0.5 else SPATIAL_GROUPS
        made = random_mechanism(groups, int(rng.integers(2, 8)), rng)
        undriven = with_drives(made, [0] * len(made.pairs))
        driven = [0] * len(made.pairs)
        last = int(rng.integers(len(made.pairs)))
        driven[last] = min(1, made.mobility)
        for drive in analyse_topology(with_drives(undriven, driven)).fixes:
            driven[drive.pair] += drive.count
        return with_drives(undriven, driven)
    dimension = int(rng.choice([3, 6]))
    codes = ["R", "P", "R", "L"] if dimension == 3 else ["R", "P", "C", "U", "S", "SC", "SP"]
    count = int(rng.integers(2, 10))
    pairs = []
    for body in range(1, count):
        pairs.append(make_pair("", int(rng.integers(body)), body, str(rng.choice(codes))))
    for _ in range(int(rng.integers(0, count))):
        first, second = rng.choice(count, 2, replace=False)
        pairs.append(make_pair("", int(first), int(second), str(rng.choice(codes))))
    topology = Topology(dimension, tuple(str(i) for i in range(count)), tuple(pairs))
    if rng.random() < 0.8:
        driven = [0] * len(pairs)
        for drive in analyse_topology(topology).fixes:
            driven[drive.pair] += drive.count
        topology = with_drives(topology, driven)
    return topology


@pytest.mark.slow
@seed(5)
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_flow_equals_the_search(number):
    topology = random_topology(np.random.default_rng(number))
    structure = analyse_topology(topology)
    assert structure.determined == sound(topology)
    if structure.determined:
        found = [group.bodies for group in structure.groups]
        assert sorted(found) == sorted(search_groups(topology))


def test_enough_of_the_random_mechanisms_are_determined():
    drawn = (random_topology(np.random.default_rng(number)) for number in range(100))
    assert sum(analyse_topology(topology).determined for topology in drawn) >= 50


@seed(6)
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_parts_that_are_not_determined(number):
    """What lies outside the two parts is balanced, and the drives that are proposed fix it."""
    topology = random_topology(np.random.default_rng(number))
    structure = analyse_topology(topology)
    over, under = structure.over, structure.under
    for part, frame in ((over, {0}), *((part, set()) for part in structure.stiff)):
        if part is not None:
            asked = sum(topology.equations(topology.pairs[i]) for i in part.pairs)
            room = topology.dimension * (len(part.bodies) - (0 if frame else 1))
            assert asked - room >= part.surplus > 0
            inside = {*frame, *part.bodies}
            assert all(set(topology.pairs[i].ends) <= inside for i in part.pairs)
    if under is not None:
        asked = sum(topology.equations(topology.pairs[i]) for i in under.pairs)
        assert asked - topology.dimension * len(under.bodies) == under.surplus < 0
        driven = [pair.driven for pair in topology.pairs]
        for drive in structure.fixes:
            driven[drive.pair] += drive.count
        fixed = analyse_topology(with_drives(topology, driven))
        assert fixed.under is None or over is not None or structure.stiff
        assert fixed.determined or over is not None or structure.stiff
    if over is not None and under is not None:
        assert not set(over.bodies) & set(under.bodies)
