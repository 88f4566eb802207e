"""What rounding of currents leaves in voltages of an island that one part alone ties to the ground.

Nothing comes back of a current that such a part would carry, so that it carries none; but what
flows around in the island, up to I, adds up to zero to within some e I only, e the rounding of
numbers, and over the conductance G that the part has at the least that is a voltage

    u = e I / G

of the whole island, of either sign: 4 uV where 2e5 A flow around behind a diode that leaks 1e-5 S.
Voltages within the island know nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.model import Model
from vbg.model.catalogue import REFERENCE_NODES
from vbg.plumbing.groups import joined

ROUNDED = 32.0 * float(np.finfo(float).eps)  # of the currents that add up in a node
GROUND = REFERENCE_NODES["electric"]


def floating_rounding(model: Model, currents: Mapping[str, float]) -> dict[str, float]:
    """Signal -> voltage [V] that is rounding, of nodes on islands and of the parts that tie them;
    `currents` [A] are the largest that each part has had."""
    wires = [
        (name, nodes)
        for name, part in model.electric.items()
        for nodes in zip(part.nodes[::2], part.nodes[1::2], strict=False)
    ]
    at = {node for _, nodes in wires for node in nodes} | {GROUND}
    found: dict[str, float] = {}
    for name, part in model.electric.items():
        conductance = _least_conductance(part)
        if conductance <= 0.0:
            continue
        groups = joined(at, (nodes for other, nodes in wires if other != name))
        grounded = next(set(group) for group in groups if GROUND in group)
        cut_off = set(part.nodes) - grounded
        if len(cut_off) != 1:
            continue  # another way leads back, or it is within an island
        island = next(set(group) for group in groups if cut_off.issubset(group))
        around = [currents.get(other, 0.0) for other, nodes in wires if island.issuperset(nodes)]
        u = ROUNDED * max(around, default=0.0) / conductance
        for signal in (f"{name}.voltage", *(f"electric.{node}.voltage" for node in island)):
            found[signal] = found.get(signal, 0.0) + u
    return found


def _least_conductance(part: Any) -> float:
    """[S]; zero of parts whose voltage is not that of their current."""
    if part.kind == "resistor":
        return 1.0 / float(part.R)
    if part.kind == "switch" or (part.kind == "diode" and part.law == "ideal"):
        return min(float(part.Goff), 1.0 / float(part.Ron))
    return float(part.Gmin or 0.0) if part.kind == "diode" else 0.0
