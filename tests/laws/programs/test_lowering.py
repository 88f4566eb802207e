"""What is lowered has the value of its matrices: products of every shape, and sums of products,
stacks and constants that are added where they are wanted."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.testing import assert_allclose

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import const, leaf, linear, mul, rows, stack, transpose, zeros


def test_products_and_sums_of_every_shape():
    """A B and 2 B'A' - C, of 1 to 6 rows and columns."""
    rng = np.random.default_rng(21)
    inputs, outputs, expected, given = {}, {}, {}, []
    for m, inner, cols in product(range(1, 7), (2, 3, 4), range(1, 7)):
        name = f"{m} {inner} {cols}"
        shapes = ((m, inner), (inner, cols))
        A, B = (leaf(f"{side} {name}", *shape) for side, shape in zip("AB", shapes, strict=True))
        a, b = (rng.normal(size=shape) for shape in shapes)
        inputs |= {A.data: A, B.data: B}
        given += [a.ravel(), b.ravel()]
        outputs[name], expected[name] = mul(A, B), a @ b
        turned = mul(transpose(B), transpose(A))
        outputs[f"{name} sum"] = linear((2.0, turned), (-1.0, leaf(f"C {name}", cols, m)))
        inputs[f"C {name}"] = leaf(f"C {name}", cols, m)
        given.append(np.ones(m * cols))
        expected[f"{name} sum"] = 2.0 * (a @ b).T - 1.0
    evaluate = Evaluator(lower(outputs, inputs | {"t": leaf("t", 1)}))
    evaluate(0.0, np.concatenate(given))
    for name, value in expected.items():
        assert_allclose(evaluate.output(name).reshape(value.shape), value, rtol=1e-13, atol=1e-13)


def test_terms_are_added_where_they_are_wanted():
    """Stacks of other cuts, which are not one stack of sums; twice, as constants are written once
    and must not be added to what is left there."""
    rng = np.random.default_rng(22)
    A, u, v = leaf("A", 3, 3), leaf("u", 3), leaf("v", 6)
    upper = stack(const([1.0, 2.0, 3.0]), mul(A, u))
    other = stack(zeros(1), linear((2.0, mul(A, u)), (1.0, u)), const([4.0, 5.0]))
    outputs = {
        "stacks": linear((3.0, upper), (-2.0, other)),
        "with a vector": linear((1.0, upper), (0.5, v)),
        "of sums": stack(linear((1.0, u), (-1.0, mul(A, u))), zeros(2), linear((4.0, u))),
    }
    evaluate = Evaluator(lower(outputs, {"A": A, "u": u, "v": v, "t": leaf("t", 1)}))
    for _ in range(2):
        a, x, y = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=6)
        evaluate(0.0, np.concatenate([a.ravel(), x, y]))
        one, two = np.r_[1.0, 2.0, 3.0, a @ x], np.r_[0.0, 2.0 * a @ x + x, 4.0, 5.0]
        expected = {
            "stacks": 3.0 * one - 2.0 * two,
            "with a vector": one + 0.5 * y,
            "of sums": np.r_[x - a @ x, np.zeros(2), 4.0 * x],
        }
        for name, value in expected.items():
            assert_allclose(evaluate.output(name).ravel(), value, rtol=1e-13, atol=1e-13)


def test_constants_fold_to_one_node_each():
    """c A, A B, A', rows and columns of A have numpy's bits, -0.0 being 0.0; no number makes
    anything but zero of zeros."""
    rng = np.random.default_rng(7)
    A, B = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    A[0] = -0.0
    A[:, 2] = 0.0
    x = leaf("x", 3)
    for _ in range(2):  # made, then found again
        assert linear((-3.0, const(A))) == const(-3.0 * A)
        assert mul(const(A), const(B)) == const(A @ B)
        assert transpose(const(A)) == const(A.T)
        assert rows(const(A), 1, 3) == const(A[1:3])
        below = mul(const(A[1:, :2]), rows(x, 0, 2))  # without its rows and columns of zeros
        assert mul(const(A), x) == stack(zeros(1), below)
    assert const(-np.zeros((2, 2))) == zeros(2, 2)
    assert linear((np.inf, zeros(3))) == zeros(3)
