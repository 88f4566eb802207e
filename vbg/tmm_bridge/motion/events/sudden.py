"""A law that jumps where the motion itself gets to, as the damper of a stop does at its touch.

Across it a step h errs by h times what the rate jumps by.  As long as the tolerance of a step falls
with its length no step is short enough, and steps end right in front of the jump; the motion
before it, which has no part in that, is continued over the last rounding.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.motion.rate.plant import Plant

REACH = 1024  # roundings of time, within which steps end in front of a jump
SETTLED = 1e-3  # of a jump of the rate: what it changes by behind it, as far again
JUMPS = 1e-9  # of the rate: what changes by less in a rounding of time is rounding, too

Landing = tuple[float, Array, int]


def behind_a_jump(plant: Plant, t: float, y: Array, rate: Array, signs: Array) -> Landing | None:
    """Time and state right behind the nearest change of sign of an indicator, and which; of what
    has no indicator (-1), behind the nearest jump of the rate.  None where there is none within
    `REACH` roundings of t.  y + rate dt errs there by rounding only."""
    reach = 1
    while reach <= REACH:
        dt = reach * float(np.spacing(abs(t)))
        there = y + dt * rate
        now = np.sign(plant.indicators(t + dt, there)) if len(signs) else signs
        changed = np.flatnonzero((now != signs) & (now != 0.0) & (signs != 0.0))
        if len(changed) or _jumps(plant, t, dt, y, rate):
            which = int(changed[0]) if len(changed) else -1
            return t + dt, plant.project(t + dt, there), which
        reach *= 2
    return None


def _jumps(plant: Plant, t: float, dt: float, y: Array, rate: Array) -> bool:
    """Whether the rate is another one at t + dt, and stays so."""
    near, far = (plant.rate(t + ahead, y + ahead * rate).copy() for ahead in (dt, 2.0 * dt))
    change = np.abs(near - rate)
    if not (np.isfinite(near).all() and np.isfinite(far).all()):
        return False
    sudden = change > JUMPS * np.maximum(np.abs(near), np.abs(rate))
    return bool((sudden & (np.abs(far - near) <= SETTLED * change)).any())
