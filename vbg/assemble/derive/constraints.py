"""Constraint sources: the rows that must vanish and the efforts that make them.

A row whose constrained flow depends on constraint efforts (through a resistance) gives
them without a derivative: case (14) of vector-bond-graph.txt.  A row that does not is
differentiated once: case (15).  Where T_LE is singular but not zero, its rows are split
by rank: the regular combinations as (14), the others as (15); see
docs/derivations/mixed-case.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from vbg.assemble.derive.corrections import Rows
from vbg.assemble.derive.derivation import Derivation, compliance, yielding
from vbg.assemble.derive.differential import reaction_equations
from vbg.assemble.derive.equations import Constraint
from vbg.assemble.derive.impulses import Impulses, Parted
from vbg.assemble.derive.junction_structure import coenergy
from vbg.assemble.derive.ranks import RankBases, rank_bases
from vbg.assemble.derive.variables import Variables, solution_of, variables_in
from vbg.blocks import (
    Block,
    Coefficients,
    NotLinear,
    Span,
    Substitution,
    Tangent,
    const,
    leaf,
    linear,
    mul,
    rows,
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
    """Solution of the rows of case (15): the efforts one behind the other, the factor of H4, the
    rows' coefficients on the Z, also without what their efforts do not move, the reactions of the
    stores in derivative causality; impulses, and those in which what is `yielding` gives way as
    while a start is assembled."""

    values: Block
    factor: Block | None
    on_z: Sequence[Mapping[Block, Block]]
    reached: Rows
    reactions: Mapping[Block, Block]
    impulses: Impulses
    yielding: Impulses

    @property
    def steps(self) -> tuple[Mapping[Block, Block], Mapping[Block, Block]]:
        """Of the stores by their Z: as while a start is assembled, and by impulses."""
        return self.yielding.steps, self.impulses.steps


def efforts_of(
    work: Derivation,
    constraints: Sequence[Constraint],
    residuals: Sequence[Block],
    rates: Mapping[Block, Block],
    spins: Mapping[Block, Block],
) -> Efforts:
    """Case (15): U2 from r' = 0 with the `rates` of all states, U2 in them still unknown.

    Where the rows reach the stores through the junction structure alone, H4 = J_C1 F1 J_C1^T
    is symmetric and sparse and is eliminated as such, with rows that repeat others; the others
    are solved beside it.

    Raises AssemblyError for constraints on what other parts alone move.
    """
    parted = _parted(work, constraints)
    given = [_given(c) for c, row in zip(constraints, parted.on_z, strict=True) if not row]
    if given:
        raise AssemblyError.of(given)
    reacting = reaction_equations(work, rates, spins)
    try:
        factor, values, found = _solved(work, parted, residuals, rates, spins, reacting)
    except NotLinear:  # rows of H4 are not linear in efforts beside it
        parted = replace(parted, apart=frozenset(parted.unknowns))
        factor, values, found = _solved(work, parted, residuals, rates, spins, reacting)
    impulses = given_way = parted.impulses(work, rates, reacting, compliance)
    if any(v.assembling is not None for v, _ in work.stores):
        given_way = parted.impulses(work, rates, reacting, yielding)
    return Efforts(
        values,
        factor,
        parted.on_z,
        parted.reached(work, rates, reacting.keys()),
        {e: found[e] for e in reacting},
        impulses,
        given_way,
    )


def _solved(
    work: Derivation,
    parted: Parted,
    residuals: Sequence[Block],
    rates: Mapping[Block, Block],
    spins: Mapping[Block, Block],
    reacting: Mapping[Block, Block],
) -> tuple[Block | None, Block, dict[Block, Block]]:
    """The factor of H4, the efforts, and what is solved beside it."""
    without, whole = parted.without, Tangent(rates, spins)
    # rates of rows of H4 are shorter without the efforts that they are solved for
    inner = Tangent({state: without(rate) for state, rate in rates.items()}, spins)
    equations = [
        whole(r) if u in parted.apart else inner(r)
        for u, r in zip(parted.unknowns, residuals, strict=True)
    ]
    factor = parted.factor(work, compliance)
    return factor, *parted.solved(factor, equations, reacting)


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


def _parted(work: Derivation, constraints: Sequence[Constraint]) -> Parted:
    """The rows, less those that depend on more than Z, posture and time, or not linearly on Z (a
    ratio reads a speed), or on whose efforts more depends than rates of stores.  Efforts of case
    (14) may: of the mixed case they read their own combinations, which no conductance sees."""
    unknowns = {c.unknown: None for c in constraints}
    z = {coenergy(v): None for v, _ in work.stores}
    others = {v: None for v in work.structure.definitions if v not in z}
    moving: dict[Block, None] = {s.state: None for s in work.causal.graph.signal_states}
    combined = {c.unknown for c in constraints if c.combined is not None}
    apart = {c.unknown for c in constraints if not c.reciprocal}
    for v in others:
        apart |= variables_in(work.laws.values[v], unknowns)
    for value in work.direct.values():
        apart |= variables_in(value, unknowns) - combined
    rows_of, on_z = Coefficients(z), dict[Block, Mapping[Block, Block]]()
    for c in constraints:
        residual = work.structure.resolve(c.residual)
        if variables_in(residual, others | moving):
            apart.add(c.unknown)
        elif c.combined is None and (row := _linear(rows_of, residual)) is not None:
            on_z[c.unknown] = row
        elif c.combined is None:
            apart.add(c.unknown)
    on_z |= _gradients_on_z(work, [c for c in constraints if c.unknown not in on_z], unknowns)
    where = _part(work, constraints) if constraints or work.differential else ""
    ordered = tuple(on_z[u] for u in unknowns)
    return Parted(constraints, ordered, apart, vectors_of(constraints), where)


def _linear(rows_of: Coefficients, residual: Block) -> dict[Block, Block] | None:
    """The coefficients of a row; None where it is not linear."""
    try:
        return rows_of(residual)
    except NotLinear:
        return None


def _gradients_on_z(
    work: Derivation, constraints: Sequence[Constraint], unknowns: Iterable[Block]
) -> dict[Block, Mapping[Block, Block]]:
    """The gradient of each row by the Z, without efforts, which are the `unknowns`."""
    if not constraints:
        return {}
    z = [coenergy(v) for v, _ in work.stores]
    again = Variables(work.structure, kept=frozenset(z))
    directions = {leaf_: leaf(f"direction of {leaf_.data}", leaf_.rows) for leaf_ in z}
    tangent = Tangent(directions)
    rows_of = Coefficients(directions.values())
    back = {direction: leaf_ for leaf_, direction in directions.items()}
    unforced = Substitution({u: zeros(u.rows) for u in unknowns})
    close = Substitution(work.direct)
    laws = Substitution({leaf_: work.laws.values[leaf_] for leaf_ in z})
    result: dict[Block, Mapping[Block, Block]] = {}
    for c in constraints:
        written = c.residual if c.combined is None else c.combined
        slopes = rows_of(tangent(unforced(close(again(written)))))
        result[c.unknown] = {back[d]: laws(matrix) for d, matrix in slopes.items()}
    return result
