"""The audit of a run: how well energy and constraints were kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import StateSlice, System
from vbg.solution import Audit, Event

Array = NDArray[np.float64]

CLOSES = 1e-8  # a residual below this needs no second thought about its scale


def audit(
    signals: dict[str, Array], events: tuple[Event, ...], least: Callable[[float], float]
) -> Audit:
    """Largest residuals.  The energy's is relative to the largest energy that took part in the
    run (kinetic, change of potential, supplied or dissipated), but at least to `least(that)`
    [J], which is asked where that does not close."""
    largest = max(
        np.abs(signals["energy.kinetic"]).max(),
        np.ptp(signals["energy.potential"]),
        np.abs(signals["energy.supplied"]).max(),
        np.abs(signals["energy.dissipated"]).max(),
    )
    residual = np.abs(signals["energy.residual"]).max()
    if residual > CLOSES * largest:
        largest = max(largest, least(float(largest)))
    return Audit(
        energy_residual=float(residual / largest) if largest > 0.0 else float(residual),
        position_residual=float(signals["residual.position"].max()),
        velocity_residual=float(signals["residual.velocity"].max()),
        events=events,
    )


def resolved_energy(system: System, x: Array, rtol: float, atol: float, largest: float) -> float:
    """The smallest energy [J] that an audit is relative to, from the state x, or anything below
    `largest` where it is below that.

    Error control weighs a state by atol + rtol |x|: one smaller than s = atol / rtol is held
    to atol, not relatively.  The least energy that a store takes up when its state moves by
    s is therefore the smallest that a relative error has a meaning for.  Where nothing
    moves (a block that friction holds) no energy takes part, and rounding would be compared
    with rounding.
    """
    evaluate = Evaluator(system.programs.output)
    forces = np.zeros(system.equations.efforts.rows)  # no energy depends on them

    def stored(at: Array) -> float:
        evaluate(0.0, at, forces)
        return float(evaluate.output("energy.stored")[0])

    rest = stored(x)

    def change(places: NDArray[np.intp]) -> float:
        """Of the energy where all these states move."""
        trials = np.tile(x, (2, 1))
        trials[:, places] += np.array([[atol / rtol], [-atol / rtol]])
        return max(stored(trial) - rest for trial in trials)

    groups = [np.arange(s.first, s.last) for s in _stores(system)]
    groups = [np.concatenate(groups)] if groups else []
    least = np.inf
    while groups:
        changes = [change(group) for group in groups]
        if any(0.0 < c < largest for c in changes):  # that of one store alone is smaller still
            return 0.0
        least = min(least, *(c for g, c in zip(groups, changes) if len(g) == 1 and c > 0.0), np.inf)
        groups = [half for g in groups if len(g) > 1 for half in np.array_split(g, 2)]
    return least if np.isfinite(least) else 0.0


def _stores(system: System) -> list[StateSlice]:
    return [s for s in system.slices if s.state.kind == "store"]
