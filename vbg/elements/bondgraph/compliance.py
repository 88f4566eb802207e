"""Compliance vertex C."""

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
class Compliance:
    """displacement' = flow; effort = displacement / value, or matrix^-1 displacement, or
    d energy / dq for an `energy` in q (q0, q1, ... for several components).
    """

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "C"

    size: int = declare(
        "count", "number of components of its bonds", minimum=1, maximum=LARGEST, default=1
    )
    value: float | None = quantity("", "compliance", above=0.0, default=None)
    matrix: Matrix | None = declare("matrix", "compliance matrix", unit="", size=0, default=None)
    energy: str | None = declare(
        "expression", "energy of the displacement q", variables=components("q"), default=None
    )
    initial: tuple[float, ...] | None = declare(
        "vector", "displacement at the start; default zero", unit="", size=0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Not exactly one law, or wrong sizes."""
        yield from store_faults(self, self.value, self.matrix, "q")

    def expand(self, name: str, builder: Builder) -> None:
        displacement = leaf(f"{name}.displacement", self.size)
        if self.energy is not None:
            energy = expression(self.energy, "q", displacement)
            effort = gradient(energy, displacement)
        else:
            stiffness = inverse(const(square(self.size, self.value, self.matrix)))
            effort = mul(stiffness, displacement)
            energy = 0.5 * dot(displacement, effort)
        builder.vertex(
            name,
            "C",
            self.size,
            state=displacement,
            law=effort,
            energy=energy,
            initial=const(self.initial or np.zeros(self.size)),
            written=self.initial is not None,
        )
        builder.output(f"{name}.displacement", displacement, "1")
