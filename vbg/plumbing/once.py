"""What a function finds out about a value that never changes, once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Owner = TypeVar("Owner")
Found = TypeVar("Found")


def once(function: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """Decorator of functions of one frozen value that is itself alone (`eq=False`), as a System:
    each is asked about once and its answer kept as long as it lives.  Nobody may change it."""
    known: WeakKeyDictionary[Owner, Found] = WeakKeyDictionary()

    @wraps(function)
    def asked(owner: Owner) -> Found:
        if owner not in known:
            known[owner] = function(owner)
        return known[owner]

    return asked
