"""What a part may say when it writes itself as a bond graph.

`Builder` is the protocol that `expand(name, builder)` of every part talks to;
the graph package implements it.  All power bonds are directed by the order
of the arguments, power positive from the first to the second.

Junctions are handed around as `Node` values.  Quantities are block
expressions (`vbg.blocks`); `effort(bond)` and `flow(node)` are placeholders
that assembly replaces, so a part can modulate, measure and feed back without
knowing causality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import Block

Domain = Literal[
    "translation", "rotation", "mechanical", "electric", "hydraulic", "thermal", "signal"
]


@dataclass(frozen=True, slots=True)
class Node:
    """A junction: its vertex name, size and the frame its bonds are in."""

    name: str
    size: int
    frame: str
    domain: Domain

    @property
    def effort_unit(self) -> str:
        """Unit of a scalar mechanical effort here: of a torque or of a force."""
        return "N*m" if self.domain == "rotation" else "N"


@dataclass(frozen=True, slots=True)
class BodyNode:
    """The two 1-junctions of a rigid body (v_WB_W and w_WB_B) and its pose;
    the junctions are None for the ground, which stands at the origin."""

    name: str
    linear: Node | None
    angular: Node | None
    p_WB: Block
    R_WB: Block
    quat_WB: Block


@dataclass(frozen=True, slots=True)
class Assembling:
    """How an I gives way to an impulse while a start is assembled, where parts of it are to stay
    as written while anything else can move: flow `compliance` @ impulse, which a `change` @
    impulse of its momentum brings about."""

    compliance: Block
    change: Block


@dataclass(frozen=True, slots=True)
class Start:
    """Written posture and velocity of a body: p_WB [m], R_WB, quat_WB, v_WB [m/s],
    w_WB_B [rad/s]."""

    p_WB: NDArray[np.float64]
    R_WB: NDArray[np.float64]
    quat_WB: NDArray[np.float64]
    v_WB: NDArray[np.float64]
    w_WB_B: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JointFrameBlocks:
    """Pose of the joint frames on the two bodies as written by the engineer:
    constant blocks, z is the joint's axis; and its coordinates there, by name."""

    first: str
    second: str
    p_AF_A: Block
    R_AF: Block
    p_BM_B: Block
    R_BM: Block
    coordinates: Mapping[str, float]


