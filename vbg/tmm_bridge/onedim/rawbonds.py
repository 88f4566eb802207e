"""Raw bonds between the vertices of [bondgraph] and the rest of the machine.

Where the transfer-matrix solver cannot solve them, what they exert on a joint is replayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.model import Model


@dataclass(frozen=True)
class OuterBond:
    """A bond from the raw `vertex` to `end`, JOINT.angle or the node of a part; `sign` is +1
    where power runs from the vertex to the end."""

    bond: str
    vertex: str
    end: str
    sign: float

    @property
    def owner(self) -> str:
        """The joint or table that the end belongs to."""
        return self.end.partition(".")[0]


def outer_bonds(model: Model) -> Iterator[OuterBond]:
    """The raw bonds of which one end is no raw vertex."""
    for bond in model.bonds:
        tail, head = bond.split(" -> ")
        if head.partition(".")[0] not in model.bondgraph:
            yield OuterBond(bond, tail, head, 1.0)
        elif tail.partition(".")[0] not in model.bondgraph:
            yield OuterBond(bond, head, tail, -1.0)


def shaft_path(model: Model, end: str) -> str:
    """The path of what gives a bond its flow: JOINT.angle as joints.JOINT.angle, TABLE.NODE;
    empty for a node of a circuit."""
    owner = end.partition(".")[0]
    if owner in ("electric", "hydraulic"):
        return ""
    return f"joints.{end}" if owner in model.joints else end
