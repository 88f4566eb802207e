"""Stores in derivative causality: their state follows from others, its rate is what they impose.

An I receives its flow f and imposes the effort e = p', p the root of law(p) = f; a C receives
its effort and imposes the flow f = q', likewise.  The rate p' contains the rates of the
independent states and these the efforts e, so that

    e - p'(X1', X1, t) = 0,   X1' = f0 + J_1e e + J_1u2 U2

is solved together with the constraint rows (vector-bond-graph.txt, section II, calls this
the usual way, which constraint sources replace).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from vbg.assemble.derive.derivation import Derivation
from vbg.assemble.derive.junction_structure import reaction
from vbg.assemble.derive.variables import solution_of, variables_in
from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    const,
    leaf,
    linear,
    mul,
    rows,
    solve,
    stack,
    zeros,
)
from vbg.errors import AssemblyError, Problem
from vbg.graph.bondgraph import Bond, Vertex


def define_dependent_states(work: Derivation) -> None:
    """Writes the state of every store in derivative causality in terms of the others'."""
    for vertex, bond in work.differential:
        assert vertex.state is not None and vertex.law is not None
        structure = work.structure
        received = structure.flow(bond) if vertex.kind == "I" else structure.effort(bond)
        equation = structure.resolve(vertex.law) - received
        (value,), _ = solution_of([vertex.state], [equation], vertex.part)
        structure.definitions[vertex.state] = value


def reaction_equations(
    work: Derivation, rates: Mapping[Block, Block], spins: Mapping[Block, Block]
) -> dict[Block, Block]:
    """What vanishes for each unknown reaction: reaction - rate of the dependent state.

    Raises AssemblyError where a dependent state follows from a reaction or a constraint
    effort itself: its rate would need theirs.
    """
    tangent = Tangent(rates, spins)
    result = {}
    unknowns = _unknowns(work)
    for vertex, bond in work.differential:
        assert vertex.state is not None
        state = work.in_states(vertex.state)
        if variables_in(state, unknowns):
            raise AssemblyError.of([_not_of_states(vertex)])
        unknown = reaction(vertex)
        result[unknown] = linear((1.0, unknown), (-_sign(vertex, bond), tangent(state)))
    return result


def with_reactions(
    factor: Block,
    before: Block,
    unknowns: Sequence[Block],
    reacting: Mapping[Block, Block],
    where: str,
) -> tuple[Block, dict[Block, Block]]:
    """The efforts U2 and the reactions e of H4 U2 + h0 + B e = 0, whose `before` is h0 + B e, and
    of the `reacting` equations d(U2, e) = 0: with U2 = -H4^-1 h0 - H4^-1 B e these are as many
    as there are reactions.  H4 by its `factor`, so that rows may repeat others: efforts of
    which no store sees anything are not in d either."""
    size = sum(e.rows for e in reacting)
    joined = leaf("reactions", size)
    parts = _spread([*reacting], joined)
    known = Substitution(parts)(before)
    B = Coefficients([joined])(known).get(joined, zeros(before.rows, size))
    alone = solve(factor, -Substitution({joined: zeros(size)})(known))
    moved = [solve(factor, mul(B, const(column[:, None]))) for column in np.eye(size)]
    shares = [mul(each, rows(joined, i, i + 1)) for i, each in enumerate(moved)]
    efforts = linear((1.0, alone), *((-1.0, share) for share in shares))
    close = Substitution(_spread(unknowns, efforts) | parts)
    (value,), _ = solution_of([joined], [close(stack(*reacting.values()))], where)
    found = _spread([*reacting], value)
    return solve(factor, -Substitution(found)(before)), found


def _spread(unknowns: Sequence[Block], whole: Block) -> dict[Block, Block]:
    """The unknowns as rows of a vector of all."""
    result, first = {}, 0
    for unknown in unknowns:
        result[unknown] = rows(whole, first, first + unknown.rows)
        first += unknown.rows
    return result


def _sign(vertex: Vertex, bond: Bond) -> float:
    """+1 where power is positive into the store."""
    return 1.0 if bond.head == vertex.name else -1.0


def _unknowns(work: Derivation) -> dict[Block, None]:
    reactions: Iterable[Block] = (reaction(v) for v, _ in work.differential)
    efforts = (v.state for v, _ in work.sources if v.state is not None)
    return dict.fromkeys((*reactions, *efforts))


def _not_of_states(vertex: Vertex) -> Problem:
    return Problem(
        "error",
        vertex.part or vertex.name,
        "in derivative causality its state would follow from forces, not from other states.",
        '(1) Write causality = "integral" in [simulate], or (2) put a compliance or a resistance '
        "between it and the stores it is tied to.",
    )
