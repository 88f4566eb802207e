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
    rotation,
    rows,
    solve,
    stack,
    symmetric_factor,
    transpose,
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
    held_values: HeldStart
    held_speeds: HeldStart
    time: Block


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A start coordinate or speed that the engineer wrote and assembly keeps."""

    name: str
    value: Block
    target: float


@dataclass(frozen=True, slots=True)
class HeldStart:
    """Held rows behind the constraint rows: the steps of the states for a right-hand
    side "correction" of `size` rows."""

    rows: tuple[HeldRow, ...]
    steps: Mapping[Block, Block]
    size: int


def _spins(
    configurations: Sequence[Configuration], flows: Mapping[str, Block]
) -> dict[Block, Block]:
    """w_WB_B of every rotation R_WB."""
    return {rotation(c.state): flows[c.name] for c in configurations if c.kind == "quaternion"}


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
        value = self.structure.effort(bond) if vertex.kind == "I" else self.structure.flow(bond)
        return value if bond.head == vertex.name else -value


def derive(causal: CausalGraph) -> Equations:
    """The equations of `causal`.

    Raises AssemblyError for an algebraic loop that cannot be solved.
    """
    graph = causal.graph
    structure = JunctionStructure(causal)
    one_ports = [
        (v, graph.incident[v.name][0])
        for v in graph.vertices.values()
        if v.kind in ("I", "C") and v.state is not None
    ]
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


def _equations(work: _Derivation) -> Equations:
    graph = work.causal.graph
    constraints = _constraints(work)
    unknowns = [c.unknown for c in constraints]
    into = {v.name: work.into_store(v, bond) for v, bond in work.stores}
    _require_index_two(work, constraints, unknowns)
    full = {v.state: work.laws(into[v.name]) for v, _ in work.stores if v.state is not None}
    unforced = Substitution({u: zeros(u.rows) for u in unknowns})
    free = {state: unforced(rate) for state, rate in full.items()}
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
    of_constraints = [rows_of(c.residual) for c in constraints]
    factor = _factor_of(of_constraints, work)
    efforts = zeros(0) if factor is None else solve(factor, -before)
    split = {c.unknown: rows(efforts, c.first, c.first + c.unknown.rows) for c in constraints}
    close = Substitution(split)
    rates = {state: close(rate) for state, rate in full.items()} | config_rates
    supplied, dissipated = _powers(work, close)
    rates |= {
        leaf(SUPPLIED, 1): supplied,
        leaf(DISSIPATED, 1): dissipated,
    }
    rows_and_unknowns = [
        (row, c.unknown) for row, c in zip(of_constraints, constraints, strict=True)
    ]
    posture, velocity = correction_steps(work, rows_and_unknowns, factor)
    kinetic, potential = _energies(work)
    rate_leaves = {leaf(f"{RATE}{s.data}", s.rows): r for s, r in full.items()}
    outputs = {o.name: Substitution(rate_leaves)(work.in_states(o.value)) for o in graph.outputs}
    positions = [zeros(c.unknown.rows) if c.position is None else c.position for c in constraints]
    acceleration = before
    if constraints:
        along = Tangent(rates | {graph.time: const(1.0)}, spins)
        acceleration = stack(*(along(r) for r in residuals))
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
        held_values=_held_values(work, of_constraints, rows_and_unknowns, rows_of),
        held_speeds=_held_speeds(work, of_constraints, rows_and_unknowns, rows_of),
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


def _factor_of(rows_of: Sequence[Mapping[Block, Block]], work: _Derivation) -> Block | None:
    """Factor of H4 for constraint rows given by their coefficients on the Z."""
    if not rows_of:
        return None
    compliances = {coenergy(v): _compliance(v) for v, _ in work.stores}
    sizes = tuple(next(iter(row.values())).rows for row in rows_of)
    return symmetric_factor(sizes, constraint_pieces(rows_of, compliances))


def correction_steps(
    work: _Derivation,
    rows_of: Sequence[tuple[Mapping[Block, Block], Block]],
    factor: Block | None,
) -> tuple[dict[Block, Block], dict[Block, Block]]:
    """Steps along constraint directions for a right-hand side "correction": of the
    posture in the mass metric, dq = M^-1 G^T H4^-1 rhs, and of the stores' states,
    G^T H4^-1 rhs (mathematics.md, section 5)."""
    if factor is None:
        return {}, {}
    size = factor.rows
    multipliers = solve(factor, leaf("correction", size))
    impulses: dict[Block, list[tuple[float, Block]]] = {}
    first = 0
    for coefficients, unknown in rows_of:
        part = rows(multipliers, first, first + unknown.rows)
        first += unknown.rows
        for z, matrix in coefficients.items():
            impulses.setdefault(z, []).append((1.0, mul(transpose(matrix), part)))
    steps = {z: linear(*terms) for z, terms in impulses.items()}
    velocity = {
        v.state: steps[coenergy(v)]
        for v, _ in work.stores
        if v.state is not None and coenergy(v) in steps
    }
    still = {coenergy(v): zeros(v.size) for v, _ in work.stores}
    moves = Substitution(
        still
        | {z: mul(_compliance(v), steps[z]) for v, _ in work.stores if (z := coenergy(v)) in steps}
    )
    at_rest = Substitution(still)
    posture = {}
    for c in work.causal.graph.configurations:
        flow = work.structure.resolve(c.flow)
        step = moves(flow) - at_rest(flow)
        rate = Substitution({c.flow: step})(c.rate)
        if not is_zero(rate):
            posture[c.state] = rate
    return posture, velocity


Rows = Sequence[tuple[Mapping[Block, Block], Block]]


def _held_values(
    work: _Derivation,
    of_constraints: Sequence[Mapping[Block, Block]],
    known: Rows,
    rows_of: Coefficients,
) -> HeldStart:
    """Start coordinates whose value the engineer wrote."""
    held = [h for h in work.causal.graph.held if h.target is not None]
    rows_here = tuple(HeldRow(h.name, work.in_states(h.value), h.target or 0.0) for h in held)
    flows = [work.structure.resolve(h.flow) for h in held]
    posture, _, size = _with_held(work, of_constraints, known, [rows_of(f) for f in flows])
    return HeldStart(rows_here, posture, size)


def _held_speeds(
    work: _Derivation,
    of_constraints: Sequence[Mapping[Block, Block]],
    known: Rows,
    rows_of: Coefficients,
) -> HeldStart:
    """Start coordinates whose speed the engineer wrote."""
    held = [h for h in work.causal.graph.held if h.speed is not None]
    flows = [work.structure.resolve(h.flow) for h in held]
    rows_here = tuple(
        HeldRow(h.name, work.laws(flow), h.speed or 0.0)
        for h, flow in zip(held, flows, strict=True)
    )
    _, velocity, size = _with_held(work, of_constraints, known, [rows_of(f) for f in flows])
    return HeldStart(rows_here, velocity, size)


def _with_held(
    work: _Derivation,
    of_constraints: Sequence[Mapping[Block, Block]],
    known: Rows,
    of_held: Sequence[Mapping[Block, Block]],
) -> tuple[dict[Block, Block], dict[Block, Block], int]:
    """Correction steps with held coordinates as further constraint rows, and the number
    of rows."""
    if not of_held:
        return {}, {}, 0
    factor = _factor_of([*of_constraints, *of_held], work)
    held = [(row, leaf(f"held {i}", 1)) for i, row in enumerate(of_held)]
    posture, velocity = correction_steps(work, [*known, *held], factor)
    return posture, velocity, 0 if factor is None else factor.rows


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
