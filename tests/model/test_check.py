"""Rules between parts: each finds its mistake, and good models pass."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from vbg.assemble import assemble
from vbg.errors import ModelError
from vbg.graph import expand
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
            {"bodies": {"a": BODY}, "forces": {"s": {**SPRING, "length": 0.1}}},
            ("error", "forces.s"),
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


def hydraulic(*kinds_on_p):
    """A model whose hydraulic node p has parts of these kinds."""
    laws = {
        "flow_source": {"nodes": ["tank", "p"], "flow": 1e-4},
        "relief_valve": {"nodes": ["p", "tank"], "setting": 1e7, "slope": 1e9},
        "check_valve": {"nodes": ["p", "q"], "conductance": 1e-9},
        "orifice": {"nodes": ["p", "q"], "area": 1e-6},
        "volume": {"nodes": ["p"], "volume": 1e-3},
    }
    parts = {f"my_{kind}": {"kind": kind, **laws[kind]} for kind in kinds_on_p}
    parts["oil"] = {"kind": "volume", "nodes": ["q"], "volume": 1e-3}
    return Model(hydraulic=parts)


def test_oil_that_nothing_gives_a_pressure_is_told_before_causality_is():
    """A pump on valves alone: the usual first hydraulic circuit."""
    (problem,) = (
        p
        for p in check(hydraulic("flow_source", "relief_valve", "check_valve"))
        if p.severity == "error"
    )
    assert problem.where == "hydraulic.my_check_valve.nodes"
    assert "nothing gives the node 'p' its pressure" in problem.what
    assert 'kind = "volume", nodes = ["p"]' in problem.remedy
    for helper in ("volume", "orifice"):
        model = hydraulic("flow_source", "relief_valve", "check_valve", helper)
        assert not [p for p in check(model) if p.severity == "error"]
        assemble(model)


def test_raw_vertices_need_their_bonds():
    mass = {"kind": "I", "value": 1.0}
    lever = {"kind": "TF", "ratio": 2.0}
    line = {"kind": "1"}
    model = Model(bondgraph={"mass": mass, "line": line}, bonds=["line -> mass"])
    assert check(model) == ()
    for bonds, where in (
        ([], {"bondgraph.mass", "bondgraph.line"}),
        (["mass -> line"], {"bondgraph.mass"}),
        (["line -> mass", "line -> mass"], {"bondgraph.mass"}),
    ):
        problems = check(Model(bondgraph={"mass": mass, "line": line}, bonds=bonds))
        assert {p.where for p in problems} == where
        assert all(p.severity == "error" and "above the first table" in p.remedy for p in problems)
    levered = Model(bondgraph={"mass": mass, "lever": lever}, bonds=["lever -> mass"])
    (problem,) = check(levered)
    assert problem.what == "this TF has 0 bonds into it and 1 out of it."


def test_shapes_of_signals_take_the_unit_of_what_they_are():
    model = Model(
        signals={
            "turn": {"kind": "ramp", "height": "90 deg", "duration": "1 s"},
            "push": {"kind": "step", "height": "2 kN"},
        },
        bodies={"a": BODY},
        joints={"j": {**HINGE, "drive": "turn"}},
    )
    assert model.signals["turn"].height == pytest.approx(np.pi / 2)
    assert model.signals["push"].height == 2000.0


def test_an_input_of_an_op_amp_alone_has_no_voltage():
    parts = {
        "amplifier": {"kind": "op_amp", "nodes": ["a", "m", "out"]},
        "feedback": {"kind": "resistor", "nodes": ["out", "m"], "R": 1e4},
        "leg": {"kind": "resistor", "nodes": ["m", "gnd"], "R": 1e3},
    }
    errors = [p for p in check(Model(electric=parts)) if p.severity == "error"]
    assert [p.where for p in errors] == ["electric.amplifier.nodes"]
    assert "nothing gives the node 'a' a voltage" in errors[0].what
    supplied = {**parts, "supply": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1}}
    assert check(Model(electric=supplied)) == ()


def test_a_cylinder_that_starts_beyond_its_stroke_is_doubtful():
    def doubts(**more):
        jack = {"kind": "cylinder", "nodes": ["a", "tank"], "area_a": 1e-3, **more}
        jack["between"] = ["ground", {"body": "a", "at": [0, 0, 0.8]}]
        oil = {"kind": "volume", "nodes": ["a"], "volume": 1e-3}
        model = Model(bodies={"a": BODY}, joints={"j": HINGE}, hydraulic={"jack": jack, "oil": oil})
        return [p for p in check(model) if "posture" in p.what]

    (problem,) = doubts(stroke=0.5)
    assert "its ends are 0.8 m apart" in problem.what and "to 0.5 m (with stroke)" in problem.what
    assert doubts(stroke=0.5, length=0.6) == []
    assert len(doubts(stroke=0.5, length=0.9)) == 1


@pytest.mark.parametrize("place", (0.3, 0.6))
@pytest.mark.parametrize("way", ("joints.rail", "translational.joint:rail", "translational.x"))
def test_a_cylinder_on_a_coordinate_that_starts_beyond_its_stroke_is_doubtful(way, place):
    jack = {"kind": "cylinder", "nodes": ["a", "tank"], "area_a": 1e-3, "stroke": 0.2, "on": way}
    oil = {"kind": "volume", "nodes": ["a"], "volume": 1e-3}
    rail = {"kind": "prismatic", "between": ["ground", "a"], "axis": [0, 0, 1]}
    mass = {"kind": "mass", "nodes": ["x"], "m": 1.0, "position": place}
    model = Model(
        bodies={"a": BODY},
        joints={"rail": {**rail, "initial": {"slide": place}}},
        translational={"load": mass} if way == "translational.x" else {},
        hydraulic={"jack": {**jack, "length": 0.5}, "oil": oil},
    )
    told = [p.what for p in check(model) if "with stroke" in p.what]
    assert len(told) == (place == 0.3)
    assert all(f"{way} is 0.3 m" in what and "from 0.5 m (length)" in what for what in told)


def test_an_unknown_output_is_told_at_the_part_that_reads_it():
    controller = {"kind": "pid", "demand": 1.0, "measured": "rod.B.velocty.x", "kp": 1.0}
    rod = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}, "points": {"B": [1, 0, 0]}}
    model = Model(name="m", bodies={"rod": rod}, signals={"control": controller})
    with pytest.raises(ModelError) as caught:
        expand(model)
    (found,) = caught.value.problems
    assert found.where == "signals.control"
    assert "no signal 'rod.B.velocty.x' to read" in found.what
    assert "rod.B.velocity" in found.remedy
