"""The tapes of a system's equations by name, each lowered when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import DISSIPATED, SUPPLIED, Equations, HeldStart, State
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.blocks import Block, Tangent, const, leaf

SHIFT = 1e-6  # raise of a singular constraint matrix's diagonal, removed by refinement
POSTURE = ("position", "quaternion", "displacement")  # kinds of states


@dataclass(frozen=True, slots=True)
class StateSlice:
    """Where a state stands in x."""

    state: State
    first: int
    last: int


def written_state(slices: Sequence[StateSlice]) -> NDArray[np.float64]:
    """x as the engineer wrote it, before assembly."""
    return np.concatenate([np.zeros(0), *(s.state.initial.data[:, 0] for s in slices)])


@dataclass(frozen=True, eq=False)
class Programs:
    """What the equations give, as programs in the states, the time and what is named.

    `rate` and `effort` are there by plain elimination, whose pivots show dependent rows, and
    `refined`, for constraints that have such rows; a Start says which (`Start.rate`).
    """

    equations: Equations
    slices: tuple[StateSlice, ...]

    @cached_property
    def inputs(self) -> Mapping[str, Block]:
        """The states in the order of x, then time."""
        return {s.state.name: s.state.leaf for s in self.slices} | {"t": self.equations.time}

    # -- with constraint efforts ------------------------------------------------------

    @cached_property
    def rate(self) -> Program:
        """Rate of x, in its order, and behind it the constraint efforts."""
        return self._rate(0.0)

    @cached_property
    def refined_rate(self) -> Program:
        return self._rate(SHIFT)

    def _rate(self, shift: float) -> Program:
        e = self.equations
        outputs = {s.state.name: e.rates[s.state.leaf] for s in self.slices}
        return lower(outputs | {"efforts": e.efforts}, self.inputs, shift=shift)

    @cached_property
    def effort(self) -> Program:
        """Constraint efforts, and the accelerations they leave along the constraints."""
        return self._effort(0.0)

    @cached_property
    def refined_effort(self) -> Program:
        return self._effort(SHIFT)

    def _effort(self, shift: float) -> Program:
        e = self.equations
        along = Tangent({**e.rates, e.time: const(1.0)}, e.spins)
        outputs = {"efforts": e.efforts, "acceleration": along(e.residual)}
        return lower(outputs, self.inputs, shift=shift)

    # -- of the state alone -----------------------------------------------------------

    @cached_property
    def posture_rate(self) -> Program:
        """Rates of the poses and joint coordinates: no constraint effort enters."""
        rates, moving = self.equations.rates, [s for s in self.slices if s.state.kind in POSTURE]
        return lower({s.state.name: rates[s.state.leaf] for s in moving}, self.inputs)

    @cached_property
    def output(self) -> Program:
        """All signals, from states, time and the constraint efforts."""
        e = self.equations
        outputs = {
            **e.outputs,
            "energy.kinetic": e.kinetic,
            "energy.potential": e.potential,
            "energy.stored": e.stored,
            "energy.supplied": leaf(SUPPLIED, 1),
            "energy.dissipated": leaf(DISSIPATED, 1),
        }
        return lower(outputs, {**self.inputs, **{c.name: c.unknown for c in e.constraints}})

    @cached_property
    def residual(self) -> Program:
        """Position and velocity residuals of the constraints."""
        e = self.equations
        return lower({"position": e.position, "velocity": e.residual}, self.inputs)

    @cached_property
    def held_values(self) -> Program:
        """Posture steps with the written start coordinates as further rows."""
        return self._held(self.equations.held_values)

    @cached_property
    def held_speeds(self) -> Program:
        """Momentum steps with the written start speeds as further rows."""
        return self._held(self.equations.held_speeds)

    def _held(self, held: HeldStart) -> Program:
        outputs = {f"step {s.data}": step for s, step in held.steps.items()}
        outputs |= {f"value {row.name}": row.value for row in held.rows}
        return lower(outputs, {**self.inputs, "correction": leaf("correction", held.size)})

    @cached_property
    def update(self) -> Program:
        """What the sampled states become at the instants of their clocks."""
        return lower({s.data: v for s, v in self.equations.updates.items()}, self.inputs)

    @cached_property
    def energy(self) -> Program:
        """The stored energy."""
        return lower({"stored": self.equations.stored}, self.inputs)

    @cached_property
    def slope(self) -> Program:
        """Slopes F = dZ/dX of the stores whose law is not linear."""
        slopes = self.equations.slopes
        return lower({s.data: F for s, F in slopes.items() if not F.is_const}, self.inputs)

    @cached_property
    def settled(self) -> Program:
        """Start values of the stores that depend on the assembled posture."""
        states = (s.state for s in self.slices)
        return lower({s.name: s.settled for s in states if s.settled is not None}, self.inputs)

    @cached_property
    def measure(self) -> Program:
        """Values of joint coordinates from the posture."""
        states = (s.state for s in self.slices)
        return lower({s.name: s.measured for s in states if s.measured is not None}, self.inputs)

    # -- refined where the written posture has dependent rows ---------------------------

    @cached_property
    def correction(self) -> Program:
        """Steps of posture and momenta for a given right-hand side (mass metric)."""
        e = self.equations
        outputs = {f"posture {s.data}": step for s, step in e.posture_correction.items()}
        outputs |= {f"velocity {s.data}": step for s, step in e.velocity_correction.items()}
        inputs = {**self.inputs, "correction": e.right_hand_side}
        return lower(outputs, inputs, shift=self._written_shift)

    @cached_property
    def switch(self) -> Program:
        """Switching functions; those of efforts share them as the rates do."""
        return lower(dict(self.equations.switches), self.inputs, shift=self._written_shift)

    @cached_property
    def _written_shift(self) -> float:
        """SHIFT where plain elimination meets dependent rows at the written posture."""
        if not self.equations.constraints:
            return 0.0
        evaluate = Evaluator(self.rate)
        evaluate(0.0, written_state(self.slices))
        return SHIFT if np.any(evaluate.inverse_pivots() == 0.0) else 0.0
