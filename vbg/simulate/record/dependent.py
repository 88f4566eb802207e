"""What constraint rows hold: speeds of joints, or what ties stores of circuits and oil."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.simulate.steppers.tolerances import UNITS

Array = NDArray[np.float64]

MOTION = ("mechanical", "translation", "rotation", "any")  # domains whose flow is a velocity


def dependent_units(system: System) -> Array:
    """For each constraint row the unit of what must vanish (V, A, 1e5 Pa, ...) where it ties
    stores of circuits and oil to others; 0 for a velocity [m/s or rad/s]."""
    vertices = system.causal.graph.vertices
    units = []
    for c in system.equations.constraints:
        source = vertices.get(f"{c.name}.Sc")
        unit = 0.0
        if source is not None and (source.dual or source.domain not in MOTION):
            effort, flow = UNITS.get(source.domain, (1.0, 1.0))
            unit = effort if source.dual else flow
        units += [unit] * c.unknown.rows
    return np.array(units)
