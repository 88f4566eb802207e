"""The assembled system: what can be evaluated at a time and a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.derive.equations import DISSIPATED, SUPPLIED, Equations, HeldStart, State
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.blocks import Block, Tangent, const, leaf
from vbg.causality import CausalGraph
from vbg.plumbing.paused_collection import paused_collection

Array = NDArray[np.float64]

SHIFT = 1e-6  # raise of a singular constraint matrix's diagonal, removed by refinement


@dataclass(frozen=True, slots=True)
class StateSlice:
    """Where a state stands in x."""

    state: State
    first: int
    last: int


class System:
    """State equations and constraint forces of a model, ready to evaluate.

    x holds, in the order of `state_names`: momenta (and displacements of stores),
    then poses and joint coordinates, then the two energy quadratures.  All methods
    are pure; `evaluator(...)` gives one with a workspace of its own for fast loops.
    """

    def __init__(self, causal: CausalGraph, equations: Equations):
        self.causal = causal
        self.equations = equations
        slices, at = [], 0
        for state in equations.states:
            slices.append(StateSlice(state, at, at + state.leaf.rows))
            at += state.leaf.rows
        self.slices = tuple(slices)
        self.size = at

    @property
    def model(self) -> Any:
        return self.causal.graph.model

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """'crank.momentum[0]', ...: one for each component of x."""
        return tuple(
            s.state.name if s.last - s.first == 1 else f"{s.state.name}[{i}]"
            for s in self.slices
            for i in range(s.last - s.first)
        )

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """'A.force x', ...: one for each constraint effort."""
        return tuple(f"{c.name}.{label}" for c in self.equations.constraints for label in c.labels)

    @property
    def signal_units(self) -> Mapping[str, str]:
        return self.equations.units

    # -- programs -------------------------------------------------------------------

    def _inputs(self) -> dict[str, Block]:
        inputs = {s.state.name: s.state.leaf for s in self.slices}
        inputs["t"] = self.equations.time
        return inputs

    @cached_property
    def rate_program(self) -> Program:
        """rate of x, in its order, and behind it the constraint efforts."""
        return self.rank_program if self.shift == 0.0 else self._rates(self.shift)

    @cached_property
    def rank_program(self) -> Program:
        """The same by plain elimination, whose pivots show dependent rows."""
        return self._rates(0.0)

    def _rates(self, shift: float) -> Program:
        e = self.equations
        outputs = {s.state.name: e.rates[s.state.leaf] for s in self.slices}
        outputs["efforts"] = e.efforts
        return lower(outputs, self._inputs(), shift=shift)

    @cached_property
    def posture_rate_program(self) -> Program:
        """Rates of the poses and joint coordinates: no constraint effort enters."""
        e = self.equations
        return lower(
            {
                s.state.name: e.rates[s.state.leaf]
                for s in self.slices
                if s.state.kind in ("position", "quaternion", "displacement")
            },
            self._inputs(),
        )

    @cached_property
    def effort_program(self) -> Program:
        """Constraint efforts, and the accelerations they leave along the constraints."""
        e = self.equations
        along = Tangent({**e.rates, e.time: const(1.0)}, e.spins)
        outputs = {"efforts": e.efforts, "acceleration": along(e.residual)}
        return lower(outputs, self._inputs(), shift=self.shift)

    @cached_property
    def shift(self) -> float:
        """Raise of the constraint matrix's diagonal: 0 where its rows are independent."""
        return SHIFT if self.start.redundant else 0.0

    @cached_property
    def output_program(self) -> Program:
        """All signals, from states, time and the constraint efforts."""
        e = self.equations
        outputs = dict(e.outputs)
        inputs = self._inputs() | {c.name: c.unknown for c in e.constraints}
        outputs["energy.kinetic"] = e.kinetic
        outputs["energy.potential"] = e.potential
        outputs["energy.stored"] = e.stored
        outputs["energy.supplied"] = leaf(SUPPLIED, 1)
        outputs["energy.dissipated"] = leaf(DISSIPATED, 1)
        return lower(outputs, inputs)

    @cached_property
    def residual_program(self) -> Program:
        """Position and velocity residuals of the constraints."""
        e = self.equations
        return lower({"position": e.position, "velocity": e.residual}, self._inputs())

    @cached_property
    def correction_program(self) -> Program:
        """Steps of posture and momenta for a given right-hand side (mass metric)."""
        e = self.equations
        inputs = self._inputs()
        inputs["correction"] = e.right_hand_side
        outputs = {f"posture {s.data}": step for s, step in e.posture_correction.items()}
        outputs |= {f"velocity {s.data}": step for s, step in e.velocity_correction.items()}
        return lower(outputs, inputs, shift=self._start_shift)

    @property
    def _start_shift(self) -> float:
        return SHIFT if self._redundant_at_start else 0.0

    @cached_property
    def _redundant_at_start(self) -> bool:
        """Whether plain elimination meets dependent rows at the written posture."""
        if not self.equations.constraints:
            return False
        evaluate = self.evaluator("rank")
        evaluate(0.0, self.written_state)
        return bool(np.any(evaluate.inverse_pivots() == 0.0))

    @cached_property
    def held_values_program(self) -> Program:
        """Posture steps with the written start coordinates as further rows."""
        return self._held_program(self.equations.held_values)

    @cached_property
    def held_speeds_program(self) -> Program:
        """Momentum steps with the written start speeds as further rows."""
        return self._held_program(self.equations.held_speeds)

    def _held_program(self, held: HeldStart) -> Program:
        inputs = self._inputs()
        inputs["correction"] = leaf("correction", held.size)
        outputs = {f"step {state.data}": step for state, step in held.steps.items()}
        outputs |= {f"value {row.name}": row.value for row in held.rows}
        return lower(outputs, inputs)

    @cached_property
    def switch_program(self) -> Program:
        """Switching functions; those of efforts share them as the rates do."""
        return lower(dict(self.equations.switches), self._inputs(), shift=self._start_shift)

    @cached_property
    def update_program(self) -> Program:
        """What the sampled states become at the instants of their clocks."""
        return lower({s.data: v for s, v in self.equations.updates.items()}, self._inputs())

    @cached_property
    def energy_program(self) -> Program:
        return lower({"stored": self.equations.stored}, self._inputs())

    @cached_property
    def settled_program(self) -> Program:
        """Start values of the stores that depend on the assembled posture."""
        return lower(
            {s.state.name: s.state.settled for s in self.slices if s.state.settled is not None},
            self._inputs(),
        )

    @cached_property
    def measure_program(self) -> Program:
        """Values of joint coordinates from the posture."""
        return lower(
            {s.state.name: s.state.measured for s in self.slices if s.state.measured is not None},
            self._inputs(),
        )

    def evaluator(self, what: str, *, complex_valued: bool = False) -> Evaluator:
        """A private evaluator of `what`: rate (followed by the constraint efforts),
        effort, output, residual, correction, switch, energy, measure."""
        return Evaluator(getattr(self, f"{what}_program"), complex_valued=complex_valued)

    # -- pure evaluations -----------------------------------------------------------

    def rate(self, t: float, x: ArrayLike) -> Array:
        """dx/dt, shape (n,)."""
        return self.evaluator("rate")(t, np.asarray(x, dtype=float))[: self.size].copy()

    def constraint_efforts(self, t: float, x: ArrayLike) -> Array:
        """Constraint efforts, shape (m,), in the order of `constraint_names`, in the
        first body's axes; where they are not unique, the smallest in the metric
        diag(H4), averaged over the components of each force and torque: it weighs them by
        the motion they cause, whatever axes they are written in."""
        return self.evaluator("rate")(t, np.asarray(x, dtype=float))[self.size :].copy()

    def outputs(self, t: float, x: ArrayLike) -> dict[str, Array]:
        """All signals at (t, x) by name."""
        evaluate = self.evaluator("output")
        x = np.asarray(x, dtype=float)
        evaluate(t, x, self.constraint_efforts(t, x))
        return {name: evaluate.output(name).copy() for name in self.output_program.outputs}

    @cached_property
    def written_state(self) -> Array:
        """x as the engineer wrote it, before assembly."""
        return np.concatenate([s.state.initial.data[:, 0] for s in self.slices])

    @cached_property
    def start(self) -> Any:
        """The assembled start with its report, see `vbg.assemble.start.start`."""
        from vbg.assemble.start.start import assemble_start

        with paused_collection():
            return assemble_start(self)

    @property
    def initial_state(self) -> Array:
        """Consistent start: posture and velocities satisfy all constraints.

        Raises AssemblyError with the residual by joint if they cannot.
        """
        return self.start.state.copy()
