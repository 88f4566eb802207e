"""Common factors of sums that are multiplied out, several times as fast as `sympy.factor_terms`.

6/5 x y + 9/5 x z = 3/5 x (2 y + 3 z)
"""

from __future__ import annotations

from functools import reduce
from math import gcd, lcm
from typing import Any

from vbg.analysis.symbolic.rewriting.sums import Product, Sums


def factored(expression: Any, sums: Sums) -> Any:
    """`sympy.factor_terms(expression)`; a sum with no factor in common but -1 as it is.  What is
    no sum of products of symbols and of functions of plain arguments is left to sympy."""
    import sympy

    if not expression.args:
        return expression
    if not expression.is_Add:
        return sympy.factor_terms(expression)
    if not all(map(_multiplied_out, expression.args)):
        return sympy.factor_terms(expression)
    terms = sums(expression)
    numbers = list(terms.values())
    if not all(n.is_Rational for n in numbers):
        return sympy.factor_terms(expression)
    above, below = gcd(*(int(n.p) for n in numbers)), lcm(*(int(n.q) for n in numbers))
    if below != 1 and any(n.q == 1 for n in numbers):  # part of the denominator stays inside
        return sympy.factor_terms(expression)
    common = reduce(_shared, terms)
    if above == below == 1 and not common:
        return expression
    sign = -1 if all(n.p < 0 for n in numbers) else 1
    content = sympy.Rational(sign * above, below)
    inside = sums.expression({_without(p, common): n / content for p, n in terms.items()})
    if common:
        return sympy.Mul(content, sums.product(common), inside)
    return sympy.Mul(content, inside, evaluate=False)


def _multiplied_out(term: Any) -> bool:
    """Whether a term is a number times plain factors."""
    factors = term.args if term.is_Mul else (term,)
    return all(_plain(factor) for factor in factors[bool(factors[0].is_Number) :])


def _plain(factor: Any) -> bool:
    """Whether nothing in a factor could be factored: a symbol, or a function of a product or of
    a sum of symbols, to a whole power."""
    base, power = factor.as_base_exp()
    if not (power.is_Integer and power > 0):
        return False
    if base.is_Symbol:
        return True
    if not (base.is_Function and len(base.args) == 1):
        return False
    arg = base.args[0]
    if arg.is_Add:
        terms = (term.as_coeff_Mul() for term in arg.args)
        return all(abs(n) == 1 and one.is_Symbol for n, one in terms)
    return all(f.is_Symbol or f.is_Number for f in (arg.args if arg.is_Mul else (arg,)))


def _shared(a: Product, b: Product) -> Product:
    """The factors of both."""
    powers = dict(b)
    found = ((i, min(power, powers.get(i, 0))) for i, power in a)
    return tuple((i, power) for i, power in found if power > 0)


def _without(product: Product, common: Product) -> Product:
    powers = dict(common)
    left = ((i, power - powers.get(i, 0)) for i, power in product)
    return tuple((i, power) for i, power in left if power)
