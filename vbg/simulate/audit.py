"""The audit of a run: how well energy and constraints were kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.solution import Audit, Event

Array = NDArray[np.float64]

CLOSES = 1e-8  # a residual below this needs no second thought about its scale


def audit(
    signals: dict[str, Array], events: tuple[Event, ...], least: Callable[[], float]
) -> Audit:
    """Largest residuals.  The energy's is relative to the largest energy that took part in the
    run (kinetic, change of potential, supplied or dissipated), but at least to `least()` [J],
    which is asked where that does not close."""
    largest = max(
        np.abs(signals["energy.kinetic"]).max(),
        np.ptp(signals["energy.potential"]),
        np.abs(signals["energy.supplied"]).max(),
        np.abs(signals["energy.dissipated"]).max(),
    )
    residual = np.abs(signals["energy.residual"]).max()
    if residual > CLOSES * largest:
        largest = max(largest, least())
    return Audit(
        energy_residual=float(residual / largest) if largest > 0.0 else float(residual),
        position_residual=float(signals["residual.position"].max()),
        velocity_residual=float(signals["residual.velocity"].max()),
        events=events,
    )


def resolved_energy(system: System, x: Array, rtol: float, atol: float) -> float:
    """The smallest energy [J] that an audit is relative to, from the state x.

    Error control weighs a state by atol + rtol |x|: one smaller than s = atol / rtol is held
    to atol, not relatively.  The least energy that a store takes up when its state moves by
    s is therefore the smallest that a relative error has a meaning for.  Where nothing
    moves (a block that friction holds) no energy takes part, and rounding would be compared
    with rounding.
    """
    evaluate = system.evaluator("energy")
    rest = float(evaluate(0.0, x)[0])
    least = np.inf
    for slice_ in system.slices:
        if slice_.state.kind != "store":
            continue
        for i in range(slice_.first, slice_.last):
            for move in (atol / rtol, -atol / rtol):
                moved = x.copy()
                moved[i] += move
                change = float(evaluate(0.0, moved)[0]) - rest
                if change > 0.0:
                    least = min(least, change)
    return least if np.isfinite(least) else 0.0
