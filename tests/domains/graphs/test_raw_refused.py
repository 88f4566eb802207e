"""Raw bond graphs that cannot be: every one is refused with place and remedy, or is one."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import vbg
from benchmarks.robustness.mutants import fault
from vbg.builder import Node
from vbg.errors import ModelError
from vbg.io import toml

SLIP = 0.06  # how often a size is another one, and an entry no good one
SIZES = (1, 2, 3, 7, 101, 100_000, 2**31)
ENTRIES = (0, 0, 1, 2, -1, 1e-9, 1e-320, 1e308)


def _matrix(draw: random.Random, rows: int, columns: int) -> list[list[float]]:
    """A matrix of that shape, diagonal where it can be; or nearly, with a row cut, an entry that
    spoils it, another shape."""
    rows, columns = (draw.choice(SIZES[:3]) if draw.random() < SLIP else n for n in (rows, columns))
    found = [[2.5 * (i == j) for j in range(columns)] for i in range(rows)]
    if draw.random() < 3 * SLIP:
        draw.choice(found)[-1] = draw.choice(ENTRIES)
    if draw.random() < SLIP:
        draw.choice(found).pop()
    return found


def _vertex(name: str, kind: str, size: int, draw: random.Random, onward: int = 1) -> str:
    """A raw vertex whose bonds have `size` components; out of a two-port run `onward`."""
    size = draw.choice(SIZES) if draw.random() < SLIP else size
    lines = [f"[bondgraph.{name}]", f'kind = "{kind}"']
    if kind in ("TF", "GY"):
        lines.append(f"matrix = {_matrix(draw, onward, min(size, 7))}")
    elif kind in ("Se", "Sf"):
        law = [draw.choice((1, "sin(t)"))] * min(size, 200)
        lines.append(f"{'effort' if kind == 'Se' else 'flow'} = {law}")
    else:
        lines.append(f"size = {size}")
        if kind in ("I", "C", "R"):
            law = _matrix(draw, size, size) if size < 8 and draw.random() < 0.5 else None
            lines.append("value = 3" if law is None else f"matrix = {law}")
    return "\n".join(lines)


def _graph(draw: random.Random) -> str:
    """Junctions in a row, two-ports between them, one-ports on each; a bond is lost or turned at
    times."""
    size, bonds, vertices = draw.choice(SIZES[:3]), [], []
    for k in range(draw.randint(1, 3)):
        vertices.append(_vertex(f"j{k}", draw.choice("01"), size, draw))
        for i, kind in enumerate(draw.choices(("I", "C", "R", "Se", "Sf"), (3, 3, 4, 1, 1), k=3)):
            ends = [f"p{k}{i}", f"j{k}"]
            bonds.append(" -> ".join(ends if kind in ("Se", "Sf") else ends[::-1]))
            vertices.append(_vertex(f"p{k}{i}", kind, size, draw))
        if draw.random() < 0.7:
            onward = draw.choice(SIZES[:3])
            vertices.append(_vertex(f"t{k}", draw.choice(("TF", "GY")), size, draw, onward))
            bonds += [f"j{k} -> t{k}", f"t{k} -> j{k + 1}"]
            size = onward
        else:
            bonds.append(f"j{k} -> j{k + 1}")
    vertices.append(_vertex(f"j{k + 1}", draw.choice("01"), size, draw))
    vertices.append(_vertex("last", "R", size, draw))
    bonds.append(f"j{k + 1} -> last")
    if draw.random() < SLIP:
        bonds.pop(draw.randrange(len(bonds)))
    return "\n".join(["vbg = 1", f"bonds = {bonds}", *vertices])


def test_a_raw_graph_of_any_shape_is_refused_with_place_and_remedy_or_is_one():
    fates = Counter(
        fault(_graph(random.Random(seed)), "raw.toml", depth="assemble") for seed in range(120)
    )
    assert set(fates) == {"refused", "assembled"} and min(fates.values()) > 20, fates


CHAIN = """vbg = 1
bonds = ["s -> j", "j -> t", "t -> k", "k -> r"]
[bondgraph.s]
kind = "Se"
effort = [1]
[bondgraph.j]
kind = "1"
[bondgraph.t]
kind = "GY"
matrix = {matrix}
[bondgraph.k]
kind = "0"
[bondgraph.r]
kind = "I"
matrix = {inertia}
"""


def told(matrix: str = "[[2]]", inertia: str = "[[1]]") -> tuple[str, ...]:
    with pytest.raises(ModelError) as error:
        vbg.assemble(toml.parse(CHAIN.format(matrix=matrix, inertia=inertia), "chain.toml"))
    assert all(p.file == "chain.toml" and p.line and p.remedy for p in error.value.problems)
    return tuple(p.what for p in error.value.problems)


def test_each_end_of_a_two_port_has_the_size_of_its_ratio_there():
    """Of 2 x 3 both bonds are wrong, and both are told."""
    first, second = told("[[1, 2, 3], [4, 5, 6]]")
    assert first == "sizes 1 and 3 differ." and second == "sizes 2 and 1 differ."


def test_a_matrix_has_rows_of_one_length():
    assert told("[[1, 2], [3]]") == ("this row has 1 number, the first one 2.",)


def test_what_stores_has_a_symmetric_positive_matrix():
    """Else there is no energy of which the flow is the gradient."""
    for matrix, word in (("[[1, 1], [1, 1]]", "definite"), ("[[2, 1], [0, 2]]", "symmetric")):
        text = CHAIN.format(matrix="[[2]]", inertia=f"{matrix}\nsize = 2")
        with pytest.raises(ModelError, match=word):
            toml.parse(text, "chain.toml")


def test_the_builder_names_the_part_that_it_refuses(monkeypatch):
    """Two vertices of one name, a ratio of a wrong shape: whatever a part writes."""
    from vbg.blocks import const
    from vbg.elements.electric.resistor import Resistor

    text = """vbg = 1
[electric.one]
kind = "resistor"
nodes = ["a", "gnd"]
R = 1
[electric.two]
kind = "resistor"
nodes = ["a", "gnd"]
R = 1
"""
    model = toml.parse(text, "two.toml")

    def twice(self, name, builder):
        builder.zero("same", 1, "scalar", "electric")
        builder.zero("same", 1, "scalar", "electric")

    def of_wrong_shape(self, name, builder):
        nodes = [builder.one(f"{name}.{i}", 1, "scalar", "electric") for i in (1, 2)]
        assert isinstance(nodes[0], Node)
        builder.gyrator(f"{name}.G", *nodes, const([[1.0, 2.0]]))

    for expand, word in ((twice, "both make"), (of_wrong_shape, "shape")):
        monkeypatch.setattr(Resistor, "expand", expand)
        with pytest.raises(ModelError, match=word) as error:
            vbg.expand(model)
        places = [(p.where, p.file, p.line) for p in error.value.problems]
        assert places == [("electric.one", "two.toml", 2), ("electric.two", "two.toml", 6)]
