"""Current source, also controlled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.ports import branch, declare_branch


@dataclass(frozen=True, slots=True)
class CurrentSource:
    """current from the first terminal through the source to the second = number, signal or
    expression; it may read any output, which makes it a controlled source.  (SPICE's sign:
    with the second terminal grounded a positive current is drawn from the first node.)
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "current_source"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    current: float | str = declare("signal", "current first to second", unit="A")

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        current = builder.signal(self.current, "A")
        bond = here.flow_source(name, builder, current)
        voltage = here.source_effort(builder.effort(bond))
        declare_branch(name, builder, self.table, voltage, current)
