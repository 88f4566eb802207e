"""Dependent stores of a network: unknowns that its balance leaves open, found one rate deeper.

Two capacitors side by side, a capacitor across a source, two inductors in a row: some
combination of the balance's residuals F(x, z, t) does not depend on the unknowns z at all,

    l . F = g(x, t),

whatever laws and topology made it so.  Then g = 0 holds the states together, and its rate,

    dg/dt = l . (dF/dx . x'(x, z, t) + dF/dt),

(weights l that vary themselves add l' . F, which is zero, and as l . dF/dz is zero, so is what z'
brings) takes the place of one of the residuals: it has the unknown that the others lack (index
reduction: C. W. Gear, SIAM J. Sci. Stat. Comput. 9, 1988).  Where x are also speeds of joints, as
behind an inertia that several of them move or one at a changing ratio, their accelerations a are
further unknowns: the mechanism gives them as an affine function of what the network exerts,

    a = a_0 + Y u,   a_0 at u = 0, column j of Y the answer to a unit of u_j.

Where the states begin apart, or a
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

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.tangent import recorded_along
from vbg.tmm_bridge.formulas.tape import Operation, Slot, Tape
from vbg.tmm_bridge.kernels.entries import play
from vbg.tmm_bridge.motion.rate.combining import combinations, slopes, varying
from vbg.tmm_bridge.onedim.laws.working import BALANCE, FEEDS, SECTIONS, TIME

Array = np.ndarray[Any, Any]

JUMPS = 5  # steps onto g = 0; one where it is linear
NO_IMPULSE = 1e-12  # of the largest, each beside its size: rounding of what has none
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

    @cached_property
    def code(self) -> Array:
        """The operations as they are played."""
        return np.array(self.operations, dtype=np.int64).reshape(-1, 5)

    def consistent(
        self,
        memory: Array,
        y: Array,
        guessed: Collection[int] = (),
        kept: Collection[int] = (),
    ) -> tuple[Array, float]:
        """The states y moved towards g = 0 by impulses, and the largest step relative to them;
        `memory` is that of the tape, played at y.  States `guessed` have no past and follow, those
        `kept` take no impulse."""
        G, P = self._jump(memory, kept)
        step: Array = _step(G, P, -memory[self.held], guessed)
        size = float(np.abs(step).max(initial=0.0) / max(np.abs(y).max(initial=0.0), 1e-300))
        return y + step, size

    def summed(self, memory: Array) -> Array:
        """What the g are the sums of, with what of it a jump brings from one into others:
        |G| |P| (|dg/dr| |r|), r all that the operations read; `memory` as in `consistent`."""
        written = {operation[1] for operation in self.operations}
        read = {place for operation in self.operations for place in operation[2:]}
        leaves = np.array(sorted(read - written), dtype=np.int64)
        with np.errstate(invalid="ignore"):
            terms = np.abs(self._slopes(memory, leaves, self.held) * memory[leaves])
        # what has no slope or no end (limits that are not written) adds nothing
        terms = np.where(np.isfinite(terms), terms, 0.0).sum(axis=1)
        return self._brought(memory, terms)

    def left_by(self, memory: Array, sizes: Array) -> Array:
        """What states that may each be off by these sizes leave at most: |G| |P| |G| sizes."""
        return self._brought(memory, np.abs(self.ties(memory)) @ sizes)

    def ties(self, memory: Array) -> Array:
        """G = dg/dx."""
        return self._slopes(memory, self.x, self.held)

    def _brought(self, memory: Array, terms: Array) -> Array:
        """|G| |P| times what each g may be off by."""
        G, P = self._jump(memory)
        found: Array = np.abs(G) @ (np.abs(P) @ terms)
        return found

    def _jump(self, memory: Array, kept: Collection[int] = ()) -> tuple[Array, Array]:
        """G = dg/dx, and the states' jump P for a unit of each g."""
        _, moved, G = self._impulsive(memory, kept)
        return G, moved @ np.linalg.inv(G @ moved)

    def impulses(
        self, memory: Array, scales: Array, kept: Collection[int] = ()
    ) -> tuple[Array, Array]:
        """Of the unknowns, whose sizes are `scales`: they bring the states to g = 0, without those
        `kept`; and what up to is none, but rounding of the others."""
        open_, moved, G = self._impulsive(memory, kept)
        found: Array = open_ @ np.linalg.solve(G @ moved, -memory[self.held])
        rounding: Array = NO_IMPULSE * (np.abs(found) / scales).max(initial=0.0) * scales
        return np.where(np.abs(found) > rounding, found, 0.0), rounding

    def holds(self, memory: Array) -> Array:
        """Which of the states g depends on."""
        found: Array = self.ties(memory) != 0.0
        return np.asarray(found.any(axis=0))

    def terms(self, memory: Array, impulses: Array) -> tuple[Array, Array]:
        """How large the terms are by which impulses step the states, and of the residuals kept."""
        J = self._slopes(memory, self.z, np.concatenate([self.rates, self.kept]))
        with np.errstate(invalid="ignore"):
            terms = np.abs(J * impulses)
        # what has no slope or no end has no size to be judged by
        sizes: Array = np.where(np.isfinite(terms), terms, 0.0).sum(axis=1)
        return sizes[: len(self.rates)], sizes[len(self.rates) :]

    def _impulsive(self, memory: Array, passed: Collection[int]) -> tuple[Array, Array, Array]:
        """Unknowns that the other residuals leave open, dx'/dz times these, and dg/dx."""
        J = self._slopes(memory, self.z, np.concatenate([self.kept, self.rates]))
        n = len(self.kept)
        rows = np.abs(J[:n]).max(axis=1, keepdims=True, initial=0.0)
        # else rounding of the largest row is an impulse in all others
        open_: Array = np.linalg.svd(J[:n] / np.where(rows > 0.0, rows, 1.0))[2][n:].T
        moved = J[n:] @ open_
        moved[list(passed)] = 0.0
        return open_, moved, self.ties(memory)

    def growing(self, memory: Array, impulses: Array, k: float) -> tuple[Array, Array]:
        """What the rates of the states and the other residuals grow by where the unknowns grow
        by k times their impulses, over k."""
        told = np.concatenate([self.rates, self.kept])
        found = []
        for grown in (0.0, k):
            now = memory.copy()
            now[self.z] += grown * impulses
            play(self.code, now, self.curves, 0, len(self.code))
            found.append(now[told])
        with np.errstate(all="ignore"):  # what overflows has no limit
            growth = (found[1] - found[0]) / k
        return growth[: len(self.rates)], growth[len(self.rates) :]

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


