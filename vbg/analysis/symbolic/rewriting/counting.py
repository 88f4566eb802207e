"""The number of operations in an expression as it is printed, ten times as fast as sympy's, and
the number of its terms.

Sums and products, of which equations of motion consist, are counted by their terms, and parts
that occur again are remembered.  The rules are those of `sympy.count_ops`, to which all else is
left; that multiplies 2*(x + y) out before it counts, which is counted here as it stands.
"""

from __future__ import annotations

import math
from typing import Any

from vbg.analysis.symbolic.rewriting.printing import as_float


class Operations:
    """Counts operations; an object remembers the parts it has met."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def __call__(self, expression: Any) -> int:
        """Signs, sums, products, quotients, powers and functions in `expression`."""
        if not expression.args:
            return _atom(expression)
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._count(expression)
        return found

    def _count(self, e: Any) -> int:
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow and e.exp.is_Number and e.exp.is_negative is False:
            return 1 + self(e.base) + self(e.exp)
        if e.is_Function and len(e.args) == 1 and e.func.__name__ in ("sin", "cos", "tan"):
            return 1 + self(e.args[0])
        return int(e.count_ops())

    def _sum(self, e: Any) -> int:
        """A sign in front counts where all terms have one: -x - y, but not y - x."""
        numbers = [term.as_coeff_Mul()[0] for term in e.args]
        signs = [as_float(number) < 0.0 for number in numbers]
        parts = sum(
            self._without_sign(term) if sign else self(term)
            for term, sign in zip(e.args, signs, strict=True)
        )
        return int(parts) + len(e.args) - 1 + all(signs)

    def _without_sign(self, term: Any) -> int:
        """A term whose sign belongs to its sum."""
        return self(term) - 1 if term.is_Mul else self(-term)

    def _product(self, e: Any) -> int:
        """Its sign, its factors, and one division by all that stands below the line."""
        number, rest = e.as_coeff_Mul()
        factors = rest.args if rest.is_Mul else (rest,)
        total = int(as_float(number) < 0.0)
        above, below = 0, 0
        if number.is_Rational:
            above, below = int(abs(number.p) != 1), int(number.q != 1)
        elif number.is_Float:
            above = 1
        divides = below > 0
        for factor in factors:
            base, power = factor.as_base_exp()
            if factor.is_Pow and power.is_negative:
                if not power.is_Number:
                    return int(e.count_ops())
                below, divides = below + 1, True
                total += self(base) if power == -1 else 1 + self(base) + self(-power)
            else:
                above += 1
                total += self(factor)
        return total + max(above - 1, 0) + max(below - 1, 0) + int(divides)


class Terms:
    """Counts the terms of an expression multiplied out, before any cancel; an object remembers
    the parts it has met."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def __call__(self, e: Any) -> int:
        """1 for a symbol or function, sums of sums, products of products, whole powers."""
        if not (e.is_Add or e.is_Mul or e.is_Pow):
            return 1
        found = self._known.get(e)
        if found is None:
            found = self._known[e] = self._count(e)
        return found

    def _count(self, e: Any) -> int:
        if e.is_Add:
            return sum(map(self, e.args))
        if e.is_Mul:
            return math.prod(map(self, e.args))
        return int(self(e.base) ** int(e.exp)) if e.exp.is_Integer and e.exp > 0 else 1


def _atom(e: Any) -> int:
    """A number below zero counts its sign, a fraction its line."""
    if e.is_Rational:
        return int(e.p < 0) + int(e.q != 1)
    return int(e.count_ops()) if e.is_NumberSymbol else 0
