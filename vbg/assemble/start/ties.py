"""What ties stores of circuits and oil to others, beside the terms of which it is the sum.

A picovolt in a circuit of picovolts is all that there is: what a tie leaves counts in its largest
terms, up to one of its SI unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.system import System
from vbg.blocks.node import rows, stack
from vbg.blocks.rounding import terms_of
from vbg.plumbing.once import once

Array = NDArray[np.float64]

MOTION = ("mechanical", "translation", "rotation", "any")  # domains whose flow is a velocity
TINY = float(np.finfo(float).tiny)  # of what has been nothing so far


@once
def tied_rows(system: System) -> tuple[tuple[str, bool], ...]:
    """For each constraint row the domain of the stores that it ties, and whether it ties their
    efforts; "" for a velocity [m/s or rad/s]."""
    vertices = system.causal.graph.vertices
    found: list[tuple[str, bool]] = []
    for c in system.equations.constraints:
        source = vertices.get(f"{c.name}.Sc")
        ties = source is not None and (source.dual or source.domain not in MOTION)
        found += [(source.domain, source.dual) if source and ties else ("", False)] * c.unknown.rows
    return tuple(found)


class Ties:
    """What the ties of a system are the sums of: `places` are their rows, `largest` their terms
    so far."""

    def __init__(self, system: System):
        self.places, program = _program(system)
        self._evaluate = Evaluator(program) if len(self.places) else None
        self.largest = np.full(len(self.places), TINY)

    def look(self, t: float, x: Array) -> Array:
        """What they leave at (t, x), of whose terms note is taken."""
        if self._evaluate is None:
            return np.zeros(0)
        both, n = self._evaluate(t, x), len(self.places)
        terms = np.where(np.isfinite(both[:n]), both[:n], 0.0)
        self.largest = np.maximum(self.largest, terms)
        left: Array = np.abs(both[n:])
        return left

    def measured(self, lengths: Array) -> Array:
        """The `lengths` in which rows count, with those of the ties."""
        found = lengths.copy()
        found[self.places] = np.minimum(self.largest, 1.0)
        return found


def with_ties(projector: Projector, x: Array, lengths: Array) -> Array:
    """The `lengths` of rows, those of ties by their terms at x and where a step leads from there;
    one of their SI unit where they are nothing at both."""
    ties, moved = Ties(projector.system), x.copy()
    if not len(ties.places):
        return lengths
    ties.look(0.0, x)
    projector.move_velocity(0.0, moved, -projector.residuals(0.0, x)[1])
    ties.look(0.0, moved)
    ties.largest[ties.largest == TINY] = 1.0
    return ties.measured(lengths)


@once
def _program(system: System) -> tuple[NDArray[np.intp], Program]:
    """Which rows are ties, and the program of their terms and of what they leave."""
    places = np.flatnonzero([bool(domain) for domain, _ in tied_rows(system)])
    residual = system.equations.residual
    left = [rows(residual, k, k + 1) for k in places.tolist()]
    outputs = {"terms": stack(*map(terms_of, left)), "left": stack(*left)} if left else {}
    return places, lower(outputs, system.programs.inputs)
