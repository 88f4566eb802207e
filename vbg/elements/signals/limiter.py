"""A limiter: the input between lower and upper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import call, const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Limiter:
    """value = input between `lower` and `upper`, else the bound."""

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "limiter"

    input: float | str = declare("signal", "what is read", unit="")
    lower: float = quantity("", "smallest value")
    upper: float = quantity("", "largest value")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Bounds in the wrong order."""
        if self.lower >= self.upper:
            yield "lower", f"lower {self.lower:g} must be below upper {self.upper:g}.", ""

    def expand(self, name: str, builder: Builder) -> None:
        read = builder.signal(self.input)
        bounded = call("min", read, const(self.upper))
        builder.event(f"{name}.upper", read - const(self.upper), "")
        builder.event(f"{name}.lower", read - const(self.lower), "")
        builder.define(name, call("max", bounded, const(self.lower)))
