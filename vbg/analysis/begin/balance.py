"""The written start with contents of parts found so that nothing accelerates.

The posture is held as written.  Unknown are the displacements q of the named parts'
stores (charges, oil, twists), and with the rates of all momenta p' = f(q) the least change with
f = 0 is taken: a load is held by the pressure under it, a preload by the twist of its spring.
A content on which no momentum depends keeps itself: q' = 0, as of a capacitor behind a resistor
or oil between two orifices.  Where voltages only are asked for, the machine may move: f are the
rates of the fluxes that they drive.

Dry friction has no part in it, as an effort that may be anything up to its limit: the contents are
those of the machine without it, and what they leave, as the load of a worm that locks, it may hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.begin.carrying import carrying
from vbg.analysis.begin.hanging import Group, closed, groups, written_apart
from vbg.analysis.probe.probe import Probe
from vbg.analysis.rest.resting import with_modes, without_friction
from vbg.assemble import Start, System, assemble_start, start_at
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks.rounding import terms_of
from vbg.errors import AsAsked, AssemblyError, Problem, UsageError
from vbg.model.located import located

Array = NDArray[np.float64]
Places = NDArray[np.intp]

ITERATIONS = 30
HALVINGS = 12  # of a step that does not help
GAIN = 0.25  # least part of what a step promises by which it has to help
MECHANICAL = ("mechanical", "rotation", "translation")
NOISE = 1e-9  # of the steepest slope among rows of a kind: a row without more is rounding
ROUNDING = 1e-13  # of what contents could make of themselves
ZERO = 1e-9  # of the largest pressure: a smaller one below zero is rounding
GIVEN = 1e-6  # of a written content: a smaller change keeps it
RESTS = 1e-9  # of the largest rate that the parts hold: less is rest


def balanced(system: System, parts: tuple[str, ...]) -> Start:
    """The start as written but for the contents of the `parts` (names, or single pressures,
    "cylinder.pressure_a"), which balance the loads.

    A pressure that would have to pull stays zero.  Raises UsageError for a part that holds
    nothing, AssemblyError where they cannot balance.
    """
    start = assemble_start(system)
    task = _task(system, start, parts)
    begins, held, pulling = _found(task, start)
    left = task.still @ task.smooth.values(begins.state)
    if np.any(np.abs(left) > held):
        stuck = task.probe.values(0.0, with_modes(begins, 0.0, begins.state))
        left = task.still @ (stuck - task.smooth.carried)
    if np.any(np.abs(left) > held):
        raise AssemblyError.of(
            located(system.model, [_unbalanced(task, parts, left, held, pulling)])
        )
    _require_written(task, parts, start.state, begins.state)
    verb = "balance" if len(parts) > 1 else "balances"
    told = f"{', '.join(parts)} {verb} the loads as written."
    note = AsAsked("note", "simulate.start", told)
    told_once = tuple(dict.fromkeys((*start.notes, *begins.notes)))
    return replace(begins, notes=(*told_once, note))


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be balanced: `still` times the values of the probe zero, its rows those of the
    places `of` in x, by the contents of the `groups`; `pressures` are rows of what may not pull.
    `rounding` of each row at the written start: of what joints and drives carry, too."""

    system: System
    probe: Probe
    smooth: _Smooth
    groups: tuple[Group, ...]
    still: Array
    of: Places
    pressures: Places
    rounding: Array


def _task(system: System, start: Start, parts: tuple[str, ...]) -> _Task:
    probe, x = Probe(system), start.state
    J = probe.jacobian(0.0, x)
    asked = _contents(system, probe, J, parts)
    found = groups(system, probe, J, asked)
    still, of = _still(system, probe, J, found)
    carried, moving = np.zeros(J.shape[0]), _momenta(system)
    where = _asked_at(system, parts[0])
    carried[probe.spans["rate"].start + moving] = carrying(system, probe, x, moving, where)
    smooth = _Smooth(probe, without_friction(start, 0.0, x), carried)
    pressures = _pressures(system, probe, parts)
    rounding = ROUNDING * np.abs(still[:, probe.spans["rate"]]) @ _terms(system, start)
    return _Task(system, probe, smooth, found, still, of, pressures, rounding)


def _terms(system: System, start: Start) -> Array:
    """How large the numbers are of which each rate at the start is the sum: a boom that a drive
    holds is at rest but for rounding of its weight, whatever the parts carry beside it."""
    e = system.equations
    wanted = {f"rate {s.state.name}": terms_of(e.rates[s.state.leaf]) for s in system.slices}
    given = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
    return np.abs(Evaluator(lower(wanted, given), kept=start.kept)(0.0, start.state))


