"""The work space in which the equations of one causal graph are derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbg.assemble.junction_structure import JunctionStructure, coenergy
from vbg.assemble.variables import Variables
from vbg.blocks import Block, Coefficients, Substitution, Tangent, leaf, zeros
from vbg.causality import CausalGraph
from vbg.graph.bondgraph import Bond, Vertex


@dataclass(slots=True)
class Derivation:
    """`laws` writes anything in states, time and constraint efforts; `direct` holds the
    constraint efforts that case (14) gives, which `in_states` replaces, too.  `stores` have
    states, `differential` are those in derivative causality."""

    causal: CausalGraph
    structure: JunctionStructure
    laws: Variables
    stores: list[tuple[Vertex, Bond]]
    sources: list[tuple[Vertex, Bond]]
    differential: list[tuple[Vertex, Bond]]
    direct: dict[Block, Block] = field(default_factory=dict)
    _close_direct: Substitution | None = None

    def solve_direct(self, values: Mapping[Block, Block]) -> None:
        """Constraint efforts of case (14), known from here on."""
        self.direct.update(values)
        self._close_direct = Substitution(self.direct)

    def in_states(self, block: Block) -> Block:
        """`block` without placeholders: states, time and constraint efforts only."""
        value = self.laws(block)
        return value if self._close_direct is None else self._close_direct(value)

    def into_store(self, vertex: Vertex, bond: Bond) -> Block:
        """Rate of a store's state in Z: effort into an I, flow into a C."""
        value = self.structure.effort(bond) if vertex.kind == "I" else self.structure.flow(bond)
        return value if bond.head == vertex.name else -value


def begin(causal: CausalGraph) -> Derivation:
    """The work space with the co-energies Z defined by the laws of their stores."""
    graph = causal.graph
    structure = JunctionStructure(causal)
    vertices = graph.vertices.values()
    of_stores = [(v, graph.incident[v.name][0]) for v in vertices if v.is_store]
    stores = [(v, bond) for v, bond in of_stores if v.name not in causal.differential]
    differential = [(v, bond) for v, bond in of_stores if v.name in causal.differential]
    for vertex, _ in stores:
        assert vertex.law is not None
        structure.definitions[coenergy(vertex)] = structure.resolve(vertex.law)
    sources = [(v, graph.incident[v.name][0]) for v in vertices if v.kind == "Sc"]
    return Derivation(causal, structure, Variables(structure), stores, sources, differential)


def compliance(vertex: Vertex) -> Block:
    """F of a store: d co-energy / d state."""
    assert vertex.law is not None and vertex.state is not None
    if vertex.inverse is not None:
        return vertex.inverse
    direction = leaf("direction", vertex.size)
    slope = Coefficients([direction])(Tangent({vertex.state: direction})(vertex.law))
    return slope.get(direction, zeros(vertex.size, vertex.size))
