"""Derivatives by the chain rule; parts that occur again are derived once.

Sums, products, powers, sines and cosines, of which equations of motion consist, are derived here,
and what else occurs by sympy.  An object remembers the parts that it has met.
"""

from __future__ import annotations

from typing import Any


class Slopes:
    """d expression / d symbol."""

    def __init__(self) -> None:
        self._read: dict[Any, frozenset[Any]] = {}
        self._known: dict[tuple[Any, Any], Any] = {}

    def __call__(self, expression: Any, x: Any) -> Any:
        """The derivative of `expression` by the symbol `x`."""
        import sympy

        if x not in self.read(expression):
            return sympy.Integer(0)
        key = expression, x
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._derived(expression, x)
        return found

    def matrix(self, matrix: Any, x: Any) -> Any:
        """The derivative of every entry."""
        return matrix.applyfunc(lambda entry: self(entry, x))

    def read(self, expression: Any) -> frozenset[Any]:
        """The symbols in `expression`."""
        found = self._read.get(expression)
        if found is None:
            if expression.is_Atom:
                found = frozenset(expression.free_symbols)
            else:
                found = frozenset().union(*map(self.read, expression.args))
            self._read[expression] = found
        return found

    def _derived(self, e: Any, x: Any) -> Any:
        import sympy

        if e.is_Symbol:
            return sympy.Integer(1)
        if e.is_Add:
            return sympy.Add(*[self(a, x) for a in e.args if x in self.read(a)])
        if e.is_Mul:
            places = [i for i, a in enumerate(e.args) if x in self.read(a)]
            return sympy.Add(
                *[sympy.Mul(*e.args[:i], self(e.args[i], x), *e.args[i + 1 :]) for i in places]
            )
        if e.is_Pow and e.exp.is_Number:
            return e.exp * e.base ** (e.exp - 1) * self(e.base, x)
        if isinstance(e, sympy.sin | sympy.cos):
            return e.fdiff(1) * self(e.args[0], x)
        return e.diff(x)
