"""A weighted sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import linear
from vbg.builder import Builder
from vbg.fields import declare


@dataclass(frozen=True, slots=True)
class Sum:
    """value = sum of weight * input; a control error is inputs [demand, measured] with
    weights [1, -1].
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "sum"

    inputs: tuple[float | str, ...] = declare("signals", "what is added", unit="")
    weights: tuple[float, ...] | None = declare(
        "vector", "factors of the inputs; default: ones", unit="", size=0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A wrong number of weights."""
        if self.weights is not None and len(self.weights) != len(self.inputs):
            found = f"{len(self.inputs)} inputs and {len(self.weights)} weights."
            yield "weights", found, "One weight for each input is needed."

    def expand(self, name: str, builder: Builder) -> None:
        weights = self.weights or (1.0,) * len(self.inputs)
        terms = [(w, builder.signal(i)) for w, i in zip(weights, self.inputs, strict=True)]
        builder.define(name, linear(*terms))
