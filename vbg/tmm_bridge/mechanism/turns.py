"""Whole turns of joint angles, which no posture shows.

An angle begins within half a turn of what is written, however far assembly had to turn the
joint; where a row counts the angle (a coupling, a screw, a drive) it keeps the turns of its way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from vbg.tmm_bridge.kernels.entries import measured
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    IDLE,
    ROW_COUPLE,
    Scratch,
)
from vbg.tmm_bridge.mechanism.mechanism import Mechanism

SLIGHTLY = 1e-9  # of a turn: what rounding may be, where an angle is half a turn off


def nearest_turn(angle: float, target: float) -> float:
    """`angle` plus the whole turns that bring it nearest to `target`; of two that are, the larger,
    whatever rounding says."""
    return angle + 2.0 * math.pi * math.floor((target - angle) / (2.0 * math.pi) + 0.5 + SLIGHTLY)


def expected_angles(mechanism: Mechanism, angles: Mapping[str, float]) -> dict[int, float]:
    """By coordinate that turns, the angle [rad] that its start is nearest to."""
    return {
        k: angles.get(f"{name}.{key}", mechanism.frames[name].written.get(key, 0.0))
        for (name, key), k in mechanism.coordinates.items()
        if key != "slide"
    }


def unwind(mechanism: Mechanism, y: Array, near: Mapping[int, float]) -> None:
    """Take the turns of Newton's way out of all angles that no row, screw or drive counts."""
    t = mechanism.tables
    counted = {
        int(k) for row in t.rows if row[0] == ROW_COUPLE and row[4] != IDLE for k in row[2:4]
    }
    for (name, _), k in mechanism.coordinates.items():
        joint = mechanism.model.joints[name]
        bound = getattr(joint, "drive", None) is not None or hasattr(joint, "lead")
        if k in near and k not in counted and not bound:
            y[t.coordinates[k, 2]] = nearest_turn(y[t.coordinates[k, 2]], near[k])


def count_angles(
    mechanism: Mechanism, s: Scratch, y: Array, near: Array | Mapping[int, float]
) -> None:
    """Set the counted angles across cut joints to the posture in `s`, at the turn nearest
    to `near`."""
    t = mechanism.tables
    for k, (kind, cut, place, _) in enumerate(t.coordinates):
        if kind == COORDINATE_TREE:
            continue
        found = np.zeros(1)
        measured(int(kind), s.cut[cut], found)
        value = float(found[0])
        if kind != COORDINATE_SLIDE:
            value = nearest_turn(value, near[k])
        y[place] = value
