"""What equations of motion are rewritten with: the same values, numbers that can be read."""

import numpy as np
import pytest
from scipy.linalg import qr

sympy = pytest.importorskip("sympy")
from sympy.printing.c import C99CodePrinter  # noqa: E402
from sympy.printing.fortran import FCodePrinter  # noqa: E402
from sympy.printing.str import StrPrinter  # noqa: E402

from vbg.analysis.symbolic.loops.pivots import pivots  # noqa: E402
from vbg.analysis.symbolic.rewriting.angles import simplified  # noqa: E402
from vbg.analysis.symbolic.rewriting.common import common_parts  # noqa: E402
from vbg.analysis.symbolic.rewriting.factors import factored  # noqa: E402
from vbg.analysis.symbolic.rewriting.printing import ordered_terms, ordering  # noqa: E402
from vbg.analysis.symbolic.rewriting.sharing import renamed  # noqa: E402
from vbg.analysis.symbolic.rewriting.slopes import Slopes  # noqa: E402
from vbg.analysis.symbolic.rewriting.sums import Sums  # noqa: E402
from vbg.analysis.symbolic.rewriting.tidy import Decimals, Tidy, exact  # noqa: E402
from vbg.assemble.matrices.products import product  # noqa: E402

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


def test_terms_that_differ_by_the_sizes_of_their_sums_cancel():
    """1000 z (0.0037123 x + 0.0011457 y) - z (3.7123 x + 1.1457 y) = 0."""
    x, y, z, _ = X
    small = exact(sympy.Float("0.0037123", 17) * x + sympy.Float("0.0011457", 17) * y)
    large = exact(sympy.Float("3.7123", 17) * x + sympy.Float("1.1457", 17) * y)
    assert Decimals()(1000 * z * small - z * large) == 0


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


def random_expressions(rng, count):
    """Sums and products of each other, signs and quotients among them."""
    found = [*X, sympy.sin(X[0]), sympy.cos(X[1] - X[2])]
    for _ in range(count):
        a, b, c = (found[i] for i in rng.integers(len(found), size=3))
        n = sympy.Rational(int(rng.integers(-4, 5)), int(rng.integers(1, 4)))
        forms = (a + n * b - c, a * b * c, n * a - b, a * b - c * b, a / (2 + b**2), -a * c)
        found.append(forms[rng.integers(len(forms))])
    return found[-count:]


@pytest.mark.parametrize("seed", range(4))
def test_common_parts_renaming_and_products_are_those_of_sympy(seed):
    """Name by name, expression by expression."""
    rng = np.random.default_rng(seed)
    every = random_expressions(rng, 25)
    own = common_parts(every, sympy.numbered_symbols("k"))
    assert own == sympy.cse(every, symbols=sympy.numbered_symbols("k"), order="none")
    names = dict(zip(X, sympy.symbols("t p a0 z", real=True), strict=True))
    met = {}
    assert [renamed(e, names, met) for e in every] == [e.xreplace(names) for e in every]
    entries = np.array(every[:24], dtype=object) * rng.integers(0, 2, 24)
    A, B = sympy.Matrix(4, 3, entries[:12]), sympy.Matrix(3, 4, entries[12:])
    assert product(A, B, A) == A * B * A
    with pytest.raises(ValueError, match="no product"):
        product(A, A)
    floats = {
        n: sympy.Float(float(n), 17) for n in {n for e in every for n in e.atoms(sympy.Number)}
    }
    every += [1 - 3 * X[0], X[1] - 2.5, *(e.expand().xreplace(floats) for e in every[::3])]
    for total in (e.expand() for e in every if e.expand().is_Add):
        assert ordered_terms(total) in (None, total.as_ordered_terms())
    free = {"standard": 2008, "source_format": "free"}
    for kind, how in ((C99CodePrinter, {}), (FCodePrinter, free), (StrPrinter, {})):
        ours, theirs = ordering(kind)(how), kind(how)
        assert [ours.doprint(e) for e in every] == [theirs.doprint(e) for e in every]


