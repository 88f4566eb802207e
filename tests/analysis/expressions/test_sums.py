"""Sums multiplied out as sympy does it, on random expressions of equations of motion."""

import random

import pytest

sympy = pytest.importorskip("sympy")

from tests.analysis.expressions.test_operations import SYMBOLS, expression  # noqa: E402
from vbg.analysis.symbolic.rewriting.counting import Terms  # noqa: E402
from vbg.analysis.symbolic.rewriting.sums import Sums, joined, multiplied  # noqa: E402
from vbg.analysis.symbolic.rewriting.tidy import Waves, exact  # noqa: E402

Q, U, L, *_ = SYMBOLS
WHOLE = 400  # terms that are still multiplied out here


def drawn(count, seed):
    """Random expressions with fractions for decimals, roots and other functions among them."""
    rng, terms = random.Random(seed), Terms()
    found = []
    while len(found) < count:
        e = exact(expression(rng, rng.randint(1, 3)))
        if rng.random() < 0.4:
            inner = exact(expression(rng, 1))
            e *= rng.choice([sympy.sqrt(1 + inner**2), sympy.Max(0, inner), sympy.exp(inner)])
        if terms(e) <= WHOLE:
            found.append(e)
    return found


def test_as_sympy_multiplies_out():
    sums = Sums()
    for e in drawn(150, 3):
        assert sympy.expand(sums.expanded(e) - e) == 0, e


def test_what_cancels_is_gone():
    sums, x = Sums(), Q + U
    assert sums((x - U) * (x + U) - Q**2 - 2 * Q * U) == {}
    assert sums.expanded(sympy.sqrt(L) * sympy.sqrt(L) * Q / L) == Q
    assert sums.expanded((Q + U) ** 3 * (Q - U)) == sympy.expand((Q + U) ** 3 * (Q - U))
    assert sums.expanded(Q / (1 + U) * (1 + U)) == Q


def test_products_are_a_ring():
    """Products of sums by the tables, and of products in any order, are those of sympy."""
    sums = Sums()
    one, other = drawn(2, 8)
    assert sums.expression(multiplied(sums(one), sums(other))) == sympy.expand(
        sums.expanded(one) * sums.expanded(other)
    )
    a, b = next(iter(sums(Q**2 * sympy.sin(U) / L))), next(iter(sums(L**2 / Q)))
    assert joined(a, b) == joined(b, a) == next(iter(sums(Q * L * sympy.sin(U))))


@pytest.mark.parametrize("form", ["angles_added", "without_squares"])
def test_identities_of_waves_keep_the_value(form):
    rng, sums = random.Random(5), Sums()
    waves = [sympy.sin(Q), sympy.cos(U), sympy.sin(Q - U), sympy.cos(Q), sympy.sin(U)]
    for _ in range(20):
        e = sum(rng.randint(-3, 3) * sympy.Mul(*rng.choices([*waves, L], k=3)) for _ in range(4))
        found = sums.expression(getattr(Waves(sums), form)(sums(e)))
        for at in ({Q: 0.3, U: -1.1, L: 0.7}, {Q: 2.1, U: 0.4, L: -1.3}):
            assert float(found.xreplace(at)) == pytest.approx(float(e.xreplace(at)), abs=1e-13)
        if form == "angles_added":
            assert not any(m.has(sympy.sin) and m.has(sympy.cos) for m in found.atoms(sympy.Mul))
