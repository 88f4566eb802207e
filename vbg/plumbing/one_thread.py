"""BLAS on one thread while vbg computes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

SCIPY = "scipy.linalg"  # brings a pool of its own
_inside: ContextVar[ExitStack | None] = ContextVar("_inside", default=None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Products of a 3 x 3 with a 3 x n matrix, as implicit methods make them, lose on threads:
    three quarters of a run of 2000 states on two busy cores were waiting for each other."""
    with ExitStack() as limits:
        limits.enter_context(_pools(SCIPY in sys.modules).limit(limits=1, user_api="blas"))
        token = _inside.set(limits)
        try:
            yield
        finally:
            _inside.reset(token)


def load_scipy_on_one_thread() -> None:
    """Load scipy's linear algebra, which takes as long as a small run and which only some
    runs need; its threads are limited until the `one_thread` ends in which this is called."""
    if SCIPY in sys.modules:
        return
    import scipy.linalg  # noqa: F401

    limits = _inside.get()
    if limits is not None:
        limits.enter_context(_pools(True).limit(limits=1, user_api="blas"))


@cache
def _pools(with_scipy: bool) -> ThreadpoolController:
    """Those of numpy, and scipy where it is loaded, looked for once: that takes 3 ms."""
    return ThreadpoolController()
