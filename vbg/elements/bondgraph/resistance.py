"""Resistance vertex R."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import Block, const, inverse, leaf, mul, stack
from vbg.builder import Builder
from vbg.errors import counted
from vbg.fields import declare, quantity
from vbg.physics.rawlaws import LARGEST, Matrix, component_faults, components, expression, square


@dataclass(frozen=True, slots=True)
class Resistance:
    """effort = value flow, or matrix flow, or `effort` expressions in f (f0, f1, ...), or
    `flow` expressions in e (e0, e1, ...), one for each component; both where each is the
    other's inverse.
    """

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "R"

    size: int = declare(
        "count", "number of components of its bonds", minimum=1, maximum=LARGEST, default=1
    )
    value: float | None = quantity("", "resistance", above=0.0, default=None)
    matrix: Matrix | None = declare("matrix", "resistance matrix", unit="", size=0, default=None)
    effort: tuple[str, ...] | None = declare(
        "expressions", "effort of the flow f", variables=components("f"), default=None
    )
    flow: tuple[str, ...] | None = declare(
        "expressions", "flow of the effort e", variables=components("e"), default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Not exactly one kind of law."""
        linear = (self.value is not None) + (self.matrix is not None)
        nonlinear = self.effort is not None or self.flow is not None
        if linear + nonlinear != 1:
            yield "", "an R needs a value, a matrix, or expressions effort and flow.", ""
        if self.matrix is not None and len(self.matrix) != self.size:
            told = f"has {counted(len(self.matrix), 'row')}, the size is {self.size}."
            yield "matrix", told, "Write as many, or change the size."
        for key, law, letter in (("effort", self.effort, "f"), ("flow", self.flow, "e")):
            if law is None:
                continue
            yield from component_faults(key, law, letter, self.size)
            if len(law) != self.size:
                told = f"has {counted(len(law), 'expression')}, the size is {self.size}."
                yield key, told, "Write one for each component."

    def expand(self, name: str, builder: Builder) -> None:
        flow, effort = leaf(f"{name}.R.flow", self.size), leaf(f"{name}.R.effort", self.size)
        of_flow: Block | None
        of_effort: Block | None
        if self.effort is None and self.flow is None:
            matrix = square(self.size, self.value, self.matrix)
            of_flow = mul(const(matrix), flow)
            regular = np.linalg.matrix_rank(matrix) == self.size
            of_effort = mul(inverse(const(matrix)), effort) if regular else None
        else:
            of_flow = None if self.effort is None else _law(self.effort, "f", flow)
            of_effort = None if self.flow is None else _law(self.flow, "e", effort)
        builder.vertex(
            name,
            "R",
            self.size,
            port_flow=flow,
            port_effort=effort,
            effort_law=of_flow,
            flow_law=of_effort,
        )


def _law(texts: tuple[str, ...], letter: str, port: Block) -> Block:
    """The expressions of all components, one below the other."""
    return stack(*(expression(text, letter, port) for text in texts))
