"""Effort and flow of every bond, by walking the causal junction structure.

The walk knows vertices, not parts: a bond's effort is asked of the vertex that
imposes it, its flow of the other; each answers in terms of its other bonds,
down to the co-energies Z of stores, the outputs D of resistors, the unknown
constraint efforts, sources and configuration states.  The result is linear in
all of these, and its coefficients are the J matrices of vector-bond-graph.txt,
eq. 9-13.  Z, D, sources that read other variables and signals are leaves with
definitions; a walk that comes back to where it began leaves such a leaf, too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Literal

from vbg.blocks import (
    Block,
    Substitution,
    dependencies,
    leaf,
    linear,
    mul,
    rows,
    transpose,
    zeros,
)
from vbg.causality import CausalGraph
from vbg.errors import AssemblyError, Problem
from vbg.graph.bondgraph import Bond, Vertex
from vbg.graph.placeholders import (
    BOND_FLOW,
    EFFORT,
    FLOW,
    LEVEL,
    OUTPUT,
    PLACEHOLDERS,
    RATE,
    SIGNAL,
    reads_bonds,
)

What = Literal["effort", "flow"]
READ = "output"  # of a walk that reads one
GIVEN = "D of "  # before the name of an R: what it imposes

LETTERS = {"x": 0, "y": 1, "z": 2, "w": 0}
COMPONENT = re.compile(r"(?P<name>.+?)(?:\[(?P<index>\d+)\]|\.(?P<letter>[xyzw]))")


def coenergy(vertex: Vertex) -> Block:
    """Placeholder Z of a store: its flow (I) or effort (C)."""
    return leaf(f"Z of {vertex.name}", vertex.size)


def reaction(vertex: Vertex) -> Block:
    """Placeholder for what a store in derivative causality imposes: effort (I), flow (C)."""
    return leaf(f"reaction of {vertex.name}", vertex.size)


@dataclass(slots=True)
class JunctionStructure:
    """Remembers the efforts and flows found so far; one per assembly.

    `definitions`: Z, D, modulated sources, signals and the variables at which a
    closed walk was cut, in terms of one another.
    """

    causal: CausalGraph
    _effort: dict[str, Block] = field(default_factory=dict)
    _flow: dict[str, Block] = field(default_factory=dict)
    definitions: dict[Block, Block] = field(default_factory=dict)
    _open: dict[tuple[str, str], None] = field(default_factory=dict)  # in the order of opening
    _cuts: dict[tuple[str, str], Block] = field(default_factory=dict)
    _waiting: dict[Block, Callable[[], Block]] = field(default_factory=dict)
    _resolved: Substitution = field(default_factory=lambda: Substitution({}))
    _store_of: dict[str, Vertex] = field(init=False)
    _output_of: dict[str, Block] = field(init=False)

    def __post_init__(self) -> None:
        self._output_of = {output.name: output.value for output in self.causal.graph.outputs}
        vertices = self.causal.graph.vertices.values()
        self._store_of = {v.state.data: v for v in vertices if v.is_store and v.state is not None}

    def effort(self, bond: Bond) -> Block:
        """Effort of `bond` in terms of Z, D, constraint efforts, sources, states."""
        value = self._effort.get(bond.name)
        return self._walk("effort", bond) if value is None else value

    def flow(self, bond: Bond) -> Block:
        """Flow of `bond`, likewise."""
        value = self._flow.get(bond.name)
        return self._walk("flow", bond) if value is None else value

    def into_store(self, vertex: Vertex, bond: Bond) -> Block:
        """Rate of a store's state: effort into an I, flow into a C."""
        value = self.effort(bond) if vertex.kind == "I" else self.flow(bond)
        return value if bond.head == vertex.name else -value

    def _walk(self, what: What, bond: Bond) -> Block:
        key = (what, bond.name)
        if key in self._open:  # the walk has come back: a loop of ideal parts
            return self._cuts.setdefault(key, leaf(f"{what} around {bond.name}", bond.size))
        self._open[key] = None
        if what == "effort":
            value = self._effort_from(self.causal.imposes_effort(bond), bond)
            self._effort[bond.name] = value
        else:
            value = self._flow_from(self.causal.imposes_flow(bond), bond)
            self._flow[bond.name] = value
        del self._open[key]
        if key in self._cuts:
            self.definitions[self._cuts[key]] = value
        return value

    def _variable(self, variable: Block, definition: Callable[[], Block]) -> Block:
        """`variable`, to be defined when the walk is over."""
        if variable not in self.definitions and variable not in self._waiting:
            self._waiting[variable] = definition
        return variable

    def complete(self) -> None:
        """Definitions of all variables met so far."""
        while self._waiting:
            variable, definition = self._waiting.popitem()
            self.definitions[variable] = variable  # known from here on
            self.definitions[variable] = definition()

    def _source(self, vertex: Vertex) -> Block:
        """What a source imposes: its law, or a variable where the law reads others."""
        law = vertex.law
        assert law is not None
        if not reads_bonds(law):
            return law
        return self._variable(leaf(f"U of {vertex.name}", law.rows), lambda: self.resolve(law))

    def _resistance(self, vertex: Vertex, bond: Bond, law: Block, port: Block) -> Block:
        """D of an R: `law` in its `port` variable, the effort or flow it receives."""
        receives = self.flow if port == vertex.port_flow else self.effort
        return self._variable(
            leaf(f"{GIVEN}{vertex.name}", vertex.size),
            lambda: Substitution({port: receives(bond)})(self.resolve(law)),
        )

    def _incident(self, vertex: Vertex) -> tuple[Bond, ...]:
        return self.causal.graph.incident[vertex.name]

    def _balance(self, vertex: Vertex, bond: Bond, what: What) -> Block:
        """The variable of `bond` from the sum over the vertex, + along bonds into it."""
        sign = 1.0 if bond.head == vertex.name else -1.0
        terms: list[tuple[float, Block]] = []
        for other in self._incident(vertex):
            if other.name != bond.name:
                value = self.flow(other) if what == "flow" else self.effort(other)
                terms.append((-sign if other.head == vertex.name else sign, value))
        return linear(*terms) if terms else zeros(bond.size)

    def _effort_from(self, vertex: Vertex, bond: Bond) -> Block:
        match vertex.kind:
            case "0":
                return self.effort(self.causal.bringing[vertex.name])
            case "1":
                return self._balance(vertex, bond, "effort")
            case "C" if vertex.state is not None:
                return coenergy(vertex)
            case "I":
                return reaction(vertex)
            case "C" | "Se":
                return self._source(vertex)
            case "Sc" if vertex.state is not None:
                return vertex.state
            case "EJS":
                return mul(self._law(vertex), self.flow(bond))
            case "R" if vertex.effort_law is not None and vertex.port_flow is not None:
                return self._resistance(vertex, bond, vertex.effort_law, vertex.port_flow)
            case "TF" | "GY":
                return self._effort_through(vertex, bond)
        raise AssertionError(f"{vertex.kind} {vertex.name} cannot impose effort")

    def _effort_through(self, vertex: Vertex, bond: Bond) -> Block:
        first, second = self._incident(vertex)
        if vertex.kind == "TF":
            if bond.name == first.name:
                return mul(transpose(self._law(vertex)), self.effort(second))
            return mul(transpose(self._inverse(vertex)), self.effort(first))
        if bond.name == second.name:
            return mul(self._law(vertex), self.flow(first))
        return mul(transpose(self._law(vertex)), self.flow(second))

    def _flow_from(self, vertex: Vertex, bond: Bond) -> Block:
        match vertex.kind:
            case "1":
                return self.flow(self.causal.bringing[vertex.name])
            case "0":
                return self._balance(vertex, bond, "flow")
            case "I":
                return coenergy(vertex)
            case "C":
                return reaction(vertex)
            case "Sf":
                return self._source(vertex)
            case "Sc" if vertex.state is not None:
                return vertex.state
            case "R" if vertex.flow_law is not None and vertex.port_effort is not None:
                return self._resistance(vertex, bond, vertex.flow_law, vertex.port_effort)
            case "TF" | "GY":
                return self._flow_through(vertex, bond)
        raise AssertionError(f"{vertex.kind} {vertex.name} cannot impose flow")

    def _flow_through(self, vertex: Vertex, bond: Bond) -> Block:
        first, second = self._incident(vertex)
        if vertex.kind == "TF":
            if bond.name == second.name:
                return mul(self._law(vertex), self.flow(first))
            return mul(self._inverse(vertex), self.flow(second))
        inverse = self._inverse(vertex)
        if bond.name == first.name:
            return mul(inverse, self.effort(second))
        return mul(transpose(inverse), self.effort(first))

    def _law(self, vertex: Vertex) -> Block:
        assert vertex.law is not None
        return self.resolve(vertex.law)

    def _inverse(self, vertex: Vertex) -> Block:
        assert vertex.inverse is not None
        return self.resolve(vertex.inverse)

    def resolve(self, block: Block) -> Block:
        """`block` with all placeholders for bond variables replaced."""
        return self.resolve_each([block])[0]

    def resolve_each(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """The same for many blocks in one pass."""
        cuts: dict[Block, Block] = {}
        order = dependencies(blocks, self._resolved.met)
        for node in order:
            if node.op != "leaf":
                continue
            if node.data.startswith(SIGNAL):
                name = node.data.removeprefix(SIGNAL)
                self._variable(node, partial(self._signal, name))
            elif node.data.startswith((*PLACEHOLDERS, RATE)):
                value = self._placeholder(node)
                if value in self._cuts.values():  # holds only inside of the walk it cuts
                    cuts[node] = value
                else:
                    self._resolved.define(node, value)
        if not cuts:
            return self._resolved.along(order, blocks)
        leaves = [node for node in dependencies(blocks) if node.op == "leaf"]
        found = {n: self._resolved(n) for n in leaves if n not in cuts}
        return Substitution(found | cuts).each(blocks)

    def _signal(self, name: str) -> Block:
        return self.resolve(self.causal.graph.signals[name])

    def _placeholder(self, node: Block) -> Block:
        name: str = node.data
        graph = self.causal.graph
        if name.startswith(EFFORT):
            return self.effort(graph.bonds[name.removeprefix(EFFORT)])
        if name.startswith(BOND_FLOW):
            return self.flow(graph.bonds[name.removeprefix(BOND_FLOW)])
        if name.startswith(LEVEL):
            return self.effort(graph.incident[name.removeprefix(LEVEL)][0])
        if name.startswith(OUTPUT):
            return self._read(name.removeprefix(OUTPUT))
        if name.startswith(RATE):
            vertex = self._store_of[name.removeprefix(RATE)]
            return self.into_store(vertex, graph.incident[vertex.name][0])
        return self.flow(graph.incident[name.removeprefix(FLOW)][0])

    def _read(self, name: str) -> Block:
        """What an output is; a variable where bonds lead back to it, an algebraic loop.

        AssemblyError where its own expression reads it."""
        key = (READ, name)
        if key in self._open:
            since = takewhile(lambda other: other != key, reversed(self._open))
            if all(what == READ for what, _ in since):
                raise AssemblyError.of([_of_itself(name)])
            return self._cuts.setdefault(key, leaf(f"{READ} around {name}", 1))
        self._open[key] = None
        value = self.resolve(_without_rates(name, self._output(name)))
        del self._open[key]
        if key in self._cuts:
            self.definitions[self._cuts[key]] = value
        return value

    def _output(self, name: str) -> Block:
        """An output of the graph by its name, or a component of one."""
        outputs = self._output_of
        if name in outputs:
            return outputs[name]
        match = COMPONENT.fullmatch(name)
        if match is None or match["name"] not in outputs:
            raise AssemblyError.of([_no_output(name, outputs)])
        whole = outputs[match["name"]]
        place = int(match["index"]) if match["index"] else LETTERS[match["letter"]]
        if match["letter"] and whole.rows == 4:
            place = "wxyz".index(match["letter"])
        if place >= whole.rows:
            raise AssemblyError.of([_no_output(name, outputs)])
        return rows(whole, place, place + 1)


def _without_rates(name: str, value: Block) -> Block:
    """`value`; AssemblyError where it is an acceleration, which would depend on itself."""
    if any(n.op == "leaf" and n.data.startswith(RATE) for n in dependencies([value])):
        raise AssemblyError.of(
            [
                Problem(
                    "error",
                    name.removeprefix(OUTPUT),
                    "an acceleration cannot be read by a signal or a source.",
                    "Read the velocity and put it through a transfer function s/(T s + 1).",
                )
            ]
        )
    return value


def _of_itself(name: str) -> Problem:
    what = f"{name} is read where it is defined itself."
    remedy = "Read another quantity, or its own through a delay or transfer function."
    return Problem("error", name.partition(".")[0], what, remedy)


def _no_output(name: str, outputs: dict[str, Block]) -> Problem:
    close = difflib.get_close_matches(name, outputs, n=1)
    return Problem(
        "error",
        name.partition(".")[0],
        f"there is no signal {name!r} to read.",
        f"Did you mean {close[0]!r}?" if close else "`vbg run` lists the signals of a model.",
    )