def _found(task: _Task, start: Start) -> tuple[Start, Array, Places]:
    """The start that is balanced, what counts as none in each of the task's rows, and the rows of
    the probe whose pressures would have to pull and stay zero."""
    kinds = _kinds(task.system)
    empty = np.zeros(0, dtype=int)
    for _ in range(len(task.pressures) + 1):
        rows = np.concatenate([task.still, np.eye(task.still.shape[1])[empty]])
        alike = [*(kinds[i] for i in task.of.tolist()), *("pressure" for _ in empty)]
        x, held = _solved(task, rows, start.state, alike)
        found = task.probe.values(0.0, x)[task.pressures]
        least = -ZERO * max(float(np.abs(found).max(initial=0.0)), 1.0)
        pulling = task.pressures[found < least]
        if not np.setdiff1d(pulling, empty).size:
            break
        empty = np.union1d(empty, pulling)
    return start_at(task.system, x), np.maximum(held[: len(task.still)], task.rounding), empty


def _require_written(task: _Task, parts: tuple[str, ...], before: Array, after: Array) -> None:
    """AssemblyError where a start that is written would have to give way."""
    for group in task.groups:
        for part, places in written_apart(task.system, group):
            size = np.maximum(np.abs(before), np.abs(after))[places]
            if np.any(np.abs(after - before)[places] > GIVEN * size):
                told = _contradicted(task, parts, part, before, after)
                raise AssemblyError.of(located(task.system.model, [told]))


def _contradicted(
    task: _Task, parts: tuple[str, ...], part: str, before: Array, after: Array
) -> Problem:
    """With both values, of the first part that is asked for."""
    name = next((one for one in _names(parts[0]) if f"signal {one}" in task.probe.spans), "")
    values = ""
    if name:
        span, unit = task.probe.spans[f"signal {name}"], task.system.signal_units.get(name, "")
        written, found = (float(task.probe.values(0.0, x)[span][0]) for x in (before, after))
        values = f": {found:.6g} {unit} balance, {written:.6g} {unit} follow from what is written"
    return Problem(
        "error",
        _asked_at(task.system, parts[0]),
        f"{parts[0]} is to balance, but {part} is tied to it and has a start that is written, "
        f"with which it does not{values}.",
        f"Leave out the start of {part}, or write that of {parts[0]} instead.",
    )


def _names(part: str) -> tuple[str, ...]:
    """Signals that tell the effort of a part."""
    quantities = ("voltage", "pressure", "pressure_a", "force", "torque")
    return (part,) if "." in part else tuple(f"{part}.{one}" for one in quantities)


@dataclass(frozen=True, slots=True)
class _Smooth:
    """The machine without dry friction: the mean over states `both` in whose modes it slips
    forward and backward, the rest of them being x; rates are those beside the written motion,
    which is `carried`."""

    probe: Probe
    both: tuple[Array, ...]
    carried: Array

    def values(self, x: Array) -> Array:
        found = np.mean([self.probe.values(0.0, one) for one in self._of(x)], axis=0)
        return np.asarray(found - self.carried)

    def jacobian(self, x: Array) -> Array:
        return np.mean([self.probe.jacobian(0.0, one) for one in self._of(x)], axis=0)

    def _of(self, x: Array) -> list[Array]:
        apart = np.any(np.array(self.both) != self.both[0], axis=0)
        return [np.where(apart, one, x) for one in self.both]


def _still(
    system: System, probe: Probe, J: Array, found: tuple[Group, ...]
) -> tuple[Array, Places]:
    """Rows of what is to have no rate, as multiples of those of the probe, and their places in
    x: the momenta, and what flows into groups on which none of them depends."""
    moving, rate = _momenta(system), probe.spans["rate"].start
    driven = J[rate + moving] != 0.0
    places = np.concatenate([group.places for group in found])
    owners = {system.state_names[i].rpartition(".")[0] for i in places.tolist()}
    kept = [group for group in found if not driven[:, group.places].any()]
    if owners <= set(system.model.electric):
        moving = moving[driven[:, places].any(axis=1)]
    rows, of = [np.eye(len(J))[rate + moving]], [moving]
    for group in kept:
        ways = group.ways(J)
        into = np.zeros((ways.shape[1], len(J)))
        into[:, rate + group.places] = ways.T
        rows.append(into)
        of.append(np.full(len(into), group.places[0]))
    return np.concatenate(rows), np.concatenate(of)


