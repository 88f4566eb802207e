"""Constraint sources: the rows that must vanish and the efforts that make them.

A row whose constrained flow depends on constraint efforts (through a resistance) gives
them without a derivative: case (14) of vector-bond-graph.txt.  A row that does not is
differentiated once: case (15).  Where T_LE is singular but not zero, its rows are split
by rank: the regular combinations as (14), the others as (15); see
docs/derivations/mixed-case.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

from vbg.assemble.derive.corrections import factor_of
from vbg.assemble.derive.derivation import Derivation, yielding
from vbg.assemble.derive.differential import reaction_equations, with_reactions
from vbg.assemble.derive.equations import Constraint
from vbg.assemble.derive.junction_structure import coenergy
from vbg.assemble.derive.ranks import RankBases, rank_bases
from vbg.assemble.derive.variables import Variables, solution_of, variables_in
from vbg.blocks import (
    Block,
    Coefficients,
    Span,
    Substitution,
    Tangent,
    const,
    leaf,
    linear,
    mul,
    rows,
    solve,
    stack,
    times,
    zeros,
)
from vbg.errors import AssemblyError, Problem
from vbg.graph.bondgraph import Vertex

BALANCE = ".balance"  # of a node whose effort is unknown, see `vbg.causality.balanced`
VECTORS = ("force", "torque", "slip")  # first words of labels of components


def constraints_of(work: Derivation) -> tuple[Constraint, ...]:
    """The rows of case (15), after `work` has been told the efforts of case (14)."""
    return _numbered(_without_direct(work, _all(work)))


def _all(work: Derivation) -> list[Constraint]:
    result = []
    for vertex, bond in work.sources:
        flow = work.structure.effort(bond) if vertex.dual else work.structure.flow(bond)
        sign = 1.0 if bond.tail == vertex.name else -1.0
        assert vertex.state is not None
        residual = linear((sign, flow))
        if vertex.active is not None:
            residual = times(vertex.active, residual)
        result.append(
            Constraint(
                vertex.name.removesuffix(".Sc"),
                vertex.part,
                vertex.state,
                vertex.labels,
                0,
                residual,
                _position(work, vertex),
                vertex.active,
                facing=None if vertex.facing is None else work.laws(vertex.facing),
            )
        )
    return result


def _position(work: Derivation, vertex: Vertex) -> Block | None:
    """What the row is the rate of, zero while it does not hold."""
    if vertex.position is None:
        return None
    position = work.laws(vertex.position)
    return position if vertex.active is None else times(vertex.active, position)


def _numbered(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    result, first = [], 0
    for constraint in constraints:
        result.append(replace(constraint, first=first))
        first += constraint.unknown.rows
    return tuple(result)


def _without_direct(work: Derivation, constraints: list[Constraint]) -> list[Constraint]:
    """Case (14): solves the rows that depend on constraint efforts; returns the others."""
    unknowns = {c.unknown: None for c in constraints}
    full = {c.name: work.laws(c.residual) for c in constraints}
    direct = [c for c in constraints if variables_in(full[c.name], unknowns)]
    if not direct:
        return constraints
    others = [c for c in constraints if c not in direct]
    equations = stack(*(_or_nothing(c, full[c.name]) for c in direct))
    values, mixed = _direct_efforts(direct, equations)
    work.solve_direct(values)
    return others + mixed


def _or_nothing(constraint: Constraint, row: Block) -> Block:
    """The row, or that its effort is zero while it does not hold."""
    if constraint.active is None:
        return row
    return row + times(const(1.0) - constraint.active, constraint.unknown)


def _direct_efforts(
    direct: Sequence[Constraint], equations: Block
) -> tuple[dict[Block, Block], list[Constraint]]:
    """The efforts of `direct` rows, and the combinations of rows that T_LE leaves out."""
    unknowns = [c.unknown for c in direct]
    size = equations.rows
    y = leaf("direct efforts", size)
    joined = Substitution(_parts(unknowns, y))(equations)
    bases = rank_bases(_slope(joined, y))
    if bases is not None:
        return _split(direct, joined, y, bases)
    solution, _ = solution_of(unknowns, [equations], direct[0].part)
    return dict(zip(unknowns, solution, strict=True)), []


def _slope(joined: Block, y: Block) -> Block:
    """T_LE = d joined / d y, of rows that need not be linear in y."""
    direction = leaf("direction of direct efforts", y.rows)
    found = Coefficients([direction])(Tangent({y: direction})(joined))
    return found.get(direction, zeros(joined.rows, y.rows))


def _parts(unknowns: Sequence[Block], y: Block) -> dict[Block, Block]:
    result, first = {}, 0
    for unknown in unknowns:
        result[unknown] = rows(y, first, first + unknown.rows)
        first += unknown.rows
    return result


def _split(
    direct: Sequence[Constraint], joined: Block, y: Block, bases: RankBases
) -> tuple[dict[Block, Block], list[Constraint]]:
    """The mixed case: y = V1 alpha + V2 mu, U1^T r = 0 gives alpha, U2^T r = 0 holds for
    any alpha and mu and is differentiated, with mu as its unknown."""
    rank, left_over = bases.U1.shape[1], bases.U2.shape[1]
    name = " and ".join(c.name for c in direct)
    mu = leaf(f"{name}.mixed constraint", left_over)
    alpha = leaf(f"{name}.direct constraint", rank)
    regular = mul(const(bases.U1.T), joined)
    left = mul(const(bases.U2.T), Substitution({y: zeros(y.rows)})(joined))
    effort = linear((1.0, mul(const(bases.V1), alpha)), (1.0, mul(const(bases.V2), mu)))
    # rows depend on alpha alone: V2 mu is what T_LE does not see
    inner = Substitution({y: mul(const(bases.V1), alpha)})(regular)
    (value,), _ = solution_of([alpha], [inner], direct[0].part)
    whole = Substitution({alpha: value})(effort)
    labels = tuple(f"combination {i}" for i in range(left_over))
    written = mul(const(bases.U2.T), stack(*(c.residual for c in direct)))
    mixed = Constraint(name, direct[0].part, mu, labels, 0, left, None, None, written)
    mixed = replace(mixed, reciprocal=bases.U2 is bases.V2)
    return _parts([c.unknown for c in direct], whole), [mixed]


@dataclass(frozen=True, slots=True)
class Efforts:
    """Solution of the rows of case (15): the efforts one behind the other, the factor of
    H4, the one with what is `yielding` while a start is assembled, and the coefficients of the
    rows on the Z; `reactions` of the stores in derivative causality."""

    values: Block
    factor: Block | None
    yielding: Block | None
    rows_on_z: tuple[Mapping[Block, Block], ...]
    reactions: Mapping[Block, Block] = field(default_factory=dict)


def efforts_of(
    work: Derivation,
    constraints: Sequence[Constraint],
    residuals: Sequence[Block],
    rates: Mapping[Block, Block],
    spins: Mapping[Block, Block],
) -> Efforts:
    """Case (15): U2 from r' = 0 with the `rates` of all states, U2 in them still unknown.

    Where the rows reach the stores through the junction structure alone, H4 = J_C1 F1 J_C1^T
    is symmetric and sparse and is eliminated as such, with rows that repeat others; else r' is
    solved as it is.

    Raises AssemblyError for constraints on what other parts alone move.
    """
    if not constraints and not work.differential:
        return Efforts(zeros(0), None, None, ())
    unknowns = {c.unknown: None for c in constraints}
    known = _coefficients_on_z(work, constraints) if _is_plain(work, constraints) else None
    on_z = tuple(_gradients_on_z(work, constraints) if known is None else known)
    given = [_given(c) for c, row in zip(constraints, on_z, strict=True) if not row]
    if given:
        raise AssemblyError.of(given)
    idle = [c.active for c in constraints]
    spans = vectors_of(constraints)
    factor = yields = factor_of(on_z, work, idle, spans)
    if any(v.assembling is not None for v, _ in work.stores):
        yields = factor_of(on_z, work, idle, spans, yielding)
    reacting = reaction_equations(work, rates, spins)
    if known is not None and factor is not None:
        unforced = Substitution({u: zeros(u.rows) for u in unknowns})
        tangent = Tangent({state: unforced(rate) for state, rate in rates.items()}, spins)
        before = stack(*(tangent(r) for r in residuals))
        if not reacting:
            return Efforts(solve(factor, -before), factor, yields, on_z)
        part = _part(work, constraints)
        values, reactions = with_reactions(factor, before, [*unknowns], reacting, part)
        return Efforts(values, factor, yields, on_z, reactions)
    tangent = Tangent(rates, spins)
    equations = [
        tangent(r) if c.active is None else tangent(r) + times(const(1.0) - c.active, c.unknown)
        for c, r in zip(constraints, residuals, strict=True)
    ]
    solution, _ = solution_of(
        [*unknowns, *reacting], [*equations, *reacting.values()], _part(work, constraints)
    )
    found, reacted = solution[: len(unknowns)], solution[len(unknowns) :]
    values = stack(*found) if found else zeros(0)
    return Efforts(values, factor, yields, on_z, dict(zip(reacting, reacted, strict=True)))


def _given(c: Constraint) -> Problem:
    """The speed that a constraint is to keep at zero depends on no state: others give it; or
    nothing does, as the pressure of nodes that have no way to the rest."""
    if BALANCE in c.name:
        nodes = ", ".join(name.removesuffix(BALANCE) for name in c.name.split(" and "))
        what = (
            f"the flows at {nodes} do not tell all of the efforts there: they have no way to "
            "anything else, or depend on differences among them only."
        )
        remedy = "Join one of them to gnd, tank or the rest, or put a store (a volume) there."
        return Problem("error", c.part, what, remedy)
    what = f"the speed that {c.name} is to hold depends on no inertia: other parts alone give it."
    remedy = "Remove it, or one of the sources, drives, gears and fixed ends that give the speed."
    return Problem("error", c.part, what, remedy)


def _part(work: Derivation, constraints: Sequence[Constraint]) -> str:
    """The part to name in messages on the solution."""
    return constraints[0].part if constraints else work.differential[0][0].part


def vectors_of(constraints: Sequence[Constraint]) -> tuple[Span, ...]:
    """Unknowns (first, number) that are components of one force or torque: neighbours
    whose labels differ behind the last dot alone."""
    spans = []
    for c in constraints:
        heads = [label.rpartition(".")[0] for label in c.labels]
        for head, members in groupby(enumerate(heads), key=itemgetter(1)):
            places = [place for place, _ in members]
            if head.startswith(VECTORS) and len(places) > 1:
                spans.append((c.first + places[0], len(places)))
    return tuple(spans)


def _is_plain(work: Derivation, constraints: Sequence[Constraint]) -> bool:
    """Whether rows depend on nothing but Z, posture and time, and nothing but rates of
    stores depends on their efforts.  Efforts of case (14) may: of the mixed case they read their
    own combinations, which no conductance sees."""
    unknowns = {c.unknown: None for c in constraints}
    if not all(c.reciprocal for c in constraints):
        return False
    joined = {c.unknown for c in constraints if c.combined is not None}
    apart = {u: None for u in unknowns if u not in joined}
    if any(variables_in(value, apart) for value in work.direct.values()):
        return False
    graph = work.causal.graph
    z = {coenergy(v) for v, _ in work.stores}
    others = {v: None for v in work.structure.definitions if v not in z}
    moving: dict[Block, None] = {s.state: None for s in graph.signal_states}
    for c in constraints:
        residual = work.structure.resolve(c.residual)
        if variables_in(residual, others | moving):
            return False
    return not any(variables_in(work.laws.values[v], unknowns) for v in others)


def _coefficients_on_z(
    work: Derivation, constraints: Sequence[Constraint]
) -> list[dict[Block, Block]] | None:
    """Coefficients of each row on the Z; None where one is not linear in them: a ratio reads
    a speed.  Combinations of the mixed case have no conductance left: their gradients."""
    rows_of = Coefficients(coenergy(v) for v, _ in work.stores)
    try:
        written = [
            rows_of(work.structure.resolve(c.residual)) for c in constraints if c.combined is None
        ]
    except ValueError:
        return None
    return written if len(written) == len(constraints) else _gradients_on_z(work, constraints)


def _gradients_on_z(
    work: Derivation, constraints: Sequence[Constraint]
) -> list[dict[Block, Block]]:
    """The gradient of each row by the Z."""
    z = [coenergy(v) for v, _ in work.stores]
    again = Variables(work.structure, kept=frozenset(z))
    directions = {leaf_: leaf(f"direction of {leaf_.data}", leaf_.rows) for leaf_ in z}
    tangent = Tangent(directions)
    rows_of = Coefficients(directions.values())
    back = {direction: leaf_ for leaf_, direction in directions.items()}
    unforced = Substitution({c.unknown: zeros(c.unknown.rows) for c in constraints})
    close = Substitution(work.direct)
    laws = Substitution({leaf_: work.laws.values[leaf_] for leaf_ in z})
    result = []
    for c in constraints:
        written = c.residual if c.combined is None else c.combined
        slopes = rows_of(tangent(unforced(close(again(written)))))
        result.append({back[d]: laws(matrix) for d, matrix in slopes.items()})
    return result
