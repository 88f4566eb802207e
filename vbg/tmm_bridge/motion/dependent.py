"""Dependent stores of a network: unknowns that its balance leaves open, found one rate deeper.

Two capacitors side by side, a capacitor across a source, two inductors in a row: some
combination of the balance's residuals F(x, z, t) does not depend on the unknowns z at all,

    l . F = g(x, t),

whatever laws and topology made it so.  Then g = 0 holds the states together, and its rate,

    dg/dt = dg/dx . x'(x, z, t) + dg/dt,

takes the place of one of the residuals: it has the unknown that the others lack (index
reduction: C. W. Gear, SIAM J. Sci. Stat. Comput. 9, 1988).  Where the states begin apart, or a
source jumps, they jump onto g = 0 along what impulses of the unknowns do to them,

    x <- x + (dx'/dz) R a,   R the unknowns that the other residuals leave open:

capacitors keep the charge of each cut, coils the flux of each loop.

At the start a store that nobody wrote a value for has no past to keep: it gives way as if it
were infinitely small beside those that have one.  With P (G P = 1) the states' jump for a unit
of each g, P = P_w + P_u by stores written and not, B = G P_u and infinitely small stores that
take 1/eps times as much,

    (P_w + P_u / eps) (1 - B + B / eps)^-1 (-g)  ->  -P_u B^# g - P_w (1 - B B^#) g,

B^# the group inverse: B is similar to a symmetric matrix with eigenvalues from 0 to 1 where
stores are reciprocal, and shares its eigenvectors with 1 - B.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.tangent import computed_along, recorded_along
from vbg.tmm_bridge.formulas.tape import Operation, Played, Slot, Tape
from vbg.tmm_bridge.kernels.entries import play
from vbg.tmm_bridge.onedim.working import BALANCE, SECTIONS, TIME

Array = np.ndarray[Any, Any]

ROUNDING = 1e-14  # what is left of a combination of scaled rows, relative to one, that is none
POINTS = 2  # at which a combination has to vanish
JUMPS = 5  # steps onto g = 0; one where it is linear
NO_STORE = 1e-11  # eigenvalue of B, at most 1, where stores that are not written cannot help


@dataclass(frozen=True)
class Dependence:
    """What holds states of a network together.

    operations : of functions of time and of the balance;  x, z, rates : places;
    held : places of the g;  kept : places of the residuals that are what they were.
    """

    operations: tuple[Operation, ...]
    curves: Array
    x: Array
    z: Array
    rates: Array
    held: Array
    kept: Array

    def consistent(
        self, memory: Array, y: Array, guessed: Collection[int] = ()
    ) -> tuple[Array, float]:
        """The states y moved towards g = 0 by impulses, and the largest step relative to them;
        `memory` is that of the tape, played at y.  States `guessed` have no past and follow."""
        g = memory[self.held]
        J = self._slopes(memory, self.z, np.concatenate([self.kept, self.rates]))
        n = len(self.kept)
        open_ = np.linalg.svd(J[:n])[2][n:].T
        moved = J[n:] @ open_
        G = self._slopes(memory, self.x, self.held)
        step: Array = _step(G, moved @ np.linalg.inv(G @ moved), -g, guessed)
        size = float(np.abs(step).max(initial=0.0) / max(np.abs(y).max(initial=0.0), 1e-300))
        return y + step, size

    def _slopes(self, memory: Array, by: Array, of: Array) -> Array:
        return slopes(self.operations, memory, self.curves, by, of)


def _step(G: Array, P: Array, g: Array, guessed: Collection[int]) -> Array:
    """The jump that changes what holds the states together by g, of `guessed` ones first."""
    follows = np.isin(np.arange(len(P)), list(guessed))
    if not follows.any() or not g.any():
        return P @ g
    values, axes = np.linalg.eig(G[:, follows] @ P[follows])
    parts = np.linalg.solve(axes, g)
    able = np.abs(values) > NO_STORE
    theirs = axes @ np.where(able, parts / np.where(able, values, 1.0), 0.0)
    others = axes @ np.where(able, 0.0, parts)
    return np.real(np.where(follows, P @ theirs, P @ others))


def slopes(
    operations: Sequence[Operation], memory: Array, curves: Array, by: Array, of: Array
) -> Array:
    """Derivatives (of, by) between places of a tape that was played."""
    seeds = {int(place): row for place, row in zip(by, np.eye(len(by)), strict=True)}
    found = computed_along(operations, memory, curves, seeds)
    return np.array([np.zeros(len(by)) + found.get(int(place), 0.0) for place in of])


def reduced(tape: Tape, places: Mapping[str, Any], scales: Array) -> Dependence | None:
    """Replace residuals on the tape that say nothing of the unknowns; None if all do.

    Raises UsageError for a network whose unknowns are open even so.
    """
    x, z, rates, residual = (
        np.array(places[name], dtype=np.int64) for name in ("x", "z", "rates", "residual")
    )
    if not len(z):
        return None
    combinations = _combinations(_jacobians(tape, z, residual, scales))
    if not combinations:
        return None
    before = (*tape.sections.get(TIME, ()), *tape.sections.get(BALANCE, ()))
    seeds: dict[int, Any] = {
        int(place): Slot(tape, int(rate)) for place, rate in zip(x, rates, strict=True)
    }
    seeds[0] = 1.0
    accelerations = [tape.place() for _ in places["joints"]]
    unread = [tape.place() for _ in range(3 * len(places["sensors"]))]
    for (_, position, speed), acceleration in zip(places["joints"], accelerations, strict=True):
        seeds[position], seeds[speed] = Slot(tape, speed), acceleration
    seen = [first + k for _, _, first in places["sensors"] for k in range(3)]
    seeds |= dict(zip(seen, unread, strict=True))
    tape.section = BALANCE
    held = [
        tape.slot(sum(c * Slot(tape, int(residual[i])) for i, c in weights.items())).place
        for weights in combinations.values()
    ]
    found = recorded_along(tape, before, seeds)
    for row, weights in combinations.items():
        rate: Any = 0.0
        for i, c in weights.items():
            rate = rate + c * found.get(int(residual[i]), 0.0)
        tape.store(rate, Slot(tape, int(residual[row])))
    unknown = {slot.place for slot in accelerations}
    if any(unknown & set(operation[2:]) for operation in tape.sections[BALANCE]):
        raise _open("a store depends on the acceleration of a joint")
    unknown = {slot.place for slot in unread}
    if any(unknown & set(operation[2:]) for operation in tape.sections[BALANCE]):
        raise _open("a store depends on the motion of a body")
    if _combinations(_jacobians(tape, z, residual, scales)):
        raise _open("a balance leaves an unknown open")
    curves = tape.played(SECTIONS).curves
    kept = np.array([p for i, p in enumerate(residual) if i not in combinations], dtype=np.int64)
    now = (*tape.sections.get(TIME, ()), *tape.sections[BALANCE])
    return Dependence(now, curves, x, z, rates, np.array(held), kept)


def _open(why: str) -> UsageError:
    return UsageError(
        f"The network of one-dimensional parts has no twin in the transfer-matrix solver: {why}."
    )


def _jacobians(tape: Tape, z: Array, residual: Array, scales: Array) -> Array:
    """Derivatives of the residuals by the unknowns at several points, side by side; columns by
    the size of the unknowns, rows by their largest entry."""
    played = tape.played(SECTIONS)
    operations: list[Operation] = [
        (int(o), int(out), int(a), int(b), int(c))
        for o, out, a, b, c in played.code[: played.ends[2]]
    ]
    rng = np.random.default_rng(1)
    found = []
    for _ in range(POINTS):
        memory = _at(played, z, 0.1 * scales * rng.uniform(-1.0, 1.0, len(z)))
        found.append(slopes(operations, memory, played.curves, z, residual) * scales)
    J = np.hstack(found)
    largest = np.abs(J).max(axis=1, initial=0.0)
    return np.hstack([J / np.where(largest > 0.0, largest, 1.0)[:, None], largest[:, None]])


def _at(played: Played, z: Array, values: Array) -> Array:
    memory = played.memory.copy()
    memory[z] = values
    for _ in range(2):  # what is read before it is written settles in a second pass
        play(played.code, memory, played.curves, 0, int(played.ends[2]))
    return memory


def _combinations(scaled: Array) -> dict[int, dict[int, float]]:
    """Rows that are combinations of others, with the weights of all rows in what vanishes.

    Gauss' elimination with pivots over all entries, which keeps a combination exact where
    its weights are whole numbers."""
    J, largest = scaled[:, :-1].copy(), scaled[:, -1]
    n = len(J)
    if not np.isfinite(J).all():
        return {}
    weights = np.eye(n)
    left = list(range(n))
    while left:
        k, column = np.unravel_index(np.argmax(np.abs(J[left])), (len(left), J.shape[1]))
        pivot = left[int(k)]
        if abs(J[pivot, column]) <= ROUNDING * n:
            break
        left.remove(pivot)
        for row in left:
            factor = J[row, column] / J[pivot, column]
            if factor:
                J[row] -= factor * J[pivot]
                weights[row] -= factor * weights[pivot]
    sizes = np.where(largest > 0.0, largest, 1.0)
    return {
        row: {
            int(i): float(weights[row, i] / sizes[i])
            for i in np.flatnonzero(np.abs(weights[row]) > ROUNDING * n)
        }
        for row in sorted(left)
    }
