"""The assembled system: equations and their layout, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import Equations
from vbg.assemble.programs import Programs, StateSlice, written_state
from vbg.causality import CausalGraph
from vbg.model import Model
from vbg.notebook import text_table
from vbg.plumbing.components import component_names

__all__ = ["StateSlice", "System"]


@dataclass(frozen=True, eq=False)
class System:
    """State equations and constraint forces of a model.

    x holds, in the order of `state_names`: momenta (and displacements of stores), then
    poses and joint coordinates, then the two energy quadratures.  `programs` evaluate it;
    where a motion begins, and which constraint rows are independent there, says a Start
    (`vbg.start`).
    """

    causal: CausalGraph
    equations: Equations

    def __repr__(self) -> str:
        return (
            f"<System {self.model.name}: {self.size} state components, "
            f"{len(self.constraint_names)} constraint efforts, "
            f"{len(self.signal_units)} signals>"
        )

    def _repr_html_(self) -> str:
        rows = (
            *(("state", name, "") for name in self.state_names),
            *(("constraint effort", name, "") for name in self.constraint_names),
            *(("signal", name, unit) for name, unit in self.signal_units.items()),
        )
        return text_table(self.model.name, ("what", "name", "unit"), rows)

    @property
    def model(self) -> Model:
        return self.causal.graph.model

    @cached_property
    def slices(self) -> tuple[StateSlice, ...]:
        """Where each state stands in x."""
        slices, at = [], 0
        for state in self.equations.states:
            slices.append(StateSlice(state, at, at + state.leaf.rows))
            at += state.leaf.rows
        return tuple(slices)

    @cached_property
    def size(self) -> int:
        """Components of x."""
        return self.slices[-1].last if self.slices else 0

    @cached_property
    def discrete(self) -> NDArray[np.bool_]:
        """Discrete states, (size,): components of x that change at events and instants alone
        (modes, samples).  They are exact: a mode of 1 but for a last digit is another mode."""
        found = np.zeros(self.size, dtype=bool)
        for s in self.slices:
            found[s.first : s.last] = s.state.kind == "discrete"
        return found

    @cached_property
    def programs(self) -> Programs:
        return Programs(self.equations, self.slices)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """'crank.momentum.x', ...: one for each component of x."""
        return tuple(
            name for s in self.slices for name in component_names(s.state.name, s.last - s.first)
        )

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """'A.force.x', ...: one for each constraint effort."""
        return tuple(f"{c.name}.{label}" for c in self.equations.constraints for label in c.labels)

    @property
    def signal_units(self) -> Mapping[str, str]:
        return self.equations.units

    @cached_property
    def written_state(self) -> NDArray[np.float64]:
        """x as the engineer wrote it, before assembly."""
        return written_state(self.slices)
