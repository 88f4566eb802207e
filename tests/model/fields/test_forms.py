"""Every form of field: what it accepts, what it gives, what it refuses."""

import math

import pytest

from vbg import expressions
from vbg.fields import Attachment, Field
from vbg.model.forms.forms import read_value
from vbg.model.resolve.resolve import resolve
from vbg.model.values.reading import Reading, Scope

SCOPE = Scope(
    points={"rod": {"A": (1.0, 0.0, 0.0)}, "plate": {}},
    origins={"plate": (0.0, 0.0, 0.5)},
    joints={"hinge": ("angle",), "ball": (), "tube": ("angle", "slide")},
    signals=("ramp", "pid"),
    objects={"rod": "bodies", "hinge": "joints", "ramp": "signals", "energy": ""},
    nodes={"rotational": ("shaft",), "translational": ()},
)


def read(form, raw, **details):
    """Value and messages of one field."""
    reading = Reading(parameters={"w": 3.0, "V": 12.0})
    value = read_value(reading, SCOPE, ("x",), raw, Field(form, "", **details))
    return value, " | ".join(f"{p.what} {p.remedy}".strip() for p in reading.problems)


@pytest.mark.parametrize(
    ("form", "raw", "value", "details"),
    [
        ("quantity", "2*w mm", 0.006, {"unit": "m"}),
        ("vector", [1, "w", "2 cm"], (1.0, 3.0, 0.02), {"unit": "m", "size": 3}),
        ("matrix", [1, 2], ((1.0, 0.0), (0.0, 2.0)), {"size": 2}),
        ("matrix", [[1, 2], [3, 4]], ((1.0, 2.0), (3.0, 4.0)), {"size": 2}),
        ("direction", [0, 0, -5], (0.0, 0.0, -1.0), {"size": 3}),
        ("table", [[0, 1], [1, "w"]], ((0.0, 1.0), (1.0, 3.0)), {"size": 2}),
        ("choice", "world", "world", {"choices": ("world", "body")}),
        ("count", 3, 3, {"minimum": 1}),
        ("count", "2*w", 6, {}),
        ("flag", False, False, {}),
        ("text", "hello", "hello", {}),
        ("nodes", ["a", "gnd"], ("a", "gnd"), {"size": 2}),
        ("end", "rod.A", Attachment("rod", (1.0, 0.0, 0.0), "A"), {}),
        ("end", "ground", Attachment("ground"), {}),
        ("end", {"body": "plate", "at": [0, 0, 1]}, Attachment("plate", (0.0, 0.0, 0.5)), {}),
        ("end", {"body": "plate"}, Attachment("plate"), {}),
        ("end or coordinate", "joints.hinge", "joints.hinge", {}),
        ("end or coordinate", "rod", Attachment("rod"), {}),
        ("coordinate", "joints.hinge", "joints.hinge", {}),
        ("coordinate", "rotational.shaft", "rotational.shaft", {}),
        (
            "coordinates",
            ["joints.hinge", "rotational.shaft"],
            ("joints.hinge", "rotational.shaft"),
            {"size": 2},
        ),
        ("signal", 3, 3.0, {"unit": "V"}),
        ("signal", "V/w", 4.0, {"unit": "V"}),
        ("signal", "12 mV", 0.012, {"unit": "V"}),
        ("signal", "ramp", "ramp", {"unit": "V"}),
        ("signal", "V*sin(w*t)", "12*sin(3*t)", {"unit": "V"}),
        ("signal", "2*hinge.angle + pid", "2*hinge.angle + pid", {"unit": "V"}),
        ("signals", [1, "ramp", "t"], (1.0, "ramp", "t"), {"size": 3}),
        ("signals", "w", (3.0,), {}),
        (
            "outputs",
            ["rod.A.velocity", "energy.kinetic", "ramp"],
            ("rod.A.velocity", "energy.kinetic", "ramp"),
            {},
        ),
        ("outputs", [], (), {}),
        ("expression", "w*flow**2", "3*flow**2", {"variables": ("flow",)}),
        ("expression", "w*x", "w*x", {"variables": ("x", "w")}),
        ("expression", 2.5, "2.5", {"variables": ("x",)}),
    ],
)
def test_accepted(form, raw, value, details):
    assert read(form, raw, **details) == (value, "")


