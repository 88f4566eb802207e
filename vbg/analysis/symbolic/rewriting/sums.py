"""Sums of products multiplied out, several times as fast as `sympy.expand` does it.

A sum is kept as a table, product -> number, a product as the powers of its factors,

    sum_k n_k prod_i f_i^a_ki,      {((i, a_ki), ...): n_k}

so that nothing is sorted and written as an expression before it is asked for.  Factors are what
sympy does not multiply out: symbols, functions, roots, sums below a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vbg.analysis.symbolic.rewriting.sharing import arranged, written_so

Product = tuple[tuple[int, Any], ...]  # numbers of factors, rising, and their powers, not zero
Sum = Mapping[Product, Any]  # product -> its number, not zero
ONE: Product = ()
MOST = 250_000  # products of two terms that an object makes: ten seconds


class Exhausted(Exception):
    """More than `MOST` products."""


class Sums:
    """Multiplies out; an object remembers the parts that it has met, and raises `Exhausted` where
    there would be no end of them."""

    def __init__(self) -> None:
        self._made = 0
        self._known: dict[Any, Sum] = {}
        self._numbers: dict[Any, int] = {}
        self._factors: list[Any] = []
        self._products: dict[Product, Any] = {}

    def __call__(self, e: Any) -> Sum:
        """The terms of an expression."""
        found = self._known.get(e)
        if found is None:
            found = self._known[e] = self._terms(e)
        return found

    def factor(self, number: int) -> Any:
        """The factor that products name by `number`."""
        return self._factors[number]

    def expression(self, terms: Sum) -> Any:
        """The sum as sympy writes it."""
        import sympy

        return arranged(sympy.Add, [_times(n, self.product(p)) for p, n in terms.items()])

    def expanded(self, e: Any) -> Any:
        """An expression multiplied out."""
        return self.expression(self(e))

    def product(self, product: Product) -> Any:
        """A product as sympy writes it."""
        import sympy

        found = self._products.get(product)
        if found is None:
            factors = [self._factors[i] ** power for i, power in product]
            roots = any(factor.is_number for factor in factors)  # of numbers, which join
            found = sympy.Mul(*factors) if roots else arranged(sympy.Mul, factors)
            self._products[product] = found
        return found

    def times(self, a: Sum, b: Sum) -> Sum:
        """The product of two sums, counted."""
        self._made += len(a) * len(b)
        if self._made > MOST:
            raise Exhausted
        return multiplied(a, b)

    def power(self, base: Any, exponent: Any) -> Product:
        """The product of one factor."""
        number = self._numbers.get(base)
        if number is None:
            number = self._numbers[base] = len(self._factors)
            self._factors.append(base)
        return ((number, int(exponent) if exponent.is_Integer else exponent),)

    def _terms(self, e: Any) -> Sum:
        import sympy

        if e.is_Rational or e.is_Float:
            return {ONE: e} if e else {}
        if e.is_Add:
            return added([self(term) for term in e.args])
        if e.is_Mul:
            total: Sum = {ONE: sympy.Integer(1)}
            for part in e.args:
                total = self.times(total, self(part))
            return total
        one = sympy.Integer(1)
        base, exponent = e.as_base_exp()
        if base.is_Add and exponent.is_Integer and exponent > 1:
            once = total = self(base)
            for _ in range(int(exponent) - 1):
                total = self.times(total, once)
            return total
        if e.is_Symbol or (isinstance(e, sympy.sin | sympy.cos) and e.args[0].is_Symbol):
            return {self.power(e, one): one}
        made = e if base.is_Symbol or base.is_Number else sympy.expand(e)
        if made != e:
            return self(made)
        return {self.power(base, exponent): one}


def _times(n: Any, product: Any) -> Any:
    """A number times a product without one, which needs none of sympy's looking for what may
    be put together."""
    import sympy

    if n is sympy.S.One or product.is_Number or product.is_Add:
        return n * product
    factors = product.args if product.is_Mul else (product,)
    if factors[0].is_Number:
        return n * product
    return written_so(sympy.Mul, (n, *factors))


def added(sums: list[Sum]) -> Sum:
    """The sum of several."""
    total: dict[Product, Any] = {}
    for terms in sums:
        for product, n in terms.items():
            met = total.get(product)
            total[product] = n if met is None else met + n
    return {product: n for product, n in total.items() if n}


def multiplied(a: Sum, b: Sum) -> Sum:
    """The product of two sums."""
    total: dict[Product, Any] = {}
    for one, n in a.items():
        for other, m in b.items():
            product = joined(one, other)
            met = total.get(product)
            total[product] = n * m if met is None else met + n * m
    return {product: n for product, n in total.items() if n}


def joined(a: Product, b: Product) -> Product:
    """The product of two products."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for factor, power in b:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted((i, power) for i, power in powers.items() if power != 0))
