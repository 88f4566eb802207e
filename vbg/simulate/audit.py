"""The audit of a run: how well energy and constraints were kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.solution import Audit, Event

Array = NDArray[np.float64]

LARGE = ("store", "position", "displacement")  # kinds of states that carry energy


def audit(signals: dict[str, Array], events: tuple[Event, ...], least: float) -> Audit:
    """Largest residuals.  The energy's is relative to the largest energy that took part in the
    run (kinetic, change of potential, supplied or dissipated), but at least to `least` [J]."""
    largest = max(
        np.abs(signals["energy.kinetic"]).max(),
        np.ptp(signals["energy.potential"]),
        np.abs(signals["energy.supplied"]).max(),
        np.abs(signals["energy.dissipated"]).max(),
        least,
    )
    residual = np.abs(signals["energy.residual"]).max()
    return Audit(
        energy_residual=float(residual / largest) if largest > 0.0 else float(residual),
        position_residual=float(signals["residual.position"].max()),
        velocity_residual=float(signals["residual.velocity"].max()),
        events=events,
    )


def resolved_energy(system: System, x: Array, rtol: float, atol: float) -> float:
    """The smallest energy [J] that an audit is relative to, from the state x.

    Error control weighs a state by atol + rtol |x|: one smaller than s = atol / rtol is held
    to atol, not relatively.  The energy that the stores take up when all their states move by
    s is therefore the smallest that a relative error has a meaning for.  Where nothing moves
    (a block that friction holds) no energy takes part, and rounding would be
    compared with rounding.
    """
    evaluate = system.evaluator("energy")
    rest = evaluate(0.0, x)[0]
    moved = np.zeros(len(x))
    for s in system.slices:
        if s.state.kind in LARGE:
            moved[s.first : s.last] = atol / rtol
    changes = [abs(evaluate(0.0, x + sign * moved)[0] - rest) for sign in (1.0, -1.0)]
    finite = [float(change) for change in changes if np.isfinite(change)]
    return max(finite, default=0.0)