def _kinds(system: System) -> dict[int, str]:
    """Place in x of a store -> what its rates are compared with: those of all mechanical momenta,
    else of its domain."""
    vertices = [v for v in system.causal.graph.vertices.values() if v.state is not None]
    domains = {v.state.data: v.domain for v in vertices if v.state is not None}
    kinds: dict[int, str] = {}
    for s in system.slices:
        domain = domains.get(s.state.name, "")
        kind = "mechanical" if domain in MECHANICAL else domain
        kinds |= dict.fromkeys(range(s.first, s.last), kind)
    return kinds


def _heights(A: Array, kinds: Sequence[str]) -> Array:
    """What a large rate is in each row: its steepest slope, or the steepest of its kind where
    that is no more than rounding of it, as along what none of the contents pushes."""
    slope = np.abs(A).max(axis=1, initial=0.0)
    steepest: dict[str, float] = {}
    for kind, value in zip(kinds, slope.tolist(), strict=True):
        steepest[kind] = max(value, steepest.get(kind, 0.0))
    most = np.array([steepest[kind] for kind in kinds])
    height = np.where(slope > NOISE * most, slope, most)
    return np.where(height > 0.0, height, 1.0)


def _solved(task: _Task, rows: Array, x: Array, kinds: Sequence[str]) -> tuple[Array, Array]:
    """The state with `rows` (of `kinds`) times the values zero, by Newton with the least changes
    of the groups, and how large a rate in each row still counts as none beside those that balance.

    Behind a turbulent orifice, sqrt(p), a whole step from p leads to -p and back, half of it to
    the balance: a step counts if the next one, by the same slopes, is shorter by GAIN of it (the
    natural test of P. Deuflhard, Newton Methods for Nonlinear Problems (2004), 3.2: what is left
    is measured in contents, so that no row counts more than another)."""
    x, smooth = x.copy(), task.smooth
    values = rows @ smooth.values(x)
    held = _of_kind(RESTS * np.abs(values), kinds)
    for _ in range(ITERATIONS):
        J = smooth.jacobian(x)
        T, size = _ways(task.groups, J, x)
        slopes = rows @ J
        A = slopes @ T
        height = _heights(A, kinds)
        places = np.concatenate([group.places for group in task.groups])
        large = ROUNDING * np.abs(slopes[:, places] * x[places]).max(axis=1, initial=0.0)
        held = np.maximum(held, _of_kind(large, kinds))
        size = np.maximum(size, _reach(A / height[:, None], values / height))
        inverse = np.linalg.pinv(A * size / height[:, None], rcond=1e-10)
        step = -inverse @ (values / height)
        for halvings in range(HALVINGS):
            trial = x + 0.5**halvings * (T @ (size * step))
            for group in task.groups:
                trial = closed(task.probe, group, trial)
            now = rows @ smooth.values(trial)
            allowed = (1.0 - GAIN * 0.5**halvings) * float(np.linalg.norm(step))
            if float(np.linalg.norm(inverse @ (now / height))) < allowed:
                break
        else:
            break
        x, values = trial, now
    return x, held


def _ways(found: tuple[Group, ...], J: Array, x: Array) -> tuple[Array, Array]:
    """T, a column for each way in which the groups can change, and how large a change is."""
    columns, sizes = [np.zeros((x.size, 0))], [np.zeros(0)]
    for group in found:
        way = group.tangent(J)
        column = np.zeros((x.size, way.shape[1]))
        column[group.places] = way
        columns.append(column)
        size = np.abs(x[group.places] / group.sizes(J)).max(initial=0.0)
        sizes.append(np.full(way.shape[1], size))
    return np.concatenate(columns, axis=1), np.concatenate(sizes)


def _of_kind(values: Array, kinds: Sequence[str]) -> Array:
    """Of each row the largest of its kind."""
    most: dict[str, float] = {}
    for kind, value in zip(kinds, values.tolist(), strict=True):
        most[kind] = max(value, most.get(kind, 0.0))
    return np.array([most[kind] for kind in kinds])


def _reach(A: Array, miss: Array) -> Array:
    """A change of each content that would matter for the misses."""
    slope = np.abs(A).max(axis=0, initial=0.0)
    most = float(np.abs(miss).max(initial=0.0))
    return np.where(slope > 0.0, most / np.where(slope > 0.0, slope, 1.0), 1.0)


