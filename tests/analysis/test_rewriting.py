"""What equations of motion are rewritten with: the same values, numbers that can be read."""

import numpy as np
import pytest

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic.loops.slopes import Slopes  # noqa: E402
from vbg.analysis.symbolic.loops.tidy import Decimals, exact  # noqa: E402

X = sympy.symbols("x y z t", real=True)


def value(expression, rng_seed):
    at = np.random.default_rng(rng_seed).uniform(0.3, 1.7, len(X))
    return float(expression.xreplace(dict(zip(X, at.tolist(), strict=True))))


def random_sum(rng, count=3, size=1.0):
    """Numbers of all digits before sines, cosines and symbols."""
    waves = [sympy.sin(X[0] - X[1]), sympy.cos(X[2]), X[1], sympy.sin(X[3]) * X[0], X[2] ** 2]
    chosen = rng.permutation(len(waves))[:count]
    return sum(sympy.Float(repr(float(size * rng.normal())), 17) * waves[i] for i in chosen)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
def test_numbers_of_a_product_of_sums_are_those_of_its_sums(seed, size):
    """Fractions with a common denominator, as common factors leave them: nothing of 1e-17 beside
    1e16 comes out, and the value is the same."""
    rng = np.random.default_rng(seed)
    one, other, last = random_sum(rng), random_sum(rng), random_sum(rng, 2)
    whole = exact(one) * exact(size * other) ** 2 + exact(last) / (2 + exact(one) ** 2)
    inner = X[1] * sympy.factor_terms(exact(other)) + exact(last)
    whole += sympy.factor_terms(inner) * exact(one)  # a sum in a sum, its denominator in front
    factored = sympy.factor_terms(whole)
    found = Decimals()(factored)
    numbers = [abs(float(n)) for n in found.atoms(sympy.Float, sympy.Rational) if n != 0]
    assert all(1e-5 * min(1.0, size**2) < n < 1e5 * max(1.0, size**2) for n in numbers), found
    for at in range(3):
        assert value(found, at) == pytest.approx(value(whole, at), rel=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_slopes_are_those_of_sympy(seed):
    """Sums, products, powers, sines in each other; what is left to sympy among them."""
    rng = np.random.default_rng(seed)
    inner = random_sum(rng)
    whole = random_sum(rng) * sympy.sin(inner) / (3 + sympy.cos(inner)) + sympy.exp(-X[0] * X[3])
    whole += sympy.sqrt(2 + X[0] ** 2) * sympy.Abs(X[1]) ** 3
    slope = Slopes()
    for first in X:
        for second in X[:2]:
            found = slope(slope(whole, first), second)
            expected = sympy.diff(whole, first, second)
            assert value(found, seed) == pytest.approx(value(expected, seed), rel=1e-11, abs=1e-12)
