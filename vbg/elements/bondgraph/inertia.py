"""Inertia vertex I."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const, dot, inverse, leaf, mul
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.rawlaws import (
    LARGEST,
    Matrix,
    components,
    expression,
    gradient,
    square,
    store_faults,
)


@dataclass(frozen=True, slots=True)
class Inertia:
    """momentum' = effort; flow = momentum / value, or matrix^-1 momentum, or d energy / dp
    for an `energy` in p (p0, p1, ... for several components).
    """

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "I"

    size: int = declare(
        "count", "number of components of its bonds", minimum=1, maximum=LARGEST, default=1
    )
    value: float | None = quantity("", "inertia", above=0.0, default=None)
    matrix: Matrix | None = declare("matrix", "inertia matrix", unit="", size=0, default=None)
    energy: str | None = declare(
        "expression", "energy of the momentum p", variables=components("p"), default=None
    )
    initial: tuple[float, ...] | None = declare(
        "vector", "momentum at the start; default zero", unit="", size=0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Not exactly one law, or wrong sizes."""
        yield from store_faults(self, self.value, self.matrix, "p")

    def expand(self, name: str, builder: Builder) -> None:
        momentum = leaf(f"{name}.momentum", self.size)
        if self.energy is not None:
            energy = expression(self.energy, "p", momentum)
            own, flow = None, gradient(energy, momentum)
        else:
            own = inverse(const(square(self.size, self.value, self.matrix)))
            flow = mul(own, momentum)
            energy = 0.5 * dot(momentum, flow)
        builder.vertex(
            name,
            "I",
            self.size,
            state=momentum,
            law=flow,
            energy=energy,
            inverse=own,
            initial=const(self.initial or np.zeros(self.size)),
            written=self.initial is not None,
        )
        builder.output(f"{name}.momentum", momentum, "1")
