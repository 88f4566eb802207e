"""The tree of all routes against brute force and closed forms; multiple joints in all ways."""

import itertools
import json
import sys
from math import comb
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.structure.mechanisms import nine_bar, swings
from tests.structure.test_groups import CASES, read
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.structure import analyse_topology, from_pairs, write_topology
from vbg.structure.geometry.multijoints import all_expansions, expansions_text
from vbg.structure.kinematics.measured import handover_cost, measured_costs
from vbg.structure.routes.schedule import estimated_costs, routes
from vbg.structure.routes.showing import routes_data, routes_text, tree_picture
from vbg.structure.routes.synthesis import dyads, primary, random_mechanism
from vbg.structure.routes.tree import MOST_STEPS, route_tree

EXAMPLES = Path(__file__).parents[2] / "examples"

SMALL = ["stewart_platform_inverse", "helicopter_rotor", "nine_bar_planar"]


def by_hand(structure):
    """Every sequence of batches of groups, alike or not, by trying all subsets."""
    needs = {group.number: set(group.needs) for group in structure.groups}

    def walk(done):
        ready = sorted(n for n in needs if n not in done and needs[n] <= done)
        if not ready:
            yield ()
        for size in range(1, len(ready) + 1):
            for batch in itertools.combinations(ready, size):
                for rest in walk(done | set(batch)):
                    yield (batch, *rest)

    return walk(frozenset())


def without_names(structure, route):
    """A route with each group by what it has in common with those alike."""
    feeds = {
        g.number: [h.number for h in structure.groups if g.number in h.needs]
        for g in structure.groups
    }
    kind = {
        g.number: (g.type_name, len(g.bodies), g.driven, g.needs, tuple(feeds[g.number]))
        for g in structure.groups
    }
    return tuple(tuple(sorted(map(repr, (kind[n] for n in batch)))) for batch in route)


@pytest.mark.parametrize("name", SMALL)
def test_every_route_is_there_once_and_ranked(name):
    structure = analyse_topology(read(CASES[name]))
    rng = np.random.default_rng(3)
    costs = {group.number: float(rng.uniform(1.0, 9.0)) for group in structure.groups}
    tree = route_tree(structure, costs, workers=2, handover=0.7)
    ranked = list(tree.ranked())
    every = {without_names(structure, route) for route in by_hand(structure)}
    assert {without_names(structure, path.batches) for path in ranked} == every
    assert len(ranked) == len(every) == tree.count
    totals = [path.cost for path in ranked]
    assert totals == sorted(totals)
    for path in ranked:
        for batch, cost in zip(path.batches, path.costs, strict=True):
            own = [tree.costs[n] for n in batch]
            least = max(*own, sum(own) / 2) if len(own) > 1 else own[0]
            assert least - 1e-12 <= cost <= sum(own) + 0.7 + 1e-12
    nodes = {path.batches[:k] for path in ranked for k in range(len(path.batches) + 1)}
    assert len(nodes) == tree.nodes


@pytest.mark.parametrize("legs", range(1, 7))
def test_equal_legs_have_as_many_routes_as_compositions(legs):
    """Fig. 7: the terminal, then legs alike in batches: 2^(legs - 1) routes, C(legs, k) batches at
    depth k."""
    bodies = [str(i + 1) for i in range(2 + 2 * legs)]
    rows = [("1", bodies[-1], "F", 6)]
    for i in range(legs):
        first, second = bodies[1 + 2 * i], bodies[2 + 2 * i]
        rows += [("1", first, "S", 0), (first, second, "P", 0), (second, bodies[-1], "U", 0)]
    structure = analyse_topology(from_pairs(6, bodies, rows))
    tree = route_tree(structure, estimated_costs(structure), workers=legs)
    assert tree.count == 2 ** (legs - 1)
    assert tree.nodes == 1 + sum(comb(legs, k) for k in range(legs + 1))
    sequential, _, ready = routes(structure, workers=legs)
    paths = list(tree.ranked())
    assert paths[0].cost == ready.length and len(paths[0].batches) == 2
    assert paths[-1].cost == sequential.length and len(paths[-1].batches) == 1 + legs


