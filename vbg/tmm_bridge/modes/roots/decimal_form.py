"""The linear form z' = S z in decimals: no sum of what parts do is rounded.

Along the tape of the network every operation has a slope by each of its operands, a double, which
is an exact number: the rigidity of a spring, the reciprocal of a mass, a ratio.  Their products
and sums along the tape,

    d out = sum_i (d out / d operand_i) d operand_i,

unknowns of the balance eliminated, and M^-1 (...) of the hinges, are taken in decimals.  Where two
springs meet in one force the sum has all digits of both, though one be 1e-25 of the other.

What is still rounded are the slopes themselves: in copies of S equal slopes of the tape change
alike, for they are one number of one part, 1 stays 1, entries of the mechanism change each by
itself.

From S in doubles it differs by what rounding of N operations allows, eps N T of the terms T: the
same sums, all of whose terms are taken without their signs (N. J. Higham, Accuracy and Stability of
Numerical Algorithms, 2002, sections 3.1 and 9.3: elimination errs by |L| |U|).  A form that is
farther off is of another machine, and is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.tmm_bridge.formulas.tangent import step_slopes
from vbg.tmm_bridge.formulas.tape import Operation
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.roots.polynomial import Exact, digits_for, exact

FEWER, MOST = 20, 400  # digits
EPS = float(np.finfo(float).eps)
FORM = 20  # operations in the matrices of the mechanism, each of whose sums adds as many as it has
Changed = Callable[[float], Decimal]
Line = dict[int, Decimal]  # slopes by columns, those that are not zero


@dataclass(frozen=True, eq=False)
class Chain:
    """The tape as it was just played; places of the states, of the unknowns of its balance and of
    what it reads (`orders` 0 of positions, 1 of their rates), of the states' rates, of what it
    feeds and of what the balance leaves."""

    code: Sequence[Operation]
    memory: Array
    curves: Array
    states: Sequence[int]
    unknowns: Sequence[int]
    reads: Sequence[int]
    orders: Array
    rates: Sequence[int]
    fed: Sequence[int]
    residual: Sequence[int]

    @cached_property
    def steps(self) -> list[tuple[int, list[tuple[int, float]]]]:
        """Of each operation that a state, unknown or reading comes to: its place, and the operands'
        with the slopes by them; twice, as what is read before it is written settles in a second
        pass."""
        met, found = {*self.states, *self.unknowns, *self.reads}, []
        for operation in [*self.code, *self.code]:
            slopes = step_slopes(operation, self.memory, self.curves, met)
            if slopes:
                met.add(operation[1])
            if slopes or operation[1] in met:
                found.append((operation[1], slopes))
        return found

    @property
    def sizes(self) -> set[float]:
        """Of all slopes but 1, without signs."""
        return {abs(slope) for _, slopes in self.steps for _, slope in slopes} - {1.0}

    def slopes(self, changed: Changed) -> tuple[Exact, Exact]:
        """Of the rates and what is fed (rates + fed, ...) by the states and by the readings; each
        slope along the tape is `changed`."""
        J = self._along(changed)
        n, z, r = self._numbers
        known = self._known
        if z:
            follow = solved(J[r:, n : n + z], J[r:, known])
            J = J[:r, known] - J[:r, n : n + z] @ follow
        else:
            J = J[:r, known]
        return J[:, :n], J[:, n:]

    def terms(self) -> tuple[Array, Array]:
        """T of the same: with |J| along the tape, unknowns that follow by F = J_zz^-1 J_z and
        what they bring, B = J_az J_zz^-1,

            T = |J| + |B| |J_z| + (|J_az| + |B| (|J_zz| + |L| |U|)) |F|.
        """
        J, size = _floats(self._along(Decimal)), _floats(self._along(_size))
        n, z, r = self._numbers
        known, unknown = self._known, slice(n, n + z)
        T = size[:r, known]
        if z:
            J_zz = J[r:, unknown]
            F = np.abs(np.linalg.solve(J_zz, J[r:, known]))
            B = np.abs(np.linalg.solve(J_zz.T, J[:r, unknown].T).T)
            T = T + B @ size[r:, known]
            T += (size[:r, unknown] + B @ (size[r:, unknown] + _eliminated(J_zz))) @ F
        return T[:, :n], T[:, n:]

    @property
    def _numbers(self) -> tuple[int, int, int]:
        """Of states, of unknowns, of the rates and what is fed."""
        return len(self.states), len(self.unknowns), len(self.rates) + len(self.fed)

    @property
    def _known(self) -> list[int]:
        """Columns of the states and of the readings."""
        n, z, _ = self._numbers
        return [*range(n), *range(n + z, n + z + len(self.reads))]

    def _along(self, changed: Changed) -> Exact:
        """Slopes of the rates, what is fed and the residual by states, unknowns and readings."""
        by = [*self.states, *self.unknowns, *self.reads]
        along: dict[int, Line] = {place: {k: Decimal(1)} for k, place in enumerate(by)}
        for out, slopes in self.steps:
            line: Line = {}
            for place, slope in slopes:
                factor = changed(slope)
                for column, value in along.get(place, {}).items():
                    line[column] = line.get(column, Decimal(0)) + factor * value
            along[out] = line
        of = [*self.rates, *self.fed, *self.residual]
        J = np.full((len(of), len(by)), Decimal(0), dtype=object)
        for row, place in enumerate(of):
            for column, value in along.get(place, {}).items():
                J[row, column] = value
        return J


@dataclass(frozen=True, eq=False)
class Mechanical:
    """M v' = -K q - C v + acted^T u, in the coordinates of the hinges; readings m = read q."""

    M: Array
    C: Array
    K: Array
    read: Array
    acted: Array