@pytest.mark.parametrize(
    ("form", "raw", "message", "details"),
    [
        ("quantity", [1], "expected a number [m], found a list of 1.", {"unit": "m"}),
        ("quantity", 10**400, "expected a finite number, found a number too large.", {}),
        ("quantity", 1e60, "no machine has a number as large as 1e+60.", {}),
        ("quantity", 2, "must be less than 1, found 2.", {"below": 1.0}),
        ("quantity", 2, "must be at most 1 [m], found 2.", {"maximum": 1.0, "unit": "m"}),
        ("vector", 3, "expected a list of 2 numbers, found 3.", {"size": 2}),
        ("vector", [1, "x"], "unknown name 'x' in 'x'. There are these names: w, V.", {"size": 2}),
        ("matrix", [[1, 2], [3]], "expected 2 numbers, found 1.", {"size": 2}),
        ("table", [], "expected a list of rows, found an empty one.", {"size": 2}),
        ("choice", "x", "'x' is not one of a, b.", {"choices": ("a", "b")}),
        ("count", 2.5, "expected a whole number, found 2.5.", {}),
        ("count", 0, "must be at least 1, found 0.", {"minimum": 1}),
        ("flag", 1, "expected true or false, found 1.", {}),
        ("text", "", "expected a text in quotes, found an empty text.", {}),
        (
            "nodes",
            ["a", "a"],
            "all ends are on the node a: a part connected to itself.",
            {"size": 2},
        ),
        (
            "nodes",
            ["a.b", "c"],
            "'a.b' cannot name a node. Use letters, digits, _ and -.",
            {"size": 2},
        ),
        ("end", "rod.B", "the body rod has no point 'B'. There are these points of rod: A.", {}),
        ("end", "rd", "unknown body 'rd'. Did you mean 'rod'?", {}),
        ("end", {"at": [1, 2, 3]}, "the attachment names no body.", {}),
        ("end", 3, 'expected "BODY", "BODY.POINT", "ground" or { body, at }, found 3.', {}),
        ("ends", ["rod", "rod.A"], "both ends are on rod: a part connected to itself.", {}),
        ("coordinate", "joints.ball", "needs a joint with one free coordinate; ball has none.", {}),
        (
            "coordinate",
            "joints.tube",
            "needs a joint with one free coordinate; tube has 2: angle, slide.",
            {},
        ),
        (
            "coordinate",
            "rotational.shft",
            "unknown rotational node 'shft'. Did you mean 'shaft'?",
            {},
        ),
        (
            "coordinates",
            ["joints.hinge", "joints.hinge"],
            "joints.hinge is coupled to itself.",
            {"size": 2},
        ),
        ("signal", "rampp", "unknown name 'rampp' in 'rampp'. Did you mean 'ramp'?", {}),
        ("signal", "2*t m", "[m] is a length, expected a voltage [V].", {"unit": "V"}),
        (
            "signal",
            "1/t",
            "has no value at t = 0: division by zero in '1/t': look at its values.",
            {},
        ),
        (
            "signal",
            "nothing.angle",
            "unknown name 'nothing.angle' in 'nothing.angle'. There are these names: w, V, t,",
            {},
        ),
        (
            "outputs",
            ["rod"],
            "'rod' names a part, not one of its signals. For example rod.position or rod.force.",
            {},
        ),
        (
            "expression",
            "w*z",
            "unknown name 'z' in 'w*z'. There are these names: w, V, x, ramp, pid.",
            {"variables": ("x",)},
        ),
    ],
)
def test_refused(form, raw, message, details):
    value, found = read(form, raw, **details)
    assert value is None
    assert message in found


def test_a_unit_scales_a_signal():
    text, problems = read("signal", "30*sin(w*t) deg", unit="rad")
    assert problems == ""
    value = expressions.evaluate(expressions.parse(text), {"t": 0.2})
    assert value == pytest.approx(math.radians(30 * math.sin(0.6)), rel=1e-14)


def test_wrong_parameters_are_reported_once():
    """What uses a parameter that is wrong itself is not blamed as well."""
    body = {"mass": "m", "inertia": {"xx": "m", "yy": "m", "zz": "m"}, "points": {"A": ["m", 0, 0]}}
    joint = {"kind": "revolute", "between": ["ground", "b.A"], "axis": [0, "m", 0]}
    shape = {"shape": {"cylinder": {"radius": "m", "length": "m"}, "density": "m"}}
    document = {
        "parameters": {"m": "2*oops"},
        "bodies": {"b": body, "c": shape},
        "joints": {"j": joint},
    }
    problems = resolve(document).problems
    assert [p.where for p in problems] == ["parameters.m"]