def test_the_best_route_is_none_worse_than_level_by_level():
    rng = np.random.default_rng(5)
    for _ in range(5):
        templates = [primary(6), *dyads(6, ["R", "S"])]
        structure = analyse_topology(random_mechanism(templates, 10, rng))
        tree = route_tree(structure, estimated_costs(structure), workers=3)
        levels = routes(structure, workers=3)[1]
        assert next(tree.ranked()).cost <= levels.length * (1 + 1e-12)


def test_measured_costs_and_what_handing_over_takes():
    structure, costs = measured_costs(nine_bar(), swings(4, 0.05), 1.0)
    assert set(costs) == {group.number for group in structure.groups}
    assert all(cost >= 0.0 for cost in costs.values()) and any(costs.values())
    handover = handover_cost(2)
    tree = route_tree(structure, costs, handover=handover, unit="s")
    text = routes_text(tree, best=3)
    assert "measured processor time" in text and "us" in text
    expensive = route_tree(structure, costs, handover=1.0, unit="s")
    assert "does not pay: handing over costs more" in routes_text(expensive, best=1)
    assert max(map(len, next(expensive.ranked()).batches)) == 1


def test_misuse_and_what_is_too_wide():
    structure = analyse_topology(read(CASES["nine_bar_planar"]))
    with pytest.raises(UsageError, match="one worker"):
        route_tree(structure, estimated_costs(structure), workers=0)
    bodies = [str(i) for i in range(41)]  # twenty arms of two links, none like another's neighbour
    rows = [("0", str(k), "R", 1) for k in range(1, 21)]
    rows += [(str(k), str(k + 20), "R", 1) for k in range(1, 21)]
    wide = analyse_topology(from_pairs(6, bodies, rows))
    with pytest.raises(UsageError, match=f"more than {MOST_STEPS} partial routes"):
        route_tree(wide, estimated_costs(wide))
    loose = analyse_topology(from_pairs(6, "12", [("1", "2", "R", 0)]))
    with pytest.raises(UsageError, match="has no routes"):
        route_tree(loose, {})


