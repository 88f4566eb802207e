"""An input from outside: of an FMU or of exported C code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, zeros
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Input:
    """value = what comes from outside: a variable of exported C code and of an FMU.

    Between two settings it is held, and so it is `start` throughout a run of vbg itself.  Sources,
    forces and controllers may read it; a prescribed motion may not, for it has no rate.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "input"

    start: float = quantity("", "value until another one comes", default=0.0)
    unit: str = declare("text", "SI unit of the value, as it is told to other programs", default="")

    def expand(self, name: str, builder: Builder) -> None:
        state = builder.state(
            f"{name}.input", lambda x: zeros(1), initial=const(self.start), unit=self.unit or "1"
        )
        builder.define(name, state, self.unit or "1")
