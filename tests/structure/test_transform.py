"""Structural transformations against trying everything; the store; the paper's second case."""

from itertools import product

import numpy as np
import pytest

from tests.reference.structure_search import sound
from tests.structure.test_groups import CASES, PLANAR_GROUPS, SPATIAL_GROUPS, read
from vbg.errors import UsageError
from vbg.structure import analyse_topology, from_pairs
from vbg.structure.routes.store import load, save
from vbg.structure.routes.synthesis import random_mechanism
from vbg.structure.routes.transform import score_of, search_drives
from vbg.structure.topology.topology import with_drives


@pytest.mark.parametrize("number", range(8))
def test_search_finds_every_choice(number):
    groups = PLANAR_GROUPS if number % 2 else SPATIAL_GROUPS
    topology = random_mechanism(groups, 3, np.random.default_rng(number))
    ways = product(*(range(pair.grade + 1) for pair in topology.pairs))
    expected = {
        way for way in ways if sum(way) == topology.mobility and sound(with_drives(topology, way))
    }
    assert {choice.driven for choice in search_drives(topology).choices} == expected


@pytest.mark.slow
def test_the_rotor_and_its_library():
    topology = read(CASES["helicopter_rotor_transformed"])
    library = {"1P3D", "1R3D", "1R1U1S3D", "1P1U1S3D"}
    found = search_drives(topology, library=library, order=("library", "groups", "depth"))
    assert found.complete
    best = found.choices[0].score
    assert best.complete
    assert best.groups == 9
    paper = next(c for c in found.choices if c.driven == tuple(p.driven for p in topology.pairs))
    assert paper.score == score_of(analyse_topology(topology), library)
    assert paper.score.complete
    assert [best.groups >= choice.score.groups for choice in found.choices].count(False) == 0


def test_cancel_keeps_what_was_found_and_the_best_are_the_best():
    topology = read(CASES["nine_bar_planar"])
    fractions = []

    def stop_after_seven(found, fraction):
        fractions.append(fraction)
        return found < 7

    stopped = search_drives(topology, progress=stop_after_seven)
    assert not stopped.complete
    assert len(stopped.choices) == 7
    assert fractions == sorted(fractions)
    everything = search_drives(topology)
    best = search_drives(topology, keep=3)
    assert best.choices == everything.choices[:3]
    assert everything.complete
    assert not best.complete
    with_two = search_drives(topology, required=[4, 7]).choices
    expected = tuple(c for c in everything.choices if c.driven[4] and c.driven[7])
    assert with_two == expected
    few = search_drives(topology, allowed=[0, 1, 2, 9])
    assert [choice.driven for choice in few.choices] == [(1, 1, 1, 0, 0, 0, 0, 0, 0, 1)]


def test_store_answers_without_searching(tmp_path):
    topology = read(CASES["nine_bar_planar"])
    found = search_drives(topology)
    path = tmp_path / "structures.sqlite"
    save(path, found, "nine bar")
    save(path, search_drives(topology, keep=2), "nine bar")
    save(path, search_drives(read(CASES["spatial_four_bar"])), "four bar")
    again = load(path, topology)
    assert again.choices == found.choices
    assert again.complete
    library = {"1R2D"}
    ranked = load(path, topology, library=library, order=("library",), keep=5)
    direct = search_drives(topology, library=library, order=("library",), keep=5)
    assert ranked.choices == direct.choices
    with pytest.raises(UsageError, match="search first"):
        load(path, read(CASES["helicopter_rotor"]))
    with pytest.raises(UsageError, match="no file"):
        load(tmp_path / "none", topology)


def test_misuse():
    welded = from_pairs(3, "123", [("1", "2", "R", 0), ("2", "3", "R", 0), ("3", "1", "R", 0)])
    assert search_drives(welded).choices[0].score.groups == 1
    stiff = from_pairs(
        3, "1234", [(*pair, "R", 0) for pair in ("12", "23", "31", "14", "43", "42")]
    )
    with pytest.raises(UsageError, match="over-constrained without any drive"):
        search_drives(stiff)
    with pytest.raises(UsageError, match="no criterion 'size'"):
        search_drives(welded, order=["size"])
