"""Which constraint directions depend on others at a state, and what of their efforts is unique."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.assemble.rows.independent import Independent
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.determined import Projection, determined
from vbg.assemble.start.refused import directions, redundancy
from vbg.assemble.system import System
from vbg.errors import Problem

INVOLVED = 1e-7  # part of a row in a combination of rows, below which it is not in it


@dataclass(frozen=True, slots=True)
class Redundancy:
    """`names` of directions whose effort is not unique, `dependent` how many rows are too many,
    and what of these forces is `determined` all the same, in other directions."""

    names: tuple[str, ...] = ()
    dependent: int = 0
    determined: tuple[Projection, ...] = ()

    def problem(self, system: System) -> Problem:
        """What is said of it."""
        return redundancy(system, self.dependent, self.names, self.determined)


def redundancy_of(system: System, rows: RowChoice, found: Independent) -> Redundancy:
    """Of the rows that hold where `found` was chosen last."""
    taking = found.kept | rows.idle(found)
    dependent = int(np.count_nonzero(~taking))
    if not dependent:
        return Redundancy()
    involved = np.any(np.abs(found.combinations) > INVOLVED, axis=0) | ~taking
    null = found.null_efforts(rows.lengths)
    projections = determined(system.equations.constraints, null, rows.lengths)
    return Redundancy(directions(system, involved), dependent, projections)
