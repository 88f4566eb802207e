"""What ties stores to others, beside the terms of which it is the sum.

Two capacitors in parallel are tied by r = q_A / C_A - q_B / C_B = 0 [V] with the terms
T(r) = |q_A / C_A| + |q_B / C_B|; chokes in series by their currents [A], geared rotors by their
speeds [rad/s].  A picovolt in a circuit of picovolts is all that there is: what a tie leaves counts
in its largest terms, up to one of its SI unit.
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
DEPENDENT = "dependent store"  # labels of the rows of these begin so
TINY = float(np.finfo(float).tiny)  # of what has been nothing so far


@once
def tied_rows(system: System) -> tuple[tuple[str, bool], ...]:
    """For each constraint row the domain of the stores of circuits and oil that it ties, and
    whether it ties their efforts; "" for a velocity [m/s or rad/s]."""
    vertices = system.causal.graph.vertices
    found: list[tuple[str, bool]] = []
    for c in system.equations.constraints:
        source = vertices.get(f"{c.name}.Sc")
        ties = source is not None and (source.dual or source.domain not in MOTION)
        found += [(source.domain, source.dual) if source and ties else ("", False)] * c.unknown.rows
    return tuple(found)


class Ties:
    """What ties the stores of a system: `places` are the rows, of circuits, of oil and of dependent
    rotors and masses; `largest` their terms so far, in the units of the rows."""

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


def with_ties(projector: Projector, x: Array, lengths: Array) -> Array:
    """The `lengths` in which rows count at a start, those of ties by their terms at x and where a
    step leads from there; one of their SI unit where they are nothing at both."""
    ties, moved, found = Ties(projector.system), x.copy(), lengths.copy()
    if len(ties.places):
        ties.look(0.0, x)
        projector.move_velocity(0.0, moved, -projector.residuals(0.0, x)[1])
        ties.look(0.0, moved)
        found[ties.places] = np.minimum(np.where(ties.largest > TINY, ties.largest, 1.0), 1.0)
    return found


@once
def _program(system: System) -> tuple[NDArray[np.intp], Program]:
    """Which rows are ties, and the program of their terms and of what they leave."""
    labels = [label for c in system.equations.constraints for label in c.labels]
    dependent = [label.startswith(DEPENDENT) for label in labels]
    of_circuits = [bool(domain) for domain, _ in tied_rows(system)]
    places = np.flatnonzero(np.logical_or(dependent, of_circuits))
    residual = system.equations.residual
    left = [rows(residual, k, k + 1) for k in places.tolist()]
    outputs = {"terms": stack(*map(terms_of, left)), "left": stack(*left)} if left else {}
    return places, lower(outputs, system.programs.inputs)
