"""Absolute tolerances of the states: those of momenta are meant as speeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System

Array = NDArray[np.float64]

MECHANICAL = ("mechanical", "translation", "rotation")


def tolerances(system: System, atol: float) -> Array:
    """`atol` for each state; for a momentum p of an inertia above 1 (kg or kg m^2)  atol * inertia.

    With p = M v an error of atol in p is one of atol / M in v.  Rounding leaves
    eps * (force) * (step) in a momentum that stays zero, and forces grow with M: for 1000 t it
    would be above atol, and no step would be short enough.  With atol * M the speed is held to
    atol, whatever M.  Of a matrix its largest eigenvalue counts, for all components: what is
    held must not depend on the axes.
    """
    factors = {}
    for vertex in system.causal.graph.vertices.values():
        if vertex.kind != "I" or vertex.domain not in MECHANICAL or vertex.state is None:
            continue
        if vertex.inverse is not None and vertex.inverse.op == "const":
            least = float(np.linalg.eigvalsh(vertex.inverse.data).min())
            if 0.0 < least < 1.0:
                factors[vertex.state.data] = 1.0 / least
    values = np.full(system.written_state.size, atol)
    for s in system.slices:
        values[s.first : s.last] *= factors.get(s.state.name, 1.0)
    return values
