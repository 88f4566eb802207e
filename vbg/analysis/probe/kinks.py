"""Kinks at an operating point: laws that are linear on either side of it and not through it.

A corner (`vbg.analysis.probe.corners`) or a mode's condition with the value a(z, u) matters where
a = 0 to rounding, a moves with deviations, da = g (dz, du) =/= 0, and the linear form differs on
its two sides.  Corners with parallel g are one kink; m kinks divide the deviations into at most
2^m cells, in each of which one linear form holds.  Where the law jumps there is none at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.corners import BEYOND
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import Tangent, tangent
from vbg.blocks import Block, dependencies
from vbg.graph.placeholders import OUTPUT, PLACEHOLDERS, SIGNAL
from vbg.simulate.steppers.tolerances import Tolerances

Array = NDArray[np.float64]
Sizes = tuple[Array, Array]  # of the states: as they are, and natural ones
Places = NDArray[np.intp]
What = Literal["kink", "jump", "no slope", "smooth"]

NEAR = 1e-9  # of what the value is made of, or of `natural`: nearer to zero is at zero
MOVED = 1e-12  # of its row: a smaller slope of a value along deviations is rounding
PARALLEL = 1e-9
DIFFERS = 1e-9  # of the row: a smaller difference between two sides is rounding
STEADY = 1e-6  # of a rate: a smaller difference between two sides is no jump
ROUNDING = 1e-12


WORDS = {"kink": "has a kink", "jump": "jumps", "no slope": "has no slope", "smooth": "is smooth"}


@dataclass(frozen=True, slots=True)
class Kink:
    """`part` has a `what` where `signal` is `value`; it is on its upper side where the
    deviations' `gradient` (z, then u) leads up.

    `members`: (index of a side or place of a mode in x, whether it is a mode, orientation).
    """

    part: str
    signal: str
    value: float
    what: What
    gradient: Array
    members: tuple[tuple[int, bool, float], ...]

    @property
    def sentence(self) -> str:
        does = WORDS[self.what]
        return f"{self.part} {does} at {self.signal} = {self.value:.6g}"

    def side(self, sign: float) -> str:
        """Where a deviation to one side is."""
        return f"{self.signal} {'>' if sign > 0 else '<'} {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class _Row:
    """A value that is zero at the point."""

    part: str
    gradient: Array  # by (z, u), not zero
    member: tuple[int, bool] | None
    arguments: tuple[str, ...]  # signals that the value reads


def kinks_at(probe: Probe, t: float, x: Array, watched: Places) -> tuple[Kink, ...]:
    """What lies at its switching value at (t, x), and what becomes there of the slopes of the
    rates and of the `watched` rows; "smooth" where both sides have the same (the four edges of
    a valve between equal pressures)."""
    if not probe.corners and not probe.system.causal.graph.modes:
        return ()
    values, jacobian = probe.values(t, x), probe.jacobian(t, x)
    near = near_kinks(probe, t, x, values, jacobian, tangent(probe, jacobian, x))
    return tuple(
        replace(kink, what=_what(probe, t, x, near, i, watched)) for i, kink in enumerate(near)
    )


def near_kinks(
    probe: Probe, t: float, x: Array, values: Array, jacobian: Array, space: Tangent
) -> list[Kink]:
    """What lies at its switching value, whatever becomes of the slopes there."""
    sizes = np.abs(x), Tolerances(probe.system, 1.0)(t, x)
    rows = [
        *_at_corners(probe, values, jacobian, space, sizes),
        *_at_modes(probe, values, jacobian, space, sizes),
    ]
    return [_kink(probe, group, values, jacobian, space, sizes) for group in _parallel(rows)]


def _kink(
    probe: Probe,
    group: Sequence[_Row],
    values: Array,
    jacobian: Array,
    space: Tangent,
    sizes: Sizes,
) -> Kink:
    signal, value, flip = _named(probe, group, values, jacobian, space, sizes)
    members = []
    for row in group:
        if row.member is not None:
            place, is_mode = row.member
            sense = flip * float(np.sign(row.gradient @ group[0].gradient))
            members.append((place, is_mode, sense))
    gradient = flip * group[0].gradient
    return Kink(group[0].part, signal, value, "kink", gradient, tuple(members))


def _along(space: Tangent, row: Array) -> Array:
    """A row by x and u as one by z and u."""
    n = len(space.basis)
    return np.concatenate([row[:n] @ space.basis, row[n:]])


def _at_zero(value: float, row: Array, sizes: Sizes) -> bool:
    """Whether a value is rounding of what its row makes of the states, or of their natural sizes
    (lengths of the machine, 1 V, 1 rad/s): 1 at most, and where it reads none."""
    now, natural = sizes
    size = float(np.abs(row[: len(now)]) @ now)
    small = float(np.abs(row[: len(now)]) @ natural)
    return abs(value) <= NEAR * max(size, min(small, 1.0) if small > 0.0 else 1.0)


def _at_corners(
    probe: Probe, values: Array, jacobian: Array, space: Tangent, sizes: Sizes
) -> list[_Row]:
    rows = []
    for corner in probe.corners:
        at = probe.spans[corner.output].start
        gradient = _along(space, jacobian[at])
        moves = np.abs(gradient).max(initial=0.0) > MOVED * np.abs(jacobian[at]).max()
        if not moves or not _at_zero(values[at], jacobian[at], sizes):
            continue
        member = None if corner.side is None else (probe.side_places[corner.side], False)
        rows.append(_Row(corner.part, gradient, member, _arguments(corner.value)))
    return rows


def _at_modes(
    probe: Probe, values: Array, jacobian: Array, space: Tangent, sizes: Sizes
) -> list[_Row]:
    rows = []
    places = {s.state.name: s.first for s in probe.system.slices}
    for mode in probe.system.causal.graph.modes:
        if mode.rest > 0.0:  # friction: what sticks is held, it lies at no kink
            continue
        at = probe.spans[f"condition {mode.name}"].start
        gradient = _along(space, jacobian[at])
        moves = np.abs(gradient).max(initial=0.0) > MOVED * np.abs(jacobian[at]).max(initial=0.0)
        if moves and _at_zero(values[at], jacobian[at], sizes):
            member = (places[mode.name], True)
            part = mode.name.rpartition(".")[0]
            rows.append(_Row(part, gradient, member, _arguments(mode.condition)))
    return rows


def _arguments(value: Block) -> tuple[str, ...]:
    """Names of the signals, outputs and states that a value reads."""
    leaves = [str(b.data) for b in dependencies([value]) if b.op == "leaf"]
    prefixes = (SIGNAL, OUTPUT, *PLACEHOLDERS)
    plain = []
    for name in leaves:
        prefix = next((p for p in prefixes if name.startswith(p)), "")
        plain.append(name.removeprefix(prefix))
    return tuple(dict.fromkeys(plain))


def _parallel(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Rows with parallel gradients together; what has no slope stays alone."""
    groups: list[list[_Row]] = []
    for row in rows:
        unit = row.gradient / np.linalg.norm(row.gradient)
        for group in groups:
            first = group[0]
            other = first.gradient / np.linalg.norm(first.gradient)
            alike = (row.member is None) == (first.member is None)
            if alike and row.part == first.part and abs(abs(unit @ other) - 1.0) < PARALLEL:
                group.append(row)
                break
        else:
            groups.append([row])
    return groups