def reduced(tape: Tape, places: dict[str, Any], scales: Array) -> Dependence | None:
    """Replace residuals on the tape that say nothing of the unknowns; None if all do.

    Accelerations that their rates need are told in `places`: `asked` (coordinate, place), `given`
    their a_0, `yields` their Y, by inputs `fed`; they join the unknowns `z`.
    Raises UsageError for a network whose unknowns are open even so.
    """
    x, z, rates, residual, modes = (
        np.array(places[name], dtype=np.int64) for name in ("x", "z", "rates", "residual", "modes")
    )
    if not len(z):
        return None
    weighed = combinations(tape, z, residual, scales)
    if not weighed:
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
    tape.section, begun = BALANCE, len(tape.sections[BALANCE])
    weighed = varying(tape, tape.sections[BALANCE][:], z, residual, scales, weighed, modes)
    held = [
        tape.slot(sum(c * Slot(tape, int(residual[i])) for i, c in weights.items())).place
        for weights in weighed.values()
    ]
    found = recorded_along(tape, before, seeds)
    for row, weights in weighed.items():
        rate: Any = 0.0
        for i, c in weights.items():
            rate = rate + c * found.get(int(residual[i]), 0.0)
        tape.store(rate, Slot(tape, int(residual[row])))
    told = [*held, *residual[list(weighed)]]
    tape.sections[BALANCE][begun:] = _needed(tape.sections[BALANCE][begun:], told)
    read = {place for operation in tape.sections[BALANCE] for place in operation[2:]}
    if any(slot.place in read for slot in unread):
        raise _open("a store depends on the motion of a body")
    pairs = zip(places["joints"], accelerations, strict=True)
    asked = [(joint, slot) for (joint, _, _), slot in pairs if slot.place in read]
    _ask(tape, places, asked)
    every = np.concatenate([scales, np.ones(len(asked))])
    if combinations(tape, np.array(places["z"]), np.array(places["residual"]), every):
        raise _open("a balance leaves an unknown open")
    curves = tape.played(SECTIONS).curves
    kept = np.array([p for i, p in enumerate(residual) if i not in weighed], dtype=np.int64)
    now = (*tape.sections.get(TIME, ()), *tape.sections[BALANCE])
    return Dependence(now, curves, x, z, rates, np.array(held), kept)


def _needed(operations: Sequence[Operation], told: Iterable[int]) -> list[Operation]:
    """Those of the operations on which the places `told` depend."""
    wanted, found = {int(place) for place in told}, []
    for operation in reversed(operations):
        if operation[1] in wanted:
            wanted |= set(operation[2:])
            found.append(operation)
    return found[::-1]


def _ask(tape: Tape, places: dict[str, Any], asked: Sequence[tuple[int, Slot]]) -> None:
    """The accelerations of (coordinate, slot) as unknowns: a = a_0 + Y u."""
    places |= {"asked": [(joint, slot.place) for joint, slot in asked], "given": [], "yields": []}
    if not asked:
        return
    exerted = [place for _, place in places["fed"]]
    # what is exerted is told behind the balance: here within it, too
    tape.sections[BALANCE] += _needed(tape.sections.get(FEEDS, ()), exerted)
    for _, acceleration in asked:
        given, row = tape.place(), [tape.place() for _ in exerted]
        follows: Any = given
        for mobility, place in zip(row, exerted, strict=True):
            follows = follows + mobility * Slot(tape, place)
        left = tape.place()
        tape.store(acceleration - follows, left)
        places["given"].append(given.place)
        places["yields"].append([slot.place for slot in row])
        places["z"].append(acceleration.place)
        places["residual"].append(left.place)


def _open(why: str) -> UsageError:
    return UsageError(
        f"The network of one-dimensional parts has no twin in the transfer-matrix solver: {why}."
    )
