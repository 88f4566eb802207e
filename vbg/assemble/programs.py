"""The tapes of a system's equations by name, each lowered when it is first asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.closings import closed, closed_rates, closed_smallest
from vbg.assemble.derive.equations import (
    DISSIPATED,
    SUPPLIED,
    Equations,
    HeldStart,
    State,
    efforts_as_inputs,
)
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.blocks import Block, Substitution, Tangent, const, leaf, linear, rows, stack
from vbg.blocks.rounding import terms_of

POSTURE = ("position", "quaternion", "displacement")  # kinds of states
WELL = 4  # steps that close rates where one leaves more than rounding


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

    Those with constraint efforts are run with the rows that a Start keeps (`Start.evaluator`),
    which says, too, which of them is right for its constraints.
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
        """Rate of x, in its order, and behind it the constraint efforts, zero for rows that are
        not kept: the rate does not depend on how these share."""
        return self._rate(self.equations.rates, self.equations.efforts)

    @cached_property
    def recorded(self) -> Program:
        """The same with the smallest efforts."""
        return self._rate(self.equations.rates, self.equations.efforts, smallest=True)

    @cached_property
    def closed_rate(self) -> Program:
        """The same as `rate` where the constraint matrix is badly conditioned."""
        return self._rate(*self._closed(1))

    @cached_property
    def closed_recorded(self) -> Program:
        """And as `recorded`."""
        return self._rate(*self._closed(1, smallest=True), smallest=True)

    @cached_property
    def well_closed_rate(self) -> Program:
        """The same as `rate` where closing once leaves more than rounding."""
        return self._rate(*self._closed(WELL))

    @cached_property
    def well_closed_recorded(self) -> Program:
        """And as `recorded`."""
        return self._rate(*self._closed(WELL, smallest=True), smallest=True)

    def _rate(
        self, rates: Mapping[Block, Block], efforts: Block, smallest: bool = False
    ) -> Program:
        outputs = {s.state.name: rates[s.state.leaf] for s in self.slices}
        outputs["efforts"] = efforts
        return lower(outputs, self.inputs, smallest=smallest, coming=self._coming)

    def _closed(self, steps: int, smallest: bool = False) -> tuple[Mapping[Block, Block], Block]:
        """Rates and efforts with what rounding leaves of the rows' accelerations taken away."""
        e = self.equations
        if not self.closes:
            return e.rates, e.efforts

        def left(rates: Mapping[Block, Block]) -> Block:
            return linear((-1.0, self._along(e.residual, rates)))

        return (closed_smallest if smallest else closed_rates)(e, left, steps)

    @property
    def closes(self) -> bool:
        """Whether rates can be closed: not with rows that reach more than the stores."""
        e = self.equations
        both = (e.efforts, e.multipliers)
        return e.factor is not None and all(b is not None and b.op == "solve" for b in both)

    def _along(self, block: Block, rates: Mapping[Block, Block]) -> Block:
        """The rate of a block along the motion that has these rates."""
        e = self.equations
        return Tangent({**rates, e.time: const(1.0)}, e.spins)(block)

    @cached_property
    def effort(self) -> Program:
        """The smallest constraint efforts, and the accelerations they leave along the
        constraints."""
        e = self.equations
        outputs = {"efforts": e.efforts, "acceleration": self._along(e.residual, e.rates)}
        return lower(outputs, self.inputs, smallest=True, coming=self._coming)

    @cached_property
    def switch(self) -> Program:
        """Switching functions; those of efforts share the smallest of them."""
        return self._switch(self.equations.efforts)

    @cached_property
    def closed_switch(self) -> Program:
        """The same where the constraint matrix is badly conditioned."""
        return self._switch(self._closed(1, smallest=True)[1])

    @cached_property
    def well_closed_switch(self) -> Program:
        """The same where closing once leaves more than rounding."""
        return self._switch(self._closed(WELL, smallest=True)[1])

    def _switch(self, efforts: Block) -> Program:
        switches = self.equations.switches
        each = Substitution({self.equations.efforts: efforts}).each(list(switches.values()))
        outputs = dict(zip(switches, each, strict=True))
        return lower(outputs, self.inputs, smallest=True, coming=self._coming)

    def switch_terms(
        self, names: Sequence[str], modes: Collection[str], iterated: float
    ) -> Program:
        """Of these switching functions, scalars, how large the numbers are from which they are
        computed, in this order; `modes` are states that are 0 or 1, `iterated` as of `terms_of`."""
        exact = frozenset(s.state.leaf for s in self.slices if s.state.name in modes)
        functions = stack(*(self.equations.switches[name] for name in names))
        terms = terms_of(functions, exact, iterated)
        asked = {name: rows(terms, i, i + 1) for i, name in enumerate(names)}
        return lower(asked, self.inputs, smallest=True, coming=self._coming)

    @property
    def _coming(self) -> bool:
        """Dry friction that sticks may add rows that depend on others."""
        return any(c.active is not None for c in self.equations.constraints)

    # -- of constraint rows ------------------------------------------------------------

    @cached_property
    def correction(self) -> Program:
        """Steps of posture and momenta for a given right-hand side (mass metric), and the
        multipliers that give them."""
        e = self.equations
        outputs = {f"posture {s.data}": step for s, step in e.posture_correction.items()}
        outputs |= {f"velocity {s.data}": step for s, step in e.velocity_correction.items()}
        if e.multipliers is not None:
            outputs["multipliers"] = e.multipliers
        inputs = {**self.inputs, "correction": e.right_hand_side}
        return lower(outputs, inputs, coming=self._coming)

    @cached_property
    def well_closed_correction(self) -> Program:
        """Of `correction` the steps of momenta and their multipliers, closed as often as
        `well_closed_rate`."""
        e = self.equations
        assert e.multipliers is not None

        def left(steps: Mapping[Block, Block]) -> Block:
            return e.right_hand_side - Tangent(steps)(e.residual)

        found, multipliers = closed(e, e.struck, e.multipliers, left, WELL)
        outputs = {f"velocity {s.data}": step for s, step in found.items()}
        outputs["multipliers"] = multipliers
        inputs = {**self.inputs, "correction": e.right_hand_side}
        return lower(outputs, inputs, coming=self._coming)

    @cached_property
    def struck(self) -> Program:
        """Steps of momenta by the impulses for a given right-hand side."""
        e = self.equations
        if e.struck is e.velocity_correction:
            return self.correction
        inputs = {**self.inputs, "correction": e.right_hand_side}
        outputs = {f"velocity {s.data}": step for s, step in e.struck.items()}
        return lower(outputs, inputs, coming=self._coming)

    @cached_property
    def impulse(self) -> Program:
        """The smallest impulses that change the constrained speeds by "correction"."""
        e = self.equations
        assert e.multipliers is not None
        inputs = {**self.inputs, "correction": e.right_hand_side}
        outputs = {"multipliers": e.multipliers}
        return lower(outputs, inputs, smallest=True, coming=self._coming)

    @cached_property
    def brought(self) -> Program:
        """By part the power of its sources, from states, time and the constraint efforts."""
        e = self.equations
        return lower(dict(e.brought), {**self.inputs, **efforts_as_inputs(e.constraints)})

    @cached_property
    def pushed(self) -> Program:
        """Rates of what efforts act on beside `struck`, from states, time and these."""
        e = self.equations
        rates = {s.data: rate for s, rate in e.pushed.items()}
        return lower(rates, {**self.inputs, **efforts_as_inputs(e.constraints)})

    @cached_property
    def pushed_terms(self) -> Program:
        """How large the numbers are from which each of these is computed."""
        e = self.equations
        terms = {s.data: terms_of(rate) for s, rate in e.pushed.items()}
        return lower(terms, {**self.inputs, **efforts_as_inputs(e.constraints)})

    @cached_property
    def rows(self) -> Program:
        """Coefficients of each constraint on each store: "i z", numbers of both."""
        stores = {z: k for k, z in enumerate(self.equations.stores_of_rows)}
        outputs = {
            f"{i} {stores[z]}": block
            for i, row in enumerate(self.equations.rows_on_stores)
            for z, block in row.items()
        }
        return lower(outputs, self.inputs)

    # -- of the state alone -----------------------------------------------------------

    @cached_property
    def posture_rate(self) -> Program:
        """Rates of the poses and joint coordinates: no constraint effort enters."""
        rates, moving = self.equations.rates, [s for s in self.slices if s.state.kind in POSTURE]
        return lower({s.state.name: rates[s.state.leaf] for s in moving}, self.inputs)

    @property
    def signals(self) -> Mapping[str, Block]:
        """All signals, in states, time and the constraint efforts."""
        e = self.equations
        return {
            **e.outputs,
            "energy.kinetic": e.kinetic,
            "energy.potential": e.potential,
            "energy.stored": e.stored,
            "energy.supplied": leaf(SUPPLIED, 1),
            "energy.dissipated": leaf(DISSIPATED, 1),
        }

    @cached_property
    def output(self) -> Program:
        """All signals, from states, time and the constraint efforts."""
        return lower(self.signals, {**self.inputs, **efforts_as_inputs(self.equations.constraints)})

    @cached_property
    def residual(self) -> Program:
        """Position and velocity residuals of the constraints."""
        e = self.equations
        return lower({"position": e.position, "velocity": e.residual}, self.inputs)

    @cached_property
    def residual_terms(self) -> Program:
        """Of the velocity residuals, how large the numbers are from which they are computed."""
        return lower({"terms": terms_of(self.equations.residual)}, self.inputs)

    @cached_property
    def facing(self) -> Program:
        """By constraint, how the frames stand whose turns it holds, and whether it holds."""
        outputs: dict[str, Block] = {}
        for c in self.equations.constraints:
            if c.facing is not None:
                outputs[c.name] = c.facing
                outputs[f"{c.name} holds"] = const(1.0) if c.active is None else c.active
        return lower(outputs, self.inputs)

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
        inputs = {**self.inputs, "correction": leaf("correction", held.size)}
        return lower(outputs, inputs, coming=True)

    @cached_property
    def update(self) -> Program:
        """What the sampled states become at the instants of their clocks."""
        return lower({s.data: v for s, v in self.equations.updates.items()}, self.inputs)

    @cached_property
    def energy(self) -> Program:
        """The stored energy."""
        return lower({"stored": self.equations.stored}, self.inputs)

    @cached_property
    def held(self) -> Program:
        """What stops of joints that open and close store, by part."""
        return lower(dict(self.equations.held), self.inputs)

    @cached_property
    def energy_terms(self) -> Program:
        """How large the energies are of which the stored one is computed [J]."""
        return lower({"terms": terms_of(self.equations.stored)}, self.inputs)

    @cached_property
    def slope(self) -> Program:
        """Slopes F = dZ/dX of the stores whose law is not linear."""
        slopes = self.equations.slopes
        return lower({s.data: F for s, F in slopes.items() if not F.is_const}, self.inputs)

    @cached_property
    def effective(self) -> Program:
        """Z / F of the stores whose law is not proportional."""
        return lower({s.data: Z for s, Z in self.equations.effective.items()}, self.inputs)

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