def test_the_command_prints_draws_and_writes_the_tree(tmp_path, capsys):
    file, picture = tmp_path / "s.m", tmp_path / "tree.dot"
    file.write_text(write_topology(read(CASES["stewart_platform_inverse"])))
    command = ["structure", str(file), "--routes", "2", "--workers", "6"]
    assert main([*command, "--tree", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "32 routes" in out and "tree of 65 nodes" in out and "SG-I > SG-II + SG-III" in out
    assert picture.read_text().count("->") == 64 + 32
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["routes"]
    assert found["routes"] == 32 and len(found["best"]) == 2
    assert len(found["tree"]["then"]) == 1 and len(found["tree"]["then"][0]["then"]) == 6


SIX = """ProblemType = 3;
M = {'-' 'R' '-' 'R' '-' 'R'; 'R' '-' 'R' '-' '-' '-'; '-' 'R' '-' 'R' 'R' '-';
     'R' '-' 'R' '-' 'R' '-'; '-' '-' 'R' 'R' '-' 'R'; 'R' '-' '-' '-' 'R' '-'};
KnownInputs = [0 1 0 0 0 0; 1 0 0 0 0 0; 0 0 0 0 0 0; 0 0 0 0 0 0; 0 0 0 0 0 0; 0 0 0 0 0 0];
"""


def test_a_triple_pin_in_all_ways_from_the_command_line(tmp_path, capsys):
    """Section 3.3: three choices; the groups of two of them are all dyads."""
    file = tmp_path / "six.m"
    file.write_text(SIX)
    assert main(["structure", str(file), "--joint", "3,4,5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(one["groups"]) for one in found] == [3, 3, 2]
    assert all(one["determined"] for one in found)
    assert main(["structure", str(file), "--joint", "3,4,5"]) == 0
    assert "nComb = 3 pairs, N_an = 3 choices, 3 of them join all" in capsys.readouterr().out
    for joint, said in (("3,4", "three bodies"), ("3,4,9", "no body '9'"), ("2,4,6", "no pair")):
        assert main(["structure", str(file), "--joint", joint]) == 2
        assert said in capsys.readouterr().err


def test_a_joint_of_four_bodies_has_twenty_choices_of_which_sixteen_join_all():
    rows = [(str(a), str(b), "R", 0) for a, b in itertools.combinations((2, 3, 4, 5), 2)]
    rows += [("1", str(b), "R", 1 if b == 2 else 0) for b in (2, 3)]
    rows += [("1", "6", "R", 0), ("6", "4", "R", 0), ("1", "7", "R", 0), ("7", "5", "R", 0)]
    topology = from_pairs(3, "1234567", rows)
    found = all_expansions(topology, [tuple("2345")])
    assert len(found) == 16 and len({one.pairs for one in found}) == 16
    assert "N_an = 20 choices, 16 of them join all" in expansions_text(found, [tuple("2345")])
    scores = [one.score.groups for one in found if one.score]
    assert scores == sorted(scores, reverse=True)


def test_a_large_tree_is_drawn_by_its_best_routes():
    structure = analyse_topology(read(CASES["micro_manipulator"]))
    tree = route_tree(structure, estimated_costs(structure), workers=4)
    drawn = tree_picture(tree).to_string()
    assert tree.nodes > 400 and drawn.count("plaintext") == 20
    assert routes_data(tree, best=1)["tree"]["then"]


@pytest.mark.parametrize("terminal", [True, False])
def test_measuring_is_told_while_it_lasts(terminal, capsys, monkeypatch):
    """On a terminal only: the first measurement compiles kernels."""
    file = str(EXAMPLES / "two-link-robot.toml")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert main(["show", "structure", file, "--routes", "1", "--measured"]) == 0
    told = capsys.readouterr().err
    assert ("measuring groups" in told) == terminal
    assert not terminal or told.endswith("\r\x1b[K")


def test_one_worker_is_not_said_to_gain(capsys):
    file = str(EXAMPLES / "stewart-platform.toml")
    assert main(["show", "structure", file, "--routes", "2", "--workers", "1"]) == 0
    told = capsys.readouterr().out
    assert "one worker: nothing is solved at the same time" in told and "pays" not in told


RSSR = {
    "bodies": {
        name: {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}, "position": place}
        for name, place in (
            ("crank", [0.05, 0, 0]),
            ("rod", [0.3, 0.1, 0.2]),
            ("rocker", [0.5, 0.2, 0.2]),
        )
    },
    "joints": {
        "A": {
            "kind": "revolute",
            "between": ["ground", {"body": "crank", "at": [-0.05, 0, 0]}],
            "axis": [0, 0, 1],
        },
        "B": {
            "kind": "spherical",
            "between": [
                {"body": "crank", "at": [0.05, 0, 0]},
                {"body": "rod", "at": [-0.2, -0.1, -0.2]},
            ],
        },
        "C": {
            "kind": "spherical",
            "between": [
                {"body": "rod", "at": [0.2, 0.1, 0.2]},
                {"body": "rocker", "at": [0, 0, 0.2]},
            ],
        },
        "D": {
            "kind": "revolute",
            "between": [
                {"body": "ground", "at": [0.5, 0.2, 0.0]},
                {"body": "rocker", "at": [0, 0, -0.2]},
            ],
            "axis": [0, 1, 0],
        },
    },
}


@pytest.mark.parametrize(
    ("drive", "said"),
    [
        (None, "nothing is driven here: 0 freedoms are driven where the mobility is 1."),
        ("3*t", "determined with what geometry adds (double-spherical rod of rod)"),
    ],
)
@pytest.mark.parametrize("options", [["--routes", "2"], ["--workers", "2"]])
def test_what_cannot_be_measured_is_said_once(drive, said, options, tmp_path, capsys):
    """As the report counts it: with the spin of the rod between two balls held."""
    joints = RSSR["joints"] | {"A": RSSR["joints"]["A"] | ({"drive": drive} if drive else {})}
    file = tmp_path / "rssr.toml"
    vbg.write(vbg.Model(**RSSR | {"joints": joints}), file)
    assert main(["show", "structure", str(file), "--measured", *options]) == 2
    told = capsys.readouterr().err
    assert said in told and "error:" not in told.removeprefix("vbg: ")
