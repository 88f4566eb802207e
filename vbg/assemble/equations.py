"""State equations and constraint forces of a causal graph, as block expressions.

Notation of mathematics.md, section 4.  With constraint efforts U2 as the
unknowns,

    X1' = f0 + J_1u2 U2          (X1: momenta and displacements of the stores)
    0   = r(X, t)                 flows of the constraint sources
    r'  = b + H4 U2 = 0,          b = r' at U2 = 0,   H4 = J_C1 F1 J_1u2

r' comes from one more pass over the flow expressions (`Tangent`): stores give
f0, rotations their spin, sources U1'.  H4 is symmetric: J_C1 = J_1u2^T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vbg.assemble.constraint_matrix import constraint_pieces
from vbg.assemble.junction_structure import RATE, JunctionStructure, coenergy
from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    const,
    dependencies,
    dot,
    is_zero,
    leaf,
    linear,
    mul,
    rows,
    solve,
    stack,
    symmetric_factor,
    zeros,
)
from vbg.causality import CausalGraph
from vbg.errors import AssemblyError, Problem
from vbg.graph.bondgraph import Bond, Configuration, Vertex

SUPPLIED, DISSIPATED = "energy.supplied", "energy.dissipated"


@dataclass(frozen=True, slots=True)
class State:
    """One state vector: leaf, initial value, its kind and, for coordinates that
    the posture also gives, that `measured` value modulo `period`."""

    name: str
    leaf: Block
    initial: Block
    kind: Literal["store", "displacement", "position", "quaternion", "quadrature"]
    unit: str = "1"
    measured: Block | None = None
    period: float = 0.0


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint source: unknown efforts, their names, where they stand in the
    vector of all, the flow that must vanish and the position it is the rate of."""

    name: str
    part: str
    unknown: Block
    labels: tuple[str, ...]
    first: int
    residual: Block
    position: Block | None


@dataclass(frozen=True, slots=True)
class Equations:
    """All that a System evaluates, in terms of the states' leaves and time."""

    states: tuple[State, ...]
    constraints: tuple[Constraint, ...]
    rates: Mapping[Block, Block]
    efforts: Block
    residual: Block
    position: Block
    acceleration_residual: Block
    posture_correction: Mapping[Block, Block]
    velocity_correction: Mapping[Block, Block]
    right_hand_side: Block
    factor: Block | None
    outputs: Mapping[str, Block]
    units: Mapping[str, str]
    stored: Block
    kinetic: Block
    potential: Block
    switches: Mapping[str, Block]
    held: tuple[HeldRow, ...]
    time: Block


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A held start coordinate: value - target, flow - speed, and its coefficient on
    the stores' flows for the Newton step."""

    name: str
    value: Block
    flow: Block
    target: float | None
    speed: float | None


def _spins(graph_states: Sequence[Configuration], flows: Mapping[str, Block]) -> dict[Block, Block]:
    from vbg.blocks import rotation

    return {
        rotation(c.state): flows[c.name] for c in graph_states if c.kind == "quaternion"
    }


@dataclass(slots=True)
class _Derivation:
    """Work space of one derivation."""

    causal: CausalGraph
    structure: JunctionStructure
    laws: Substitution  # Z -> law of the store
    stores: list[tuple[Vertex, Bond]]
    sources: list[tuple[Vertex, Bond]]

    def in_states(self, block: Block) -> Block:
        """`block` without placeholders: states, time and constraint efforts only."""
        return self.laws(self.structure.resolve(block))

    def into_store(self, vertex: Vertex, bond: Bond) -> Block:
        """Rate of a store's state in Z: effort into an I, flow into a C."""
        value = (
            self.structure.effort(bond) if vertex.kind == "I" else self.structure.flow(bond)
        )
        return value if bond.head == vertex.name else -value


def derive(causal: CausalGraph) -> Equations:
    """The equations of `causal`.

    Raises AssemblyError for an algebraic loop that cannot be solved.
    """
    graph = causal.graph
    structure = JunctionStructure(causal)
    one_ports = [(v, graph.incident[v.name][0]) for v in graph.vertices.values()
                 if v.kind in ("I", "C") and v.state is not None]
    laws = Substitution(
        {coenergy(v): structure.resolve(v.law) for v, _ in one_ports if v.law is not None}
    )
    sources = [(v, graph.incident[v.name][0]) for v in graph.vertices.values() if v.kind == "Sc"]
    work = _Derivation(causal, structure, laws, one_ports, sources)
    return _equations(work)


