"""Products of matrices of expressions, without a look at entries that are zero."""

from __future__ import annotations

from typing import Any


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
    import sympy

    if a.cols != b.rows:
        raise ValueError(f"matrices of {a.shape} and {b.shape} have no product")
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (k, j), entry in b.todok().items():
        rows.setdefault(k, []).append((j, entry))
    terms: dict[tuple[int, int], list[Any]] = {}
    for (i, k), entry in a.todok().items():
        for j, other in rows.get(k, ()):
            terms.setdefault((i, j), []).append(entry * other)
    sums = {at: sympy.Add(*some) for at, some in terms.items()}
    return type(a).from_dok(a.rows, b.cols, {at: one for at, one in sums.items() if one != 0})