@pytest.mark.parametrize("seed", range(3))
def test_angles_among_other_things_become_shorter_and_keep_their_value(seed):
    """sin^2 + cos^2 in sums, in Max, below roots and lines; what is small in its place stays."""
    rng = np.random.default_rng(seed)
    x, y, z, t = X
    s, c = sympy.sin(t), sympy.cos(t)
    a, b, d = (sympy.Float(repr(float(n)), 17) for n in rng.uniform(1.0, 3.0, 3))
    root = sympy.sqrt(a * s**2 + a * c**2 + b * s + b)
    small = sympy.sqrt((x * s) ** 2 + (x * c) ** 2 + 1e-13)
    whole = y * (d * s**2 + d * c**2) + z * c / root + c / (small * root + x * root)
    whole += sympy.Max(0, y * s**2 + y * c**2 - z * root) / (x + s**2 + c**2) ** 2
    found = simplified(whole)
    assert 2 * found.count_ops() < whole.count_ops()
    for values in rng.uniform(0.3, 1.7, (3, 4)):
        at = dict(zip(X, (1e-7, *values[1:].tolist()), strict=True))
        assert float(found.xreplace(at)) == pytest.approx(float(whole.xreplace(at)), rel=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_common_factors_are_those_of_sympy(seed):
    """But for a sign, which stays where it is; sums that are not multiplied out among them."""
    rng = np.random.default_rng(seed)
    sums = Sums()
    factors = [*X, sympy.sin(X[0]), sympy.cos(X[1] - X[2]), sympy.sin(2 * X[3]), 1 + X[0] ** 2]
    for _ in range(40):
        shared = sympy.Mul(*(factors[i] for i in rng.integers(len(factors), size=rng.integers(3))))
        terms = []
        for _ in range(rng.integers(2, 5)):
            number = sympy.Rational(*map(int, rng.integers(1, 40, size=2))) * rng.choice([-1, 1])
            others = (factors[i] for i in rng.integers(len(factors), size=rng.integers(1, 3)))
            terms.append(number * shared * sympy.Mul(*others))
        total = sympy.Add(*terms)
        found, expected = factored(total, sums), sympy.factor_terms(total)
        assert found == expected or (found == total and -expected == -total)


def test_pivots_are_those_of_lapack_and_the_first_of_equals():
    """Ranks, lengths and order of random matrices; of equal columns the first, whatever rounding
    says."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows, columns = rng.integers(2, 9, 2)
        rank = int(rng.integers(1, min(rows, columns) + 1))
        A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
        order, sizes = pivots(A)
        _, R, expected = qr(A, pivoting=True, mode="economic")
        assert order[:rank] == expected[:rank].tolist() and len(set(order)) == columns
        assert sizes == pytest.approx(np.abs(np.diag(R)), rel=1e-9, abs=1e-12 * sizes[0])
    like = np.hstack([A, A]) + 1e-13 * rng.normal(size=(rows, 2 * columns))
    assert pivots(like)[0][0] < columns


@pytest.mark.parametrize("stiff", [1e6, 1e13])
def test_a_small_term_stays_beside_a_large_one_of_another_kind(stiff):
    """1e13 N*m/rad beside 0.05 N*m*s/rad and 0.02 N*m: what cancels is rounding, what is small is
    not; one of the same kind whose terms cancel goes."""
    x, y, z, t = X
    s, c = sympy.sin(t), sympy.cos(t)
    large, small = sympy.Float(stiff), sympy.Float(0.05)
    left = y * (sympy.Float(0.1) * (s**2 + c**2) + sympy.Float(0.2) - sympy.Float(0.3))
    found = simplified(-large * x * (s**2 + c**2) - small * z + sympy.Float(0.02) * s + left)
    assert float(found.coeff(x)) == -stiff and found.coeff(z) == pytest.approx(-0.05)
    assert found.coeff(s) == pytest.approx(0.02) and not found.has(y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1e-15, 1.0, 1e15])
def test_what_is_left_of_numbers_that_cancel_goes_whatever_its_size(seed, size):
    """(a - b - c)(x^2 - y^2) with b + c = a but for the last digit, each product written in another
    way: what is left goes alone and beside others, e t and e z, 1e-13 of a, stay."""
    rng = np.random.default_rng(seed)
    x, y, z, t = X
    a, b = (sympy.Rational(repr(float(n))) for n in size * rng.uniform(0.5, 2.0, 2))
    c = sympy.Rational(repr(float(a - b) * (1.0 + 4e-16)))
    e = sympy.Rational(repr(float(a) * 1e-13))
    nothing = a * (x + y) * (x - y) - b * (x**2 - y**2) - (c * x**2 - c * y**2)
    assert sympy.expand(nothing) != 0
    tidy = Tidy()
    assert tidy(nothing) == 0
    assert sympy.expand(tidy(nothing + e * t)) == e * t
    found = sympy.expand(tidy(nothing + a * t + e * z))
    assert found.coeff(z) == e and found.coeff(t) == a and not found.has(x)
