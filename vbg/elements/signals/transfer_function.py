"""A transfer function: numerator(s) / denominator(s)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare

HIGHEST = 100  # power of s


@dataclass(frozen=True, slots=True)
class TransferFunction:
    """value = numerator(s) / denominator(s) of the input, coefficients from the highest
    power down, in controllable canonical form, all states zero at the start.
    `state` is x with x_n = input / denominator(s), monic, x_k = (x_n)^(n - k).
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "transfer_function"

    input: float | str = declare("signal", "what is read", unit="")
    numerator: tuple[float, ...] = declare(
        "vector", "coefficients, highest power first", unit="", size=0
    )
    denominator: tuple[float, ...] = declare(
        "vector", "coefficients, highest power first", unit="", size=0
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Improper fractions, a leading zero, more coefficients than have a meaning."""
        if len(self.denominator) > HIGHEST + 1:
            what = f"has {len(self.denominator)} coefficients; {HIGHEST + 1} are the most."
            yield "denominator", what, "Of higher powers rounding leaves nothing: take state_space."
        if self.denominator[0] == 0.0:
            yield "denominator", "its first coefficient must not be zero.", ""
        if len(self.numerator) > len(self.denominator):
            what = "the numerator has a higher power than the denominator."
            yield "numerator", what, "Add a fast pole: multiply the denominator by (T s + 1)."

    def expand(self, name: str, builder: Builder) -> None:
        lead, order = self.denominator[0], len(self.denominator) - 1
        a = np.array(self.denominator[1:]) / lead
        b = np.zeros(order + 1)
        b[order + 1 - len(self.numerator) :] = np.array(self.numerator) / lead
        source = builder.signal(self.input)
        if order == 0:
            builder.define(name, float(b[0]) * source)
            return
        A = np.vstack([-a, np.eye(order - 1, order)])
        B = np.eye(order, 1)
        C = (b[1:] - b[0] * a)[None, :]
        state = builder.state(
            f"{name}.state",
            lambda x: const(A) @ x + const(B) @ source,
            initial=const(np.zeros(order)),
        )
        builder.output(f"{name}.state", state, "1")
        builder.define(name, const(C) @ state + float(b[0]) * source)
