"""Effort and flow of every bond over a run, with the powers that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.bonds import bonds_kept, power

if TYPE_CHECKING:
    from vbg.graph import BondGraph
    from vbg.solution import Solution


@dataclass(frozen=True, eq=False)
class Kept:
    """Effort and flow of every bond over a run, and the powers [W] along the half arrows."""

    solution: Solution
    watts: dict[str, NDArray[np.float64]]
    largest: float


def kept_of(graph: BondGraph, solution: Solution) -> Kept:
    """What `solution` keeps of the bonds of `graph`."""
    watts = {bond.name: power(solution, bond.name) for bond in bonds_kept(graph, solution)}
    largest = max((float(np.nanmax(np.abs(w), initial=0.0)) for w in watts.values()), default=0.0)
    return Kept(solution, watts, largest)
