"""BLAS on one thread while vbg computes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Products of a 3 x 3 with a 3 x n matrix, as implicit methods make them, lose on threads:
    three quarters of a run of 2000 states on two busy cores were waiting for each other."""
    return _pools().limit(limits=1, user_api="blas")


@cache
def _pools() -> ThreadpoolController:
    """Those of numpy and scipy, looked for once: that takes 3 ms."""
    import scipy.linalg  # noqa: F401  brings its own

    return ThreadpoolController()
