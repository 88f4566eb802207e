"""The consistent start: loops closed, velocities admissible, faults named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.equations import HeldStart
from vbg.assemble.evaluator import Evaluator
from vbg.assemble.modes import agree
from vbg.assemble.posture import Projector, Steps
from vbg.assemble.redundancy import null_space
from vbg.assemble.remarks import MOVED, by_part, moved_bodies, overridden_starts, with_unit
from vbg.assemble.separate import null_part, rank
from vbg.assemble.settle import settle
from vbg.assemble.system import System
from vbg.errors import AssemblyError, Problem
from vbg.model.located import located

Array = NDArray[np.float64]

CLOSED = 1e-11  # position residual of an assembled mechanism [m or rad]
AT_REST = 1e-14  # velocity residual that no step makes smaller [part of the largest]
ITERATIONS = 60
LOST = 1e-7  # singular value of a constraint direction without grip, rows of unit length
SMALL = 400  # up to this many constraint rows the mobility is examined densely


@dataclass(frozen=True, slots=True)
class Start:
    """The assembled start and what assembly found.

    `state`: x.  `notes`: what moved, which start values could not be kept, which
    constraint directions are redundant.  `redundant`: names of constraint
    directions whose effort is not unique, `dependent` how many rows are too many.
    `freedoms`: degrees of freedom (None for systems too large to examine).
    """

    state: Array
    position_residual: float
    velocity_residual: float
    redundant: tuple[str, ...]
    dependent: int
    freedoms: int | None
    notes: tuple[Problem, ...]


def assemble_start(system: System) -> Start:
    """Closes the mechanism from the written posture; problems and notes have their place in
    the model's file.

    Start coordinates and speeds that the engineer wrote are kept where the
    mechanism allows; what else moved is reported.  Raises AssemblyError where it
    cannot be closed, is locked, starts in a singular posture, or two drives
    contradict each other.
    """
    try:
        start = _assembled(system)
    except AssemblyError as error:
        raise AssemblyError.of(located(system.model, error.problems)) from None
    return replace(start, notes=located(system.model, start.notes))


def _assembled(system: System) -> Start:
    written = system.written_state
    projector = Projector(system)
    _require_values(system, projector, written)
    x, coordinates_changed = _closed_posture(system, projector, written)
    projector.measure(0.0, x)
    settle(system, x)
    x, speeds_changed = _closed_velocity(system, projector, x)
    agree(system, 0.0, x)
    position, velocity = projector.residuals(0.0, x)
    notes = [*moved_bodies(system, written, x), *overridden_starts(system, x)]
    notes += [note for note in (coordinates_changed, speeds_changed) if note is not None]
    redundant: tuple[str, ...] = ()
    dependent, freedoms = 0, None
    if projector.rows:
        redundant, dependent, freedoms, found = _examine(system, projector, x)
        notes += found
    return Start(
        x, _largest(position), _largest(velocity), redundant, dependent, freedoms, tuple(notes)
    )


def _require_values(system: System, projector: Projector, written: Array) -> None:
    """AssemblyError where a constraint row has no value at the written posture."""
    if projector.rows == 0:
        return
    position, velocity = projector.residuals(0.0, written)
    lost = ~(np.isfinite(position) & np.isfinite(velocity))
    if lost.any():
        part, label, _ = _worst(system, np.where(lost, 1.0, 0.0))
        raise AssemblyError.of(
            [
                Problem(
                    "error",
                    part,
                    f"its direction '{label}' has no value at the written posture.",
                    "Its two points coincide there, or a rolling disc lies flat on its plane. "
                    "Write positions in which it has a direction.",
                )
            ]
        )


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


class _HeldRows:
    """Newton steps with written start coordinates (or speeds) as further rows."""

    def __init__(self, held: HeldStart, evaluate: Evaluator, system: System):
        self.rows = held.rows
        self._evaluate = evaluate
        self._steps = Steps(system, evaluate, "step ")
        self._silent = np.zeros(held.size)

    def misses(self, x: Array) -> Array:
        """target - value of each row."""
        self._evaluate(0.0, x, self._silent)
        return np.array(
            [row.target - self._evaluate.output(f"value {row.name}")[0] for row in self.rows]
        )

    def move(self, x: Array, step: Array) -> None:
        self._evaluate(0.0, x, step)
        self._steps.add(x)


def _held_values(system: System) -> _HeldRows | None:
    held = system.equations.held_values
    return _HeldRows(held, system.evaluator("held_values"), system) if held.rows else None


def _held_speeds(system: System) -> _HeldRows | None:
    held = system.equations.held_speeds
    return _HeldRows(held, system.evaluator("held_speeds"), system) if held.rows else None


def _closed_posture(
    system: System, projector: Projector, written: Array
) -> tuple[Array, Problem | None]:
    """The assembled posture, and a warning if written coordinates could not be kept."""
    if projector.rows == 0:
        return written.copy(), None
    held = _held_values(system)
    if held is not None:
        x = _newton(projector, written, held)
        if x is not None:
            return x, None
    x = _newton(projector, written, None)
    if x is None:
        raise AssemblyError.of([_does_not_close(system, projector, written)])
    return x, None if held is None else _not_kept(system, held, x, "coordinates")


def _newton(projector: Projector, written: Array, held: _HeldRows | None) -> Array | None:
    """Newton from the written posture, halving steps that do not help."""
    x = written.copy()
    projector.measure(0.0, x)

    def misfit(at: Array) -> Array:
        position = -projector.residuals(0.0, at)[0]
        return position if held is None else np.concatenate([position, held.misses(at)])

    step = misfit(x)
    for _ in range(ITERATIONS):
        if np.abs(step).max() <= CLOSED:
            return x
        length = 1.0
        while True:
            trial = x.copy()
            if held is None:
                projector.move_posture(0.0, trial, length * step)
            else:
                held.move(trial, length * step)
                projector.normalise(trial)
            projector.measure(0.0, trial)
            following = misfit(trial)
            if np.abs(following).max() < np.abs(step).max() or length < 1e-3:
                break
            length *= 0.5
        x, step = trial, following
    return x if np.abs(step).max() <= 1e3 * CLOSED else None


def _closed_velocity(
    system: System, projector: Projector, x: Array
) -> tuple[Array, Problem | None]:
    """Momenta on the constraints; written joint speeds kept where possible."""
    if projector.rows == 0:
        return x, None
    held = _held_speeds(system)
    scale = 1.0 + float(np.abs(projector.residuals(0.0, x)[1]).max())
    if held is not None:
        trial = x.copy()
        for _ in range(2):
            velocity = -projector.residuals(0.0, trial)[1]
            held.move(trial, np.concatenate([velocity, held.misses(trial)]))
        left = _largest(projector.residuals(0.0, trial)[1])
        if max(left, _largest(held.misses(trial))) < 1e-9 * scale:
            return trial, None
    result = x.copy()
    for _ in range(2):
        velocity = projector.residuals(0.0, result)[1]
        if np.abs(velocity).max() <= AT_REST * scale:
            break
        projector.move_velocity(0.0, result, -velocity)
    velocity = projector.residuals(0.0, result)[1]
    if np.abs(velocity).max() > 1e-8 * scale:
        raise AssemblyError.of([_contradiction(system, velocity)])
    return result, None if held is None else _not_kept(system, held, result, "speeds")


def _worst(system: System, residual: Array) -> tuple[str, str, float]:
    """Part, direction and value of the largest residual."""
    worst = int(np.argmax(np.abs(residual)))
    for c in system.equations.constraints:
        if c.first <= worst < c.first + len(c.labels):
            return c.part, c.labels[worst - c.first], float(residual[worst])
    raise AssertionError("residual outside of all constraints")


def _drives(system: System) -> list[str]:
    return [c.part for c in system.equations.constraints if c.labels == ("drive",)]


def _does_not_close(system: System, projector: Projector, written: Array) -> Problem:
    """The gap of the mechanism by joint, where damped steps leave the smallest."""
    x = written.copy()
    projector.measure(0.0, x)
    position, _ = projector.residuals(0.0, x)
    smallest = position
    for _ in range(ITERATIONS):
        projector.move_posture(0.0, x, -0.5 * position)
        projector.measure(0.0, x)
        position, _ = projector.residuals(0.0, x)
        if _largest(position) < _largest(smallest):
            smallest = position
    position = smallest
    part, label, value = _worst(system, position)
    if label == "drive" or ((drives := _drives(system)) and len(drives) > 1 and part in drives):
        return Problem(
            "error",
            part,
            "its drive cannot be followed at t = 0: "
            f"{with_unit(system, part, label, value)} is left after assembly.",
            f"Drives here: {', '.join(_drives(system))}; two of them contradict each other, or "
            "one asks for a posture that the mechanism cannot reach. Remove or change one.",
        )
    return Problem(
        "error",
        part,
        "the loop through this joint cannot be closed: "
        f"{with_unit(system, part, label, value)} is left in direction '{label}' at this "
        "joint in the nearest posture that was found.",
        "Check the lengths around the loop and the written positions; start nearer to a "
        "posture that closes.",
    )


def _contradiction(system: System, velocity: Array) -> Problem:
    part, label, value = _worst(system, velocity)
    drives = _drives(system)
    return Problem(
        "error",
        part,
        "no velocities satisfy all joints and drives at the start: "
        f"{with_unit(system, part, label, value, rate='/s')} is left in direction '{label}'.",
        f"Drives that contradict each other: {', '.join(drives)}. Remove one of them."
        if drives
        else "Check the written speeds.",
    )


def _not_kept(system: System, held: _HeldRows, x: Array, what: str) -> Problem | None:
    changed = [
        f"{row.name} (by {-miss:.4g} {system.signal_units.get(row.name, '')})"
        for row, miss in zip(held.rows, held.misses(x), strict=True)
        if abs(miss) > MOVED
    ]
    if not changed:
        return None
    return Problem(
        "warning",
        "joints",
        f"not all written start {what} could be kept; changed: {', '.join(changed)}.",
        "Write only as many as the mechanism has freedoms.",
    )


def _examine(
    system: System, projector: Projector, x: Array
) -> tuple[tuple[str, ...], int, int | None, list[Problem]]:
    """Redundant directions, mobility, locks and singular starts."""
    evaluate = system.evaluator("rank")
    evaluate(0.0, x)
    dependent = int(np.count_nonzero(evaluate.inverse_pivots() == 0.0))
    if dependent == 0 and projector.rows > SMALL:
        return (), 0, None, []
    redundant = _redundant_names(system, evaluate) if dependent else ()
    G, stores = constraint_rows(system, projector, x)
    lasting = _lasting_rows(system)
    freedoms = G.shape[1] - (lasting - dependent)
    if dependent:
        _require_regular(system, projector, x, G, stores, dependent)
    if freedoms == 0 and lasting and not _drives(system):
        _require_motion(system)
    notes = []
    if dependent:
        notes.append(
            Problem(
                "warning",
                "joints",
                f"{dependent} constraint direction(s) are redundant; efforts not unique: "
                f"{by_part(redundant, system.constraint_names)}.",
                "The motion is unique; the forces shown are the smallest in the least-squares "
                "sense. Free a direction (a spherical or universal joint) to make them unique.",
            )
        )
    return redundant, dependent, freedoms, notes


def _redundant_names(system: System, evaluate: Evaluator) -> tuple[str, ...]:
    null = null_space(evaluate)
    involved = np.linalg.norm(null, axis=1) > 1e-7
    return tuple(n for n, found in zip(system.constraint_names, involved, strict=True) if found)


def constraint_rows(system: System, projector: Projector, x: Array) -> tuple[Array, Array]:
    """G on the momenta (rows x momenta), exact because flows are linear in them, and
    the places of the momenta in x."""
    inertias = {
        v.state.data
        for v in system.causal.graph.vertices.values()
        if v.kind == "I" and v.state is not None
    }
    stores = np.concatenate(
        [np.arange(s.first, s.last) for s in system.slices if s.state.name in inertias]
        or [np.zeros(0, dtype=int)]
    ).astype(int)
    base = x.copy()
    base[stores] = 0.0
    offset = projector.residuals(0.0, base)[1]
    G = np.empty((len(offset), len(stores)))
    for column, at in enumerate(stores):
        base[at] = 1.0
        G[:, column] = projector.residuals(0.0, base)[1] - offset
        base[at] = 0.0
    return G, stores


def _require_regular(
    system: System, projector: Projector, x: Array, G: Array, stores: Array, dependent: int
) -> None:
    """AssemblyError if the rank is higher at a neighbouring assembled posture."""
    here = rank(G, LOST)
    if here == G.shape[1]:
        return
    nearby = x.copy()
    anywhere = np.random.default_rng(1).standard_normal(len(stores))
    nearby[stores] = null_part(G, anywhere, LOST)
    rate = system.evaluator("posture_rate")(0.0, nearby)
    postures = np.concatenate(
        [
            np.arange(s.first, s.last)
            for s in system.slices
            if s.state.kind in ("position", "quaternion", "displacement")
        ]
    )
    speed = float(np.abs(rate).max())
    if speed == 0.0:
        return
    nearby[postures] += 1e-3 / speed * rate
    projector.normalise(nearby)
    projector.measure(0.0, nearby)
    for _ in range(20):
        position, _ = projector.residuals(0.0, nearby)
        if np.abs(position).max() < CLOSED:
            break
        projector.move_posture(0.0, nearby, -position)
        projector.measure(0.0, nearby)
    G_nearby, _ = constraint_rows(system, projector, nearby)
    gained = rank(G_nearby, LOST) - here
    if gained > 0:
        parts = sorted({c.part for c in system.equations.constraints if c.labels != ("drive",)})
        raise AssemblyError.of(
            [
                Problem(
                    "error",
                    parts[0],
                    f"the start is a singular posture: {gained} constraint "
                    f"direction(s) of the joints {', '.join(parts)} lose their grip there, so the "
                    "mechanism may go on along different branches.",
                    "Start a little away from it (links not all on one line).",
                )
            ]
        )


def _lasting_rows(system: System) -> int:
    """Rows on speeds that hold all the time: not those of sticking friction, nor those of
    dependent capacitors and springs, which keep efforts equal."""
    vertices = system.causal.graph.vertices
    sources = [(c, vertices.get(f"{c.name}.Sc")) for c in system.equations.constraints]
    return sum(
        len(c.labels)
        for c, source in sources
        if c.active is None and not (source is not None and source.dual)
    )


def _require_motion(system: System) -> None:
    """AssemblyError for a structure with joints but no freedom and no drive."""
    coordinates = [
        s.state.name for s in system.slices if s.state.kind == "displacement" and s.state.measured
    ]
    moving = [
        c.part
        for c in system.equations.constraints
        if c.part.startswith("joints.") and len(c.labels) < 6
    ]
    if not moving:
        return
    raise AssemblyError.of(
        [
            Problem(
                "error",
                moving[0],
                "the mechanism is locked: 0 degrees of freedom. "
                f"Joints that cannot move: {', '.join(moving)}"
                + (f" ({', '.join(coordinates)})." if coordinates else "."),
                "Replace one joint by one with more freedom, or remove a body from the loop.",
            )
        ]
    )
