"""BLAS on one thread while vbg computes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

from threadpoolctl import ThreadpoolController

SCIPY = "scipy.linalg"  # brings a pool of its own


@dataclass(slots=True)
class _Limited:
    """Pools that are on one thread until `limits` are left; `scipy`: its own, too."""

    limits: ExitStack
    scipy: bool


_inside: ContextVar[_Limited | None] = ContextVar("_inside", default=None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Products of a 3 x 3 with a 3 x n matrix, as implicit methods make them, lose on threads:
    three quarters of a run of 2000 states on two busy cores were waiting for each other, and four
    fifths of the singular values of a structure of 13 bodies."""
    with ExitStack() as limits:
        loaded = SCIPY in sys.modules
        limits.enter_context(_pools(loaded).limit(limits=1, user_api="blas"))
        token = _inside.set(_Limited(limits, loaded))
        try:
            yield
        finally:
            _inside.reset(token)


def load_scipy_on_one_thread() -> None:
    """Load scipy's linear algebra, which takes as long as a small run and which only some
    runs need; its threads are limited until the `one_thread` ends in which this is called, also
    where something else, a search for an event, has loaded it since that began."""
    import scipy.linalg  # noqa: F401

    inside = _inside.get()
    if inside is not None and not inside.scipy:
        inside.limits.enter_context(_pools(True).limit(limits=1, user_api="blas"))
        inside.scipy = True


@cache
def _pools(with_scipy: bool) -> ThreadpoolController:
    """Those of numpy, and scipy where it is loaded, looked for once: that takes 3 ms."""
    return ThreadpoolController()
