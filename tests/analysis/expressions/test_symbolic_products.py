"""Products of matrices of sums: what is left of numbers that cancel is nothing."""

import numpy as np
import pytest

sympy = pytest.importorskip("sympy")

from vbg.assemble.matrices.products import product  # noqa: E402


def floats(array):
    return sympy.Matrix(*array.shape, [sympy.Float(repr(float(v)), 17) for v in array.ravel()])


@pytest.mark.parametrize("seed", range(10))
def test_what_cancels_leaves_no_term(seed):
    """Q^T (Q x) = x, and S^-1 (S x) where rows of S are decades apart: one term in each entry; a
    term as small as 1e-12 that is there stays."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    D = 10.0 ** rng.uniform(-6, 6, 3)
    x = sympy.Matrix(sympy.symbols("x y z", real=True))
    back = product(floats(Q.T / D), product(floats(D[:, None] * Q), x))
    for entry, symbol in zip(back, x, strict=True):
        assert entry.free_symbols == {symbol}
        assert abs(entry.coeff(symbol) - 1) < 1e-14
    small = product(floats(np.array([[1.0, 1.0]])), sympy.Matrix([x[0] + 1e-12 * x[1], 2.5 * x[0]]))
    assert small[0].free_symbols == {x[0], x[1]}


@pytest.mark.parametrize("seed", range(5))
def test_a_row_across_a_tilted_inertia_has_no_faint_term(seed):
    """c^T J^-1 h where c is J d, and d has no y: of h it reads x and z alone."""
    rng = np.random.default_rng(seed)
    tilt = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    J = tilt @ np.diag([3e-4, 2.0, 0.7]) @ tilt.T
    d = np.array([rng.normal(), 0.0, rng.normal()])
    h = sympy.Matrix(sympy.symbols("h_x h_y h_z", real=True))
    (row,) = product(floats((J @ d)[None, :]), product(floats(np.linalg.inv(J)), h))
    assert row.free_symbols == {h[0], h[2]}
