"""Products of matrices of expressions, without a look at entries that are zero."""

from __future__ import annotations

from typing import Any

NEGLIGIBLE = 1e-14  # beside the numbers that were added up: rounding


def product(first: Any, *others: Any) -> Any:
    """A B C ..., from the left.

    sympy's own product multiplies every entry by zero, for zero times infinity is none, and asks
    of each whether it is finite, which took a tenth of the time of equations of motion.  Entries
    here are finite.
    """
    for other in others:
        first = _two(first, other)
    return first


def _two(a: Any, b: Any) -> Any:

    if a.cols != b.rows:
        raise ValueError(f"matrices of {a.shape} and {b.shape} have no product")
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (k, j), entry in b.todok().items():
        rows.setdefault(k, []).append((j, entry))
    terms: dict[tuple[int, int], list[Any]] = {}
    for (i, k), entry in a.todok().items():
        for j, other in rows.get(k, ()):
            terms.setdefault((i, j), []).append(entry * other)
    sums = {at: _added(some) for at, some in terms.items()}
    return type(a).from_dok(a.rows, b.cols, {at: one for at, one in sums.items() if one != 0})


def _added(terms: list[Any]) -> Any:
    """The sum, in which what is left of numbers that cancel is nothing: a number times a sum of
    symbols is a sum, whose terms sympy adds to those of the others."""
    import sympy

    total = sympy.Add(*terms)
    if len(terms) == 1 or _count(total) == sum(map(_count, terms)):
        return total
    left = total.as_coefficients_dict()
    if not any(n.is_Float for n in left.values()):
        return total
    sizes: dict[Any, float] = {}
    for term in terms:
        for one, n in term.as_coefficients_dict().items():
            sizes[one] = sizes.get(one, 0.0) + abs(float(n))
    kept = {one: n for one, n in left.items() if abs(float(n)) > NEGLIGIBLE * sizes.get(one, 0.0)}
    return total if len(kept) == len(left) else sympy.Add(*(n * one for one, n in kept.items()))


def _count(e: Any) -> int:
    return len(e.args) if e.is_Add else 1
