"""A linear system: x' = A x + B u, y = C x + D u."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const, stack
from vbg.builder import Builder
from vbg.errors import counted
from vbg.fields import declare

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class StateSpace:
    """x' = A x + B u, value = C x + D u; one output, any number of inputs.  `state` is x."""

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "state_space"

    inputs: tuple[float | str, ...] = declare("signals", "what is read, u", unit="")
    A: Matrix = declare("matrix", "A, n x n", size=0)
    B: tuple[tuple[float, ...], ...] = declare("table", "B, n rows of one number per input", size=0)
    C: tuple[float, ...] = declare("vector", "C, n numbers", size=0)
    D: tuple[float, ...] | None = declare(
        "vector", "D, one number per input; default zero", size=0, default=None
    )
    initial: tuple[float, ...] | None = declare(
        "vector", "x at the start; default zero", size=0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Sizes that do not agree."""
        n, m = len(self.A), len(self.inputs)
        for key, found, wanted in (
            ("B", [len(row) for row in self.B], [m] * n),
            ("C", len(self.C), n),
            ("D", len(self.D or (0,) * m), m),
            ("initial", len(self.initial or (0,) * n), n),
        ):
            if found != wanted:
                told = f"with A of size {n} and {counted(m, 'input')} its size is {found}."
                yield key, told, f"It must be {wanted}."

    def expand(self, name: str, builder: Builder) -> None:
        u = stack(*(builder.signal(value) for value in self.inputs))
        n = len(self.A)
        state = builder.state(
            f"{name}.state",
            lambda x: const(self.A) @ x + const(np.array(self.B).reshape(n, -1)) @ u,
            initial=const(self.initial or np.zeros(n)),
        )
        builder.output(f"{name}.state", state, "1")
        value = const([self.C]) @ state
        if self.D is not None:
            value = value + const([self.D]) @ u
        builder.define(name, value)
