"""The table of Dormand and Prince's method: scipy's digits, and the order it is known for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import DOP853

from vbg.plumbing.dormand_prince import DENSE, END, ERROR_3, ERROR_5, NODES, TABLEAU


def test_coefficients_are_those_of_scipy_to_the_last_digit():
    n = len(DOP853.C)
    assert n == END
    assert np.array_equal(TABLEAU[:n, :n], DOP853.A)
    assert np.array_equal(TABLEAU[n, :n], DOP853.B)
    assert np.array_equal(TABLEAU[n + 1 :], DOP853.A_EXTRA)
    assert np.array_equal(NODES, [*DOP853.C, 1.0, *DOP853.C_EXTRA])
    assert np.array_equal(ERROR_5, DOP853.E5)
    assert np.array_equal(ERROR_3, DOP853.E3)
    assert np.array_equal(DENSE, DOP853.D)


@pytest.mark.parametrize("power", range(8))
def test_quadrature_conditions_up_to_order_8(power):
    """sum b_i c_i^k = 1/(k + 1), and each stage stands at its node."""
    assert TABLEAU[END] @ NODES**power == pytest.approx(1.0 / (power + 1), abs=1e-15)
    assert_allclose(TABLEAU.sum(axis=1), NODES, atol=1e-13)


def test_embedded_weights_estimate_orders_5_and_3():
    for weights, order in ((ERROR_5, 5), (ERROR_3, 3)):
        moments = [weights @ NODES[: END + 1] ** k for k in range(order + 1)]
        assert_allclose(moments[:order], 0.0, atol=1e-15)
        assert abs(moments[order]) > 1e-4