def _constraints(work: _Derivation) -> tuple[Constraint, ...]:
    result, first = [], 0
    for vertex, bond in work.sources:
        flow = work.structure.effort(bond) if vertex.dual else work.structure.flow(bond)
        sign = 1.0 if bond.tail == vertex.name else -1.0
        assert vertex.state is not None
        residual = linear((sign, flow))
        position = None if vertex.position is None else work.in_states(vertex.position)
        result.append(
            Constraint(
                vertex.name.removesuffix(".Sc"),
                vertex.part,
                vertex.state,
                vertex.labels,
                first,
                residual,
                position,
            )
        )
        first += vertex.size
    return tuple(result)


def _without(block: Block, unknowns: Sequence[Block]) -> Block:
    return Substitution({u: zeros(u.rows) for u in unknowns})(block)


def _equations(work: _Derivation) -> Equations:
    graph = work.causal.graph
    constraints = _constraints(work)
    unknowns = [c.unknown for c in constraints]
    into = {v.name: work.into_store(v, bond) for v, bond in work.stores}
    _require_index_two(work, constraints, unknowns)
    full = {v.state: work.laws(into[v.name]) for v, _ in work.stores if v.state is not None}
    free = {state: _without(rate, unknowns) for state, rate in full.items()}
    flows = {c.name: work.in_states(c.flow) for c in graph.configurations}
    config_rates = {
        c.state: Substitution({c.flow: flows[c.name]})(c.rate) for c in graph.configurations
    }
    spins = _spins(graph.configurations, flows)
    tangent = Tangent(free | config_rates | {graph.time: const(1.0)}, spins)
    residuals = [work.laws(c.residual) for c in constraints]
    before = stack(*(tangent(r) for r in residuals)) if residuals else zeros(0)

    z_leaves = [coenergy(v) for v, _ in work.stores]
    rows_of = Coefficients(z_leaves)
    factor = None
    if constraints:
        pieces = constraint_pieces(
            [rows_of(c.residual) for c in constraints],
            {coenergy(v): _compliance(v) for v, _ in work.stores},
        )
        factor = symmetric_factor(tuple(c.unknown.rows for c in constraints), pieces)
        efforts = solve(factor, -before)
    else:
        efforts = zeros(0)
    split = {c.unknown: rows(efforts, c.first, c.first + c.unknown.rows) for c in constraints}
    close = Substitution(split)
    rates = {state: close(rate) for state, rate in full.items()} | config_rates
    supplied, dissipated = _powers(work, close)
    rates |= {
        leaf(SUPPLIED, 1): supplied,
        leaf(DISSIPATED, 1): dissipated,
    }
    posture, velocity = _corrections(work, constraints, into, factor, flows)
    kinetic, potential = _energies(work)
    rate_leaves = {leaf(f"{RATE}{s.data}", s.rows): r for s, r in rates.items()}
    # placeholders of rates are resolved like efforts, with the constraint efforts put in
    outputs = {
        o.name: close(Substitution(rate_leaves)(work.in_states(o.value))) for o in graph.outputs
    }
    positions = [
        zeros(c.unknown.rows) if c.position is None else c.position for c in constraints
    ]
    acceleration = before
    if constraints:
        acceleration = stack(*(Tangent(
            {s: rates[s] for s in rates} | {graph.time: const(1.0)}, spins)(r) for r in residuals))
    return Equations(
        states=_states(work),
        constraints=constraints,
        rates=rates,
        efforts=efforts,
        residual=stack(*residuals) if residuals else zeros(0),
        position=stack(*positions) if positions else zeros(0),
        acceleration_residual=acceleration,
        posture_correction=posture,
        velocity_correction=velocity,
        right_hand_side=leaf("correction", sum(u.rows for u in unknowns)),
        factor=factor,
        outputs=outputs,
        units={o.name: o.unit for o in graph.outputs},
        stored=kinetic + potential,
        kinetic=kinetic,
        potential=potential,
        switches={s.name: close(work.in_states(s.value)) for s in graph.switches},
        held=tuple(
            HeldRow(h.name, work.in_states(h.value), work.in_states(h.flow), h.target, h.speed)
            for h in graph.held
        ),
        time=graph.time,
    )


