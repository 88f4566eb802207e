"""Rows beside H4, and what impulses of all rows change in the stores.

With the rates of the states linear in the unknown efforts u, those of constraints and the
reactions e of dependent stores,

    X1' = ... + W u,     r' = ... + G F W u,     e = ... + D u   (`reaction_equations`),

impulses that change what the rows prescribe by c follow from G F W u = c and e = D u, and step the
stores by W u.  Through the junction structure alone W = G^T and G F W = H4.  A source that reads
the motion has in G what it reads and in W what it acts on: who reads a speed does not push it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from vbg.assemble.derive.corrections import Rows, Slope, factor_of, impulses_of
from vbg.assemble.derive.derivation import Derivation
from vbg.assemble.derive.differential import with_reactions
from vbg.assemble.derive.equations import Constraint
from vbg.assemble.derive.junction_structure import coenergy
from vbg.assemble.derive.variables import solution_of, variables_in
from vbg.blocks import (
    Block,
    Coefficients,
    NotLinear,
    Span,
    Substitution,
    const,
    is_zero,
    leaf,
    linear,
    mul,
    rows,
    solve,
    stack,
    times,
    zeros,
)

CORRECTION = "correction"  # the change c of all rows


@dataclass(frozen=True, slots=True)
class Impulses:
    """The efforts of all rows, one behind the other (None without rows), and the steps W u of the
    stores by their Z; whether these are all of what efforts do to the stores."""

    multipliers: Block | None
    steps: Mapping[Block, Block]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Parted:
    """Rows of case (15) with their coefficients on the Z.  Those whose unknowns are `apart` do not
    read, or do not act, through the junction structure alone: they are solved beside H4, whose
    rows may repeat others."""

    constraints: Sequence[Constraint]
    on_z: Sequence[Mapping[Block, Block]]
    apart: Set[Block]
    vectors: tuple[Span, ...]
    where: str

    @property
    def unknowns(self) -> list[Block]:
        return [c.unknown for c in self.constraints]

    @property
    def without(self) -> Substitution:
        """No efforts of the rows of H4."""
        return Substitution({u: zeros(u.rows) for u in self.unknowns if u not in self.apart})

    def _each(self, whole: Block) -> dict[Block, Block]:
        """By unknown what of all rows one behind the other is its own."""
        return {c.unknown: rows(whole, c.first, c.first + c.unknown.rows) for c in self.constraints}

    def factor(self, work: Derivation, slope: Slope) -> Block | None:
        """Of H4; rows that are apart are 1 there."""
        of_h4 = [
            {z: zeros(*G.shape) for z, G in row.items()} if c.unknown in self.apart else row
            for c, row in zip(self.constraints, self.on_z, strict=True)
        ]
        idle = [const(0.0) if c.unknown in self.apart else c.active for c in self.constraints]
        return factor_of(of_h4, work, idle, self.vectors, slope)

    def solved(
        self, factor: Block | None, equations: Sequence[Block], reacting: Mapping[Block, Block]
    ) -> tuple[Block, dict[Block, Block]]:
        """The efforts that make all `equations` vanish, and the reactions that make those that are
        `reacting`.  Raises NotLinear where equations of H4 are not linear in what is apart."""
        pairs = list(zip(self.constraints, equations, strict=True))
        alone = {c.unknown: one + unheld(c) for c, one in pairs if c.unknown in self.apart}
        alone |= reacting
        if factor is None and not alone:
            return zeros(0), {}
        if factor is None or len(self.apart) == len(self.constraints):
            found, _ = solution_of([*alone], [*alone.values()], self.where)
            known = dict(zip(alone, found, strict=True))
            values = stack(*(known[u] for u in self.unknowns)) if self.unknowns else zeros(0)
            return values, known
        without = self.without
        before = stack(
            *(zeros(one.rows) if c.unknown in self.apart else without(one) for c, one in pairs)
        )
        if not alone:
            return solve(factor, -before), {}
        values, known = with_reactions(factor, before, self.unknowns, alone, self.where)
        if not self.apart:
            return values, known
        every = self._each(values) | known
        return stack(*(every[u] for u in self.unknowns)), known

    def impulses(
        self,
        work: Derivation,
        rates: Mapping[Block, Block],
        reacting: Mapping[Block, Block],
        slope: Slope,
    ) -> Impulses:
        """For the change `CORRECTION` of the rows, with the slopes F of the stores.  Where efforts
        do not act linearly W is G^T, and not the whole: an effort of |u| steps stores, too, one
        that is bounded does not."""
        try:
            return self._impulses(work, rates, reacting, slope)
        except NotLinear:
            through = replace(self, apart=frozenset())._impulses(work, rates, {}, slope)
            return replace(through, whole=False)

    def _impulses(
        self,
        work: Derivation,
        rates: Mapping[Block, Block],
        reacting: Mapping[Block, Block],
        slope: Slope,
    ) -> Impulses:
        factor = self.factor(work, slope)
        if factor is None:
            return Impulses(None, {})
        asked = leaf(CORRECTION, factor.rows)
        if not self.apart and not reacting:
            multipliers = solve(factor, asked)
            pairs = list(zip(self.on_z, self.unknowns, strict=True))
            return Impulses(multipliers, impulses_of(pairs, multipliers))
        impulsive = _linear_part([*self.unknowns, *reacting])
        into, moves = dict[Block, Block](), dict[Block, Block]()
        for v, _ in work.stores:
            if v.state is not None:
                into[coenergy(v)] = rate = impulsive(rates[v.state])
                moves[coenergy(v)] = mul(slope(v), rate)
        changes = [
            linear((-1.0, c), *((1.0, mul(G, moves[z])) for z, G in row.items() if z in moves))
            for c, row in zip(self._each(asked).values(), self.on_z, strict=True)
        ]
        multipliers, known = self.solved(
            factor, changes, {e: impulsive(one) for e, one in reacting.items()}
        )
        close = Substitution(known | self._each(multipliers))
        steps = {z: step for z, rate in into.items() if not is_zero(step := close(rate))}
        return Impulses(multipliers, steps)

    def reached(self, work: Derivation, rates: Mapping[Block, Block], reacting: Set[Block]) -> Rows:
        """The rows with their unknowns, of those that are apart less what their efforts do not
        move: a start is not brought onto them by what a source reads."""
        if not self.apart:
            return list(zip(self.on_z, self.unknowns, strict=True))
        moving = {
            coenergy(v): variables_in(rates[v.state], dict.fromkeys([*self.unknowns, *reacting]))
            for v, _ in work.stores
            if v.state is not None
        }
        found: list[tuple[Mapping[Block, Block], Block]] = []
        for u, row in zip(self.unknowns, self.on_z, strict=True):
            acting = {u, *reacting}
            near = {z: G for z, G in row.items() if acting & moving.get(z, set())}
            found.append((near if near and u in self.apart else row, u))
        return found


def unheld(c: Constraint) -> Block:
    """What makes the effort of a row zero while it does not hold."""
    if c.active is None:
        return zeros(c.unknown.rows)
    return times(const(1.0) - c.active, c.unknown)


def _linear_part(unknowns: Sequence[Block]) -> Callable[[Block], Block]:
    """What of a block is proportional to the unknowns."""
    coefficients = Coefficients(unknowns)

    def part(block: Block) -> Block:
        terms = [(1.0, mul(W, u)) for u, W in coefficients(block).items()]
        return linear((0.0, zeros(block.rows)), *terms)

    return part
