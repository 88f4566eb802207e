"""Friction clutch: slips at capacity * engaged, locked below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import call, const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.reach import reach
from vbg.physics.stiction import imposed, stick_slip


@dataclass(frozen=True, slots=True)
class Clutch:
    """Dry friction between two shafts with the torque capacity * engaged, engaged within
    0..1; locked while the load is below it.
    """

    table: ClassVar[str] = "rotational"
    kind: ClassVar[str] = "clutch"

    nodes: tuple[str, str] = declare("nodes", "first and second shaft", size=2)
    capacity: float = quantity("N*m", "largest torque", above=0.0)
    engaged: float | str = declare("signal", "0 open, 1 closed", default=1.0)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        share = call("min", call("max", builder.signal(self.engaged), const(0.0)), const(1.0))
        torque = self.capacity * share
        if where.given:
            effort = imposed(name, builder, where.node, where.given, (torque, torque))
        else:
            node, both = where.node, (torque, torque)
            effort = stick_slip(name, builder, node, coulomb=both, static=both)
        builder.output(f"{name}.torque", effort, "N*m")
        builder.output(f"{name}.power", times(effort, builder.flow(where.node)), "W")
