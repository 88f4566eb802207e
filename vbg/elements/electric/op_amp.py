"""Operational amplifier: out = gain * (plus - minus), within its supply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import call, const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_branch, difference


@dataclass(frozen=True, slots=True)
class OpAmp:
    """Terminals [plus, minus, out]: voltage of out against gnd = gain (plus - minus), no
    input current; within [lower, upper] where supply voltages are given.  An output that drives
    itself to a supply at once is refused: positive feedback needs a store on its way back.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "op_amp"

    nodes: tuple[str, str, str] = declare("nodes", "plus, minus, out", size=3)
    gain: float = quantity("1", "open-loop gain", above=0.0, default=1e6)
    lower: float | None = quantity("V", "lower supply", default=None)
    upper: float | None = quantity("V", "upper supply", default=None)

    def expand(self, name: str, builder: Builder) -> None:
        plus, minus, out = self.nodes
        wanted = self.gain * difference(builder, self.table, (plus, minus))
        if self.upper is not None:
            wanted = call("min", wanted, const(self.upper))
        if self.lower is not None:
            wanted = call("max", wanted, const(self.lower))
        here = branch(name, builder, self.table, (out, "gnd"))
        bond = builder.effort_source(name, here.node, wanted)
        declare_branch(name, builder, self.table, wanted, -builder.bond_flow(bond))
