"""Effort, flow and power of every bond of a machine, and the energy that parts hand each other.

The effort e and flow f of a bond follow from the states, the inputs and the constraint efforts
by walking the junction structure; `observed` makes signals of them, so that a run keeps them:

    BOND.effort, BOND.flow : (n,) or (n, k), in the axes of the bond's frame;   P = e . f

P [W] is positive along the half arrow, from tail to head.  Junctions, transformers, gyrators and
Eulerian junction structures keep no power: the powers of their bonds add up to zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import leaf
from vbg.graph.bondgraph import Output
from vbg.graph.placeholders import BOND_FLOW, EFFORT

if TYPE_CHECKING:
    from vbg.causality import CausalGraph
    from vbg.graph.bondgraph import Bond, BondGraph
    from vbg.solution import Solution

Array = NDArray[np.float64]

# Units of effort and flow; "mechanical" bonds have forces and torques in one vector.
UNITS = {
    "translation": ("N", "m/s"),
    "rotation": ("N*m", "rad/s"),
    "electric": ("V", "A"),
    "hydraulic": ("Pa", "m^3/s"),
}


def observed(causal: CausalGraph) -> CausalGraph:
    """`causal` with effort and flow of every bond among its signals, behind all others."""
    graph = causal.graph
    further: list[Output] = []
    for bond in graph.bonds.values():
        effort, flow = UNITS.get(bond.domain, ("", ""))
        further.append(Output(effort_of(bond.name), leaf(EFFORT + bond.name, bond.size), effort))
        further.append(Output(flow_of(bond.name), leaf(BOND_FLOW + bond.name, bond.size), flow))
    return replace(causal, graph=replace(graph, outputs=(*graph.outputs, *further)))


def effort_of(bond: str) -> str:
    """The signal of a bond's effort."""
    return f"{bond}.effort"


def flow_of(bond: str) -> str:
    """The signal of a bond's flow."""
    return f"{bond}.flow"


def bonds_kept(graph: BondGraph, solution: Solution) -> tuple[Bond, ...]:
    """The bonds of `graph` whose effort and flow are in `solution`."""
    return tuple(b for b in graph.bonds.values() if effort_of(b.name) in solution.signals)


def power(solution: Solution, bond: str) -> Array:
    """The power [W] through a bond along its half arrow, (n,).

    Raises UsageError where `solution` does not keep it (`observed`).
    """
    effort, flow = solution[effort_of(bond)], solution[flow_of(bond)]
    product = effort * flow
    return product if product.ndim == 1 else product.sum(axis=1)


@dataclass(frozen=True, slots=True)
class Handed:
    """The `energy` [J] that the part `giver` handed to the part `taker` in a time."""

    giver: str
    taker: str
    energy: float


def energy_handed(
    graph: BondGraph, solution: Solution, low: float, high: float
) -> tuple[Handed, ...]:
    """What parts handed each other between the rows nearest to two times [s], the most first.

    int P dt over all bonds between two parts, by trapezoids on the rows of `solution`.
    """
    first, last = (int(np.argmin(np.abs(solution.time - time))) for time in (low, high))
    time = solution.time[first : last + 1]
    found: dict[tuple[str, str], float] = {}
    for bond in bonds_kept(graph, solution):
        two = graph.vertices[bond.tail].part, graph.vertices[bond.head].part
        if two[0] == two[1]:
            continue
        energy = float(np.trapezoid(power(solution, bond.name)[first : last + 1], time))
        if two[::-1] in found:
            two, energy = two[::-1], -energy
        found[two] = found.get(two, 0.0) + energy
    handed = (Handed(*(two if e >= 0 else two[::-1]), abs(e)) for two, e in found.items())
    return tuple(sorted(handed, key=lambda h: (-h.energy, h.giver, h.taker)))
