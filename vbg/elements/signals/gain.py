"""A gain: k * input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Gain:
    """value = k * input."""

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "gain"

    input: float | str = declare("signal", "what is read", unit="")
    k: float = quantity("", "gain")

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.k * builder.signal(self.input))
