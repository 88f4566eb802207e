"""Types of operators, found once for all of a compilation.

Wherever a function adds, compares or indexes, numba goes through all rules for the operator until
one fits, and words an error for each that does not: of 15 000 such questions of a set of kernels
some 200 are not the same, and their answers took half of the time for types.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OPERATORS = frozenset(value for value in vars(operator).values() if callable(value))


@contextmanager
def remembered_operators() -> Iterator[None]:
    """What numba has found of an operator and the types of its operands stands meanwhile.

    Only where numba answers with code of its own for the operator: what is compiled for a
    question (an overload) depends on the options of the function that asks, too.
    """
    from numba.core.types.functions import BaseFunction

    functions: Any = BaseFunction
    asked = functions.get_call_type
    found: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or self.typing_key not in OPERATORS:
            return asked(self, context, args, kws)
        signature = found.get((self, args))
        if signature is not None:
            self._impl_keys[signature.args] = self.typing_key
            return signature
        signature = asked(self, context, args, kws)
        if signature is not None and self.get_impl_key(signature) is self.typing_key:
            found[self, args] = signature
        return signature

    functions.get_call_type = get_call_type
    try:
        yield
    finally:
        functions.get_call_type = asked


def remembers() -> bool:
    """Whether numba keeps the answers as this knows it."""
    from numba.core.types.functions import BaseFunction

    names = BaseFunction.get_call_type.__code__.co_names
    return "_impl_keys" in names and hasattr(BaseFunction, "get_impl_key")
