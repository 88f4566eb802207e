"""Expressions in which much occurs many times: each sub-expression is looked at once.

sympy's trees are graphs: a sum that stands in twenty products is one object in twenty places, and
what it stands in stands in others.  Its own `xreplace`, `atoms` and printers walk every path, of
which there are some hundred for each object in the equations of a bushing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cmp_to_key
from typing import Any

from vbg.analysis.symbolic.rewriting.printing import ordering


def replaced(expression: Any, table: Mapping[Any, Any], done: dict[Any, Any] | None = None) -> Any:
    """`expression.xreplace(table)`; `done` is shared by expressions that share parts."""
    return rewritten(expression, table.get, {} if done is None else done)


def renamed(node: Any, names: Mapping[Any, Any], done: dict[Any, Any]) -> Any:
    """The expression with other symbols, no two of them by one name: its sums and products are
    sorted anew and not made again."""
    return rewritten(node, names.get, done, arranged)


def arranged(kind: Any, args: list[Any]) -> Any:
    """`kind(*args)` where no two arguments of a sum, or product, cancel or are alike, as when each
    stands for one that was there: they are only sorted.  Products in products are put together
    where they have no factor in common; sums in sums, and numbers before sums, as ever."""
    import sympy

    if kind is sympy.Mul:
        factors = [one for a in args for one in (a.args if a.is_Mul else (a,))]
        apart = len(factors) == len(args) or _differ(factors)
    else:
        factors = args
        apart = kind is sympy.Add and not any(a.is_Add for a in args)
    numbers = [a for a in factors if a.is_Number]
    before_sum = kind is sympy.Mul and len(factors) == 2 and factors[1].is_Add
    if not apart or before_sum or len(numbers) > 1:
        return kind(*args)
    others = [a for a in factors if not a.is_Number] if numbers else factors
    return written_so(kind, (*numbers, *sorted(others, key=_place())))


def _differ(factors: list[Any]) -> bool:
    """Whether no two factors have a base in common, and none is the root of a number."""
    bases = [one.as_base_exp()[0] for one in factors if not one.is_Number]
    return len(set(bases)) == len(bases) and not any(base.is_Number for base in bases)


def written_so(kind: Any, args: tuple[Any, ...]) -> Any:
    """The sum or product of `args`, real and in sympy's order, as they are: `evaluate=False`, but
    without a look at each and at what is remembered."""
    from sympy import Basic

    if len(args) < 2:
        return kind(*args)
    made: Any = Basic.__new__(kind, *args)
    made.is_commutative = True
    return made


def renumbered(expression: Any, change: Callable[[Any], Any]) -> Any:
    """The expression, or matrix of expressions, with `change(number)` for each of its floats."""
    import sympy

    def changed(node: Any) -> Any:
        return change(node) if isinstance(node, sympy.Float) else None

    done: dict[Any, Any] = {}
    if isinstance(expression, sympy.MatrixBase):
        return expression.applyfunc(lambda entry: rewritten(entry, changed, done))
    return rewritten(expression, changed, done)


def rewritten(
    node: Any,
    change: Callable[[Any], Any],
    done: dict[Any, Any],
    made: Callable[[Any, list[Any]], Any] = lambda kind, args: kind(*args),
) -> Any:
    """What `change` makes of the node, or the node of its rewritten arguments, as `made` makes it,
    where that is None; `done` holds what has been rewritten already."""
    if node in done:
        return done[node]
    found = change(node)
    if found is None:
        found = node
        if node.args:
            args = [rewritten(one, change, done, made) for one in node.args]
            if any(a is not b for a, b in zip(args, node.args, strict=True)):
                found = made(node.func, args)
    done[node] = found
    return found


def written_once() -> Callable[[Any], str]:
    """`str` of expressions, which keeps what it has written of their parts."""
    from sympy.printing.str import StrPrinter

    printer = remembering(ordering(StrPrinter))({"full_prec": False})
    return lambda expression: str(printer.doprint(expression))


@cache
def _place() -> Callable[[Any], Any]:
    """The key by which sympy sorts arguments."""
    from sympy import Basic

    return cmp_to_key(Basic.compare)


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
