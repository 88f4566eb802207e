"""Strokes against brute force on small random graphs, and the choices that are taken back."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.reference.causality_search import fewest_dependent_stores
from vbg.causality.assign import attempt

MOST_BONDS = 11


def random_graph(seed: int) -> vbg.Model:
    """Junctions in a tree with some more bonds, TF and GY on them, one-ports on the junctions."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 6))
    graph: dict = {f"j{i}": {"kind": str(random.choice(["0", "1"]))} for i in range(count)}
    bonds: list[str] = []

    def link(a: int, b: int) -> None:
        kind = str(random.choice(["bond", "bond", "TF", "GY"]))
        if kind == "bond":
            bonds.append(f"j{a} -> j{b}")
            return
        name = f"t{len(graph)}"
        graph[name] = {"kind": kind, "ratio": float(random.uniform(0.5, 2.0))}
        bonds.extend([f"j{a} -> {name}", f"{name} -> j{b}"])

    pairs = {(int(random.integers(0, i)), i) for i in range(1, count)}
    for _ in range(int(random.integers(0, 3))):
        a, b = sorted(random.choice(count, 2, replace=False))
        pairs.add((int(a), int(b)))
    for a, b in sorted(pairs):
        link(a, b)
    laws = {"Se": {"effort": 1}, "Sf": {"flow": 1}}
    for i in range(count):
        for _ in range(int(random.integers(0, 3))):
            kind = str(random.choice(["I", "I", "C", "C", "R", "R", "Se", "Sf"]))
            name = f"{kind}{len(graph)}"
            graph[name] = {"kind": kind, **laws.get(kind, {"value": float(random.uniform(1, 2))})}
            bonds.append(f"{name} -> j{i}" if kind in laws else f"j{i} -> {name}")
    return vbg.Model(bondgraph=graph, bonds=bonds)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_as_many_stores_keep_integral_causality_as_can(first):
    """A conflict is found where there is no assignment at all, and only there; the stores
    that depend on others are as few as they can be."""
    compared = refused = 0
    for seed in range(first, first + 50):
        graph = vbg.expand(random_graph(seed))
        if len(graph.bonds) > MOST_BONDS:
            continue
        causal, fewest = attempt(graph), fewest_dependent_stores(graph)
        assert (fewest is None) == bool(causal.conflicts), seed
        if fewest is None:
            refused += 1
        else:
            assert len(causal.dependent_stores) == fewest, seed
            compared += 1
    assert compared > 10 and refused > 0


def test_a_free_choice_that_leads_to_a_conflict_is_taken_back():
    """R must give flow to b: with effort(flow), its preference, neither T nor G fits."""
    graph = {
        "U": {"kind": "Se", "effort": 1},
        "a": {"kind": "1"},
        "I": {"kind": "I", "value": 1},
        "s": {"kind": "0"},
        "T": {"kind": "TF", "ratio": 0.5},
        "b": {"kind": "1"},
        "R": {"kind": "R", "value": 1},
        "G": {"kind": "GY", "ratio": 2},
    }
    bonds = ["U -> a", "a -> I", "a -> s", "s -> T", "T -> b", "b -> R", "b -> G", "G -> s"]
    causal = vbg.assign(vbg.expand(vbg.Model(bondgraph=graph, bonds=bonds)))
    assert causal.why("R")[0] == (
        "b -> R: b determines the effort, because R may have either causality; "
        "flow(effort) was chosen."
    )


def test_a_store_gives_way_where_integral_causality_has_no_assignment():
    """Both ends of the transformer want to give: one of the two compliances depends."""
    graph = {
        "a": {"kind": "0"},
        "C": {"kind": "C", "value": 1},
        "T": {"kind": "TF", "ratio": 2},
        "b": {"kind": "0"},
        "D": {"kind": "C", "value": 1},
    }
    causal = vbg.assign(
        vbg.expand(vbg.Model(bondgraph=graph, bonds=["a -> C", "a -> T", "T -> b", "b -> D"]))
    )
    assert causal.dependent_stores == ("D",) and not causal.conflicts
