"""A PID controller with anti-windup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class PID:
    """value = kp e + integral + derivative within [lower, upper], e = demand - measured.

    integral' = ki e + (value - unbounded value) / tracking: back-calculation against
    windup.  The derivative acts on a filtered error: kd (e - e_f) / filter,
    e_f' = (e - e_f) / filter.  (K. Astrom, T. Hagglund, Advanced PID Control, 2006, ch. 3.)
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "pid"

    demand: float | str = declare("signal", "what it should be", unit="")
    measured: float | str = declare("signal", "what it is", unit="")
    kp: float = quantity("", "proportional gain")
    ki: float = quantity("", "integral gain, per second", default=0.0)
    kd: float = quantity("", "derivative gain, times seconds", default=0.0)
    filter: float = quantity("s", "time constant of the derivative", default=1e-3, above=0.0)
    lower: float | None = quantity("", "smallest output", default=None)
    upper: float | None = quantity("", "largest output", default=None)
    tracking: float = quantity("s", "time constant of the anti-windup", default=0.1, above=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Bounds in the wrong order."""
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            yield "lower", f"lower {self.lower:g} must be below upper {self.upper:g}.", ""

    def expand(self, name: str, builder: Builder) -> None:
        error = builder.signal(self.demand) - builder.signal(self.measured)
        rest = self.kp * error
        if self.kd:
            filtered = builder.state(
                f"{name}.filtered",
                lambda state: (1.0 / self.filter) * (error - state),
                initial=const(0.0),
            )
            builder.output(f"{name}.filtered", filtered, "1")
            rest = rest + (self.kd / self.filter) * (error - filtered)
        if self.ki:

            def rate(integral: Block) -> Block:
                wanted = rest + integral
                excess = (1.0 / self.tracking) * (self._bounded(wanted) - wanted)
                return self.ki * error + excess

            integral = builder.state(f"{name}.integral", rate, initial=const(0.0))
            builder.output(f"{name}.integral", integral, "1")
            rest = rest + integral
        for bound, limit in (("lower", self.lower), ("upper", self.upper)):
            if limit is not None:
                builder.event(f"{name}.{bound}", rest - const(limit), "")
        builder.define(name, self._bounded(rest))

    def _bounded(self, value: Block) -> Block:
        if self.upper is not None:
            value = call("min", value, const(self.upper))
        return value if self.lower is None else call("max", value, const(self.lower))
