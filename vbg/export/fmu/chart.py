"""Independent coordinates of a machine in Model Exchange: how many, and what is tried first.

They are some of the states themselves; which ones is chosen while a unit runs
(`vbg/export/c/vbg_chart.c`), their number stands in the description.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start
from vbg.assemble.system import StateSlice
from vbg.export.jumps import chooses_by_states
from vbg.simulate.minimal.coordinates import null_space
from vbg.simulate.minimal.programs import MinimalPrograms, minimal_programs
from vbg.simulate.minimal.retraction import Retraction
from vbg.simulate.steppers.adams import NoStep

Array = NDArray[np.float64]

ANGLE, SLIDE, POSITION, QUATERNION, STORE, SPIN, MOMENTUM = range(7)  # as in vbg_chart.c
LARGEST = 1_000_000  # words of the basis
UNKNOWNS = 1500  # of a posture, as in formulation = "minimal": their motions are found densely
AWAY = 0.01  # of a coordinate: postures may be special where a machine starts
SEEN = 1e-3  # of a motion: what angles, slides and positions must tell of it at least


@dataclass(frozen=True)
class Chart:
    """`freedoms`: coordinates, `postures` of them tell the posture; `tiers` of the states that
    are integrated, in the order of x."""

    freedoms: int
    postures: int
    tiers: tuple[int, ...]


NOTHING = Chart(0, 0, ())


def chart_of(start: Start, discrete: frozenset[int]) -> Chart:
    """The chart of a machine whose states are tied by constraints; NOTHING, the states
    themselves, where they are not, where bodies tumble, whose turns have no coordinates that
    last, where there are very many of them, where a basis would be too large, and where what is
    prescribed jumps as a function of states: coordinates beside it would not feel the impulse.
    `discrete`: places that are not integrated."""
    system = start.system
    if not system.constraint_names or chooses_by_states(system):
        return NOTHING
    programs = minimal_programs(start)
    if programs.slope.shape[1] > UNKNOWNS:
        return NOTHING
    tied = {*programs.posture.tolist(), *programs.measured.tolist(), *programs.tied.tolist()}
    free = [i for i in range(system.size) if i not in tied | discrete]
    retraction = Retraction(system, programs)
    found: set[tuple[int, int]] = set()
    try:
        for x in _postures(start, retraction):
            retraction.freedoms = (None, None)
            retraction.choose(0.0, x)
            found.add((retraction.K.motions, retraction.L.motions))
    except NoStep:
        return NOTHING
    if len(found) != 1 or not _seen(start, retraction, programs):
        return NOTHING
    ((postures, speeds),) = found
    freedoms = postures + speeds + len(free)
    if freedoms == 0 or freedoms * system.size > LARGEST:
        return NOTHING
    bodies = frozenset(system.causal.graph.bodies)
    tiers = [t for s in system.slices for t in [_tier(s, programs, bodies)] * (s.last - s.first)]
    kept = (tier for i, tier in enumerate(tiers) if i not in discrete)
    return Chart(freedoms, postures, tuple(kept))


def _postures(start: Start, retraction: Retraction) -> Iterator[Array]:
    """The start, and a posture beside it."""
    x = start.state
    yield x
    K = retraction.K.dense
    moved = np.concatenate([x, retraction.speeds(0.0, x)])
    if len(K):
        moved[retraction.programs.posture] += AWAY * np.linalg.pinv(K).sum(axis=1)
        yield retraction(0.0, moved)[: len(x)]


def _seen(start: Start, retraction: Retraction, programs: MinimalPrograms) -> bool:
    """Whether other states than quaternions tell every motion of the posture."""
    slopes = programs.slope.evaluator()(0.0, start.state)
    J, Z = slopes[: retraction.rows], slopes[retraction.rows :]
    scale = 1.0 / np.linalg.norm(np.vstack([J, Z]), axis=0)
    motions = Z @ null_space(J, scale, None)
    if motions.shape[1] == 0:
        return True
    by_place = {p: s for s in start.system.slices for p in range(s.first, s.last)}
    told = [by_place[int(p)].state.kind != "quaternion" for p in programs.posture]
    part, whole = motions[np.array(told)], np.linalg.norm(motions, 2)
    values = np.linalg.svd(part, compute_uv=False)
    return len(values) == motions.shape[1] and bool(values[-1] > SEEN * whole)


def _tier(s: StateSlice, programs: MinimalPrograms, bodies: frozenset[str]) -> int:
    posture = {*programs.posture.tolist(), *programs.measured.tolist()}
    if s.first in posture:
        if s.state.kind == "quaternion":
            return QUATERNION
        if s.last - s.first > 1:
            return POSITION
        return ANGLE if s.state.period > 0.0 else SLIDE
    body, _, what = s.state.name.rpartition(".")
    if body not in bodies:
        return STORE
    return SPIN if what == "angular_momentum" else MOMENTUM
