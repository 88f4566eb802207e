"""Contents that hang together: stores on one node have one effort, and one way to change it.

Where stores have one voltage, pressure or force among them, all but one are dependent: rows

    r(x) = effort that a store has - effort of what it is tied to = 0

of the constraints say so.  Changes of contents that keep them are y with d(contents) = T y, T a
basis of the null space of dr/dx.  A store of capacity C changes by C per volt: contents are
counted in D = diag(1 / steepest slope of r), so that 1 pF beside 1 F is no rounding of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import contents
from vbg.assemble import System

Array = NDArray[np.float64]
Places = NDArray[np.intp]

DEPENDENT = "dependent store"  # labels of the rows begin so
ITERATIONS = 60  # of closing the rows again
HALVINGS = 60  # of a step over the bend of a law
CLOSED = 1e-14  # of the largest effort among them
RANK = 1e-10  # of the largest singular value: a smaller one is none


@dataclass(frozen=True, slots=True)
class Group:
    """`asked` places in x and `others` that hang together with them, by `rows` of the probe."""

    asked: Places
    others: Places
    rows: Places

    @property
    def places(self) -> Places:
        return np.concatenate([self.asked, self.others])

    def sizes(self, J: Array) -> Array:
        """D: the change of each of its contents for one unit of effort; 1 where nothing is tied."""
        return _sizes(J[self.rows][:, self.places])

    def ways(self, J: Array) -> Array:
        """N, shape (places, ways): T = D N.  Whatever flows through what ties the contents drops
        out of N^T d(contents)/dt, the flows from outside: on a node their sum."""
        if not self.rows.size:
            return np.eye(self.places.size)
        _, found, right = np.linalg.svd(J[self.rows][:, self.places] * self.sizes(J))
        rank = int(np.count_nonzero(found > RANK * found[0]))
        return right[rank:].T

    def tangent(self, J: Array) -> Array:
        """T, shape (places, ways)."""
        return self.sizes(J)[:, None] * self.ways(J)


def groups(system: System, probe: Probe, J: Array, asked: Places) -> tuple[Group, ...]:
    """The groups of the places `asked` for, with the stores that hang together with them."""
    held = contents(system)
    rows = _rows(system, probe)
    touched = J[rows] != 0.0
    taken, found = np.zeros(J.shape[1], dtype=bool), []
    for first in asked.tolist():
        if taken[first]:
            continue
        own, its = np.zeros(J.shape[1], dtype=bool), np.zeros(rows.size, dtype=bool)
        own[first] = True
        while np.any(more := touched[:, own].any(axis=1) & ~its):
            its |= more
            own |= touched[its].any(axis=0) & held
        taken |= own
        is_asked = np.isin(np.arange(own.size), asked)
        found.append(
            Group(np.flatnonzero(own & is_asked), np.flatnonzero(own & ~is_asked), rows[its])
        )
    return tuple(found)


def closed(probe: Probe, group: Group, x: Array) -> Array:
    """x with the rows of the group zero: by the others' contents, where those can; else by all.

    Newton's steps, halved until they come nearer: laws of gas and of oil bend."""
    if not group.rows.size:
        return x
    for places in (group.others, group.places):
        x = _closed_by(probe, group.rows, places, x)
    return x


def _closed_by(probe: Probe, rows: Places, places: Places, x: Array) -> Array:
    miss = probe.values(0.0, x)[rows]
    for _ in range(ITERATIONS):
        if not np.all(np.isfinite(miss)):  # a gas of no volume: no start
            break
        R = probe.jacobian(0.0, x)[rows][:, places]
        if float(np.abs(miss).max()) <= CLOSED * float(np.abs(R * x[places]).max(initial=0.0)):
            break
        D = _sizes(R)
        step = -D * (np.linalg.pinv(R * D, rcond=RANK) @ miss)
        for halvings in range(HALVINGS):
            trial = x.copy()
            trial[places] += 0.5**halvings * step
            now = probe.values(0.0, trial)[rows]
            if float(np.linalg.norm(now)) < float(np.linalg.norm(miss)):
                break
        else:
            break
        x, miss = trial, now
    return x


def written_apart(system: System, group: Group) -> Iterator[tuple[str, Places]]:
    """(part, its places) of those that nobody asked for and whose start is written."""
    written = {
        v.state.data: v.part
        for v in system.causal.graph.vertices.values()
        if v.state is not None and v.written
    }
    for s in system.slices:
        its = np.intersect1d(group.others, np.arange(s.first, s.last))
        if its.size and s.state.name in written:
            yield written[s.state.name], its


def _sizes(R: Array) -> Array:
    slope = np.abs(R).max(axis=0, initial=0.0)
    return np.asarray(np.divide(1.0, slope, out=np.ones(slope.size), where=slope > 0.0))


def _rows(system: System, probe: Probe) -> Places:
    first = probe.spans["velocity"].start
    return np.array(
        [
            first + c.first + i
            for c in system.equations.constraints
            for i, label in enumerate(c.labels)
            if label.startswith(DEPENDENT)
        ],
        dtype=int,
    )
