"""Operations counted as sympy counts them, on random expressions of equations of motion."""

import random

import pytest

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic.rewriting.counting import Operations  # noqa: E402

SYMBOLS = sympy.symbols("q u l m J", real=True)


def expression(rng, depth):
    """A sum, product, power or sine of such; numbers of both signs, fractions and decimals."""
    if depth == 0:
        return rng.choice([*SYMBOLS, sympy.sin(SYMBOLS[0]), sympy.cos(SYMBOLS[1])])
    kind = rng.choice(["sum", "product", "power", "wave"])
    if kind == "sum":
        return sympy.Add(*[number(rng) * expression(rng, depth - 1) for _ in range(3)])
    if kind == "product":
        return sympy.Mul(number(rng), *[expression(rng, depth - 1) for _ in range(3)])
    if kind == "power":
        return expression(rng, depth - 1) ** rng.choice([2, 3, -1, -2])
    return rng.choice([sympy.sin, sympy.cos])(expression(rng, depth - 1))


def number(rng):
    return rng.choice([1, -1, 2, -3, sympy.Rational(1, 2), sympy.Rational(-7, 3), sympy.Float(1.5)])


def multiplied_out_by_sympy(e):
    """Whether a sum stands in a product beside a number or below a line: what sympy expands."""
    return any(
        any(f.is_Add or (f.is_Pow and f.base.is_Add) for f in product.args)
        for product in e.atoms(sympy.Mul)
    )


def test_random_expressions():
    rng, count, met = random.Random(15), Operations(), 0
    for _ in range(300):
        e = expression(rng, rng.randint(1, 3))
        if not multiplied_out_by_sympy(e):
            met += 1
            assert count(e) == e.count_ops(), e
    assert met > 100


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("-x - y", 2),
        ("y - x", 1),
        ("x*y/3", 2),
        ("2*x/(3*y)", 3),
        ("1/x", 1),
        ("x**2*sin(y)", 3),
        ("-x/2", 2),
    ],
)
def test_by_hand(text, operations):
    e = sympy.sympify(text)
    assert Operations()(e) == operations == e.count_ops()


def test_a_factor_before_a_sum_counts_as_it_is_printed():
    x, y = sympy.symbols("x y")
    assert Operations()(sympy.Mul(2, x + y, evaluate=False)) == 2  # sympy counts 3, of 2*x + 2*y
