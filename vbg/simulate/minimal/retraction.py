"""From y and u to the state on the constraints: Newton with reused factors.

    [ Phi(z, t) ]            [ r(X1, z, t) ]
    [ K z - y   ] = 0        [ L s - u     ] = 0

(neweul-newsim-cad.txt, section 5, eq. 6-8).  The factors of [J; K Z] are kept from state to
state and computed anew where Newton with them converges slowly; more rows than unknowns
(redundant joints) are met in the least-squares sense, which is exact for consistent rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.errors import Problem, UsageError
from vbg.simulate.minimal.coordinates import Coordinates, choose, of_joints
from vbg.simulate.minimal.factors import LARGE, Factors, dense_factors, sparse_factors
from vbg.simulate.minimal.programs import MinimalPrograms, Places, SlopesEvaluator
from vbg.simulate.steppers.adams import NoStep
from vbg.simulate.steppers.machine_size import machine_size

Array = NDArray[np.float64]

ITERATIONS = 25
CLOSED = 1e-13  # last step of the posture [rad, or machine's sizes]: it leaves far less
AT_REST = 1e-14  # last step of the momenta, relative, in speeds
SLOW = 0.1  # ratio of steps from which on the Jacobian is computed anew
CONDITIONED = 1e6  # of a Jacobian whose joints' own coordinates serve
LARGEST = 1500  # unknowns of a dense Jacobian


class Retraction:
    """Finds states on the constraints; holds the workspaces and K, L of one run."""

    def __init__(self, system: System, programs: MinimalPrograms):
        self.programs = programs
        self.size, self._name = system.size, system.model.name
        self._residual = Evaluator(programs.residual)
        self._motion = Evaluator(programs.motion)
        self._slope = programs.slope.evaluator()
        self._motion_slope = programs.motion_slope.evaluator()
        self.rows = programs.residual.outputs["position"][1]
        starts = [s.first for s in system.slices if s.state.kind == "quaternion"]
        self._quaternions = np.array(starts, dtype=int)[:, None] + np.arange(4)
        periodic = programs.period > 0.0
        self._per_period = np.where(periodic, 1.0 / np.where(periodic, programs.period, 1.0), 0.0)
        self._unit = np.where(programs.lengths, machine_size(system), 1.0)
        nothing = np.zeros(0)
        self.K = self.L = Coordinates(np.zeros((0, 0)), 0, nothing.astype(bool), nothing)
        self.freedoms: tuple[int | None, int | None] = (None, None)
        self.newtons = 0

    def choose(self, t: float, x: Array) -> None:
        """K and L for the state x, which meets the constraints.

        Raises NoStep where the Jacobians have no value."""
        p, (posture, speeds) = self.programs, self.freedoms
        K, self._posture = self._chosen(self._slope, p.posture_tiers, posture, t, x)
        L, self._speeds = self._chosen(self._motion_slope, p.speed_tiers, speeds, t, x)
        self.K, self.L, self.freedoms = K, L, (K.motions, L.motions)

    def _chosen(
        self, slopes: SlopesEvaluator, tiers: Places, freedoms: int | None, t: float, x: Array
    ) -> tuple[Coordinates, Factors]:
        """Coordinates of one level at a state, and the factors of their Jacobian there."""
        if slopes.unknowns >= LARGE:
            found = of_joints(slopes.sparse(t, x), self.rows, tiers)
            if found is not None:
                try:
                    factors = self._factors(slopes, found, t, x)
                    if factors.condition < CONDITIONED:
                        return found, factors
                except NoStep:  # these are no coordinates here: others are looked for
                    pass
        self._require_possible(slopes.unknowns)
        J, Z = self._split(slopes(t, x))
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(Z))):
            raise NoStep
        found = choose(J, Z, tiers, freedoms)
        if found.motions != found.count:
            raise NoStep  # a motion that no coordinate shows
        return found, self._factors(slopes, found, t, x)

    def _require_possible(self, unknowns: int) -> None:
        if unknowns > LARGEST:
            told = Problem(
                "error",
                "simulate.formulation",
                "'minimal' chooses coordinates that are not the joints' own from a dense Jacobian, "
                f"up to {LARGEST} posture unknowns; {self._name} has {unknowns}.",
                "Use formulation = 'constraint', whose cost grows with the number of joints only.",
            )
            raise UsageError.of([told])

    def renew(self, t: float, x: Array) -> None:
        """Jacobians at x, for the retractions that follow."""
        self._posture = self._factors(self._slope, self.K, t, x)
        self._speeds = self._factors(self._motion_slope, self.L, t, x)

    @property
    def lasting(self) -> bool:
        """Whether factors serve until Newton with them is slow: joint coordinates alone need
        not be watched."""
        return self.K.alone and self.L.alone

    @property
    def growth(self) -> float:
        """How much worse than at their choice K and L are, by the last Jacobians."""
        return max(
            _growth(self.K, self._posture, self.rows), _growth(self.L, self._speeds, self.rows)
        )

    @property
    def condition(self) -> float:
        """Of the posture's last Jacobian, unknowns divided by their sizes: it grows with the
        inverse of the distance to a singular posture."""
        return self._posture.condition

    def _split(self, slopes: Array) -> tuple[Array, Array]:
        return slopes[: self.rows], slopes[self.rows :]

    def _factors(self, slopes: SlopesEvaluator, chosen: Coordinates, t: float, x: Array) -> Factors:
        from scipy.sparse import csr_matrix

        square = self.rows + chosen.count == slopes.unknowns
        if slopes.unknowns >= LARGE and square:
            return sparse_factors(slopes.sparse(t, x), self.rows, csr_matrix(chosen.matrix))
        J, Z = self._split(slopes(t, x))
        return dense_factors(J, Z, chosen.matrix)

    def __call__(self, t: float, X: Array) -> Array:
        """(x, s) on the constraints with the y and u of X.

        Raises NoStep where Newton does not converge."""
        result = X.copy()
        x = result[: self.size]
        self._close(t, x)
        result[self.size :] = self._move(t, x, X[self.size :])
        return result

    def speeds(self, t: float, x: Array) -> Array:
        """s at a state."""
        self._motion(t, x)
        return self._motion.output("speeds").copy()

    def _close(self, t: float, x: Array) -> None:
        """Posture on Phi = 0 with the given y, in place."""
        p, K = self.programs, self.K
        y = K.of(x[p.posture])
        before, renewed = np.inf, False
        for _ in range(ITERATIONS):
            self._normalise(x)
            self._measure(t, x)
            rest = np.concatenate([self._residual.output("position"), K.of(x[p.posture]) - y])
            step = self._posture.solve(rest)
            self.newtons += 1
            size = _largest(step / self._unit)
            if not np.isfinite(size) or size > 1e3:
                raise NoStep
            if size > SLOW * before and size > CLOSED and not renewed:
                self._posture, renewed = self._factors(self._slope, self.K, t, x), True
                step = self._posture.solve(rest)
                size = _largest(step / self._unit)
            x[p.posture] -= self._posture.motion @ step
            if size <= CLOSED or (size > 0.5 * before and size < 1e4 * CLOSED):
                self._normalise(x)
                return
            before = size
        raise NoStep

    def _normalise(self, x: Array) -> None:
        quaternions = x[self._quaternions]
        size = np.sqrt(np.einsum("ij,ij->i", quaternions, quaternions))
        x[self._quaternions] = quaternions / size[:, None]

    def _measure(self, t: float, x: Array) -> None:
        """Displacements from the posture, turns kept; leaves Phi of that in the workspace."""
        p = self.programs
        self._residual(t, x)
        if len(p.measured) == 0:
            return
        value = self._residual.output("measured")
        turns = np.rint((x[p.measured] - value) * self._per_period)
        x[p.measured] = value + p.period * turns
        if p.coupled:
            self._residual(t, x)

    def _move(self, t: float, x: Array, s: Array) -> Array:
        """Momenta on r = 0 with u = L s, in place; returns their s."""
        p, L = self.programs, self.L
        if len(p.tied) == 0:
            return self.speeds(t, x)
        u = L.of(s)
        before, renewed = np.inf, False
        for _ in range(ITERATIONS):
            self._motion(t, x)
            now = self._motion.output("speeds")
            rest = np.concatenate([self._motion.output("velocity"), L.of(now) - u])
            if not np.all(np.isfinite(rest)):
                raise NoStep
            step = self._speeds.solve(rest)
            self.newtons += 1
            size = _largest(step * self._speeds.size)
            enough = AT_REST * (1.0 + _largest(x[p.tied] * self._speeds.size))
            if not np.isfinite(size):
                raise NoStep
            if size > SLOW * before and size > enough and not renewed:
                self._speeds, renewed = self._factors(self._motion_slope, self.L, t, x), True
                step = self._speeds.solve(rest)
                size = _largest(step * self._speeds.size)
            x[p.tied] -= step
            if size <= enough or (size > 0.5 * before and size < 1e4 * enough):
                return np.asarray(now - self._speeds.motion @ step)
            before = size
        raise NoStep


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def _growth(chosen: Coordinates, factors: Factors, rows: int) -> float:
    if chosen.alone:
        return 1.0
    units = np.eye(rows + chosen.count)[:, rows:]
    return chosen.growth(factors.motion @ factors.solve(units))
