"""Proportional 4/3 valve: four edges that the opening -1..1 moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.hydraulics import signed_root
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class ProportionalValve:
    """Ports [P, T, A, B]; `opening` u in -1..1 moves the spool.

    u > 0 joins P with A and B with T, u < 0 P with B and A with T.  The two edges that it
    joins have the opening max(0, |u| - overlap) + leakage, the two others leakage, and each
    lets through  flow = qn opening sqrt(p / pn), turbulent with a laminar zone.  `qn` is the
    flow of one edge of opening 1 at the pressure difference `pn`.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "proportional_valve"

    nodes: tuple[str, str, str, str] = declare("nodes", "P, T, A, B", size=4)
    opening: float | str = declare("signal", "spool position, -1..1")
    qn: float = quantity("m^3/s", "flow of an edge of opening 1 at pn", above=0.0)
    pn: float = quantity("Pa", "pressure difference at an edge for qn", above=0.0, default=5e5)
    overlap: float = quantity("1", "dead zone of the spool", minimum=0.0, below=1.0, default=0.0)
    leakage: float = quantity(
        "1", "opening of a closed edge, added to that of an open one", minimum=0.0, default=0.0
    )
    laminar: float = quantity("Pa", "pressure below which it is laminar", above=0.0, default=1e4)
    limited: bool = declare("flag", "whether the spool stops at -1 and 1", default=True)

    def expand(self, name: str, builder: Builder) -> None:
        P, T, A, B = self.nodes
        u = builder.signal(self.opening)
        if self.limited:
            u = call("max", call("min", u, const(1.0)), const(-1.0))
        for edge, ends, spool in (
            ("PA", (P, A), u),
            ("BT", (B, T), u),
            ("PB", (P, B), -u),
            ("AT", (A, T), -u),
        ):
            self._edge(f"{name}.{edge}", builder, ends, spool)
        builder.output(f"{name}.opening", u, "1")

    def _edge(self, name: str, builder: Builder, ends: tuple[str, str], spool: Block) -> None:
        here = branch(name, builder, self.table, ends)
        is_open = call("max", spool - const(self.overlap), const(0.0)) + const(self.leakage)
        gain = self.qn / self.pn**0.5
        bond = builder.resistor(
            name,
            here.node,
            flow=lambda p: times(is_open, gain * signed_root(p, self.laminar)),
        )
        declare_element(name, builder, self.table, bond)
