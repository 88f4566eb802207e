"""The step that was just taken, at the instants inside."""

from __future__ import annotations

from vbg.tmm_bridge.kernels.rotation import Array
from vbg.tmm_bridge.motion.steps.radau import Collocation, StiffStepper
from vbg.tmm_bridge.motion.steps.stepping import Dense, Pieces, Stepper


class LastStep:
    """Dense output of the step that was just taken, made when it is first asked for."""

    def __init__(self, solver: Stepper | StiffStepper):
        self._solver = solver
        self._dense: Dense | Pieces | Collocation | None = None
        self.span = solver.begun, solver.t  # begin and end

    def __call__(self, t: float | Array) -> Array:
        if self._dense is None:
            self._dense = self._solver.dense()
        return self._dense(t)

    def at_change(self, t: float, *, bends: bool) -> Array:
        """The state at t where something changes; whether a law bends, as that of a stop does."""
        return self.taken_again(t) if bends else self.precise(t)

    def precise(self, t: float) -> Array:
        """The state at t to the accuracy of a step that ends there."""
        inside, dense = self(t), self._dense
        follows = isinstance(dense, Pieces) or (isinstance(dense, Dense) and dense.follows)
        return inside if follows and isinstance(self._solver, Stepper) else self.taken_again(t)

    def taken_again(self, t: float) -> Array:
        """The same by steps that do end there: a step that ends behind a bend of a law may be
        accurate at its end and its polynomial not before the bend."""
        inside = self(t)
        solver = self._solver
        pieces: list[Dense | Pieces] = []
        solver.back_to(t)
        message = ""
        while solver.t < t and not message:
            message = solver.step()
            if isinstance(solver, Stepper) and not message:
                pieces.append(solver.dense())
        if message:  # no step is short enough right behind begun
            return inside
        if pieces:
            self._dense = Pieces(tuple(pieces))
        return solver.y
