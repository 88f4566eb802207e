"""Rounding of joint forces: a heavy body is no size of what holds a light one.

x of A x = b, A = G M^-1 G^T, blocks X_k of three efforts: to first order their error is
|A^-1| (|A| |X| + |B|), with the lengths of blocks for |.| (R. Skeel, J. ACM 26, 1979), and no
share of the longest of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import lu_solve, matrix, workdps

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import leaf, rows, stack
from vbg.blocks.node import transpose
from vbg.blocks.rounding import terms_of
from vbg.blocks.systems import solve, symmetric_factor

EPS = np.finfo(float).eps
JOINTS = 4


def program(coupled):
    """Efforts and their terms of JOINTS joints, each with the ones beside it where coupled."""
    pairs = [(i, i) for i in range(JOINTS)]
    pairs += [(i + 1, i) for i in range(JOINTS - 1) if coupled[i]]
    inputs, pieces = {"b": leaf("b", 3 * JOINTS)}, []
    for i, j in pairs:
        inputs[f"A{i}{j}"] = given = leaf(f"A{i}{j}", 9)
        block = stack(*(transpose(rows(given, 3 * k, 3 * k + 3)) for k in range(3)))
        pieces.append((i, j, 0, 0, block))
    x = solve(symmetric_factor((3,) * JOINTS, pieces), inputs["b"])
    each = stack(*(rows(x, i, i + 1) for i in range(3 * JOINTS)))
    return Evaluator(lower({"x": x, "T": terms_of(each)}, inputs)), pairs


@pytest.mark.parametrize("seed", range(8))
def test_efforts_err_by_what_is_coupled_to_them(seed):
    rng = np.random.default_rng(seed)
    coupled = rng.random(JOINTS - 1) < 0.6
    masses = 10.0 ** rng.permutation([8.0, -5.0, rng.uniform(-5, 8), rng.uniform(-5, 8)])
    evaluate, pairs = program(coupled)
    A = np.zeros((3 * JOINTS, 3 * JOINTS))
    blocks = [slice(3 * i, 3 * i + 3) for i in range(JOINTS)]
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(JOINTS)]
    for i in range(JOINTS):  # each body hangs on the one before, which gives way, too
        A[blocks[i], blocks[i]] = (turns[i] * rng.uniform(1, 3, 3)) @ turns[i].T / masses[i]
        if i and coupled[i - 1]:
            A[blocks[i], blocks[i]] += np.eye(3) / masses[i - 1]
            A[blocks[i], blocks[i - 1]] = -turns[i] @ turns[i - 1] / masses[i - 1]
            A[blocks[i - 1], blocks[i]] = A[blocks[i], blocks[i - 1]].T
    b = 9.81 * rng.normal(size=3 * JOINTS)
    given = np.concatenate([b, *(A[blocks[i], blocks[j]].ravel() for i, j in pairs)])
    found = evaluate(0.0, given)
    x, T = found[: 3 * JOINTS], found[3 * JOINTS :]
    with workdps(60):
        exact = np.array([float(v) for v in lu_solve(matrix(A.tolist()), matrix(b.tolist()))])
        inverse = np.array((matrix(A.tolist()) ** -1).tolist(), dtype=float)

    def size(of):
        return np.array([np.linalg.norm(of[one]) for one in blocks])

    sizes = np.array([[np.linalg.norm(A[i, j]) for j in blocks] for i in blocks])
    residual = sizes @ size(exact) + size(b)
    bound = np.array([size(row) for row in inverse]) @ residual
    assert np.all(np.abs(x - exact) <= 4.0 * EPS * T)
    assert np.all(20.0 * bound >= T)
