"""The motion in the independent coordinates alone, written out.

Of the coordinates q the independent ones are y.  With J = dPhi/dq parted into J_z of the dependent
coordinates z and J_y, and J q' = driven, J q'' = gamma,

    J_z dz/dy = -J_y,   z' = dz/dy y' + v,   J_z v = driven        (eqs. 4 and 7)
                        z'' = dz/dy y'' + g,  J_z g = gamma
    B = [1; dz/dy],     B^T M B y'' = B^T (h - M [0; g])           (eq. 5)
    J_z^T efforts = (M q'' - h)_z

(neweul-newsim-cad.txt, section 5).  J_z is parted into blocks that follow from those before
(Dulmage and Mendelsohn): a coordinate that one closure determines is a quotient, two that two
closures determine follow by Cramer's rule, and more of them from linear equations, which are
written as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.rewriting.algebra import Algebra
from vbg.analysis.symbolic.rewriting.common import common_parts
from vbg.analysis.symbolic.rewriting.tidy import exact
from vbg.causality.components import strong_components

MOST = 2  # unknowns that are solved for in symbols

Short = Callable[[Any], Any]
Relation = tuple[Any, Any]  # left = right; left is 0 where the right side is to vanish


@dataclass(frozen=True, eq=False)
class Reduced:
    """Relations in the order in which they need each other.

    slopes : dz/dy and v, by symbols of their own.  speeds : of the dependent coordinates.
    rests : g.  motion : one for each independent coordinate.  accelerations : of the dependent
    ones.  efforts : of closures and drives.  partial : symbols of dz/dy -> (z, y).
    of_rests : symbols of v and g -> coordinates.
    """

    slopes: tuple[Relation, ...]
    speeds: tuple[Relation, ...]
    rests: tuple[Relation, ...]
    motion: tuple[Relation, ...]
    accelerations: tuple[Relation, ...]
    efforts: tuple[Relation, ...]
    partial: Mapping[Any, tuple[Any, Any]]
    of_rests: Mapping[Any, Any]


def reduced(e: MinimalEquations) -> Reduced | None:
    """None where closures follow from others (redundant loops): which ones stand for the others
    changes with the posture, so that no one form holds."""
    if len(e.closures) != len(e.dependent):
        return None
    algebra, blocks = Algebra(), list(_blocks(e))

    def short(value: Any) -> Any:
        return algebra.decimals(algebra.tidy(exact(value)))

    slopes, partial, B = _partial(e, blocks, short)
    moving, v, of_v = _rest(e, blocks, e.driven, "v", short)
    turning, g, of_g = _rest(e, blocks, e.bias, "g", short)
    speeds = [(e.u[i], _sum(B[i][j] * e.u[j] for j in e.independent) + v[i]) for i in e.dependent]
    a = e.accelerations
    rates = [(a[i], _sum(B[i][j] * a[j] for j in e.independent) + g[i]) for i in e.dependent]
    return Reduced(
        (*slopes, *moving),
        tuple(speeds),
        tuple(turning),
        tuple(_motion(e, B, g)),
        tuple(rates),
        tuple(_efforts(e, blocks, short)),
        partial,
        of_v | of_g,
    )


def size_of(e: MinimalEquations) -> int:
    """Operations, common parts named, of the equations of motion without joint forces: of trees
    mass matrix and loads; of loops the closures and all that the motion in the independent
    coordinates reads."""
    import sympy

    every = [*e.mass, *e.loads]
    less = reduced(e) if e.closures else None
    if less is not None:
        groups = (less.slopes, less.speeds, less.rests, less.motion)
        every = [*e.closures, *(side for g in groups for relation in g for side in relation)]
    elif e.closures:
        every += [*e.closures, *e.jacobian, *e.driven, *e.bias]
    parts, rest = common_parts(every, sympy.numbered_symbols("z"))
    return int(sum(e.count_ops() for _, e in parts) + sum(e.count_ops() for e in rest))


def _blocks(e: MinimalEquations) -> Iterator[tuple[list[int], list[int]]]:
    """(rows of the closures, coordinates that follow from them) in the order of their needs."""
    met = {r: [c for c in e.dependent if e.jacobian[r, c] != 0] for r in range(len(e.closures))}
    of: dict[int, int] = {}  # coordinate -> the closure it is matched with

    def augmented(row: int, tried: set[int]) -> bool:
        for column in met[row]:
            if column not in tried:
                tried.add(column)
                if column not in of or augmented(of[column], tried):
                    of[column] = row
                    return True
        return False

    for row in sorted(met, key=lambda row: len(met[row])):
        augmented(row, set())
    uses = {c: {other for other in met[row] if other != c} for c, row in of.items()}
    for component in strong_components(uses):
        columns = sorted(component)
        yield [of[c] for c in columns], columns


def _solved(
    A: Sequence[Sequence[Any]], right: Sequence[Any], unknown: Sequence[Any], short: Short
) -> list[Relation]:
    """A x = right: each unknown by a quotient, or rows that vanish."""
    import sympy

    if len(unknown) > MOST:
        rows = range(len(unknown))
        return [
            (sympy.Integer(0), _sum(a * x for a, x in zip(A[i], unknown, strict=True)) - right[i])
            for i in rows
        ]
    if len(unknown) == 1:
        return [(unknown[0], _quotient(right[0], A[0][0]))]
    (a, b), (c, d) = A
    det = short(a * d - b * c)
    tops = (short(right[0] * d - b * right[1]), short(a * right[1] - c * right[0]))
    return [(x, _quotient(top, det)) for x, top in zip(unknown, tops, strict=True)]


def _quotient(top: Any, bottom: Any) -> Any:
    if top.could_extract_minus_sign() and bottom.could_extract_minus_sign():
        top, bottom = -top, -bottom
    return top / bottom


def _partial(
    e: MinimalEquations, blocks: Any, short: Short
) -> tuple[list[Relation], dict[Any, Any], Any]:
    """Relations of dz/dy, what their symbols are, and B of all coordinates: 1, dz/dy or 0."""
    import sympy

    J, found = e.jacobian, list[Relation]()
    known: dict[Any, Any] = {}
    B: list[dict[int, Any]] = [{} for _ in e.q]
    for i in e.independent:
        B[i] = {j: sympy.Integer(i == j) for j in e.independent}
    for j in e.independent:
        for rows, columns in blocks:
            before = [c for c in e.dependent if c not in columns and j in B[c]]
            right = [-J[r, j] - _sum(J[r, c] * B[c][j] for c in before) for r in rows]
            if all(value == 0 for value in right):
                B_of = dict.fromkeys(columns, sympy.Integer(0))
            else:
                B_of = {c: _symbol(f"(d{e.q[c]}/d{e.q[j]})") for c in columns}
                known |= {symbol: (e.q[c], e.q[j]) for c, symbol in B_of.items()}
                A = [[J[r, c] for c in columns] for r in rows]
                found += _solved(A, right, list(B_of.values()), short)
            for c, value in B_of.items():
                B[c][j] = value
    return found, known, B


def _rest(
    e: MinimalEquations, blocks: Any, given: Sequence[Any], name: str, short: Short
) -> tuple[list[Relation], list[Any], dict[Any, Any]]:
    """J_z x = given: relations, x of all coordinates (0 of the independent), their symbols."""
    import sympy

    zero = sympy.Integer(0)
    J, found = e.jacobian, list[Relation]()
    known: dict[Any, Any] = {}
    x: list[Any] = [zero] * len(e.q)
    for rows, columns in blocks:
        before = [c for c in e.dependent if c not in columns and x[c] != 0]
        right = [given[r] - _sum(J[r, c] * x[c] for c in before) for r in rows]
        if any(value != 0 for value in right):
            symbols = [_symbol(f"{name}[{e.q[c]}]") for c in columns]
            known |= {s: e.q[c] for c, s in zip(columns, symbols, strict=True)}
            found += _solved([[J[r, c] for c in columns] for r in rows], right, symbols, short)
            for c, s in zip(columns, symbols, strict=True):
                x[c] = s
    return found, x, known


def _motion(e: MinimalEquations, B: Any, g: Sequence[Any]) -> Iterator[Relation]:
    """B^T M B y'' = B^T (h - M g), row by row."""
    n, M = range(len(e.q)), e.mass
    loads = [e.loads[i] - _sum(M[i, j] * g[j] for j in n) for i in n]
    for j in e.independent:
        left = _sum(
            _sum(B[i][j] * _sum(M[i, c] * B[c][k] for c in n) for i in n) * e.accelerations[k]
            for k in e.independent
        )
        yield left, _sum(B[i][j] * loads[i] for i in n)


def _efforts(e: MinimalEquations, blocks: Any, short: Short) -> Iterator[Relation]:
    """J_z^T efforts = (M q'' - h)_z, the last blocks first."""
    J, n = e.jacobian, range(len(e.q))
    done: list[int] = []
    for rows, columns in reversed(blocks):
        right = [
            _sum(e.mass[c, k] * e.accelerations[k] for k in n)
            - e.loads[c]
            - _sum(J[r, c] * e.efforts[r] for r in done)
            for c in columns
        ]
        A = [[J[r, c] for r in rows] for c in columns]
        yield from _solved(A, right, [e.efforts[r] for r in rows], short)
        done += rows


def _sum(terms: Iterable[Any]) -> Any:
    import sympy

    return sympy.Add(*terms)


def _symbol(name: str) -> Any:
    import sympy

    return sympy.Symbol(name, real=True)
