"""The law that every dry friction keeps: while it slips it takes power, and never gives any.

The energy of a run balances whichever way a friction acts, for what it gives is counted as loss
below zero: only its own sign tells that it acts the wrong way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.signals.channels import Record

BRIEF = 1e-6  # of its largest effort at its largest speed: about a reversal, what it may give
ROUNDED = 1e-13  # of the largest energy, which a power in the whole run would make
STILL = 1e-13  # [rad, or lengths of the mechanism], which a slip speed in the whole run would make:
# rounding of places


def not_resisting(mechanism: Mechanism, record: Record, largest: float) -> Iterator[str]:
    """A few words on each dry friction that gives power while it slips, at its worst row:
    effort [N or N*m] times slip speed [m/s or rad/s] > 0; `largest` is the largest energy [J]."""
    network = mechanism.network
    if network is None:
        return
    duration = float(record.time[-1] - record.time[0])
    length = float(mechanism.tables.length[0]) or 1.0
    for n, friction in enumerate(network.frictions):
        speed, effort, _ = record.grips[:, n].T
        slips = record.states[:, mechanism.size + friction.mode] != 0.0
        given: Array = np.where(slips, effort * speed, 0.0)
        at = int(np.argmax(given))
        most = float(np.abs(effort).max() * np.abs(speed).max())
        still = STILL * (1.0 if friction.turns else length)
        rounding = given[at] * duration <= ROUNDED * largest or abs(speed[at]) * duration <= still
        if given[at] > BRIEF * most and not rounding:
            units = ("N*m", "rad/s") if friction.turns else ("N", "m/s")
            yield (
                f"its dry friction {friction.name} drives what it should brake, by"
                f" {abs(effort[at]):.3g} {units[0]} at a slip of {abs(speed[at]):.3g} {units[1]}"
                f" at t = {record.time[at]:.6g} s"
            )


def work_of_rounding(mechanism: Mechanism, record: Record, liveliest: Array) -> float:
    """Energy [J] that rounding alone makes of what dry frictions hold at rest.

    The acceleration of what is held is zero but for the last digits of what it would be without
    hold, `liveliest` a [m/s^2 or rad/s^2]; in a run of T these add up to a way of eps a T^2, along
    which the effort f that is held, and the loads that it balances, do work: sum eps f a T^2."""
    network = mechanism.network
    if network is None or len(liveliest) == 0:
        return 0.0
    duration = float(record.time[-1] - record.time[0])
    holds = record.states[:, [mechanism.size + f.mode for f in network.frictions]] == 0.0
    efforts = np.where(holds, np.abs(record.grips[:, :, 1]), 0.0).max(axis=0)
    return float(np.finfo(float).eps * duration**2 * (efforts @ liveliest))