def _named(
    probe: Probe,
    group: Sequence[_Row],
    values: Array,
    jacobian: Array,
    space: Tangent,
    sizes: Sizes,
) -> tuple[str, float, float]:
    """The signal whose deviation the group's is, its value at the point, and its sense: of the
    signals with a parallel slope one that the law reads, else one of the part, else any."""
    row = group[0]
    unit = row.gradient / np.linalg.norm(row.gradient)
    part = row.part.rpartition(".")[2]
    found: list[tuple[int, str, float, float]] = []
    for name, span in probe.spans.items():
        signal = name.removeprefix("signal ")
        if signal == name or span.stop - span.start != 1:
            continue
        gradient = _along(space, jacobian[span.start])
        size = float(np.linalg.norm(gradient))
        if size == 0.0 or abs(abs(gradient @ unit) / size - 1.0) > PARALLEL:
            continue
        rank = 0 if signal in row.arguments else 1 if signal.startswith(f"{part}.") else 2
        value = float(values[span.start])
        shown = 0.0 if _at_zero(value, jacobian[span.start], sizes) else value
        found.append((rank, signal, shown, float(np.sign(gradient @ unit))))
    if not found:
        return ", ".join(row.arguments) or row.part, 0.0, 1.0
    _, signal, value, flip = min(found, key=lambda one: one[0])
    return signal, value, flip


def _what(
    probe: Probe, t: float, x: Array, near: Sequence[Kink], which: int, watched: Places
) -> What:
    """What becomes of the slopes across one of the kinks, above all others."""
    n = len(x)
    if not near[which].members:
        return "no slope"
    both = []
    for sign in (1.0, -1.0):
        signs = [sign if i == which else 1.0 for i in range(len(near))]
        at, sides = on_side(probe, x, near, signs)
        slope = probe.jacobian(t, at, sides)
        space = tangent(probe, slope, at)
        rows = np.concatenate([probe.spans["rate"].start + space.rows, watched])
        along = np.hstack([slope[rows, :n] @ space.basis, slope[rows, n:]])
        both.append((probe.values(t, at, sides)[rows], along))
    (value, slope), (other, other_slope) = both
    if slope.shape != other_slope.shape:
        return "kink"
    height = np.maximum(np.abs(slope), np.abs(other_slope)).max(axis=1, initial=0.0)
    difference = np.abs(slope - other_slope).max(axis=1, initial=0.0)
    largest = np.maximum(np.abs(value), np.abs(other))
    continuous = STEADY * largest + 100.0 * NEAR * difference + ROUNDING * height
    if np.any(np.abs(value - other) > continuous):
        return "jump"
    return "kink" if np.any(difference > DIFFERS * height) else "smooth"


def on_side(
    probe: Probe, x: Array, kinks: Sequence[Kink], signs: Sequence[float]
) -> tuple[Array, Array]:
    """The state (its modes) and the sides for a cell."""
    x, sides = x.copy(), np.zeros(probe.sides)
    for kink, sign in zip(kinks, signs, strict=True):
        for place, is_mode, orientation in kink.members:
            if is_mode:
                x[place] = float(sign * orientation > 0.0)
            else:
                sides[place] = sign * orientation * BEYOND
    return x, sides


def cells(kinks: Sequence[Kink]) -> tuple[tuple[float, ...], ...]:
    """The combinations of sides that some deviation has: s_k g_k z > 0 for all k."""
    from scipy.optimize import linprog

    G = np.array([k.gradient / np.linalg.norm(k.gradient) for k in kinks])
    found = []
    for signs in product((1.0, -1.0), repeat=len(kinks)):
        A = -np.array(signs)[:, None] * G
        trial = linprog(np.zeros(G.shape[1]), A, -np.ones(len(kinks)), bounds=(None, None))
        if trial.status == 0:
            found.append(signs)
    return tuple(found)


def undecided(kinks: Sequence[Kink]) -> str:
    """What can be said of stability at kinks, in a sentence."""
    return (
        f"Stability is not decided by poles here: {'; '.join(k.sentence for k in kinks)}, and "
        "deviations, however small, cross it."
    )
