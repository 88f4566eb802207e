"""Moving a state onto the constraints: posture and velocities, mass metric."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System

Array = NDArray[np.float64]

PROJECTIONS = 8  # Newton steps at most; one is the rule between two time steps


class Projector:
    """Projects states of one run; holds its workspaces.

    posture:  dq = -M^-1 G^T H4^-1 Phi, repeated (Newton);  velocity: one step of
    X1 -= G^T H4^-1 r (mathematics.md, section 5).  Joint coordinates are read off
    the posture, angles keep their turns.
    """

    def __init__(self, system: System, kept: Array | None = None):
        """`kept`: the rows to eliminate with, those of a Start or a choice of one's own (None:
        all; residuals need no choice)."""
        self.system, self._kept = system, kept
        self._residual = Evaluator(system.programs.residual)
        self._measure = Evaluator(system.programs.measure)
        starts = [s.first for s in system.slices if s.state.kind == "quaternion"]
        self._quaternions = np.array(starts, dtype=int)[:, None] + np.arange(4)
        by_name = {s.state.name: s for s in system.slices}
        self._measured = [by_name[name] for name in self._measure.program.outputs]
        self._at = np.array([s.first for s in self._measured], dtype=int)
        self._period = np.array([s.state.period for s in self._measured])
        self.rows = len(self._residual.output("position"))
        self.left = 0.0  # position residual after the last projection

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

    def residuals(self, t: float, x: Array) -> tuple[Array, Array]:
        """Position and velocity residuals of all constraints at (t, x)."""
        both = self._residual(t, x).copy()
        return both[: self.rows], both[self.rows :]

    def normalise(self, x: Array) -> None:
        """Unit quaternions, in place."""
        quaternions = x[self._quaternions]
        x[self._quaternions] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)

    def measure(self, t: float, x: Array) -> None:
        """Joint coordinates from the posture, in place; angles keep their turns."""
        if self._at.size == 0:
            return
        measured = self._measure(t, x)
        turns = np.zeros(len(measured))
        periodic = self._period > 0.0
        turns[periodic] = np.round(
            (x[self._at][periodic] - measured[periodic]) / self._period[periodic]
        )
        x[self._at] = measured + self._period * turns

    def move_posture(self, t: float, x: Array, step: Array) -> None:
        """One Newton step of the posture for the right-hand side `step`, in place."""
        self._correction(t, x, step)
        self._posture.add(x)
        self.normalise(x)

    def move_velocity(self, t: float, x: Array, step: Array) -> None:
        """The same for momenta."""
        self._correction(t, x, step)
        self._velocity.add(x)

    def project(self, t: float, x: Array, position_tol: float, velocity_tol: float) -> bool:
        """Brings the residuals below the tolerances if they exceed them, in place;
        returns whether `x` was moved."""
        if self.rows == 0:
            return False
        moved, self.left = False, 0.0
        self.measure(t, x)
        position, velocity = self.residuals(t, x)
        for _ in range(PROJECTIONS):
            if np.abs(position).max() <= position_tol:
                break
            self.move_posture(t, x, -position)
            self.measure(t, x)
            moved = True
            position, velocity = self.residuals(t, x)
        self.left = float(np.abs(position).max())
        if moved or np.abs(velocity).max() > velocity_tol:
            self.move_velocity(t, x, -velocity)
            moved = True
        return moved


class Steps:
    """The outputs of an evaluator whose names begin with `prefix`, as steps of states."""

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
        self._words = np.array(words, dtype=int)
        self._places = np.array(places, dtype=int)

    def add(self, x: Array) -> None:
        """Adds the steps of the last run to x, in place."""
        x[self._places] += self._evaluate.work[self._words]
