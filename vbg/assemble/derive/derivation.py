"""The work space in which the equations of one causal graph are derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vbg.assemble.derive.constraint_matrix import Products
from vbg.assemble.derive.junction_structure import JunctionStructure, coenergy
from vbg.assemble.derive.variables import Variables
from vbg.blocks import Block, Coefficients, Substitution, Tangent, is_zero, leaf, zeros
from vbg.causality import CausalGraph
from vbg.graph.bondgraph import Bond, Vertex


@dataclass(slots=True)
class Derivation:
    """`laws` writes anything in states, time and constraint efforts; `direct` holds the
    constraint efforts that case (14) gives, which `in_states` replaces, too.  `stores` have
    states, `differential` are those in derivative causality.  `products` are those of constraint
    matrices formed so far."""

    causal: CausalGraph
    structure: JunctionStructure
    laws: Variables
    stores: list[tuple[Vertex, Bond]]
    sources: list[tuple[Vertex, Bond]]
    differential: list[tuple[Vertex, Bond]]
    direct: dict[Block, Block] = field(default_factory=dict)
    products: Products = field(default_factory=Products)
    _close_direct: Substitution = field(default_factory=lambda: Substitution({}))

    def solve_direct(self, values: Mapping[Block, Block]) -> None:
        """Constraint efforts of case (14), known from here on."""
        self.direct.update(values)
        self._close_direct = Substitution(self.direct)

    def in_states(self, block: Block) -> Block:
        """`block` without placeholders: states, time and constraint efforts only."""
        return self.each_in_states([block])[0]

    def each_in_states(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """The same for many blocks in one pass."""
        return self._close_direct.each(self.laws.each(blocks))


def begin(causal: CausalGraph) -> Derivation:
    """The work space with the co-energies Z defined by the laws of their stores."""
    graph = causal.graph
    structure = JunctionStructure(causal)
    vertices = graph.vertices.values()
    of_stores = [(v, graph.incident[v.name][0]) for v in vertices if v.is_store]
    stores = [(v, bond) for v, bond in of_stores if v.name not in causal.differential]
    differential = [(v, bond) for v, bond in of_stores if v.name in causal.differential]
    laws = structure.resolve_each([v.law for v, _ in stores if v.law is not None])
    for (vertex, _), law in zip(stores, laws, strict=True):
        structure.definitions[coenergy(vertex)] = law
    sources = [(v, graph.incident[v.name][0]) for v in vertices if v.kind == "Sc"]
    return Derivation(causal, structure, Variables(structure), stores, sources, differential)


def yielding(vertex: Vertex) -> Block:
    """F of a store while a start is assembled."""
    return compliance(vertex) if vertex.assembling is None else vertex.assembling.compliance


def compliance(vertex: Vertex) -> Block:
    """F of a store: d co-energy / d state."""
    assert vertex.law is not None and vertex.state is not None
    if vertex.inverse is not None:
        return vertex.inverse
    direction = leaf("direction", vertex.size)
    slope = Coefficients([direction])(Tangent({vertex.state: direction})(vertex.law))
    return slope.get(direction, zeros(vertex.size, vertex.size))


def vanishes(law: Block, variable: Block) -> bool:
    """Whether `law` is zero where its variable is."""
    return is_zero(Substitution({variable: zeros(variable.rows)})(law))
