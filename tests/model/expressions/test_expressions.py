"""Expressions: values as Python's own arithmetic, derivatives as finite differences."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vbg import expressions
from vbg.errors import ModelError
from vbg.expressions import Binary, Call, Name, Number, Unary

ENV = {"a": 1.3, "b": -0.7, "t": 0.4, "hinge.angle": 2.5}
PYTHON = {name: function for name, (function, _, _) in expressions.FUNCTIONS.items()}


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2*3 - 4/5",
        "-2**2",
        "2**-1",
        "2**3**2",
        "(2**3)**2",
        "-a*-b",
        "a - (b - t)",
        "a - b - t",
        "a/(b/t)",
        "a/b/t",
        "a/b*t",
        "1./2.*a",
        ".5e1 + 5.E-1",
        "+a",
        "--a",
        "sin(a)*cos(b)+tan(t)",
        "atan2(a, b) + max(a, b, t) - min(a, b)",
        "sqrt(abs(b)) + exp(log(a))",
        "asin(t) + acos(t) + atan(t)",
        "sign(b) + sign(a) + sign(0)",
        "pi*a**2/4",
        "((((a))))",
    ],
)
def test_value_is_that_of_python(text):
    expected = eval(text, {"pi": math.pi, **PYTHON}, dict(ENV))
    node = expressions.parse(text)
    assert expressions.evaluate(node, ENV) == pytest.approx(expected, rel=1e-15)
    assert expressions.evaluate(
        expressions.parse(text.replace("**", "^")), ENV
    ) == expressions.evaluate(node, ENV)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a number, a name or '\\(', found the end at character 1"),
        ("2 +", "found the end at character 4"),
        ("2 + )", "found '\\)' at character 5"),
        ("(2", "expected '\\)' at character 3"),
        ("2 3", "expected an operator at character 3"),
        ("a b", "expected an operator at character 3"),
        ("foo(1)", "'foo' is not a function"),
        ("sin", "needs its argument in brackets"),
        ("sin()", "found '\\)'"),
        ("sin(1, 2)", "sin takes 1 argument"),
        ("atan2(1)", "atan2 takes 2 arguments"),
        ("1e999", "too large"),
        ("a.__class__", "unknown name"),
        ("[1][0]", "found '\\['"),
        ("lambda: 1", "expected an operator"),
        ("(" * 200 + "1" + ")" * 200, "nested deeper"),
        ("-" * 200 + "1", "in a row"),
        ("2" + "**2" * 200, "in a row"),
        ("1 + " * 2000 + "1", "longer than"),
        ("1/(a - 1.3)", "division by zero in '1/\\(a - 1.3\\)'"),
        ("0**-1", r"domain in '0\*\*-1': \(0\)\*\*\(-1\) has no value"),
        ("(-2)**0.5", r"domain in .*: \(-2\)\*\*\(0.5\) has no value"),
        ("log(0)", r"domain in 'log\(0\)': log\(0\) has no value"),
        ("2*asin(6*0.5/2)", r"domain in .*: asin\(1.5\) has no value"),
        ("asin(1 + 2e-16)", r"asin\(1.0000000000000002\) has no value"),
        ("exp(1000)", "too large"),
        ("9**9**9", "too large"),
        ("1e308*10", "not a finite number"),
        ("c", "unknown name 'c'"),
    ],
)
def test_refused_with_its_place(text, message):
    with pytest.raises(ModelError, match=message):
        expressions.evaluate(expressions.parse(text), ENV)


@pytest.mark.slow
def test_long_sums_and_products():
    text = "+".join(["a"] * 150)
    node = expressions.parse(text)
    assert expressions.evaluate(node, ENV) == pytest.approx(150 * ENV["a"])
    assert expressions.parse(expressions.to_text(node)) == node
    with pytest.raises(ModelError, match="more than 150 operations"):
        expressions.parse(text + "+a")
    product = expressions.parse("*".join(["t"] * 150))
    twice = expressions.derivative(expressions.derivative(product, "t"), "t")
    assert expressions.evaluate(twice, {"t": 1.0}) == pytest.approx(150 * 149)


def test_the_unit_after_an_expression_is_left():
    assert expressions.parse_prefix("2*a mm") == (Binary("*", Number(2.0), Name("a")), "mm")
    assert expressions.parse_prefix("45deg")[1] == "deg"
    assert expressions.parse_prefix("5 1/s")[1] == "1/s"
    assert expressions.names(expressions.parse("sin(t)*hinge.angle + pi")) == {"t", "hinge.angle"}


LEAVES = st.one_of(
    st.floats(0, 50, allow_nan=False).map(Number), st.sampled_from(["a", "b", "t"]).map(Name)
)


def grown(inner):
    one = st.sampled_from(
        ["sin", "cos", "atan", "exp", "abs", "sqrt", "log", "tan", "asin", "acos"]
    )
    two = st.sampled_from(["atan2", "max", "min"])
    return st.one_of(
        inner.map(Unary),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "**"]), inner, inner),
        st.builds(lambda f, x: Call(f, (x,)), one, inner),
        st.builds(lambda f, x, y: Call(f, (x, y)), two, inner, inner),
        st.builds(lambda x, y, z: Call("max", (x, y, z)), inner, inner, inner),
    )


NODES = st.recursive(LEAVES, grown, max_leaves=8)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(NODES)
def test_text_and_tree_are_one(node):
    assert expressions.parse(expressions.to_text(node)) == node


@settings(max_examples=400, derandomize=True, deadline=None)
@given(NODES)
def test_substituting_parameters_keeps_the_value(node):
    try:
        value = expressions.evaluate(node, ENV)
    except ModelError:
        assume(False)
    reduced = expressions.substitute(node, {"a": ENV["a"], "b": ENV["b"]})
    assert expressions.names(reduced) <= {"t"}
    assert expressions.evaluate(reduced, ENV) == pytest.approx(value, rel=1e-12, abs=1e-12)


@settings(max_examples=600, derandomize=True, deadline=None)
@given(NODES)
def test_derivative_is_the_slope(node):
    def value(t):
        return expressions.evaluate(node, {**ENV, "t": t})

    t, step = ENV["t"], 1e-4
    try:
        around = [value(t + i * step) for i in (-2, -1, 0, 1, 2)]
        found = expressions.evaluate(expressions.derivative(node, "t"), ENV)
    except ModelError:
        assume(False)
    slope = (around[0] - 8 * around[1] + 8 * around[3] - around[4]) / (12 * step)
    coarse = (around[4] - around[0]) / (4 * step)
    scale = max(abs(slope), max(map(abs, around)), 1e-3)
    assume(scale < 1e6)
    # where two estimates of the slope differ there is a kink, a jump or a pole nearby
    assume(abs(slope - coarse) < 1e-4 * scale)
    assert found == pytest.approx(slope, abs=1e-6 * scale)
