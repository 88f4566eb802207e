"""Whether every motion of a machine has a positive kinetic energy, where a body has not.

A body with a negative moment of inertia, which published data and links without mass ask for
(`allow_unphysical_inertia`), is no harm as long as its joints leave it no motion of that sign:
Zᵀ M Z of the motions Z that the constraints G leave is what counts.  The inertia of
[[M, Gᵀ], [G, 0]] by its two Schur complements (E. Haynsworth, Linear Algebra Appl. 1, 1968) gives

    negative eigenvalues of Zᵀ M Z = those of M - those of G M⁻¹ Gᵀ,

and the last are the negative pivots of its elimination (Sylvester).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.errors import AssemblyError, Problem, counted


def require_positive(system: System, inverse_pivots: NDArray[np.float64]) -> None:
    """Raises AssemblyError where a motion that the joints leave has a negative kinetic energy;
    `inverse_pivots` of the constraint matrix at the start."""
    negative = _negative_inertias(system)
    count = sum(negative.values()) - int(np.count_nonzero(inverse_pivots.real < 0.0))
    if count <= 0:
        return
    which = ", ".join(negative)
    what = (
        f"{counted(count, 'motion')} that the joints leave would have a negative kinetic energy: "
        f"the moments of inertia below zero of {which} outweigh what moves with them."
    )
    remedy = "Check these moments, and the axes and the point they are about, in their source."
    part = f"bodies.{next(iter(negative))}"
    raise AssemblyError.of([Problem("error", part, what, remedy)])


def _negative_inertias(system: System) -> dict[str, int]:
    """Stores whose M⁻¹ is constant, by name: how many of its eigenvalues are below zero."""
    found = {}
    for place in system.slices:
        slope = system.equations.slopes.get(place.state.leaf)
        if slope is None or not slope.is_const or slope.rows != slope.cols:
            continue
        below = int(np.count_nonzero(np.linalg.eigvalsh(slope.data) < 0.0))
        if below:
            found[place.state.name.partition(".")[0]] = below
    return found
