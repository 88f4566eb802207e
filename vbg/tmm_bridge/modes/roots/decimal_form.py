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
        n, z, r = len(self.states), len(self.unknowns), len(of) - len(self.residual)
        known = [*range(n), *range(n + z, len(by))]
        if z:
            follow = solved(J[r:, n : n + z], J[r:, known])
            J = J[:r, known] - J[:r, n : n + z] @ follow
        else:
            J = J[:r, known]
        return J[:, :n], J[:, n:]


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
    """S and so many copies whose slopes are moved by so much, relative; written where they are
    asked for."""

    parts: Mechanical
    chain: Chain | None
    moved: float
    count: int

    @cached_property
    def forms(self) -> Forms | None:
        """None where a law that a form without decimals does not need has no slope."""
        parts, chain = self.parts, self.chain
        n = 2 * len(parts.M) + (len(chain.states) if chain else 0)
        more = _lost(parts, chain, n)
        try:
            with digits_for(n, more=more):
                rounded = _form(parts, chain, 0.0, 0)
            with digits_for(n, more=more + FEWER):
                moves = [0.0, *(self.moved for _ in range(self.count))]
                copies = [_form(parts, chain, move, k) for k, move in enumerate(moves)]
        except ArithmeticError:
            return None
        return Forms(copies, rounded, more + FEWER) if _has_values(copies[0]) else None

    @cached_property
    def linked(self) -> NDArray[np.bool_] | bool:
        """Which entries the network has, also those of which rounded sums leave nothing."""
        if self.chain is None:
            return False
        parts, (n, x) = self.parts, (len(self.parts.M), len(self.chain.states))
        try:
            with digits_for(n + x):
                by_states, by_reads = (one != 0 for one in self.chain.slopes(Decimal))
        except ArithmeticError:
            return False
        found, rates = np.zeros((2 * n + x, 2 * n + x), dtype=bool), self.chain.orders == 1
        read, acted = parts.read != 0.0, parts.acted != 0.0
        every = np.hstack([by_reads[:, ~rates] @ read[~rates], by_reads[:, rates] @ read[rates]])
        every = np.hstack([every, by_states])
        found[2 * n :] = every[:x]
        found[n : 2 * n] = (np.linalg.inv(parts.M) != 0.0) @ (acted.T @ every[x:])
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
