"""A dead time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Delay:
    """value(t) = input(t - time), as the Pade fraction of exp(-s time) of this order:
    all-pass, with the right phase up to a frequency of about order / time.
    `state` is x with x_n = input / D(s time), D monic in s time, x_k = time^(n - k) (x_n)^(n - k).
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "delay"

    input: float | str = declare("signal", "what is read", unit="")
    time: float = quantity("s", "dead time", above=0.0)
    order: int = declare("count", "order of the fraction", minimum=1, maximum=10, default=6)

    def expand(self, name: str, builder: Builder) -> None:
        n, T = self.order, self.time
        # c_k of sum c_k (s T)^k: c_k = (2n - k)! n! / ((2n)! k! (n - k)!), monic in s T
        c = np.ones(n + 1)
        for k in range(1, n + 1):
            c[k] = c[k - 1] * (n - k + 1) / (k * (2 * n - k + 1))
        c = c / c[n]
        signs = (-1.0) ** np.arange(n + 1)
        a = c[n - 1 :: -1] if n > 1 else c[:1]
        b = (signs * c)[n::-1]
        A = np.vstack([-a, np.eye(n - 1, n)]) / T
        B = np.eye(n, 1) / T
        C = (b[1:] - b[0] * a)[None, :]
        source = builder.signal(self.input)
        state = builder.state(
            f"{name}.state",
            lambda x: const(A) @ x + const(B) @ source,
            initial=const(np.zeros(n)),
        )
        builder.output(f"{name}.state", state, "1")
        builder.define(name, const(C) @ state + float(b[0]) * source)
