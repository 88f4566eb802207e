"""The state of a machine from the signals of a result.

A row of a result has positions, speeds, currents, pressures: y.  The state x is the one whose
signals are those, h(x, t) = y, found by Newton on the rows that the machine and the result have
in common and that follow from the state alone (no constraint effort in them),

    x <- x + the least dx with dh/dx dx = y - h(x),

with the constraints as further rows.  Signals of motion come first: where a spring was
exchanged, its force differs and the posture is still the one to go on from.  Of the others as
many are followed as the state has directions left, those for which least is computed first: the
voltage of a capacitor before its power, which is zero at two voltages, the pressure of a volume
before the flow into it, which bends where a valve opens.  Newton on all at once comes to rest
between two of them.

What is large for a signal is told by the result: its own peak, at least `SHARE` of the largest
of its unit; of motion also `FAINT` of the machine's size, or of as much in the span of the result,
below which it is rounding.  So nanovolts are held as well as kilovolts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.assemble import Start, System, start_at
from vbg.blocks import dependencies
from vbg.errors import Problem, UsageError
from vbg.junctions.latch import MODE
from vbg.simulate.steppers.machine_size import machine_size
from vbg.solution import Solution

Array = NDArray[np.float64]

MOTION = (
    *(".position", ".rotation", ".velocity", ".angular_velocity"),
    *(".angle", ".angle2", ".slide", ".speed", ".speed2", ".slide_speed"),
)
ITERATIONS = 30
RANK = 1e-9  # of the largest slope: a direction below is not seen in the signals
APART = 1e-6  # of its length: a row that differs from earlier ones by less tells nothing new
CLOSE = 1e-6  # of its size: a signal that misses by more is not that of the result
SHARE = 1e-3  # of the largest signal of its unit: what is smaller counts as that large
FAINT = 1e-8  # of the machine's size, and of as much in the span of the result
STILL = 1e-13  # a step this small, relative to the state, is the last


@dataclass(frozen=True, slots=True)
class Instant:
    """The signals of a result at one time: t [s], name -> numbers.

    sizes : name -> what is large for it in the whole result, by default what it is here.
    span : of the result [s].
    """

    t: float
    signals: dict[str, Array]
    sizes: Mapping[str, float] = field(default_factory=dict)
    span: float = 0.0


def instant_of(solution: Solution, at: float | None = None) -> Instant:
    """The row of `solution` at the time `at` [s], by default the last.

    Raises UsageError where the result has no row there.
    """
    time = solution.time
    if not len(time):
        raise UsageError("the result to start from has no rows.")
    row = len(time) - 1 if at is None else int(np.argmin(np.abs(time - at)))
    if at is not None:
        step = float(np.diff(time[max(row - 1, 0) : row + 2]).min(initial=np.inf))
        if abs(time[row] - at) > 1e-6 * (step if np.isfinite(step) else abs(at)):
            raise UsageError(
                f"the result to start from has no row at {at:g} s: it has {len(time)} from "
                f"{time[0]:g} to {time[-1]:g} s, the nearest at {time[row]:.9g} s."
            )
    signals = {name: np.atleast_1d(values[row]).copy() for name, values in solution.signals.items()}
    return Instant(float(time[row]), signals, _peaks(solution), float(time[-1] - time[0]))


def _peaks(solution: Solution) -> dict[str, float]:
    """What is large for each signal, from all rows; 0 where nothing of its unit ever is."""
    own: dict[str, float] = {}
    of_unit: dict[str, float] = {"": 0.0}  # signals without a unit have nothing in common
    for name, values in solution.signals.items():
        own[name] = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        if unit := solution.unit(name):
            of_unit[unit] = max(own[name], of_unit.get(unit, 0.0))
    return {n: max(peak, SHARE * of_unit[solution.unit(n)]) for n, peak in own.items()}


def observed(system: System, instant: Instant) -> Start:
    """The Start from the state whose signals are those of `instant`.

    What is not seen in them (the integral of a controller without a signal) starts as
    written; signals that cannot be met are a warning.  Raises UsageError where the motion of
    the result is not one of this machine.
    """
    probe = Probe(system)
    x = _opened(system, system.written_state.copy(), instant)
    names = _seen(system, probe, instant)
    instant = replace(instant, sizes=_sizes(system, instant, names))
    if not names:
        raise UsageError(f"the result to start from has no signal of {system.model.name}.")
    first = [n for n in names if n.endswith(MOTION)]
    later = sorted((n for n in names if n not in first), key=lambda name: names[name])
    x = _switched(system, _followed(probe, instant, x, (first, later)))
    missed = _missed(probe, instant, x, names)
    moved = [name for name in missed if name in first]
    if moved:
        raise UsageError(
            f"the result to start from is not of this machine: no state of {system.model.name} "
            f"has its {moved[0]} (it misses by {100.0 * missed[moved[0]]:.3g} %)."
        )
    start = start_at(system, x)
    return replace(start, notes=(*start.notes, *_notes(instant, missed)))


def _opened(system: System, x: Array, instant: Instant) -> Array:
    """x with joints open and closed as they were."""
    places = {s.state.name: s.first for s in system.slices}
    for c in system.equations.constraints:
        told = instant.signals.get(f"{c.name}.{MODE}")
        if c.latches and told is not None:
            x[places[f"{c.name}.{MODE}"]] = float(told[0] > 0.5)
    return x


def _switched(system: System, x: Array) -> Array:
    """x with valves, contacts and dry friction in the modes that go with it: what flows through a
    relief valve tells nothing of its pressure before it is open."""
    modes = {m.name for m in system.causal.graph.modes}
    told = {f"{c.name}.{MODE}" for c in system.equations.constraints if c.latches}
    agreed = start_at(system, x).state
    for s in system.slices:
        if s.state.name in modes - told:
            x[s.first : s.last] = agreed[s.first : s.last]
    return x


def _notes(instant: Instant, missed: dict[str, float]) -> tuple[Problem, ...]:
    told = (Problem("note", "simulate.start", f"begins as a result was at {instant.t:.6g} s."),)
    if not missed:
        return told
    worst = max(missed, key=lambda name: missed[name])
    what = f"{len(missed)} signals do not begin as in the result, {worst} most of all."
    remedy = "Parts or sources differ from those of the machine that was run."
    return (*told, Problem("warning", "simulate.start", what, remedy))


def _seen(system: System, probe: Probe, instant: Instant) -> dict[str, int]:
    """Signals that both have and that follow from the state alone, with how many nodes compute
    each."""
    efforts = {c.unknown for c in system.equations.constraints}
    found = {}
    for name, block in system.equations.outputs.items():
        span = probe.spans.get(f"signal {name}")
        given = instant.signals.get(name)
        if span is None or given is None or given.size != span.stop - span.start:
            continue
        nodes = dependencies([block])
        if np.all(np.isfinite(given)) and efforts.isdisjoint(nodes):
            found[name] = len(nodes)
    return found


def _rows(probe: Probe, names: list[str]) -> NDArray[np.intp]:
    spans = [probe.spans[f"signal {name}"] for name in names]
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in spans)])


def _sizes(system: System, instant: Instant, names: Iterable[str]) -> dict[str, float]:
    """What is large for each of the signals, in its unit; 1 where nothing says."""
    length = machine_size(system)
    natural = {"rad": 1.0, "m": length}
    if instant.span > 0.0:
        natural |= {"rad/s": 1.0 / instant.span, "m/s": length / instant.span}
    units = {output.name: output.unit for output in system.causal.graph.outputs}
    sizes = {}
    for name in names:
        here = float(np.abs(instant.signals[name]).max())
        largest = max(here, instant.sizes.get(name, here))
        sizes[name] = max(largest, FAINT * natural.get(units.get(name, ""), 0.0)) or 1.0
    return sizes


def _wanted(instant: Instant, names: Iterable[str]) -> tuple[Array, Array]:
    """Values of the signals and what is large for each."""
    values = [instant.signals[name] for name in names]
    sizes = [np.full(instant.signals[name].size, instant.sizes[name]) for name in names]
    empty = np.zeros(0)
    return np.concatenate([empty, *values]), np.concatenate([empty, *sizes])


def _free(system: System) -> NDArray[np.bool_]:
    """Components of x that signals are to determine: no energies, no modes."""
    modes = {m.name for m in system.causal.graph.modes}
    free = np.ones(system.size, dtype=bool)
    for s in system.slices:
        if s.state.kind == "quadrature" or s.state.name in modes:
            free[s.first : s.last] = False
    return free


def _followed(
    probe: Probe, instant: Instant, x: Array, tiers: tuple[list[str], list[str]]
) -> Array:
    """The state whose signals are those of the instant, those of the first tier first."""
    free = _free(probe.system)
    for _ in range(ITERATIONS):
        values, slopes = probe.values(instant.t, x), probe.jacobian(instant.t, x)[:, : probe.size]
        reach = _reach(probe, instant, slopes, tiers)
        basis, step = np.diag(reach)[:, free], np.zeros(probe.size)
        for later, names in enumerate(tiers):
            rows = _rows(probe, names)
            wanted, sizes = _wanted(instant, names)
            A = slopes[rows] / sizes[:, None]
            miss = (wanted - values[rows]) / sizes - A @ step
            good = np.isfinite(miss) & np.all(np.isfinite(A), axis=1)
            if later:
                good &= _told_first(np.where(good[:, None], A * reach, 0.0), basis / reach[:, None])
            move, basis = _solved(A[good], miss[good], basis)
            step = step + move
        step = step + _held_together(probe, values, slopes, step, basis)
        if not np.all(np.isfinite(step)):
            break
        x = x + step
        for s in probe.system.slices:
            if s.state.kind == "quaternion":
                x[s.first : s.last] /= np.linalg.norm(x[s.first : s.last])
        if np.all(np.abs(step) <= STILL * (reach + np.abs(x))):
            break
    return x


def _told_first(A: Array, basis: Array) -> NDArray[np.bool_]:
    """Rows of A that tell of `basis` what none before them does, shape (rows,); both in units in
    which the columns of all rows are 1 long."""
    units = basis / np.linalg.norm(basis, axis=0)
    chosen, told = np.zeros(len(A), dtype=bool), np.zeros((0, basis.shape[1]))
    for k, row in enumerate(A @ units):
        size = float(np.linalg.norm(row))
        if len(told) == basis.shape[1]:
            break
        if not size > RANK * max(1.0, float(np.linalg.norm(A[k]))):
            continue
        new = row / size
        for _ in range(2):  # the second time what rounding left of the first
            new = new - told.T @ (told @ new)
        if float(np.linalg.norm(new)) > APART:
            chosen[k] = True
            told = np.vstack([told, new / np.linalg.norm(new)])
    return chosen


def _reach(probe: Probe, instant: Instant, slopes: Array, tiers: Iterable[list[str]]) -> Array:
    """Of each component of x what moves the signals by one of their sizes, shape (n,): a momentum
    of oil and its content differ by twenty orders, and what the first tier leaves free is a
    mixture of both."""
    names = [name for tier in tiers for name in tier]
    A = slopes[_rows(probe, names)] / _wanted(instant, names)[1][:, None]
    moved = np.linalg.norm(np.where(np.isfinite(A), A, 0.0), axis=0)
    return np.where(moved > 0.0, 1.0 / np.where(moved > 0.0, moved, 1.0), 1.0)


def _held_together(probe: Probe, values: Array, slopes: Array, step: Array, basis: Array) -> Array:
    """What no signal tells moves with what it is tied to: the rotor of a motor has a momentum of
    its own, whose speed is that of the joint."""
    kept = [np.arange(s.start, s.stop) for s in (probe.spans["position"], probe.spans["velocity"])]
    rows = np.concatenate(kept)
    C, miss = slopes[rows], -(values[rows] + slopes[rows] @ step)
    size, left = np.linalg.norm(C, axis=1), np.linalg.norm(C @ basis, axis=1)
    there = (left > RANK * size) & np.isfinite(miss)  # rows that the signals have not settled
    return _solved(C[there] / size[there, None], miss[there] / size[there], basis)[0]


def _solved(A: Array, miss: Array, basis: Array) -> tuple[Array, Array]:
    """The least step along `basis` with A step = miss, and the directions that A does not see."""
    reduced = A @ basis
    size = np.linalg.norm(reduced, axis=0)
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 1.0)
    left, values, right = np.linalg.svd(reduced * scale, full_matrices=True)
    rank = int(np.count_nonzero(values > RANK * values.max(initial=0.0)))
    parts = (left.T @ miss)[:rank] / values[:rank]
    return basis @ (scale * (right[:rank].T @ parts)), basis @ (scale[:, None] * right[rank:].T)


def _missed(probe: Probe, instant: Instant, x: Array, names: Iterable[str]) -> dict[str, float]:
    """Signals that are not those of the instant, with the relative miss."""
    values, missed = probe.values(instant.t, x), {}
    for name in names:
        wanted, sizes = _wanted(instant, [name])
        off = np.abs(values[_rows(probe, [name])] - wanted) / sizes
        if name.endswith(".rotation"):  # q and -q are one rotation
            other = np.abs(values[_rows(probe, [name])] + wanted) / sizes
            off = min(off, other, key=lambda o: float(o.max()))
        if not float(off.max()) <= CLOSE:
            missed[name] = float(off.max())
    return missed
