"""The step that was just taken, at the instants inside."""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.motion.steps.radau import StiffStepper
from vbg.tmm_bridge.motion.steps.stepping import Dense, Piece, Pieces, Stepper

JUST = 1e-8  # of a step, before its end: no stage is on the other side of a jump there
SHORTEST = 1e3  # instants that t tells apart: a step that nothing follows is not shortened further


def followed(solver: Stepper | StiffStepper) -> LastStep:
    """The step that was just taken, as short as makes known what happens inside.

    A step may jump over a contact: the stages behind it, thrown far away, have no weight in its
    error, and its end and its zeros are those of a motion that there is not.
    """
    last, end = LastStep(solver), solver.end
    while not last.follows:
        begin, h = last.span[0], 0.5 * (last.span[1] - last.span[0])
        if h < SHORTEST * math.ulp(begin + h):
            break
        solver.back_to(begin + h)
        if solver.step():
            break
        last, solver.h = LastStep(solver), min(solver.h, h)
    solver.end = end
    return last


class LastStep:
    """Dense output of the step that was just taken, made when it is first asked for."""

    def __init__(self, solver: Stepper | StiffStepper):
        self._solver = solver
        self._dense: Piece | None = None
        self.span = solver.begun, solver.t  # begin and end

    def __call__(self, t: float | Array) -> Array:
        if self._dense is None:
            self._dense = self._solver.dense()
        return self._dense(t)

    def at_change(self, t: float, *, bends: bool) -> Array:
        """The state at t where something changes; whether a law bends, as that of a stop does."""
        return self.taken_again(t) if bends else self.precise(t)

    @property
    def follows(self) -> bool:
        """Whether the motion is known inside: a collocation polynomial obeys the equations."""
        self(self.span[1])
        return not isinstance(self._dense, Dense) or self._dense.follows

    def precise(self, t: float) -> Array:
        """The state at t, behind which a law jumps, to the accuracy of a step that ends there.  An
        explicit one's is on its polynomial, on which t was found: what is left over of the zero
        (1 mPa of an accumulator that was empty) may be much by the law behind.  An implicit one
        ends just before: its last stage has the rate at its end."""
        solver = self._solver
        if isinstance(solver, Stepper):
            return self(t) if self.follows else self.taken_again(t)
        before = min(t - JUST * (t - self.span[0]), math.nextafter(t, -math.inf))
        y = self.taken_again(before)
        if solver.t == before:
            y = y + (t - before) * solver.f
            solver.t, solver.y = t, y
        return y

    def taken_again(self, t: float) -> Array:
        """The same by steps that do end there: a step that ends behind a bend of a law may be
        accurate at its end and its polynomial not before the bend."""
        inside = self(t)
        solver = self._solver
        pieces: list[Piece] = []
        solver.back_to(t)
        message = ""
        while solver.t < t and not message:
            message = solver.step()
            if not message:
                pieces.append(solver.dense())
        if message:  # no step is short enough right behind begun
            return inside
        if pieces:
            self._dense = Pieces(tuple(pieces))
        return solver.y
