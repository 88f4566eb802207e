"""From a causal graph to its equations.

r' comes from one more pass over the flow expressions (`Tangent`): stores give
f0, rotations their spin, sources U1'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vbg.assemble.derive.constraints import Efforts, constraints_of, efforts_of
from vbg.assemble.derive.corrections import correction_steps, held_speeds, held_values
from vbg.assemble.derive.derivation import Derivation, begin, compliance, vanishes
from vbg.assemble.derive.differential import define_dependent_states
from vbg.assemble.derive.energy import PartEnergy, brought, energies, held, part_energies, powers
from vbg.assemble.derive.equations import DISSIPATED, SUPPLIED, Constraint, Equations, Kind, State
from vbg.assemble.derive.jumping import is_discontinuous
from vbg.assemble.derive.junction_structure import coenergy
from vbg.assemble.derive.variables import variables_in
from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    const,
    divide,
    is_zero,
    leaf,
    rotation,
    rows,
    stack,
    zeros,
)
from vbg.causality import CausalGraph
from vbg.graph.bondgraph import BondGraph, Configuration
from vbg.graph.pieces import at_start


def derive(causal: CausalGraph) -> Equations:
    """The equations of `causal`.

    Raises AssemblyError for an algebraic loop that cannot be solved.
    """
    work = begin(causal)
    graph = causal.graph
    define_dependent_states(work)
    into = {v.state: work.structure.into_store(v, b) for v, b in work.stores if v.state is not None}
    constraints = constraints_of(work)
    full = dict(zip(into, work.each_in_states([*into.values()]), strict=True))
    flows, config_rates = _coordinate_rates(work)
    signal_rates = {s.state: work.in_states(s.rate) for s in graph.signal_states}
    spins = _spins(graph.configurations, flows)
    residuals = work.each_in_states([c.residual for c in constraints])
    all_rates = full | config_rates | signal_rates | {graph.time: const(1.0)}
    efforts = efforts_of(work, constraints, residuals, all_rates, spins)
    close = _closing(constraints, efforts)
    open_rates = full | signal_rates | config_rates
    rates = dict(zip(open_rates, close.each([*open_rates.values()]), strict=True))
    parts = part_energies(work, Tangent(all_rates, spins)) if graph.model.outputs.energy else ()
    rates |= _energy_rates(work, parts, close) | _kept(graph)
    posture, velocity, struck = correction_steps(work, *efforts.steps)
    kinetic, potential = energies(work)
    react = Substitution(efforts.reactions)
    outputs, units = _outputs(work, parts, react)
    positions = [zeros(c.unknown.rows) if c.position is None else c.position for c in constraints]
    rows_of = Coefficients([coenergy(v) for v, _ in work.stores if graph.held])
    slopes, latches = _slopes(work), [c.part for c in constraints if c.latches]
    return Equations(
        states=_states(work, parts),
        constraints=constraints,
        rates=rates,
        efforts=efforts.values,
        residual=stack(*residuals) if residuals else zeros(0),
        position=stack(*positions) if positions else zeros(0),
        spins=spins,
        posture_correction=posture,
        velocity_correction=velocity,
        struck=struck,
        right_hand_side=leaf("correction", sum(c.unknown.rows for c in constraints)),
        factor=efforts.factor,
        multipliers=efforts.impulses.multipliers,
        outputs=outputs,
        units=units,
        stored=kinetic + potential,
        kinetic=kinetic,
        potential=potential,
        switches={s.name: close(work.in_states(s.value)) for s in graph.switches}
        | {m.name: close(work.in_states(m.condition)) for m in graph.modes},
        held_values=held_values(work, efforts.reached, rows_of),
        held_speeds=held_speeds(work, efforts.reached, rows_of),
        time=graph.time,
        loops=tuple(work.laws.loops),
        direct=dict(work.direct),
        rows_on_stores=tuple(efforts.on_z),
        updates={state: close(work.in_states(read)) for state, read in _read_at_instants(graph)},
        slopes=slopes,
        effective=_effective(work, slopes),
        brought=brought(work, react) if latches or _may_jump(graph, constraints, residuals) else {},
        held=held(work, latches),
        pushed=_pushed(full, config_rates | signal_rates, efforts, constraints),
    )


def _pushed(
    stores: Mapping[Block, Block],
    others: Mapping[Block, Block],
    efforts: Efforts,
    constraints: Sequence[Constraint],
) -> dict[Block, Block]:
    """Rates of these stores where impulses do not act on all of them by linear laws, and of
    coordinates and signals that read efforts, in terms of the unknown ones.  What impulses make of
    reactions of stores in derivative causality is not told: these have no value."""
    unknowns = dict.fromkeys([*(c.unknown for c in constraints), *efforts.reactions])
    reading = {state: rate for state, rate in others.items() if variables_in(rate, unknowns)}
    untold = Substitution({e: const(np.full((e.rows, 1), np.nan)) for e in efforts.reactions})
    rates = reading if efforts.impulses.whole else {**stores, **reading}
    return dict(zip(rates, untold.each([*rates.values()]), strict=True))


def _kept(graph: BondGraph) -> dict[Block, Block]:
    """Rates of the states that only events change."""
    kept = [*(mode.state for mode in graph.modes), *(s.state for s in graph.discrete)]
    return {state: zeros(state.rows) for state in kept}


def _may_jump(
    graph: BondGraph, constraints: Sequence[Constraint], residuals: Sequence[Block]
) -> bool:
    """Whether prescribed speeds may jump: at an instant, at a sample, with a mode, or where a
    function of theirs does."""
    if constraints and (graph.instants or graph.clocks):
        return True
    always = [r for c, r in zip(constraints, residuals, strict=True) if c.active is None]
    return is_discontinuous(graph, always)


def _coordinate_rates(work: Derivation) -> tuple[dict[str, Block], dict[Block, Block]]:
    """Flows of the configurations by name and the rates of their states, in the states."""
    configurations = work.causal.graph.configurations
    in_states = work.each_in_states([c.flow for c in configurations])
    flows = dict(zip([c.name for c in configurations], in_states, strict=True))
    return flows, {c.state: Substitution({c.flow: flows[c.name]})(c.rate) for c in configurations}


def _read_at_instants(graph: BondGraph) -> Iterator[tuple[Block, Block]]:
    """What is held between instants, with what is read at them."""
    yield from ((s.state, s.update) for s in graph.sampled)
    yield from ((e.state, e.inputs) for e in graph.exchanged)


def _energy_rates(
    work: Derivation, parts: Sequence[PartEnergy], close: Substitution
) -> dict[Block, Block]:
    """Of what the whole was supplied and has dissipated, and of what each part has."""
    supplied, dissipated = powers(work, close)
    whole = {leaf(SUPPLIED, 1): supplied, leaf(DISSIPATED, 1): dissipated}
    return whole | {p.state: close(p.lost) for p in parts}


def _outputs(
    work: Derivation, parts: Sequence[PartEnergy], react: Substitution
) -> tuple[dict[str, Block], dict[str, str]]:
    """All signals of parts, and their units."""
    asked = work.causal.graph.outputs
    values = react.each(work.each_in_states([o.value for o in asked]))
    outputs = dict(zip([o.name for o in asked], values, strict=True))
    units = {o.name: o.unit for o in asked}
    for p in parts:
        outputs |= {f"{p.name}.energy": p.stored + p.state, f"{p.name}.intake": react(p.intake)}
        units |= {f"{p.name}.energy": "J", f"{p.name}.intake": "W"}
    return outputs, units


def _slopes(work: Derivation) -> dict[Block, Block]:
    """F = dZ/dX of every store with a state."""
    slopes = work.each_in_states([compliance(v) for v, _ in work.stores])
    states = [v.state for v, _ in work.stores]
    return {state: F for state, F in zip(states, slopes, strict=True) if state is not None}


def _effective(work: Derivation, slopes: Mapping[Block, Block]) -> dict[Block, Block]:
    """Z / F of the stores with one component whose law is not proportional."""
    found = []
    for vertex, _ in work.stores:
        if vertex.state is None or vertex.size > 1:
            continue
        slope = slopes[vertex.state]
        assert vertex.law is not None
        if is_zero(slope) or (slope.is_const and vanishes(vertex.law, vertex.state)):
            continue
        found.append((vertex, slope))
    laws = work.each_in_states([coenergy(v) for v, _ in found])
    return {v.state: divide(Z, F) for (v, F), Z in zip(found, laws, strict=True) if v.state}


def _closing(constraints: Sequence[Constraint], efforts: Efforts) -> Substitution:
    """Replaces the unknown constraint efforts and reactions by their solution."""
    values = efforts.values
    return Substitution(
        {c.unknown: rows(values, c.first, c.first + c.unknown.rows) for c in constraints}
        | dict(efforts.reactions)
    )


def _spins(
    configurations: Sequence[Configuration], flows: Mapping[str, Block]
) -> dict[Block, Block]:
    """w_WB_B of every rotation R_WB."""
    return {rotation(c.state): flows[c.name] for c in configurations if c.kind == "quaternion"}


def _states(work: Derivation, parts: Sequence[PartEnergy]) -> tuple[State, ...]:
    graph = work.causal.graph
    states = []
    for vertex, _ in work.stores:
        assert vertex.state is not None
        initial = vertex.initial if vertex.initial is not None else const(np.zeros(vertex.size))
        settled = None if initial.is_const else work.in_states(initial)
        written = at_start(initial, graph.configurations)
        states.append(State(vertex.state.data, vertex.state, written, "store", settled=settled))
    for c in graph.configurations:
        measured = None if c.measured is None else work.in_states(c.measured)
        states.append(State(c.name, c.state, c.initial, c.kind, c.unit, measured, c.period))
    for s in graph.signal_states:
        kind: Kind = "discrete" if is_zero(s.rate) else "signal"
        states.append(State(s.name, s.state, s.initial, kind, s.unit))
    states += [State(m.name, m.state, m.initial, "discrete") for m in graph.modes]
    states += [State(s.name, s.state, s.initial, "discrete") for s in graph.discrete]
    for name in (SUPPLIED, DISSIPATED, *(p.state.data for p in parts)):
        states.append(State(name, leaf(name, 1), zeros(1), "quadrature", "J"))
    return tuple(states)
