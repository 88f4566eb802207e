"""Combinations of a network's residuals that say nothing of its unknowns: l . dF/dz = 0.

The weights l are numbers where topology makes them (Kirchhoff's laws), and vary with the motion
where a ratio does: behind a transformer of ratio r the flow is r times the other, so that r is a
weight.  Which rows and pivots take part is decided by numbers at a few points; weights that do not
serve at points beside these are eliminated once more as formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vbg.tmm_bridge.formulas.tangent import computed_along, jacobian_recorded
from vbg.tmm_bridge.formulas.tape import Number, Operation, Played, Slot, Tape
from vbg.tmm_bridge.kernels.entries import play
from vbg.tmm_bridge.onedim.laws.working import SECTIONS

Array = np.ndarray[Any, Any]
Weights = Mapping[int, Mapping[int, Number]]  # of the rows by the row that is a combination

ROUNDING = 1e-14  # what is left of a combination of scaled rows, relative to one, that is none
POINTS = 2  # at which a combination has to vanish
VARIES = 1e-9  # of the terms of a combination: a rest at other points that is not rounding
BESIDE = (0.3, 1e-3, 1e-6)  # how far these are, relative: the first at which all laws have values


def slopes(
    operations: Sequence[Operation], memory: Array, curves: Array, by: Array, of: Array
) -> Array:
    """Derivatives (of, by) between places of a tape that was played."""
    seeds = {int(place): row for place, row in zip(by, np.eye(len(by)), strict=True)}
    found = computed_along(operations, memory, curves, seeds)
    return np.array([np.zeros(len(by)) + found.get(int(place), 0.0) for place in of])


def combinations(tape: Tape, z: Array, residual: Array, scales: Array) -> Weights:
    """Rows of the balance that are combinations of others, with the weights of all rows in what
    vanishes, as they are at the start."""
    played = tape.played(SECTIONS)
    rng = np.random.default_rng(1)
    guesses = [0.1 * scales * rng.uniform(-1.0, 1.0, len(z)) for _ in range(POINTS)]
    found = [_jacobian(played, _at(played, z, guess), z, residual) * scales for guess in guesses]
    return _eliminated(_scaled(np.hstack(found)))


def varying(
    tape: Tape,
    before: Sequence[Operation],
    z: Array,
    residual: Array,
    scales: Array,
    start: Weights,
    modes: Array,
) -> Weights:
    """The weights `start` where they serve at other points, too; else as formulas of the instant,
    appended to the tape's current section behind the operations `before` of the balance.  States at
    the places `modes` are what they are: moved by anything, a mode is another."""
    if not start:
        return start
    J = _elsewhere(tape, z, residual, scales, modes)
    if not np.isfinite(J).all() or all(_serves(J, weights) for weights in start.values()):
        return start
    elsewhere = _eliminated(_scaled(J))
    if len(elsewhere) < len(start):
        return start
    rows = sorted({i for weights in elsewhere.values() for i in weights})
    entries: dict[int, dict[int, Number]] = {i: {} for i in rows}
    told = jacobian_recorded(tape, before, map(int, z), map(int, residual[rows]))
    for k, column, place in told:
        constant = place in tape.constants
        entries[rows[k]][column] = tape.memory[place] if constant else Slot(tape, place)
    return {
        row: _formulas(row, [i for i in weights if i != row], entries, J)
        for row, weights in elsewhere.items()
    }


def _formulas(
    row: int,
    others: list[int],
    entries: Mapping[int, Mapping[int, Number]],
    J: Array,
) -> dict[int, Number]:
    """Weights with which `others` take `row` away, by elimination with constant pivots first.

    J holds the sizes of the entries at a general point."""
    left = {i: dict(entries[i]) for i in (*others, row)}
    size = {i: {c: float(J[i, c]) for c in entries[i]} for i in left}
    weights: dict[int, dict[int, Number]] = {i: {i: 1.0} for i in left}
    waiting = list(others)
    while waiting:
        # a slot is never a constant: those come last
        _, _, p, c = max(
            (not isinstance(left[i][c], Slot), abs(size[i][c]), i, c)
            for i in waiting
            for c in left[i]
        )
        waiting.remove(p)
        for i in (*waiting, row):
            if c not in left[i]:
                continue
            factor, share = left[i][c] / left[p][c], size[i][c] / size[p][c]
            for column, entry in left[p].items():
                left[i][column] = left[i].get(column, 0.0) - factor * entry
                terms = size[i].get(column, 0.0), share * size[p][column]
                size[i][column] = terms[0] - terms[1]
                if column == c or abs(size[i][column]) <= VARIES * max(map(abs, terms)):
                    del left[i][column], size[i][column]
            for one, weight in weights[p].items():
                weights[i][one] = weights[i].get(one, 0.0) - factor * weight
    return weights[row]


def _jacobian(played: Played, memory: Array, z: Array, residual: Array) -> Array:
    """Derivatives of the residuals by the unknowns where the tape was played to `memory`."""
    code = played.code[: played.ends[2]].tolist()
    return slopes([tuple(one) for one in code], memory, played.curves, z, residual)


def _at(played: Played, z: Array, values: Array) -> Array:
    memory = played.memory.copy()
    memory[z] = values
    for _ in range(2):  # what is read before it is written settles in a second pass
        play(played.code, memory, played.curves, 0, int(played.ends[2]))
    return memory


def _elsewhere(tape: Tape, z: Array, residual: Array, scales: Array, modes: Array) -> Array:
    """The Jacobian where nothing is special: states but for `modes`, motion of the mechanism and
    all that depends on time alone are moved from what they are at the start."""
    played = tape.played(SECTIONS)
    timed = {int(place) for place in played.code[: played.ends[1], 1]}
    written = {int(place) for place in played.code[:, 1]}
    free = set(range(len(played.memory))) - written - set(tape.constants) - set(modes.tolist())
    moved = np.array(sorted(timed | free), dtype=np.int64)
    J = np.zeros((0, 0))
    for far in BESIDE:
        rng = np.random.default_rng(2)
        memory = _at(played, z, 0.1 * scales * rng.uniform(-1.0, 1.0, len(z)))
        value, share = memory[moved], far * rng.uniform(0.5, 1.0, len(moved))
        memory[moved] = np.where(value == 0.0, share, value * (1.0 + share))
        for _ in range(2):
            play(played.code, memory, played.curves, int(played.ends[1]), int(played.ends[2]))
        J = _jacobian(played, memory, z, residual) * scales
        if np.isfinite(J).all():
            break
    return J


def _serves(J: Array, weights: Mapping[int, Number]) -> bool:
    """Whether what the weights make of the rows vanishes but for rounding."""
    terms = np.array([float(c) * J[i] for i, c in weights.items()])  # type: ignore[arg-type]
    return bool((np.abs(terms.sum(axis=0)) <= VARIES * np.abs(terms).max()).all())


def _scaled(J: Array) -> Array:
    """Rows over their largest entry, which is the last column."""
    largest = np.abs(J).max(axis=1, initial=0.0)
    return np.hstack([J / np.where(largest > 0.0, largest, 1.0)[:, None], largest[:, None]])


def _eliminated(scaled: Array) -> dict[int, dict[int, float]]:
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