@dataclass(frozen=True, eq=False)
class Forms:
    """S and its copies, with so many digits more than a matrix of that size needs by itself, and S
    with FEWER of them, of which differs what is rounding."""

    copies: list[Exact]
    rounded: Exact
    digits: int


@dataclass(frozen=True, eq=False)
class Decimals:
    """S, in doubles, and so many copies whose slopes are moved by so much, relative; written where
    they are asked for."""

    S: Array
    parts: Mechanical
    chain: Chain | None
    moved: float
    count: int

    @cached_property
    def forms(self) -> Forms | None:
        """None where a law that a form without decimals does not need has no slope, and where they
        are not those of S."""
        parts, chain = self.parts, self.chain
        n = 2 * len(parts.M) + (len(chain.states) if chain else 0)
        more = _lost(parts, chain, n)
        try:
            with digits_for(n, more=more):
                rounded = _form(parts, chain, 0.0, 0)
            with digits_for(n, more=more + FEWER):
                moves = [0.0, *(self.moved for _ in range(self.count))]
                copies = [_form(parts, chain, move, k) for k, move in enumerate(moves)]
            if not _has_values(copies[0]) or not self._is_of(copies[0]):
                return None
        except (ArithmeticError, np.linalg.LinAlgError):
            return None
        return Forms(copies, rounded, more + FEWER)

    def _is_of(self, form: Exact) -> bool:
        """Whether S is what rounding makes of the form."""
        with digits_for(len(self.S)):
            apart = _floats(np.abs(form - exact(self.S)))
        operations = FORM + len(self.S) + (len(self.chain.steps) if self.chain else 0)
        allowed = EPS * operations * _terms(self.parts, self.chain, self.S)
        return bool(np.all(apart <= allowed))

    @cached_property
    def linked(self) -> NDArray[np.bool_] | bool:
        """Which entries the network has, also those of which rounded sums leave nothing."""
        if self.chain is None:
            return False
        parts, (n, x) = self.parts, (len(self.parts.M), len(self.chain.states))
        try:
            with digits_for(n + x):
                by_states, by_reads = (one != 0 for one in self.chain.slopes(Decimal))
            inverse = np.linalg.inv(parts.M)
        except (ArithmeticError, np.linalg.LinAlgError):
            return False
        found, rates = np.zeros((2 * n + x, 2 * n + x), dtype=bool), self.chain.orders == 1
        read, acted = parts.read != 0.0, parts.acted != 0.0
        every = np.hstack([by_reads[:, ~rates] @ read[~rates], by_reads[:, rates] @ read[rates]])
        every = np.hstack([every, by_states])
        found[2 * n :] = every[:x]
        found[n : 2 * n] = (inverse != 0.0) @ (acted.T @ every[x:])
        return found


def _lost(parts: Mechanical, chain: Chain | None, n: int) -> int:
    """Digits that differences of products of all slopes may lose, no more than MOST: what is lost
    behind these is told by what `rounded` differs by."""
    every = [np.abs(one).ravel() for one in (parts.M, parts.C, parts.K, parts.read, parts.acted)]
    sizes = np.unique(np.concatenate([*every, list(chain.sizes) if chain else []]))
    places = np.log10(sizes[(sizes > 0.0) & np.isfinite(sizes)])
    wide = n * np.ptp(places) if len(places) else 0.0
    return int(np.ceil(min(np.abs(places).sum(), wide, MOST)))


