"""Whether rows that depend on others at a posture do so along the motion, too.

The mechanism is moved a little, in a random direction that its joints allow, and closed there:
where more rows are independent, the posture is singular, whatever the order in which the
dependence ends.  Drives do not hold it back: a posture that is singular for a drive alone (a dead
centre) shows as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.derivation import compliance
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.rows.independent import Independent
from vbg.assemble.start.constraints.choice import every_row
from vbg.assemble.start.constraints.closing import Closer, Mask, tolerance_at
from vbg.assemble.system import System

Array = NDArray[np.float64]

AWAY = (0.03, 0.01, 0.003)  # displacement [rad, or sizes of bodies]: shorter where nothing closes
PROBES = 2  # directions that close
NEAR = 1e-3  # displacement at which the rows are told that lose their grip
TAKES_PART = 0.1  # part of the largest effort of a direction without grip


@dataclass(frozen=True, slots=True)
class LostGrip:
    """`count` directions are dependent at this posture alone, `rows` take part in them."""

    count: int
    rows: Mask


def lost_grip(
    system: System, x: Array, found: Independent, lengths: Array, drives: Mask
) -> LostGrip | None:
    """The directions that lose their grip at the assembled posture x, where the rows `found` are
    independent; None if none does."""
    probe, number = _Nearby(system, x, lengths, ~drives), int(np.count_nonzero(found.kept))
    best, closed = number, 0
    for away in AWAY:
        for _ in range(PROBES):
            there = probe(away)
            if there is None:
                continue
            closed += 1
            best = max(best, int(np.count_nonzero(there.kept)))
        if best > number or closed:
            break
    if best == number:
        return None
    return LostGrip(best - number, _without_grip(found, probe(NEAR)))


def _without_grip(found: Independent, nearby: Independent | None) -> Mask:
    """Rows with a part in efforts that do nothing here, though they do something nearby."""
    unit = np.ones(len(found.kept))
    here = np.linalg.qr(found.null_efforts(unit))[0]
    if nearby is not None and len(nearby.dependent):
        lasting = np.linalg.qr(nearby.null_efforts(unit))[0]
        here = here - lasting @ (lasting.T @ here)
    sizes = np.abs(here).max(axis=1)
    return np.asarray(sizes > TAKES_PART * sizes.max())


class _Nearby:
    """Independent rows at random postures near x."""

    def __init__(self, system: System, x: Array, lengths: Array, free: Mask):
        self._kept = every_row(system)
        self._free, self._random = free, np.random.default_rng(2)
        self._closer = Closer(system, self._kept, free)
        self._size = float(np.median(lengths))
        self._rate = Evaluator(system.programs.posture_rate)
        self._slices = [
            s for s in system.slices if s.state.kind in ("position", "quaternion", "displacement")
        ]
        self._still, self._inertias = x.copy(), _inertias(system)
        for place, _ in self._inertias:
            self._still[place] = 0.0

    def __call__(self, away: float) -> Independent | None:
        """The rows at such a posture, None where it does not close."""
        closer, projector, still = self._closer, self._closer.projector, self._still
        closer.choose(0.0, still)
        idle = self._rate(0.0, still).copy()
        x = still.copy()
        for place, flows in self._inertias:
            x[place] = np.linalg.solve(flows, self._random.standard_normal(len(flows)))
        resting = projector.residuals(0.0, still)[1]
        for _ in range(2):
            projector.move_velocity(0.0, x, resting - projector.residuals(0.0, x)[1])
        rate = self._rate(0.0, x) - idle
        there, at, largest = still.copy(), 0, 0.0
        for s in self._slices:
            part = rate[at : at + s.last - s.first]
            at += s.last - s.first
            metres = s.state.kind == "position" or s.state.unit == "m"
            largest = max(largest, float(np.abs(part).max()) / (self._size if metres else 1.0))
            there[s.first : s.last] += part
        if not 0.0 < largest < np.inf:
            return None
        there = still + away / largest * (there - still)
        projector.normalise(there)
        closed = closer.close(0.0, there)
        if closed is None:
            return None
        gap = closer.gap(projector.gaps(0.0, closed))
        return closer.rows.choose(0.0, closed, tolerance_at(gap))


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
