"""Expressions in which much occurs many times: each sub-expression is looked at once.

sympy's trees are graphs: a sum that stands in twenty products is one object in twenty places, and
what it stands in stands in others.  Its own `xreplace`, `atoms` and printers walk every path, of
which there are some hundred for each object in the equations of a bushing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any


def replaced(expression: Any, table: Mapping[Any, Any], done: dict[Any, Any] | None = None) -> Any:
    """`expression.xreplace(table)`; `done` is shared by expressions that share parts."""
    return rewritten(expression, table.get, {} if done is None else done)


def renumbered(expression: Any, change: Callable[[Any], Any]) -> Any:
    """The expression, or matrix of expressions, with `change(number)` for each of its floats."""
    import sympy

    def changed(node: Any) -> Any:
        return change(node) if isinstance(node, sympy.Float) else None

    done: dict[Any, Any] = {}
    if isinstance(expression, sympy.MatrixBase):
        return expression.applyfunc(lambda entry: rewritten(entry, changed, done))
    return rewritten(expression, changed, done)


def rewritten(node: Any, change: Callable[[Any], Any], done: dict[Any, Any]) -> Any:
    """What `change` makes of the node, or the node of its rewritten arguments where that is None;
    `done` holds what has been rewritten already."""
    if node in done:
        return done[node]
    found = change(node)
    if found is None:
        found = node
        if node.args:
            args = [rewritten(one, change, done) for one in node.args]
            if any(a is not b for a, b in zip(args, node.args, strict=True)):
                found = node.func(*args)
    done[node] = found
    return found


def written_once() -> Callable[[Any], str]:
    """`str` of expressions, which keeps what it has written of their parts."""
    from sympy.printing.str import StrPrinter

    printer = remembering(StrPrinter)()
    return lambda expression: str(printer.doprint(expression))


@cache
def remembering(printer: type) -> type:
    """A class of printers that keep what they have written of each sum, product, function."""

    class Remembering(printer):
        def __init__(self, settings: Mapping[str, Any] | None = None):
            super().__init__(settings)
            self._written: dict[Any, Any] = {}

        def _print(self, expr: Any, **how: Any) -> Any:
            if how or not getattr(expr, "args", ()):
                return super()._print(expr, **how)
            if expr not in self._written:
                self._written[expr] = super()._print(expr)
            return self._written[expr]

    return Remembering
