"""Vertices, vector bonds and the graph they form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vbg.blocks import Block
from vbg.builder import Assembling
from vbg.fmi.running import Wiring
from vbg.model.model import Model
from vbg.model.placing.placed import Placed

Kind = Literal["0", "1", "I", "C", "R", "Se", "Sf", "TF", "GY", "EJS", "Sc"]
Causality = Literal["integral", "derivative"]
End = Literal["head", "tail"]  # of a bond


@dataclass(frozen=True, slots=True)
class Vertex:
    """One vertex.  Which of the laws are set depends on `kind`.

    I:  `state` (momentum), `law` flow of the state, `energy`; `inverse` where
        the law is `inverse @ state`; `assembling` where it gives way otherwise at the start.
    C:  `state` (displacement; None where it is known from the configuration),
        `law` effort, `energy`.
    Both: `written` where the engineer gave the `initial` value of the state.
    R:  `effort_law` in the placeholder `port_flow`, `flow_law` in `port_effort`;
        `preferred` is what it gives where both would do.
    Se, Sf: `law`; `energy` of a conservative effort source; `per_unit` : (size, m), what it
        imposes per unit of each component that the engineer writes, where that is another.
    Sc: constraint source: `state` is its unknown effort (flow if `dual`), `position` the
        constraint whose rate its flow is, `labels` name its directions; `active`
        is a mode, 1 while it holds (None: always).  `facing`, where rows hold frame M to
        frame F, is the rotation that takes F to M, (3, 3), in the axes of the rows; where they
        hold z_M to z_F alone, about x_F and y_F, it is x_M and z_M in F, (3, 2).
    TF: `law` is the modulus, flow2 = T flow1; `inverse` where it exists.
        Bond 1 is the flow side, bond 2 the effort side.
    GY: `law` is the ratio, effort2 = G flow1.  EJS: `law` is R_E = -skew(h).
    """

    name: str
    kind: Kind
    size: int
    part: str
    frame: str = "W"
    domain: str = "mechanical"
    law: Block | None = None
    state: Block | None = None
    initial: Block | None = None
    written: bool = True
    energy: Block | None = None
    inverse: Block | None = None
    assembling: Assembling | None = None
    effort_law: Block | None = None
    flow_law: Block | None = None
    port_flow: Block | None = None
    port_effort: Block | None = None
    position: Block | None = None
    facing: Block | None = None
    labels: tuple[str, ...] = ()
    dual: bool = False
    active: Block | None = None
    preferred: Literal["effort", "flow"] = "effort"
    per_unit: Block | None = None

    @property
    def is_store(self) -> bool:
        """Whether it stores energy in a state of its own."""
        return self.kind in ("I", "C") and self.state is not None


@dataclass(frozen=True, slots=True)
class Bond:
    """A vector bond from `tail` to `head` (vertex names), power positive along it."""

    name: str
    tail: str
    head: str
    size: int
    domain: str
    frame: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """A displacement state without effort: rate = f(state, flow of `node`).

    `quaternion_of` marks an orientation: the rotation block that its spin
    turns.  `measured` is the state's value from the posture, modulo `period`.
    """

    name: str
    state: Block
    node: str
    flow: Block
    rate: Block
    initial: Block
    unit: str
    measured: Block | None = None
    period: float = 0.0
    kind: Literal["displacement", "position", "quaternion"] = "displacement"


@dataclass(frozen=True, slots=True)
class SignalState:
    """A state of a controller: rate is any expression."""

    name: str
    state: Block
    rate: Block
    initial: Block
    unit: str


@dataclass(frozen=True, slots=True)
class Mode:
    """A state that is 1 or 0 and changes at events only: it becomes 1 where `condition`
    grows through zero and 0 where it falls through zero.  While it is 1, a condition below
    `rest` is zero but for rounding: it does not change the mode by itself, and where another
    mode changes this one becomes 0 first."""

    name: str
    state: Block
    condition: Block
    what: str
    initial: Block
    rest: float = 0.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Instants first, first + period, ... (one where the period is zero)."""

    first: float
    period: float = 0.0


@dataclass(frozen=True, slots=True)
class Sampled:
    """A state that becomes `update` at the instants of `clock` and is constant between."""

    name: str
    state: Block
    update: Block
    clock: Clock
    initial: Block


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A state that at the instants of `clock` becomes what an FMU tells, which reads `inputs`
    there; `unit` says how the FMU is run."""

    name: str
    state: Block
    inputs: Block
    unit: Wiring
    clock: Clock
    initial: Block


@dataclass(frozen=True, slots=True)
class Output:
    name: str
    value: Block
    unit: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A switching function whose zero crossings are events."""

    name: str
    value: Block
    what: str


@dataclass(frozen=True, slots=True)
class Held:
    """A coordinate whose start value or speed the engineer wrote: assembly keeps it."""

    name: str
    value: Block
    flow: Block
    target: float | None
    speed: float | None


@dataclass(frozen=True, slots=True)
class BondGraph:
    """The whole graph, frozen.  `placed` is what it was expanded from, `causality`
    what it asks for the stores that depend on others, `instants` functions of time at whose
    zeros something has a kink or a jump."""

    vertices: Mapping[str, Vertex]
    bonds: Mapping[str, Bond]
    configurations: tuple[Configuration, ...]
    outputs: tuple[Output, ...]
    switches: tuple[Switch, ...]
    held: tuple[Held, ...]
    bodies: tuple[str, ...]
    time: Block
    placed: Placed
    signals: Mapping[str, Block] = field(default_factory=dict)
    signal_states: tuple[SignalState, ...] = ()
    modes: tuple[Mode, ...] = ()
    sampled: tuple[Sampled, ...] = ()
    exchanged: tuple[Exchanged, ...] = ()
    clocks: tuple[Clock, ...] = ()
    instants: tuple[Block, ...] = ()
    incident: Mapping[str, tuple[Bond, ...]] = field(default_factory=dict)
    causality: Causality = "integral"

    @property
    def discrete(self) -> tuple[Sampled | Exchanged, ...]:
        """What is constant between instants."""
        return (*self.sampled, *self.exchanged)

    @property
    def model(self) -> Model:
        """What the engineer wrote."""
        return self.placed.model
