"""Whether a posture is singular: constraint directions that are dependent there alone.

Let n be efforts that do nothing at the posture (G^T n = 0) and v velocities that the
constraints allow (G v = 0).  Where the dependence lasts along every motion, n^T G stays zero,
and n^T (dG/dt along v) v = 0.  Where it does not, the mechanism branches or is stuck: the
velocity v satisfies the rows, but not the rows n differentiated once more, whatever
accelerations there are.  Both n and v are drawn at random, so that a value of zero says that
the form is zero (docs/derivations/redundancy.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.derivation import compliance
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.posture import Projector
from vbg.assemble.start.redundancy import Mask, null_efforts
from vbg.assemble.system import System

Array = NDArray[np.float64]

PROBES = 4  # efforts and velocities drawn at first
LOST = 1e-6  # part of |n| |dG/dt v| that lasting dependence does not reach by rounding
BEND = 1e-4  # least |dG/dt v| to compare with, at speeds of 1 rad/s or 1 m/s
TAKES_PART = 1e-3  # part of the largest unmet acceleration of a row that is named
APART = 1e-3  # displacement of the differences that give dG/dt v [rad or m]


@dataclass(frozen=True, slots=True)
class LostGrip:
    """`count` directions are dependent at this posture alone, `rows` take part in them."""

    count: int
    rows: Mask


def lost_grip(
    system: System, projector: Projector, x: Array, rank: Evaluator, dependent: int
) -> LostGrip | None:
    """The directions that lose their grip at the assembled posture x; None if none does.

    `rank` holds the factor by plain elimination at x, with `dependent` vanishing pivots.
    """
    draw = _Bends(system, projector, x)
    count = PROBES
    while True:
        bends = [draw() for _ in range(count)]
        form = null_efforts(rank, count).T @ np.column_stack(bends)
        lost = int(np.count_nonzero(np.linalg.svd(form, compute_uv=False) > LOST))
        if lost == 0:
            return None
        if lost < count or count >= dependent:
            break
        count *= 2
    unmet = np.abs(np.column_stack([draw.unmet(bend) for bend in bends]))
    return LostGrip(lost, np.any(unmet > TAKES_PART * unmet.max(axis=0), axis=1))


class _Bends:
    """(dG/dt along v) v for random velocities v that the constraints allow."""

    def __init__(self, system: System, projector: Projector, x: Array):
        self._projector = projector
        self._rate = Evaluator(system.programs.posture_rate)
        self._random = np.random.default_rng(2)
        self._still = x.copy()
        self._inertias = _inertias(system)
        for at, _ in self._inertias:
            self._still[at] = 0.0
        self._poses = np.concatenate(
            [
                np.arange(s.first, s.last)
                for s in system.slices
                if s.state.kind in ("position", "quaternion", "displacement")
            ]
        )

    def __call__(self) -> Array:
        """The next one, at a largest speed of 1, divided by its length or by BEND."""
        rate = self._rate(0.0, self._still).copy()
        x = self._still.copy()
        for at, flows in self._inertias:
            x[at] = np.linalg.solve(flows, self._random.standard_normal(len(flows)))
        for _ in range(2):
            self._projector.move_velocity(0.0, x, self._allowed(self._still) - self._allowed(x))
        rate = self._rate(0.0, x) - rate
        speed = max(float(np.abs(rate).max()), np.finfo(float).tiny)
        momenta = (x - self._still) / speed
        bend = np.zeros(self._projector.rows)
        for place, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
            there = self._still.copy()
            there[self._poses] += place * APART / speed * rate
            self._projector.normalise(there)
            bend += weight * (self._allowed(there + momenta) - self._allowed(there))
        bend /= 12.0 * APART
        return bend / max(float(np.linalg.norm(bend)), BEND)

    def unmet(self, bend: Array) -> Array:
        """What no momenta can meet of `bend`: nearest to it in the metric diag(H4)^-1, so zero
        at the rows that take part in no lost direction."""
        x = self._still.copy()
        self._projector.move_velocity(0.0, x, bend)
        return bend - (self._allowed(x) - self._allowed(self._still))

    def _allowed(self, x: Array) -> Array:
        """Velocity residual."""
        return self._projector.residuals(0.0, x)[1]


def _inertias(system: System) -> list[tuple[slice, Array]]:
    """Place of the momenta of each inertia in x, and its flow per momentum: the unit matrix
    where that is no constant."""
    slices = {s.state.name: slice(s.first, s.last) for s in system.slices}
    found = []
    for v in system.causal.graph.vertices.values():
        if v.kind == "I" and v.state is not None and v.state.data in slices:
            flows = compliance(v)
            found.append((slices[v.state.data], flows.data if flows.is_const else np.eye(v.size)))
    return found