def _form(parts: Mechanical, chain: Chain | None, moved: float, seed: int) -> Exact:
    """S, its slopes moved by so much, relative."""
    rng, drawn = np.random.default_rng(seed), {}

    def changed(slope: float) -> Decimal:
        size = abs(slope)
        if size == 1.0 or not moved:
            return Decimal(slope)
        if size not in drawn:
            drawn[size] = 1 + Decimal(moved * rng.standard_normal())
        return Decimal(slope) * drawn[size]

    def entries(G: Array) -> Exact:
        off = 1 + exact(np.asarray(moved * rng.standard_normal(G.shape)))
        return np.asarray(exact(G) * off, dtype=object).reshape(G.shape)

    n, x = len(parts.M), len(chain.states) if chain else 0
    S = np.full((2 * n + x, 2 * n + x), Decimal(0), dtype=object)
    right = np.full((n, 2 * n + x), Decimal(0), dtype=object)
    right[:, :n], right[:, n : 2 * n] = -entries(parts.K), -entries(parts.C)
    for k in range(n):
        S[k, n + k] = Decimal(1)
    if chain is not None:
        by_states, by_reads = chain.slopes(changed)
        by_motion = np.full((len(by_reads), 2 * n), Decimal(0), dtype=object)
        if n and len(parts.read):
            read, rates = entries(parts.read), chain.orders == 1
            by_motion[:, :n] = by_reads[:, ~rates] @ read[~rates]
            by_motion[:, n:] = by_reads[:, rates] @ read[rates]
        S[2 * n :, : 2 * n], S[2 * n :, 2 * n :] = by_motion[:x], by_states[:x]
        if n and len(by_reads) > x:
            act = entries(parts.acted).T
            right[:, : 2 * n] += act @ by_motion[x:]
            right[:, 2 * n :] += act @ by_states[x:]
    if n:
        S[n : 2 * n] = solved(entries(parts.M), right)
    return S


def _terms(parts: Mechanical, chain: Chain | None, S: Array) -> Array:
    """T of S."""
    n, x = len(parts.M), len(chain.states) if chain else 0
    T = np.zeros_like(S)
    right = np.hstack([np.abs(parts.K), np.abs(parts.C), np.zeros((n, x))])
    if chain is not None:
        by_states, by_reads = chain.terms()
        by_motion = np.zeros((len(by_reads), 2 * n))
        if n and len(parts.read):
            read, rates = np.abs(parts.read), chain.orders == 1
            by_motion[:, :n] = by_reads[:, ~rates] @ read[~rates]
            by_motion[:, n:] = by_reads[:, rates] @ read[rates]
        T[2 * n :] = np.hstack([by_motion, by_states])[:x]
        if n and len(by_reads) > x:
            right += np.abs(parts.acted).T @ np.hstack([by_motion, by_states])[x:]
    if n:
        right += (np.abs(parts.M) + _eliminated(parts.M)) @ np.abs(S[n : 2 * n])
        T[n : 2 * n] = np.abs(np.linalg.inv(parts.M)) @ right
    return T


def _eliminated(G: Array) -> Array:
    """|L| |U|, with the rows as they are in G."""
    from scipy.linalg import lu

    P, L, U = lu(G)
    return np.asarray(np.abs(P @ L) @ np.abs(U))


def _size(slope: float) -> Decimal:
    return abs(Decimal(slope))


def _floats(G: Exact) -> Array:
    return np.asarray(G, dtype=float).reshape(G.shape)


def _has_values(G: Exact) -> bool:
    return all(value == value for value in G.flat)


def solved(G: Exact, right: Exact) -> Exact:
    """G^-1 right, by elimination with pivots."""
    G, right = G.copy(), right.copy()
    for k in range(len(G)):
        i = k + int(np.argmax(np.abs(G[k:, k])))
        G[[k, i]], right[[k, i]] = G[[i, k]], right[[i, k]]
        share = G[k + 1 :, k] / G[k, k]
        G[k + 1 :, k:] -= share[:, None] * G[k, k:]
        right[k + 1 :] -= share[:, None] * right[k]
    for k in range(len(G) - 1, -1, -1):
        right[k] = (right[k] - G[k, k + 1 :] @ right[k + 1 :]) / G[k, k]
    return right
