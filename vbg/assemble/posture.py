"""Moving a state onto the constraints: posture and velocities, mass metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.evaluator import Evaluator
from vbg.assemble.system import System

Array = NDArray[np.float64]

PROJECTIONS = 8  # Newton steps at most; one is the rule between two time steps


class Projector:
    """Projects states of one run; holds its workspaces.

    posture:  dq = -M^-1 G^T H4^-1 Phi, repeated (Newton);  velocity: one step of
    X1 -= G^T H4^-1 r (mathematics.md, section 5).  Joint coordinates are read off
    the posture, angles keep their turns.
    """

    def __init__(self, system: System):
        self.system = system
        self._residual = system.evaluator("residual")
        self._correction = system.evaluator("correction")
        self._measure = system.evaluator("measure")
        self._quaternions = np.array(
            [s.first for s in system.slices if s.state.kind == "quaternion"], dtype=int
        )
        by_name = {s.state.name: s for s in system.slices}
        self._measured = [by_name[name] for name in system.measure_program.outputs]
        self._at = np.array([s.first for s in self._measured], dtype=int)
        self._period = np.array([s.state.period for s in self._measured])
        self._posture = spread(system, self._correction, "posture ")
        self._velocity = spread(system, self._correction, "velocity ")
        self.rows = len(self._residual.output("position"))

    def residuals(self, t: float, x: Array) -> tuple[Array, Array]:
        """Position and velocity residuals of all constraints at (t, x)."""
        self._residual(t, x)
        return (
            self._residual.output("position").copy(),
            self._residual.output("velocity").copy(),
        )

    def normalise(self, x: Array) -> None:
        """Unit quaternions, in place."""
        for at in self._quaternions:
            q = x[at : at + 4]
            q /= np.sqrt(q @ q)

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
        for name, span in self._posture:
            x[span] += self._correction.output(name)
        self.normalise(x)

    def move_velocity(self, t: float, x: Array, step: Array) -> None:
        """The same for momenta."""
        self._correction(t, x, step)
        for name, span in self._velocity:
            x[span] += self._correction.output(name)

    def project(self, t: float, x: Array, position_tol: float, velocity_tol: float) -> bool:
        """Brings the residuals below the tolerances if they exceed them, in place;
        returns whether `x` was moved."""
        if self.rows == 0:
            return False
        moved = False
        self.measure(t, x)
        position, velocity = self.residuals(t, x)
        for _ in range(PROJECTIONS):
            if np.abs(position).max() <= position_tol:
                break
            self.move_posture(t, x, -position)
            self.measure(t, x)
            moved = True
            position, velocity = self.residuals(t, x)
        if moved or np.abs(velocity).max() > velocity_tol:
            self.move_velocity(t, x, -velocity)
            moved = True
        return moved


def spread(system: System, evaluate: Evaluator, prefix: str) -> list[tuple[str, slice]]:
    """Outputs of `evaluate` whose name begins with `prefix`, with their place in x."""
    by_name = {s.state.name: slice(s.first, s.last) for s in system.slices}
    return [
        (name, by_name[name.removeprefix(prefix)])
        for name in evaluate.program.outputs
        if name.startswith(prefix)
    ]
