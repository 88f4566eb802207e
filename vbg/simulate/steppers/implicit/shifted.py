"""Factors of z I - J for real and complex z, dense or sparse as J is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Solve = Callable[[Any], Any]  # of a right side


class Singular(Exception):
    """z is an eigenvalue of J, or J has no value."""


def shifted(J: Any, z: complex) -> Solve:
    """What solves (z I - J) x = b.

    Raises Singular where z I - J cannot be factored.
    """
    number = z.real if z.imag == 0.0 else z
    return _dense(J, number) if isinstance(J, np.ndarray) else _sparse(J, number)


def _dense(J: Any, z: Any) -> Solve:
    from scipy.linalg import lapack

    real = isinstance(z, float)
    factor, solve = (lapack.dgetrf, lapack.dgetrs) if real else (lapack.zgetrf, lapack.zgetrs)
    matrix = np.array(-J, dtype=type(z), order="F")
    matrix.ravel(order="K")[:: len(J) + 1] += z
    lu, pivots, failed = factor(matrix, overwrite_a=1)
    if failed:
        raise Singular
    return lambda b: solve(lu, pivots, b)[0]


def _sparse(J: Any, z: Any) -> Solve:
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    try:
        factors = splu((z * identity(J.shape[0], format="csc") - J).tocsc())
    except RuntimeError as error:  # exactly singular
        raise Singular from error
    solve: Solve = factors.solve
    return solve


def columns(J: Any) -> int:
    """Derivatives that J takes: one for each column, or for the fullest row of a sparse one."""
    if isinstance(J, np.ndarray):
        return len(J)
    return int(J.getnnz(axis=1).max(initial=1))
