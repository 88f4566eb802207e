"""Moving a state on its constraints while a point to look at is sought."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import contents, displacement_ties
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.system import StateSlice, System
from vbg.simulate.steppers.machine_size import gyration, machine_size

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# of any component of a body's pose and shape in one step [part of a quaternion, m, or size of a
# larger machine]; what turns beside the bodies may turn far: a rotor behind a gear, by hundreds of
# radians
LARGEST_STEP = 0.3
HELD = 1e-13  # residual that the constraints keep
GAP = 1e-6  # of the lengths of rows: what is less the next projection closes
HALVINGS = 12  # of a step that leaves joints open
AWAY = 1e4  # times what it starts with: a posture this far is none that a rest is sought at


class Manifold:
    """The states that can be reached from `start`: on all constraints, each content that goes
    with coordinates (the twist of a spring between two shafts) with the sum that it starts with.

    `poses`, `postures`, `momenta`: places of poses, of these and displacements, and of the bodies'
    momenta, in x;
    `moving`: of postures and of the contents that go with them (`followers`).
    """

    def __init__(self, probe: Probe, t: float, start: Array):
        self.probe = probe
        self.postures, self.momenta = _postures(probe.system), _momenta(probe.system)
        of_bodies = (s for s in probe.system.slices if s.state.kind in ("position", "quaternion"))
        self.poses = _places(of_bodies)
        self._shapes = _shapes(probe.system)
        self._kept = probe.start.kept.copy()
        self._projector = Projector(probe.system, self._kept)
        self._moves = np.ones(probe.system.size, dtype=bool)
        for s in probe.system.slices:
            self._moves[s.first : s.last] = s.state.kind != "discrete"
        self._units = _units(probe.system)
        self._going = self._shapes if self._shapes.size else self.postures
        self._farthest = AWAY * (1.0 + _size((start / self._units)[self._going]))
        ties = displacement_ties(probe, probe.jacobian(t, start), start)
        held = contents(probe.system)
        ties = ties[(ties[:, held] != 0.0).any(axis=1) & (ties[:, ~held] != 0.0).any(axis=1)]
        self.followers = np.flatnonzero(held & (ties != 0.0).any(axis=0))
        self.moving = np.union1d(self.postures, self.followers)
        self._ties, self._sums = ties, ties @ start

    def moved(self, t: float, x: Array, dx: Array) -> tuple[Array, float]:
        """x + dx, or the part of dx that turns and moves nothing too far, and which part.  What
        changes at instants alone (modes, samples) stays to the last digit: a joint that is open
        by 1e-19 is open."""
        length = min(1.0, self.longest(dx))
        for _ in range(HALVINGS):
            moved = np.where(self._moves, x + length * dx, x)
            self._project(t, moved, HELD, HELD)
            if self.is_closed:
                break
            length *= 0.5
        return moved, length

    @property
    def is_closed(self) -> bool:
        """Whether the last posture that was made closes: from too far off Newton's steps do not
        lead back, and a machine with open joints has no energy and no rates."""
        return self._projector.left <= GAP

    def longest(self, dx: Array) -> float:
        """How many times dx may be gone in one step."""
        shapes = _size((dx / self._units)[self._shapes])
        return LARGEST_STEP / shapes if shapes > 0.0 else np.inf

    def at_rest(self, t: float, x: Array) -> Array:
        """x with all bodies at rest."""
        rest = x.copy()
        rest[self.momenta] = 0.0
        self._project(t, rest, 1e-11, 1e-12)
        return rest

    def is_away(self, x: Array) -> bool:
        """Whether something has run away."""
        return not _size((x / self._units)[self._going]) <= self._farthest

    def _project(self, t: float, x: Array, position: float, velocity: float) -> None:
        self._projector.normalise(x)
        self._kept[:] = self.probe.rows_at(t, x)
        self._projector.project(t, x, position, velocity)
        there = self.probe.rows_at(t, x)
        if not np.array_equal(there, self._kept):  # the others were nearly dependent there
            self._kept[:] = there
            self._projector.project(t, x, position, velocity)
        if self.followers.size:
            missing = self._sums - self._ties @ x
            x[self.followers] += np.linalg.lstsq(self._ties[:, self.followers], missing)[0]


def _units(system: System) -> Array:
    """What is large for each component of x: the size l of a machine larger than 1 m for lengths,
    l sqrt(m) for modes of a body of mass m, whose shapes are scaled to a modal mass of 1."""
    size = max(1.0, machine_size(system), gyration(system))
    units = np.ones(system.size)
    for s in system.slices:
        if s.state.kind == "position" or system.signal_units.get(s.state.name) == "m":
            units[s.first : s.last] = size
        elif (body := s.state.name.removesuffix(".modal")) in system.model.bodies:
            units[s.first : s.last] = size * np.sqrt(system.model.bodies[body].mass)
    return units


def _size(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def _postures(system: System) -> Places:
    kinds = ("position", "quaternion", "displacement")
    return _places(s for s in system.slices if s.state.kind in kinds)


def _shapes(system: System) -> Places:
    """Of poses of bodies, of joints between them, and of the modes that bend bodies."""
    shaped = {*system.causal.graph.bodies, *system.model.joints}

    def shaping(s: StateSlice) -> bool:
        if s.state.kind != "displacement":
            return s.state.kind in ("position", "quaternion")
        return s.state.name.rpartition(".")[0] in shaped

    return _places(filter(shaping, system.slices))


def _momenta(system: System) -> Places:
    bodies = set(system.causal.graph.bodies)
    return _places(
        s
        for s in system.slices
        if s.state.kind == "store" and s.state.name.rpartition(".")[0] in bodies
    )


def _places(spans: Iterable[StateSlice]) -> Places:
    found = [np.arange(s.first, s.last) for s in spans]
    return np.concatenate(found or [np.zeros(0, dtype=int)])
