"""A functional mock-up unit as a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from vbg.blocks import const, rows, stack, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.fmi.description import Description, Variable
from vbg.fmi.running import Wiring

INTERFACES = {"co-simulation": "CoSimulation", "model-exchange": "ModelExchange"}


@dataclass(frozen=True, slots=True)
class Fmu:
    """A unit of another program, FMI 2.0 or 3.0, coupled at t_k = k step:

    u_k = inputs(t_k),   NAME.OUTPUT(t) = y_k  on [t_k, t_k+1),   y_k = outputs of the unit at t_k.

    The machine steps first and stops at each t_k; the unit follows, and both exchange values until
    they agree.  `order` 0 holds y_k and lets the unit step with u_k-1, as a sampled controller
    does; what is continuous in truth then errs in proportion to step.  `order` 1 or 2 continues
    outputs on the polynomial through the last 2 or 3, and inputs of the unit on that through the
    last ones and the next (their mean where it takes no derivatives): the error falls with the
    square of step.  Outputs that are no real numbers, or declared as discrete, are held with every
    order; a Boolean reads true above 0.5, an integer the nearest one.  A unit of Model Exchange
    alone is integrated between the t_k beside the machine, with its events.

    `ports` connect power variables: `on` a node ("rotational.shaft", "electric.a") or the
    coordinate of a joint ("joints.A"), or two nodes, `effort` and `flow` variables of the unit,
    one of them an input.  effort * flow is the power that goes into the unit; with
    toward = "machine" that which comes out of it.  Voltages and pressures are those of the first
    node against the second, speeds those of the second against the first, one node counts
    against gnd, tank or frame.  Each port is a source NAME_PORT of the machine.

    It is native code and runs, in a process of its own, only with `--allow-fmu FILE`.  Values are
    in SI on the machine's side, whatever unit the FMU declares.
    """

    table: ClassVar[str] = "fmu"
    kind: ClassVar[str] = "fmu"

    file: str = declare("text", "the archive, NAME.fmu, below the folder of the model")
    inputs: Mapping[str, Any] = declare(
        "wires",
        "what each input reads: { INPUT = signal }, of arrays a list; the others keep their start",
        default={},
    )
    outputs: Mapping[str, tuple[str, ...]] | None = declare(
        "selection",
        'names of outputs, or { NAME = "OUTPUT" } for other names, lists of several as vectors; '
        "default: all",
        default=None,
    )
    ports: Mapping[str, Any] = declare(
        "unit ports",
        "power variables at a node or coordinate: { NAME = { on, effort, flow } }",
        default={},
    )
    parameters: Mapping[str, tuple[Any, ...]] = declare(
        "values", "values in place of the unit's own, with units or in SI", default={}
    )
    step: float | None = quantity(
        "s",
        "from one communication to the next; default: what the unit asks for",
        default=None,
        above=0.0,
    )
    order: int = declare(
        "count", "of the outputs between communications", minimum=0, maximum=2, default=0
    )
    patience: float = quantity(
        "s",
        "with one answer of the loaded unit; one that hangs ends the run",
        default=60.0,
        above=0.0,
    )
    interface: str | None = declare(
        "choice",
        "which one of those that the unit has; default: co-simulation where it has both",
        choices=tuple(INTERFACES),
        default=None,
    )
    described: Description | None = field(default=None, kw_only=True)
    recorded: Mapping[str, Any] | None = field(default=None, kw_only=True, compare=False)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """An interface that the unit lacks, a step that nobody gives."""
        assert self.described is not None
        there = [word for word, kind in INTERFACES.items() if kind in self.described.identifiers]
        if not there:
            yield "file", "it has neither Co-Simulation nor Model Exchange.", "Export one."
        elif self.interface is not None and self.interface not in there:
            what = f"the unit has no {self.interface}, it has {there[0]}."
            yield "interface", what, "Write that, or leave it out."
        if self.step is None and self.described.step is None:
            what = "the unit does not say how often it wants to communicate."
            yield "step", what, 'Write step = "1 ms" or what suits it.'

    def wiring(self, name: str) -> Wiring:
        """How it runs."""
        assert self.described is not None
        d, there = self.described, self.described.identifiers
        own = "CoSimulation" if "CoSimulation" in there else "ModelExchange"
        step = self.step if self.step is not None else d.step
        assert step is not None and self.outputs is not None
        return Wiring(
            f"fmu.{name}",
            d,
            own if self.interface is None else INTERFACES[self.interface],
            tuple(d.variables[v] for v in self.inputs),
            tuple(d.variables[v] for told in self.outputs.values() for v in told),
            self.parameters,
            step,
            self.order,
            self.patience,
        )

    def expand(self, name: str, builder: Builder) -> None:
        wiring = self.wiring(name)
        read = [builder.signal(one) for wire in self.inputs.values() for one in _each(wire)]
        held = builder.exchanged(
            f"{name}.held",
            stack(*read) if read else const(0.0),
            wiring,
            first=0.0,
            period=wiring.step,
            initial=const(_before(wiring)),
        )
        n = wiring.n_outputs
        since = builder.time - rows(held, 0, 1)
        value = rows(held, 1, 1 + n)
        power = since
        for k in range(1, wiring.order + 1):
            value = value + times(power, rows(held, 1 + k * n, 1 + (k + 1) * n))
            power = times(power, since)
        at = 0
        for signal, told in (self.outputs or {}).items():
            variables = [wiring.description.variables[v] for v in told]
            size = sum(v.size for v in variables)
            builder.output(f"{name}.{signal}", rows(value, at, at + size), _unit(variables))
            at += size


def _each(wire: Any) -> tuple[Any, ...]:
    return wire if isinstance(wire, tuple) else (wire,)


def _unit(variables: list[Variable]) -> str:
    found = {v.scale.unit for v in variables}
    return found.pop() if len(found) == 1 else "1"


def _before(wiring: Wiring) -> np.ndarray[Any, Any]:
    """What is held until the unit has begun: the starts of its outputs, where it writes them."""
    values = [s for v in wiring.outputs for s in _starts(v)]
    return np.concatenate([[0.0], values, np.zeros(wiring.size - 1 - len(values))])


def _starts(variable: Variable) -> list[float]:
    scale = variable.scale
    try:
        own = [_number(text) for text in variable.start] or [0.0]
    except ValueError:
        own = [0.0]
    own = own * variable.size if len(own) == 1 else own
    return [scale.factor * v + scale.offset for v in own[: variable.size]]


def _number(text: str) -> float:
    return float(text in ("true", "1")) if text in ("true", "false") else float(text)
