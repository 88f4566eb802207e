"""Terms that are rounding beside others of their kind, taken out of vectors and matrices.

A turn about a skew axis leaves 1e-17 of a component that vanishes, and nothing of the same entry
tells it from a small number.  Its like elsewhere does: terms are like that agree but for their
number and their sines and cosines, which are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import sqrt
from typing import Any

from vbg.analysis.symbolic.rewriting.printing import as_float
from vbg.analysis.symbolic.rewriting.sums import Product, Sum, Sums, joined

ROUNDING = 1e-14  # of a number that is a sum of products of a few turns, beside its kind
Sizes = dict[Product, float]  # the largest number of each kind of term


def cleared(matrix: Any, sums: Sums) -> Any:
    """A matrix of one unit without terms that are rounding beside their like in any entry."""
    like = Kinds(sums)
    sizes = like.sizes(matrix)
    return matrix.applyfunc(
        lambda entry: _without(entry, sums, lambda product: sizes.get(like(product), 0.0))
    )


def cleared_balances(
    mass: Any, loads: list[Any], rates: tuple[Any, ...], sums: Sums, grows: Callable[[Any], bool]
) -> tuple[Any, list[Any]]:
    """M and h without rounding, whatever the units of their coordinates; entries that would
    grow if they were multiplied out stay as they are.

    M_ij = sum m V_i . V_j and of h the terms u_j u_k sum m V_i . dV_j/dq_k: each number is held to
    sqrt(M_ii M_jj), of terms whose product is the square of its own kind.  What h has besides
    squares of rates stays.
    """
    import sympy

    n, like = len(rates), Kinds(sums)
    own: list[Sizes] = [{} if grows(mass[i, i]) else like.sizes([mass[i, i]]) for i in range(n)]
    index = {sums.power(rate, sympy.Integer(1))[0][0]: i for i, rate in enumerate(rates)}
    met: dict[tuple[int, int, Product], float] = {}

    def scale(i: int, j: int, kind: Product) -> float:
        found = met.get((i, j, kind))
        if found is None:
            square = joined(kind, kind)
            others = ((size, own[j].get(_over(square, one), 0.0)) for one, size in own[i].items())
            found = sqrt(max((size * other for size, other in others), default=0.0))
            met[i, j, kind] = found
        return found

    def of_load(i: int, product: Product) -> float:
        squares = [(f, p) for f, p in product if f in index]
        if sum(p for _, p in squares) != 2:
            return 0.0
        kind = tuple((f, p) for f, p in like(product) if f not in index)
        return max(scale(i, index[f], kind) for f, _ in squares)

    def short(entry: Any, scale_of: Callable[[Product], float]) -> Any:
        return entry if grows(entry) else _without(entry, sums, scale_of)

    def of_mass(i: int, j: int, product: Product) -> float:
        return scale(i, j, like(product))

    M = sympy.Matrix(n, n, lambda i, j: short(mass[i, j], partial(of_mass, i, j)))
    return M, [short(load, partial(of_load, i)) for i, load in enumerate(loads)]


class Kinds:
    """Products without their sines and cosines; an object remembers those that it has met."""

    def __init__(self, sums: Sums) -> None:
        self._sums = sums
        self._known: dict[Product, Product] = {}

    def __call__(self, product: Product) -> Product:
        """The kind of a term."""
        import sympy

        found = self._known.get(product)
        if found is None:
            waves = (sympy.sin, sympy.cos)
            factor = self._sums.factor
            found = tuple((i, p) for i, p in product if not isinstance(factor(i), waves))
            self._known[product] = found
        return found

    def sizes(self, entries: Iterable[Any]) -> Sizes:
        """The largest number of each kind of term."""
        found: Sizes = {}
        for entry in entries:
            for product, n in self._sums(entry).items():
                kind = self(product)
                found[kind] = max(abs(as_float(n)), found.get(kind, 0.0))
        return found


def _over(a: Product, b: Product) -> Product:
    """The quotient of two products."""
    return joined(a, tuple((factor, -power) for factor, power in b))


def _without(entry: Any, sums: Sums, scale: Callable[[Product], float]) -> Any:
    """A sum without its terms that are negligible beside `scale` of their kind; as it was where it
    has none, multiplied out where it had."""
    terms = sums(entry)
    kept: Sum = {p: n for p, n in terms.items() if abs(as_float(n)) > ROUNDING * scale(p)}
    return entry if len(kept) == len(terms) else sums.expression(kept)
