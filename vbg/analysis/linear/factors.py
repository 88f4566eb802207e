"""A linear form with its elements apart, A = plain + gives takes.

Of poles that rounding of A does not tell from zero, the right and left vectors V and W are known
to rounding.  On them the form is

    A_c = W plain V + (W gives)(takes V),      W V = 1:

of a stiff spring that V does not stretch and W does not feel both factors are rounding, their
product rounding squared, beside which that of a soft one stands with all its digits
(A. Ostrowski, Archive for Rational Mechanics and Analysis 3 (1959) 325, on w.A v / w.v).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.linear.free import EPS, Reduced, even

Array = NDArray[np.float64]

STEPS, CLOSER = 3, 0.1  # of Newton's method; by how much each has to close in
APART = 1e8  # of left and right vectors: the condition of their products
STRETCHED = 1e-12  # of its terms: less is the rounding of what does not stretch an element


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """plain (n, n), gives (n, e), takes (e, n)."""

    plain: Array
    gives: Array
    takes: Array

    @property
    def whole(self) -> Array:
        return self.plain + self.gives @ self.takes

    def of(self, places: NDArray[np.intp]) -> Factors:
        """Of some of the states, which depend on these only."""
        plain = self.plain[np.ix_(places, places)]
        return Factors(plain, self.gives[places], self.takes[:, places])

    def within(self, left: Array, right: Array) -> Factors:
        """Along `right` (n, m), by `left` (m, n)."""
        return Factors(left @ self.plain @ right, left @ self.gives, self.takes @ right)

    def terms(self, left: Array, right: Array) -> Array:
        """What, times the last digit, the same are off by."""
        w, v = np.abs(left), np.abs(right)
        felt, answers = np.abs(left @ self.gives), np.abs(self.takes @ right)
        beside = (w @ np.abs(self.gives)) @ answers + felt @ (np.abs(self.takes) @ v)
        return np.asarray(w @ np.abs(self.plain) @ v + beside)

    def stretched(self, right: Array) -> bool:
        """Whether an element answers to one of the motions `right`."""
        found, terms = np.abs(self.takes @ right), np.abs(self.takes) @ np.abs(right)
        return bool(np.any(found > STRETCHED * terms))


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """The form on motions `right` (n, m), and its copies."""

    right: Array
    copies: tuple[Factors, ...]


def within_vague(
    reduced: Reduced, vague: tuple[Array, Array], factors: Sequence[Factors]
) -> Within | None:
    """The form on the poles that `reduced` has found to be zero, whose copies have these
    `factors`, and on `vague` others, right vectors of the reduced form in columns, left ones of A
    in rows.  None where no element answers to them, or their right and left vectors do not go
    together."""
    if not factors or not factors[0].stretched(like := reduced.span(0, vague[0])):
        return None
    try:
        found = _within(reduced, vague, factors, like)
    except np.linalg.LinAlgError:
        return None
    whole = found is not None and all(np.isfinite(one.whole).all() for one in found.copies)
    return found if whole else None


def _within(
    reduced: Reduced, vague: tuple[Array, Array], factors: Sequence[Factors], like: Array
) -> Within | None:
    """Raises LinAlgError where something of it is singular."""
    none = np.zeros((len(reduced.A), 0))

    def lefts(copy: int) -> Array:
        zeros = reduced.span(copy, none)
        both = np.hstack([zeros, reduced.fast(copy)])
        return np.vstack([_solved(both, np.eye(len(both)))[: zeros.shape[1]], vague[1]])

    if not _together(lefts(0) @ like):
        return None
    first = _solved(lefts(0) @ like, lefts(0))
    rng, found = np.random.default_rng(4), []
    for k in range(len(reduced.copies)):
        one = factors[1 + (k - 1) % (len(factors) - 1)] if k and len(factors) > 1 else factors[0]
        # in the coordinates of the first: where rounding alone decides, it decides on these, too
        right, left = reduced.span(k, vague[0]), lefts(k)
        right = _solved((first @ right).T, right.T).T
        left, right, last = _closed_in(one, _solved(left @ right, left), right)
        here = one.within(left, right)
        if k:
            off = EPS * one.terms(left, right) + np.abs(last)
            off = off * rng.standard_normal(here.plain.shape)
            here = Factors(here.plain + off, here.gives, here.takes)
        else:
            like = right
        found.append(here)
    return Within(like, tuple(found))


def _together(G: Array) -> bool:
    """Whether none of the directions is lost between right and left vectors."""
    rows, columns = even(G)
    return bool(np.linalg.cond(G / rows[:, None] / columns) < APART)


def _closed_in(one: Factors, left: Array, right: Array) -> tuple[Array, Array, Array]:
    """W and V without what they have of faster motions, and what that still makes of W A V:
    Newton's method for A V = V A_c, W V = 1, A_c beside the faster poles left out, as long as that
    closes in on them."""
    border = np.block([[one.whole, right], [left, np.zeros((len(left),) * 2)]])
    step, back, off = _step(one, left, right, border)
    for _ in range(STEPS):
        tried = right + step, left + back
        nearer = _solved(tried[1] @ tried[0], tried[1]), tried[0]
        step, back, then = _step(one, *nearer, border)
        rows, columns = even(np.abs(one.within(left, right).whole) + np.abs(off))
        sizes = [np.abs(each / rows[:, None] / columns).max() for each in (then, off)]
        if not sizes[0] <= CLOSER * sizes[1]:
            break
        (left, right), off = nearer, then
    return left, right, off


def _step(one: Factors, left: Array, right: Array, border: Array) -> tuple[Array, Array, Array]:
    """The steps of V and W, and what they change of W A V."""
    (n, m), form = right.shape, one.within(left, right).whole
    missing = one.plain @ right + one.gives @ (one.takes @ right) - right @ form
    over = left @ one.plain + (left @ one.gives) @ one.takes - form @ left
    nothing = np.zeros((m, m))
    step = -_solved(border, np.vstack([missing, nothing]))[:n]
    back = -_solved(border.T, np.vstack([over.T, nothing]))[:n].T
    return step, back, over @ step


def _solved(G: Array, right: Array) -> Array:
    """G^-1 right, rows and columns of G taken alike."""
    rows, columns = even(G)
    found = np.linalg.solve(G / rows[:, None] / columns, right / rows[:, None])
    return np.asarray(found / columns[:, None])
