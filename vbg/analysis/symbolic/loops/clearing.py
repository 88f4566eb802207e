"""Terms that are rounding beside others of their kind, taken out of vectors and matrices.

A turn about a skew axis leaves 1e-17 of a component that vanishes, and nothing of the same entry
tells it from a small number.  Its like elsewhere does: terms are like that agree but for their
number and their sines and cosines, which are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import sqrt
from typing import Any

ROUNDING = 1e-14  # of a number that is a sum of products of a few turns, beside its kind


def cleared(matrix: Any) -> Any:
    """A matrix of one unit without terms that are rounding beside their like in any entry."""
    sizes = _sizes(matrix)
    return matrix.applyfunc(lambda entry: _without(entry, lambda like: sizes.get(like, 0.0)))


def cleared_balances(
    mass: Any, loads: list[Any], rates: tuple[Any, ...], grows: Callable[[Any], bool]
) -> tuple[Any, list[Any]]:
    """M and h without rounding, whatever the units of their coordinates; entries that would
    grow if they were multiplied out stay as they are.

    M_ij = sum m V_i . V_j and of h the terms u_j u_k sum m V_i . dV_j/dq_k: each number is held to
    sqrt(M_ii M_jj), of terms whose product is the square of its own kind.  What h has besides
    squares of rates stays.
    """
    import sympy

    n = len(rates)
    own = [{} if grows(mass[i, i]) else _sizes([mass[i, i]]) for i in range(n)]
    index = {rate: i for i, rate in enumerate(rates)}

    def scale(i: int, j: int, like: Any) -> float:
        others = ((size, own[j].get(like**2 / one, 0.0)) for one, size in own[i].items())
        return sqrt(max((size * other for size, other in others), default=0.0))

    def of_load(i: int, like: Any) -> float:
        met = {f: p for f, p in map(_power, sympy.Mul.make_args(like)) if f in index}
        if sum(met.values()) != 2:
            return 0.0
        kind = like / sympy.Mul(*[f**p for f, p in met.items()])
        return max(scale(i, index[rate], kind) for rate in met)

    def short(entry: Any, scale_of: Callable[[Any], float]) -> Any:
        return entry if grows(entry) else _without(entry, scale_of)

    M = sympy.Matrix(n, n, lambda i, j: short(mass[i, j], partial(scale, i, j)))
    return M, [short(load, partial(of_load, i)) for i, load in enumerate(loads)]


def _power(factor: Any) -> tuple[Any, Any]:
    base, power = factor.as_base_exp()
    return base, power


def _without(entry: Any, scale: Callable[[Any], float]) -> Any:
    """A sum without its terms that are negligible beside `scale` of their kind; as it was where it
    has none, expanded where it had."""
    import sympy

    terms = sympy.Add.make_args(sympy.expand(entry))
    kept = [term for term in terms if _size(term) > ROUNDING * scale(_like(term))]
    return entry if len(kept) == len(terms) else sympy.Add(*kept)


def _sizes(entries: Iterable[Any]) -> Mapping[Any, float]:
    """The largest number of each kind of term."""
    import sympy

    found: dict[Any, float] = {}
    for entry in entries:
        for term in sympy.Add.make_args(sympy.expand(entry)):
            like = _like(term)
            found[like] = max(_size(term), found.get(like, 0.0))
    return found


def _size(term: Any) -> float:
    return abs(float(term.as_coeff_Mul()[0]))


def _like(term: Any) -> Any:
    """A term without its number, sines and cosines."""
    import sympy

    factors = sympy.Mul.make_args(term.as_coeff_Mul()[1])
    waves = (sympy.sin, sympy.cos)
    return sympy.Mul(*[f for f in factors if not isinstance(f.as_base_exp()[0], waves)])
