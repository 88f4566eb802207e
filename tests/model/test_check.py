"""Rules between parts: each finds its mistake, and good models pass."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import pytest

from vbg.io import toml
from vbg.model import Model, check
from vbg.model.check import _islands, _lonely_nodes

BODY = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
HINGE = {"kind": "revolute", "between": ["ground", "a"], "axis": [0, 1, 0]}


SPRING = {"kind": "spring", "between": ["ground", "a"], "k": 1}
ROD = {"kind": "distance", "between": ["ground", "a"]}
CARDAN = {"kind": "universal", "between": ["ground", "a"], "axis": [0, 0, 1], "axis2": [0, 0, 1]}


def found(**document):
    return [(p.severity, p.where) for p in check(Model(**document))]


def test_a_good_model_passes():
    assert found(bodies={"a": BODY}, joints={"j": HINGE}) == []
    assert found(bodies={"a": BODY}) == []


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, ("error", "model")),
        ({"bodies": {"a": BODY, "b": BODY}, "joints": {"j": HINGE}}, ("warning", "bodies.b")),
        ({"bodies": {"a": BODY}, "parameters": {"k": 1.0}}, ("note", "parameters.k")),
        (
            {"bodies": {"a": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 2.001}}}},
            ("warning", "bodies.a.inertia"),
        ),
        (
            {"bodies": {"a": BODY}, "forces": {"s": SPRING}},
            ("warning", "forces.s"),
        ),
        (
            {"bodies": {"a": BODY}, "joints": {"d": ROD}},
            ("error", "joints.d"),
        ),
        (
            {
                "bodies": {"a": {**BODY, "position": [0, 0, 0]}},
                "joints": {"u": CARDAN},
            },
            ("warning", "joints.u"),
        ),
        (
            {"bodies": {"a": BODY}, "joints": {"j": {**HINGE, "drive": "sqrt(t)"}}},
            ("error", "joints.j.drive"),
        ),
        (
            {"bodies": {"a": BODY}, "joints": {"j": {**HINGE, "drive": "t**1.5"}}},
            ("error", "joints.j.drive"),
        ),
        (
            {"bodies": {"a": BODY}, "simulate": {"t_end": 0.1, "output_step": 0.2}},
            ("warning", "simulate.output_step"),
        ),
    ],
)
def test_found(document, expected):
    assert found(**document) == [expected]


def test_places_of_a_file():
    model = toml.parse("[parameters]\nk = 1\n[bodies.a]\nmass = 1\ninertia = {xx=1, yy=1, zz=1}\n")
    (problem,) = check(model)
    assert (problem.line, problem.column) == (2, 1)


@dataclass(frozen=True)
class Part:
    """A stand-in for any part with nodes."""

    nodes: tuple[str, ...]
    kind: ClassVar[str] = "resistor"


def circuit(table, **parts):
    tables = {"electric": {}, "hydraulic": {}, table: {n: Part(p) for n, p in parts.items()}}
    return SimpleNamespace(**tables, bonds=(), where=lambda path: ("", 0, 0))


def test_floating_islands_are_errors():
    islands = list(_islands(circuit("electric", R=("a", "gnd"), L=("b", "c"), C=("c", "d"))))
    assert [(p.severity, p.where) for p in islands] == [("error", "electric.L")]
    assert "b, c, d" in islands[0].what
    assert not list(_islands(circuit("hydraulic", pump=("p", "tank"), line=("p", "q"))))


def test_nodes_with_one_part_are_doubtful():
    lonely = list(_lonely_nodes(circuit("electric", U=("a", "gnd"), R=("A", "gnd"))))
    assert [p.where for p in lonely] == ["electric.U.nodes", "electric.R.nodes"]
