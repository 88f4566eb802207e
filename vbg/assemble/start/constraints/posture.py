"""Moving a state onto the constraints: posture and velocities, mass metric."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import (
    MOVED,
    NO_PROJECTION,
    WANTS_CORRECTION,
    Projection,
    interpreter,
    measure,
    normalise,
    project,
    project_each,
)
from vbg.assemble.start.constraints.facing import Facing
from vbg.assemble.system import System

Array = NDArray[np.float64]

HALF = 1e-9  # part of a turn: rounding does not decide which way half a turn counts


class Projector:
    """Projects states of one run; holds its workspaces.

    posture:  dq = -M^-1 G^T H4^-1 Phi, repeated (Newton);  velocity: one step of
    X1 -= G^T H4^-1 r (mathematics.md, section 5).  Joint coordinates are read off
    the posture, angles keep their turns.
    """

    def __init__(self, system: System, kept: Array | None = None, lengths: Array | None = None):
        """`kept`: the rows to eliminate with, those of a Start or a choice of one's own (None:
        all; residuals need no choice).  `lengths`: those of the rows, in which gaps and speeds are
        compared with tolerances (None: in m, rad and seconds)."""
        self.system, self._kept = system, kept
        self._residual = Evaluator(system.programs.residual)
        self._measure = Evaluator(system.programs.measure)
        self._address = interpreter()
        self.rows = len(self._residual.output("position"))
        self.lengths = np.ones(self.rows) if lengths is None else lengths
        self._left = np.zeros(1)
        self._plan = self._closed_plan()

    def _closed_plan(self) -> Projection:
        """Programs and places but for the correction."""
        slices = self.system.slices
        by_name = {s.state.name: s for s in slices}
        measured = [by_name[name] for name in self._measure.program.outputs]
        return NO_PROJECTION._replace(
            measure=self._measure.reader,
            residual=self._residual.reader,
            quaternions=_places(s.first for s in slices if s.state.kind == "quaternion"),
            measured=_places(s.first for s in measured),
            period=np.array([float(s.state.period) for s in measured]),
            lengths=self.lengths,
            rows=self.rows,
        )

    @cached_property
    def _correction(self) -> Evaluator:
        """Lowered where it is first needed: most machines start closed, trees stay so long."""
        return Evaluator(self.system.programs.correction, kept=self._kept)

    @cached_property
    def _posture(self) -> Steps:
        return Steps(self.system, self._correction, "posture ")

    @cached_property
    def _velocity(self) -> Steps:
        return Steps(self.system, self._correction, "velocity ")

    @cached_property
    def _impulses(self) -> Evaluator:
        return Evaluator(self.system.programs.struck, kept=self._kept)

    @cached_property
    def _struck(self) -> Steps:
        return Steps(self.system, self._impulses, "velocity ")

    def _add_correction(self) -> None:
        self._plan = self._plan._replace(
            correction=self._correction.reader,
            posture_from=self._posture.words,
            posture_to=self._posture.places,
            velocity_from=self._velocity.words,
            velocity_to=self._velocity.places,
        )

    @property
    def left(self) -> float:
        """Position residual after the last projection, in lengths of rows."""
        return float(self._left[0])

    def residuals(self, t: float, x: Array) -> tuple[Array, Array]:
        """Position and velocity residuals of all constraints at (t, x)."""
        both = self._residual(t, x).copy()
        return both[: self.rows], both[self.rows :]

    @cached_property
    def _facing(self) -> Facing:
        """Made where it is first needed: a run has its residuals near zero."""
        return Facing(self.system)

    def gaps(self, t: float, x: Array) -> Array:
        """Position residuals however far from closing: turns of frames in place of their sines."""
        return self._facing.turned(t, x, self.residuals(t, x)[0])

    def normalise(self, x: Array) -> None:
        """Unit quaternions, in place."""
        normalise(self._plan.quaternions, x)

    def measure(self, t: float, x: Array) -> None:
        """Joint coordinates from the posture, in place; angles keep their turns."""
        measure(self._address, self._plan, t, x)

    def count_from(self, t: float, written: Array, x: Array) -> None:
        """Angles from the written ones on, in place: above -1/2 of a turn and up to 1/2 of it,
        however many turns the way to `x` took; not where a row feels whole turns (gears, screws,
        drives)."""
        position = self.residuals(t, x)[0]
        for place, period in zip(self._plan.measured, self._plan.period, strict=True):
            if period == 0.0:
                continue
            turns = np.floor((written[place] - x[place]) / period + 0.5 + HALF)
            counted = x.copy()
            counted[place] += turns * period
            if turns and np.array_equal(self.residuals(t, counted)[0], position):
                x[place] = counted[place]

    def move_posture(self, t: float, x: Array, step: Array) -> None:
        """One Newton step of the posture for the right-hand side `step`, in place."""
        self._correction(t, x, step)
        self._posture.add(x)
        self.normalise(x)

    def move_velocity(self, t: float, x: Array, step: Array) -> None:
        """The same for momenta."""
        self._correction(t, x, step)
        self._velocity.add(x)

    def strike(self, t: float, x: Array, step: Array) -> None:
        """Momenta by the impulses of such a step, in place: flexible bodies bend."""
        self._impulses(t, x, step)
        self._struck.add(x)

    def project(self, t: float, x: Array, position_tol: float, velocity_tol: float) -> bool:
        """Brings the residuals below the tolerances if they exceed them, in place;
        returns whether `x` was moved."""
        tolerances = position_tol, velocity_tol
        said = project(self._address, self._plan, t, x, *tolerances, self._left)
        if said == WANTS_CORRECTION:
            self._add_correction()
            said = project(self._address, self._plan, t, x, *tolerances, self._left)
        return bool(said == MOVED)

    def project_each(
        self, times: Array, states: Array, position_tol: float, velocity_tol: float
    ) -> None:
        """The same for the rows of `states`, their quaternions normalised, in place."""
        tolerances, begin = (position_tol, velocity_tol), 0
        while begin < len(times):
            begin = project_each(
                self._address, self._plan, times, states, begin, *tolerances, self._left
            )
            if begin < len(times):
                self._add_correction()


def _places(numbers: Iterable[int]) -> NDArray[np.int64]:
    return np.array([*numbers], dtype=np.int64)


class Steps:
    """The outputs of an evaluator whose names begin with `prefix`, as steps of states: words
    of its workspace and their places in x."""

    def __init__(self, system: System, evaluate: Evaluator, prefix: str):
        by_name = {s.state.name: s for s in system.slices}
        self._evaluate = evaluate
        words: list[int] = []
        places: list[int] = []
        for name, (at, size, _) in evaluate.program.outputs.items():
            if name.startswith(prefix):
                state = by_name[name.removeprefix(prefix)]
                words += range(at, at + size)
                places += range(state.first, state.last)
        self.words, self.places = _places(words), _places(places)

    def add(self, x: Array) -> None:
        """Adds the steps of the last run to x, in place."""
        x[self.places] += self._evaluate.work[self.words]
