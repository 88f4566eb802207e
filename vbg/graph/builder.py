"""The builder that parts write themselves into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, cast

from vbg.blocks import (
    Block,
    Tangent,
    const,
    identity,
    leaf,
    mul,
    rotation,
    skew,
    transpose,
    zeros,
)
from vbg.builder import Assembling, BodyNode, Domain, JointFrameBlocks, Node, Start
from vbg.errors import ModelError, Problem
from vbg.graph.bondgraph import (
    Bond,
    BondGraph,
    Causality,
    Configuration,
    Held,
    Kind,
    Mode,
    Output,
    SignalState,
    Switch,
    Vertex,
)
from vbg.graph.clocked import Clocked
from vbg.graph.pieces import TERMINALS, at_start, gradient, joint_path, pose_states, require_alike
from vbg.graph.placeholders import BOND_FLOW, EFFORT, FLOW, LEVEL, RATE, SIGNAL, reads_bonds
from vbg.graph.prescribed import given_speed, prescribed
from vbg.graph.raw import check_raw_bond, raw_end, two_port_of
from vbg.model import Model
from vbg.model.placing.placed import Placed
from vbg.physics.rawlaws import inverse_of


class GraphBuilder(Clocked):
    """Collects vertices and bonds of one model; `freeze` gives the graph."""

    def __init__(
        self,
        model: Model,
        frames: Callable[[str], JointFrameBlocks],
        start: Callable[[str], Start],
        signal: Callable[[float | str, GraphBuilder], Block],
    ):
        super().__init__()
        self.gravity = const(model.gravity)
        self.time = leaf("t", 1)
        self.part = ""
        self._frames = frames
        self._start = start
        self._signal = signal
        self._prescribed = prescribed(model)
        self._vertices: dict[str, Vertex] = {}
        self._bonds: dict[str, Bond] = {}
        self._incident: dict[str, list[Bond]] = {}
        self._configurations: list[Configuration] = []
        self._outputs: list[Output] = []
        self._switches: list[Switch] = []
        self._held: list[Held] = []
        ground = BodyNode("ground", None, None, zeros(3), identity(3), const([1.0, 0.0, 0.0, 0.0]))
        self._bodies: dict[str, BodyNode] = {"ground": ground}
        self._coordinates: dict[str, tuple[Node, Block]] = {}
        self._terminals: dict[str, Node] = {}
        self._signals: dict[str, Block] = {}
        self._signal_states: list[SignalState] = []
        self._modes: list[Mode] = []

    # -- vertices and bonds --------------------------------------------------

    def _add(self, name: str, kind: Kind, size: int, **laws: Any) -> Vertex:
        if name in self._vertices:
            other = self._vertices[name].part
            what = f"it and {other} both make a vertex of the bond graph called {name!r}."
            raise self._refused(what, "Rename one of the two, or its node.")
        vertex = Vertex(name, kind, size, self.part, **laws)
        self._vertices[name] = vertex
        self._incident[name] = []
        return vertex

    def _bond(self, tail: str, head: str, size: int, domain: str, frame: str) -> str:
        name = f"{tail} -> {head}"
        if name in self._bonds:
            name = f"{name} ({len(self._bonds)})"
        bond = Bond(name, tail, head, size, domain, frame)
        self._bonds[name] = bond
        self._incident[tail].append(bond)
        self._incident[head].append(bond)
        return name

    def one(self, name: str, size: int, frame: str, domain: Domain) -> Node:
        self._add(name, "1", size, frame=frame, domain=domain)
        return Node(name, size, frame, domain)

    def zero(self, name: str, size: int, frame: str, domain: Domain) -> Node:
        self._add(name, "0", size, frame=frame, domain=domain)
        return Node(name, size, frame, domain)

    def bond(self, tail: Node, head: Node) -> str:
        require_alike(self.part, tail, head)
        return self._bond(tail.name, head.name, tail.size, tail.domain, tail.frame)

    def _one_port(self, vertex: Vertex, node: Node, *, into_node: bool) -> str:
        ends = (vertex.name, node.name) if into_node else (node.name, vertex.name)
        return self._bond(*ends, node.size, node.domain, node.frame)

    def _onto(self, node: Node, name: str, kind: Kind, **laws: Any) -> str:
        """A one-port that takes power from `node`; returns its bond."""
        vertex = self._add(name, kind, node.size, frame=node.frame, domain=node.domain, **laws)
        return self._one_port(vertex, node, into_node=False)

    def _into(self, node: Node, name: str, kind: Kind, **laws: Any) -> str:
        """A one-port that gives power to `node`; returns its bond."""
        vertex = self._add(name, kind, node.size, frame=node.frame, domain=node.domain, **laws)
        return self._one_port(vertex, node, into_node=True)

    # -- stores, resistors, sources ------------------------------------------

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
        momentum = leaf(f"{name}.{state}", node.size)
        flow = mul(inverse, momentum)
        energy = 0.5 * mul(transpose(momentum), flow)
        self._onto(
            node,
            f"{name}.{state}.I",
            "I",
            state=momentum,
            law=flow,
            energy=energy,
            inverse=inverse,
            initial=initial,
            written=written,
            assembling=assembling,
        )
        return momentum

    def inertia_law(
        self, name: str, node: Node, *, energy: Callable[[Block], Block], initial: Block
    ) -> Block:
        momentum = leaf(f"{name}.momentum", node.size)
        stored = energy(momentum)
        self._onto(
            node,
            f"{name}.momentum.I",
            "I",
            state=momentum,
            law=gradient(stored, momentum),
            energy=stored,
            initial=initial,
        )
        return momentum

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
        displacement = leaf(f"{name}.{state}", node.size)
        self._onto(
            node,
            f"{name}.{state}.C",
            "C",
            state=displacement,
            law=effort(displacement),
            energy=energy(displacement),
            initial=initial,
            written=written,
        )
        return displacement

    def potential(self, name: str, node: Node, *, effort: Block, energy: Block) -> str:
        return self._onto(node, f"{name}.C", "C", law=effort, energy=energy)

    def resistor(
        self,
        name: str,
        node: Node,
        *,
        effort: Callable[[Block], Block] | None = None,
        flow: Callable[[Block], Block] | None = None,
        preferred: Literal["effort", "flow"] = "effort",
    ) -> str:
        port_flow = leaf(f"{name}.R.flow", node.size)
        port_effort = leaf(f"{name}.R.effort", node.size)
        return self._onto(
            node,
            f"{name}.R",
            "R",
            port_flow=port_flow,
            port_effort=port_effort,
            effort_law=None if effort is None else effort(port_flow),
            flow_law=None if flow is None else flow(port_effort),
            preferred=preferred,
        )

    def effort_source(self, name: str, node: Node, effort: Block, **laws: Block | None) -> str:
        return self._into(node, f"{name}.Se", "Se", law=effort, **laws)

    def flow_source(self, name: str, node: Node, flow: Block, **laws: Block | None) -> str:
        return self._into(node, f"{name}.Sf", "Sf", law=flow, **laws)

    def constraint(
        self,
        name: str,
        node: Node,
        *,
        labels: tuple[str, ...],
        **laws: Block | None,
    ) -> Block:
        effort = leaf(f"{name}.constraint", node.size)
        self._into(node, f"{name}.Sc", "Sc", state=effort, labels=labels, **laws)
        return effort

    # -- raw bond graphs --------------------------------------------------------

    def vertex(self, name: str, kind: str, size: int, **laws: Any) -> None:
        self._add(name, cast(Kind, kind), size, frame="scalar", domain="any", **laws)

    def raw_bond(self, tail: str, head: str) -> None:
        """A bond of the model's list, see `vbg.graph.raw`."""
        coordinates = {path: node.name for path, (node, _) in self._coordinates.items()}
        first, second = (
            self._vertices[raw_end(self.part, end, self._vertices, self._raw_terminal, coordinates)]
            for end in (tail, head)
        )
        ends = (first, second)
        size = check_raw_bond(tail, head, ends, self._incident)
        placed = next((v for v in ends if v.domain != "any"), first)
        self._bond(first.name, second.name, size, placed.domain, placed.frame)
        two_port = two_port_of(ends)
        if two_port is not None:  # bond 1 runs in, bond 2 out
            self._incident[two_port.name].sort(key=lambda b: b.tail == two_port.name)

    def _raw_terminal(self, end: str) -> str | None:
        table, _, name = end.partition(".")
        node = self.terminal(table, name) if table in TERMINALS else None
        return None if node is None else node.name

    # -- two-ports ------------------------------------------------------------

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
        self._require_shape("transformer", modulus, flow_side, effort_side)
        vertex = self._add(name, "TF", effort_side.size, law=modulus, inverse=inverse)
        onward = toward == "effort_side"
        first = self._one_port(vertex, flow_side, into_node=not onward)  # bond 1: the flow side
        return first, self._one_port(vertex, effort_side, into_node=onward)

    def gyrator(self, name: str, first: Node, second: Node, ratio: Block) -> None:
        self._require_shape("gyrator", ratio, first, second)
        vertex = self._add(name, "GY", second.size, law=ratio, inverse=inverse_of(ratio))
        self._one_port(vertex, first, into_node=False)
        self._one_port(vertex, second, into_node=True)

    def _require_shape(self, kind: str, ratio: Block, first: Node, second: Node) -> None:
        """ModelError unless flows of `first` times the ratio are as many as `second` has."""
        wanted = second.size, first.size
        if ratio.shape != wanted:
            what = f"the ratio of its {kind} has the shape {ratio.shape}, its bonds need {wanted}."
            raise self._refused(what, "Give one of that shape; (1, 1) is a number.")

    def _refused(self, what: str, remedy: str) -> ModelError:
        """What is wrong with the part that is being written."""
        return ModelError.of([Problem("error", self.part, what, remedy)])

    def euler(self, name: str, node: Node, angular_momentum: Block) -> None:
        self._onto(node, f"{name}.EJS", "EJS", law=-skew(angular_momentum))

    # -- configuration, registries, signals ----------------------------------

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
        state = leaf(name, node.size if size is None else size)
        flow = self.flow(node)
        self._configurations.append(
            Configuration(
                name,
                state,
                node.name,
                flow,
                flow if rate is None else rate(state, flow),
                initial,
                unit,
                measured,
                period,
            )
        )
        return state

    def pose(
        self, name: str, linear: Node, angular: Node, start: Start
    ) -> tuple[Block, Block, Block]:
        v, w = self.flow(linear), self.flow(angular)
        position, orientation = pose_states(name, (linear.name, v), (angular.name, w), start)
        self._configurations += [position, orientation]
        return position.state, rotation(orientation.state), orientation.state

    def body(self, name: str) -> BodyNode:
        return self._bodies[name]

    def register_body(self, body: BodyNode) -> None:
        self._bodies[body.name] = body

    def frames(self, joint: str) -> JointFrameBlocks:
        return self._frames(joint)

    def register_coordinate(self, path: str, node: Node, value: Block) -> None:
        self._coordinates.setdefault(path, (node, value))

    def coordinate(self, path: str) -> tuple[Node, Block]:
        path = joint_path(path)
        table, _, node = path.partition(".")
        if table in ("rotational", "translational"):
            self.terminal(table, node)
        if path not in self._coordinates:
            told = f"{path} has no free coordinate that a part could act on."
            remedy = "Name a joint that moves in one direction, or one of its coordinates."
            raise self._refused(told, remedy)
        return self._coordinates[path]

    def given_speed(self, path: str) -> Block | None:
        return given_speed(self._prescribed.get(joint_path(path)), self)

    def signal(self, value: float | str, unit: str = "1") -> Block:
        return self._signal(value, self)

    def start(self, body: str) -> Start:
        return self._start(body)

    def start_of(self, value: Block) -> Block:
        return next(c.initial for c in self._configurations if c.state == value)

    def start_value(self, value: Block) -> float:
        return float(at_start(value, self._configurations).data[0, 0])

    # -- one-dimensional parts, controllers, switching -------------------------

    def terminal(self, table: str, name: str) -> Node | None:
        reference, domain, junction, quantity, unit = TERMINALS[table]
        path = f"{table}.{name}"
        if name == reference:
            return None
        if path in self._terminals or joint_path(path) != path:
            return self._terminals.get(path) or self.coordinate(path)[0]
        self._add(path, "0" if junction == "0" else "1", 1, frame="scalar", domain=domain)
        node = Node(path, 1, "scalar", domain)
        self._terminals[path] = node
        if junction == "0":
            self.output(f"{path}.{quantity}", self.level(node), unit)
        else:
            value = self.displacement(f"{path}.{quantity}", node, initial=const(0.0), unit=unit)
            self.register_coordinate(path, node, value)
            self.output(f"{path}.{quantity}", value, unit)
            self.output(f"{path}.speed", self.flow(node), f"{unit}/s")
        return node

    def place(self, path: str, value: float) -> None:
        state = self.coordinate(path)[1]
        self._configurations = [
            replace(c, initial=const(value)) if c.state == state else c
            for c in self._configurations
        ]

    def define(self, name: str, value: Block, unit: str = "1") -> None:
        self._signals[name] = value
        self.output(name, leaf(f"{SIGNAL}{name}", value.rows), unit)

    def state(
        self, name: str, rate: Callable[[Block], Block], *, initial: Block, unit: str = "1"
    ) -> Block:
        state = leaf(name, initial.rows)
        self._signal_states.append(SignalState(name, state, rate(state), initial, unit))
        return state

    def mode(
        self,
        name: str,
        condition: Callable[[Block], Block],
        what: str,
        *,
        initial: float = 0.0,
        rest: float = 0.0,
    ) -> Block:
        state = leaf(name, 1)
        self._modes.append(Mode(name, state, condition(state), what, const(initial), rest))
        return state

    def level(self, node: Node | None) -> Block:
        return const(0.0) if node is None else leaf(f"{LEVEL}{node.name}", node.size)

    def time_derivative(self, value: Block) -> Block:
        if reads_bonds(value):
            problem = Problem(
                "error",
                f"{self.part}.drive",
                "a drive must be a function of time, because its speed and acceleration are"
                " needed; this one reads what the motion tells.",
                "Let a motor or a force follow the measured signal.",
            )
            raise ModelError.of([problem])
        return Tangent({self.time: const(1.0)})(value)

    def flow(self, node: Node) -> Block:
        return leaf(f"{FLOW}{node.name}", node.size)

    def effort(self, bond: str) -> Block:
        return leaf(f"{EFFORT}{bond}", self._bonds[bond].size)

    def bond_flow(self, bond: str) -> Block:
        return leaf(f"{BOND_FLOW}{bond}", self._bonds[bond].size)

    def rate_of(self, state: Block) -> Block:
        """Placeholder for the time derivative of a state."""
        return leaf(f"{RATE}{state.data}", state.rows)

    def output(self, name: str, value: Block, unit: str) -> None:
        self._outputs.append(Output(name, value, unit))

    def event(self, name: str, value: Block, what: str) -> None:
        self._switches.append(Switch(name, value, what))

    def hold(
        self, name: str, node: Node, value: Block, target: float | None, speed: float | None
    ) -> None:
        if target is not None or speed is not None:
            self._held.append(Held(name, value, self.flow(node), target, speed))

    def freeze(self, placed: Placed, causality: Causality = "integral") -> BondGraph:
        return BondGraph(
            vertices=MappingProxyType(dict(self._vertices)),
            bonds=MappingProxyType(dict(self._bonds)),
            configurations=tuple(self._configurations),
            outputs=tuple(self._outputs),
            switches=tuple(self._switches),
            held=tuple(self._held),
            bodies=tuple(name for name in self._bodies if name != "ground"),
            time=self.time,
            placed=placed,
            signals=MappingProxyType(dict(self._signals)),
            signal_states=tuple(self._signal_states),
            modes=tuple(self._modes),
            sampled=tuple(self._sampled),
            exchanged=tuple(self._exchanged),
            clocks=tuple(self._clocks),
            incident=MappingProxyType({k: tuple(v) for k, v in self._incident.items()}),
            causality=causality,
        )
