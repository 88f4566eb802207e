"""An expression of time, of other signals and of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block
from vbg.builder import Builder
from vbg.fields import declare


@dataclass(frozen=True, slots=True)
class Expression:
    """value = an expression of t, parameters, other signals and outputs of any part, such
    as ``0.5*sin(3*t) - 2*hinge.angle``.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "expression"

    expression: float | str = declare("signal", "expression of t, signals and outputs", unit="")

    def value(self, name: str, builder: Builder) -> Block:
        return builder.signal(self.expression)

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