class Builder(Protocol):
    """See the module."""

    gravity: Block
    time: Block

    def one(self, name: str, size: int, frame: str, domain: Domain) -> Node:
        """A 1-junction: one flow, efforts sum to zero."""

    def zero(self, name: str, size: int, frame: str, domain: Domain) -> Node:
        """A 0-junction: one effort, flows sum to zero."""

    def bond(self, tail: Node, head: Node) -> str:
        """A power bond; returns its name.  Domain, size and frame must agree."""

    def inertia(
        self,
        name: str,
        node: Node,
        *,
        inverse: Block,
        initial: Block,
        state: str = "momentum",
        written: bool = True,
        assembling: Assembling | None = None,
    ) -> Block:
        """Linear I on `node`: flow = inverse @ momentum.  Returns the momentum.  `written`:
        whether the engineer gave its `initial` value; one that nobody gave follows the others
        where they meet at the start.  `assembling`: how it gives way there, if not as it moves."""

    def inertia_law(
        self, name: str, node: Node, *, energy: Callable[[Block], Block], initial: Block
    ) -> Block:
        """Nonlinear I: flow = d energy / d momentum.  Returns the momentum."""

    def compliance(
        self,
        name: str,
        node: Node,
        *,
        effort: Callable[[Block], Block],
        energy: Callable[[Block], Block],
        initial: Block,
        state: str = "displacement",
        written: bool = True,
    ) -> Block:
        """C on `node` with a displacement state of its own; returns the state.  `written` as
        for an inertia."""

    def potential(self, name: str, node: Node, *, effort: Block, energy: Block) -> str:
        """C on `node` whose displacement is already known from configuration
        states: `effort` and `energy` are expressions of those.  Returns the bond."""

    def resistor(
        self,
        name: str,
        node: Node,
        *,
        effort: Callable[[Block], Block] | None = None,
        flow: Callable[[Block], Block] | None = None,
        preferred: Literal["effort", "flow"] = "effort",
    ) -> str:
        """R on `node` with the laws effort(flow) and flow(effort) that exist;
        `preferred` is what it should give where both would do."""

    def effort_source(
        self,
        name: str,
        node: Node,
        effort: Block,
        *,
        energy: Block | None = None,
        per_unit: Block | None = None,
    ) -> str:
        """Se into `node`; `energy` is its potential where it is conservative, `per_unit` what it
        imposes per unit of each written component, where that is not the component itself (other
        axes, a bond that is turned round): an input of a linear form is one of what is written."""

    def flow_source(
        self, name: str, node: Node, flow: Block, *, per_unit: Block | None = None
    ) -> str:
        """Sf into `node`; `per_unit` as for an effort source."""

    def constraint(
        self,
        name: str,
        node: Node,
        *,
        labels: tuple[str, ...],
        position: Block | None,
        active: Block | None = None,
        facing: Block | None = None,
    ) -> Block:
        """Constraint source: unknown effort into the 0-junction `node`, whose
        conjugate flow is forced to zero.  `position` is the constraint it is the
        rate of (None where non-holonomic); `active` a mode that switches it; `facing` how the
        frames stand whose turns it holds, (3, 3) or (3, 2) as of a `Vertex`.
        Returns the effort."""

    def transformer(
        self,
        name: str,
        flow_side: Node,
        effort_side: Node,
        modulus: Block,
        *,
        toward: Literal["flow_side", "effort_side"],
        inverse: Block | None = None,
    ) -> tuple[str, str]:
        """TF or MTF: flow at effort_side = modulus @ flow at flow_side, effort at
        flow_side = modulus^T @ effort at effort_side; power positive `toward`
        one of the sides.  `inverse` where it may be used the other way round.  Returns the
        bonds of the flow side and of the effort side."""

    def gyrator(self, name: str, first: Node, second: Node, ratio: Block) -> None:
        """GY from first to second: effort2 = ratio @ flow1, effort1 = ratio^T @ flow2."""

    def euler(self, name: str, node: Node, angular_momentum: Block) -> None:
        """Eulerian junction structure on an angular 1-junction: effort = w x h,
        as one gyrator with R_E = -skew(h); power free."""

    def displacement(
        self,
        name: str,
        node: Node,
        *,
        initial: Block,
        rate: Callable[[Block, Block], Block] | None = None,
        size: int | None = None,
        unit: str = "m",
        measured: Block | None = None,
        period: float = 0.0,
    ) -> Block:
        """A configuration state: rate(state, flow of node), default the flow.
        `measured` is its value from the posture, modulo `period` (0: exact)."""

    def start(self, body: str) -> Start:
        """The written posture and velocity of a body; identity for ground."""

    def pose(
        self, name: str, linear: Node, angular: Node, start: Start
    ) -> tuple[Block, Block, Block]:
        """The pose states of a body: p_WB' = v, quat_WB' = 1/2 quat o (0, w_B);
        returns p_WB, R_WB and the quaternion."""

    def start_of(self, value: Block) -> Block:
        """The initial value of a displacement state."""

    def start_value(self, value: Block) -> float:
        """The value of an expression of posture and coordinates as written."""

    def rate_of(self, state: Block) -> Block:
        """Placeholder for the time derivative of a state."""

    def time_derivative(self, value: Block) -> Block:
        """d/dt of an expression of time."""

    def body(self, name: str) -> BodyNode:
        """The junctions and pose of a body that has been expanded, or of ground."""

    def frames(self, joint: str) -> JointFrameBlocks:
        """The joint frames of a joint between bodies."""

    def register_body(self, body: BodyNode) -> None:
        """Called by a body when it has written itself."""

    def register_coordinate(self, path: str, node: Node, value: Block) -> None:
        """Makes a free coordinate reachable as "joints.NAME": its 1-junction
        (flow: speed of the second body against the first) and its value."""

    def coordinate(self, path: str) -> tuple[Node, Block]:
        """The 1-junction and value of a coordinate registered before."""

    def given_speed(self, path: str) -> Block | None:
        """The speed of a coordinate that a drive or a source gives; None of any other."""

    def signal(self, value: float | str, unit: str = "1") -> Block:
        """A number, a signal's name or an expression of t as a block."""

    def vertex(self, name: str, kind: str, size: int, **laws: Any) -> None:
        """A raw vertex; its bonds are those of the model's list."""

    def terminal(self, table: str, name: str) -> Node | None:
        """The junction of a node of one-dimensional parts: a 0-junction of voltage or
        pressure, a 1-junction of speed; None for the reference gnd, tank or frame."""

    def place(self, path: str, value: float) -> None:
        """The start value of the coordinate of a mechanical node."""

    def define(self, name: str, value: Block, unit: str = "1") -> None:
        """A signal: what others read under `name`; also a signal of the solution."""

    def state(
        self, name: str, rate: Callable[[Block], Block], *, initial: Block, unit: str = "1"
    ) -> Block:
        """A state of a controller with any rate; returns it."""

    def mode(
        self,
        name: str,
        condition: Callable[[Block], Block],
        what: str,
        *,
        initial: float = 0.0,
        rest: float = 0.0,
    ) -> Block:
        """A state that is 1 or 0 and changes at events only: 1 from where `condition`
        (of the mode itself) grows through zero, 0 from where it falls through zero.
        `initial` is its value while the start is assembled; a run begins with all
        modes that agree with their conditions.  `rest`: a condition that is zero but for
        rounding, while the mode is 1 (see `vbg.graph.bondgraph.Mode`)."""

    def sampled(
        self,
        name: str,
        update: Callable[[Block], Block],
        *,
        first: float,
        period: float,
        initial: Block,
    ) -> Block:
        """A state that becomes `update` at first, first + period, ..."""

    def exchanged(
        self,
        name: str,
        inputs: Block,
        unit: Any,
        *,
        first: float,
        period: float,
        initial: Block,
    ) -> Block:
        """A state that becomes at first, first + period, ... what the `unit` (an FMU,
        `vbg.fmi.running.Wiring`) tells there, which reads `inputs`; `initial` until then."""

    def breakpoint(self, first: float, period: float = 0.0) -> None:
        """An instant (or instants) at which a function of time has a kink or a jump."""

    def level(self, node: Node | None) -> Block:
        """Placeholder for the effort of a 0-junction; zero for a reference."""

    def flow(self, node: Node) -> Block:
        """Placeholder for the flow of a 1-junction."""

    def effort(self, bond: str) -> Block:
        """Placeholder for the effort of a bond."""

    def bond_flow(self, bond: str) -> Block:
        """Placeholder for the flow of a bond."""

    def output(self, name: str, value: Block, unit: str) -> None:
        """A signal of the solution."""

    def event(self, name: str, value: Block, what: str) -> None:
        """A switching function: its zero crossings are located, and reported unless `what` is
        empty (a kink of a law)."""

    def hold(
        self, name: str, node: Node, value: Block, target: float | None, speed: float | None
    ) -> None:
        """A coordinate whose start value or speed the engineer wrote: assembly keeps it."""
