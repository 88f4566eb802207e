"""Switch: Ron while closed > 0, else 1 / Goff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch
from vbg.physics.two_states import two_state_resistor


@dataclass(frozen=True, slots=True)
class Switch:
    """Resistance Ron while `closed` > 0, else 1 / Goff; the crossing is an event."""

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "switch"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    closed: float | str = declare("condition", '"a > b", or a signal, positive: closed')
    Ron: float = quantity("ohm", "resistance closed", above=0.0, default=1e-5)
    Goff: float = quantity("S", "conductance open", above=0.0, default=1e-5)

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        command = builder.signal(self.closed)
        on = builder.mode(f"{name}.closed", lambda _: command, f"{name} switches")
        two_state_resistor(name, builder, self.table, here, on, self.Ron, self.Goff)