def _pressures(system: System, probe: Probe, parts: tuple[str, ...]) -> Places:
    """Rows of the pressures that are signals of the parts: a voltage may have either sign."""
    begins = tuple(f"signal {part}" if "." in part else f"signal {part}.pressure" for part in parts)
    units = system.signal_units
    told = [name for name in probe.spans if name.startswith(begins)]
    spans = [probe.spans[n] for n in told if units.get(n.removeprefix("signal ")) == "Pa"]
    found = [np.arange(span.start, span.stop) for span in spans]
    return np.concatenate([np.zeros(0, dtype=int), *found])


def _contents(system: System, probe: Probe, J: Array, parts: tuple[str, ...]) -> Places:
    """Places in x of what the parts hold; of a single signal what it depends on in its part, be it
    by a store beside it that gives both their effort."""
    whole = dict.fromkeys(part.partition(".")[0] for part in parts)
    held = _stores(system, tuple(whole))
    places: list[int] = []
    for part in parts:
        name, dot, _ = part.partition(".")
        span = probe.spans.get(f"signal {part}")
        if dot and span is None:
            pressures = sorted(n.removeprefix("signal ") for n in probe.spans if _is_of(n, name))
            raise _wrong(
                system,
                part,
                f"there is no signal {part} that could balance.",
                f"Name a part that holds something, or one of its signals: {', '.join(pressures)}.",
            )
        chosen = np.array(held[name], dtype=int)
        if dot:
            own = [groups(system, probe, J, np.array([place])) for place in chosen.tolist()]
            chosen = chosen[[np.any(J[span][:, group.places] != 0.0) for (group,) in own]]
        places += chosen.tolist()
    return np.array(list(dict.fromkeys(places)), dtype=int)


def _stores(system: System, parts: tuple[str, ...]) -> dict[str, list[int]]:
    """Places in x of what each of the parts holds."""
    vertices = [v for v in system.causal.graph.vertices.values() if v.kind == "C"]
    owned = {v.state.data: v.part.partition(".")[2] for v in vertices if v.state is not None}
    found: dict[str, list[int]] = {part: [] for part in parts}
    for s in system.slices:
        part = owned.get(s.state.name, "")
        if part in found:
            found[part] += range(s.first, s.last)
    empty = [part for part, its in found.items() if not its]
    if empty:
        able = ", ".join(sorted(set(owned.values()) - {""})) or "none"
        what = f"{empty[0]} holds nothing that could balance."
        raise _wrong(system, empty[0], what, f"There are: {able}.")
    return found


def _is_of(span: str, part: str) -> bool:
    return span.startswith(f"signal {part}.")


def _asked_at(system: System, part: str) -> str:
    """Where the file asks for the balance of a part: in its start, or at the part itself."""
    return "simulate.start" if "start" in system.model.document.get("simulate", {}) else part


def _wrong(system: System, part: str, what: str, remedy: str) -> UsageError:
    """The error of a start that cannot be, where the file asks for it."""
    problem = Problem("error", _asked_at(system, part), what, remedy)
    return UsageError.of(located(system.model, [problem]))


def _momenta(system: System) -> NDArray[np.intp]:
    vertices = system.causal.graph.vertices.values()
    names = {v.state.data for v in vertices if v.kind == "I" and v.state is not None}
    spans = [np.arange(s.first, s.last) for s in system.slices if s.state.name in names]
    return np.concatenate([np.zeros(0, dtype=int), *spans])


def _unbalanced(
    task: _Task, parts: tuple[str, ...], left: Array, held: Array, pulling: Places
) -> Problem:
    system = task.system
    worst = int(np.argmax(np.abs(left) / np.maximum(held, np.finfo(float).tiny)))
    name = system.state_names[int(task.of[worst])].partition(".")[0]
    what = "force, torque or voltage" if task.of[worst] in _momenta(system) else "flow or current"
    what = (
        f"{', '.join(parts)} cannot hold the machine as it is written: {name} is left with a "
        f"{what} of {abs(float(left[worst])):.3g} (SI)."
    )
    remedy = (
        'Name the parts that carry this load, too, or let the posture go: start = "equilibrium".'
    )
    below = [
        n.removeprefix("signal ")
        for n, span in task.probe.spans.items()
        if n.startswith("signal ") and np.any((pulling >= span.start) & (pulling < span.stop))
    ]
    if below:
        what = f"{what} {', '.join(below)} would have to be below zero, and no pressure pulls."
        remedy = (
            "The load goes the other way there: let the pressure of the other chamber balance, or "
            "write more preload on that side."
        )
    return Problem("error", _asked_at(system, parts[0]), what, remedy)