def _require_index_two(
    work: _Derivation, constraints: Sequence[Constraint], unknowns: Sequence[Block]
) -> None:
    known = set(unknowns)
    for constraint in constraints:
        if known & set(dependencies([constraint.residual])):
            raise AssemblyError.of(
                [
                    Problem(
                        "error",
                        constraint.part,
                        "its constrained flow depends on a constraint effort through a "
                        "resistance (case 14 of the paper).",
                    )
                ]
            )


def _compliance(vertex: Vertex) -> Block:
    """F of a store: d co-energy / d state."""
    assert vertex.law is not None and vertex.state is not None
    if vertex.inverse is not None:
        return vertex.inverse
    direction = leaf("direction", vertex.size)
    slope = Coefficients([direction])(Tangent({vertex.state: direction})(vertex.law))
    return slope.get(direction, zeros(vertex.size, vertex.size))


def _corrections(
    work: _Derivation,
    constraints: Sequence[Constraint],
    into: Mapping[str, Block],
    factor: Block | None,
    flows: Mapping[str, Block],
) -> tuple[dict[Block, Block], dict[Block, Block]]:
    """Steps along the constraint directions for a right-hand side "correction":
    of the posture in the mass metric, dq = M^-1 G^T H4^-1 rhs, and of the stores'
    states, G^T H4^-1 rhs (mathematics.md, section 5)."""
    if factor is None:
        return {}, {}
    size = sum(c.unknown.rows for c in constraints)
    efforts = solve(factor, leaf("correction", size))
    split = {c.unknown: rows(efforts, c.first, c.first + c.unknown.rows) for c in constraints}
    impulses = {}
    for vertex, _ in work.stores:
        parts = Coefficients([c.unknown for c in constraints])(into[vertex.name])
        terms = [(1.0, mul(m, split[u])) for u, m in parts.items()]
        impulses[vertex.name] = linear(*terms) if terms else zeros(vertex.size)
    velocity = {
        v.state: impulses[v.name]
        for v, _ in work.stores
        if v.state is not None and not is_zero(impulses[v.name])
    }
    moves = Substitution(
        {coenergy(v): mul(_compliance(v), impulses[v.name]) for v, _ in work.stores}
    )
    still = Substitution({coenergy(v): zeros(v.size) for v, _ in work.stores})
    posture = {}
    for c in work.causal.graph.configurations:
        flow = work.structure.resolve(c.flow)
        step = moves(flow) - still(flow)
        rate = Substitution({c.flow: step})(c.rate)
        if not is_zero(rate):
            posture[c.state] = rate
    return posture, velocity


def _powers(work: _Derivation, close: Substitution) -> tuple[Block, Block]:
    """Power of the sources that are not conservative, and of the resistors."""
    graph = work.causal.graph
    supplied: list[tuple[float, Block]] = [(0.0, zeros(1))]
    dissipated: list[tuple[float, Block]] = [(0.0, zeros(1))]
    for vertex in graph.vertices.values():
        if vertex.kind in ("Se", "Sf") and vertex.energy is None:
            terms, into = supplied, False
        elif vertex.kind == "R":
            terms, into = dissipated, True
        else:
            continue
        (bond,) = graph.incident[vertex.name]
        power = dot(work.structure.effort(bond), work.structure.flow(bond))
        along = (bond.head == vertex.name) == into
        terms.append((1.0 if along else -1.0, close(work.laws(power))))
    return linear(*supplied), linear(*dissipated)


def _energies(work: _Derivation) -> tuple[Block, Block]:
    """Kinetic energy (of the I) and the rest of what is stored."""
    kinetic: list[tuple[float, Block]] = [(0.0, zeros(1))]
    potential: list[tuple[float, Block]] = [(0.0, zeros(1))]
    for vertex in work.causal.graph.vertices.values():
        if vertex.energy is not None:
            terms = kinetic if vertex.kind == "I" else potential
            terms.append((1.0, work.in_states(vertex.energy)))
    return linear(*kinetic), linear(*potential)


def _states(work: _Derivation) -> tuple[State, ...]:
    states = []
    for vertex, _ in work.stores:
        assert vertex.state is not None
        initial = vertex.initial if vertex.initial is not None else const(np.zeros(vertex.size))
        states.append(State(vertex.state.data, vertex.state, initial, "store"))
    for c in work.causal.graph.configurations:
        measured = None if c.measured is None else work.in_states(c.measured)
        states.append(State(c.name, c.state, c.initial, c.kind, c.unit, measured, c.period))
    for name in (SUPPLIED, DISSIPATED):
        states.append(State(name, leaf(name, 1), zeros(1), "quadrature", "J"))
    return tuple(states)
