"""Steps that bring states onto the constraints, in the mass metric (mathematics.md, 5).

Where a store is to stay as written while others can move (`Assembling`), the metric has its
compliance for that; a step of its flow is then brought about by its own change of momentum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vbg.assemble.derive.derivation import Derivation, compliance, yielding
from vbg.assemble.derive.equations import HeldRow, HeldStart
from vbg.assemble.derive.junction_structure import coenergy
from vbg.blocks import (
    Block,
    Coefficients,
    Span,
    Substitution,
    const,
    identity,
    is_zero,
    leaf,
    linear,
    mul,
    rows,
    solve,
    symmetric_factor,
    times,
    transpose,
    zeros,
)
from vbg.graph.bondgraph import Vertex

Rows = Sequence[tuple[Mapping[Block, Block], Block]]  # coefficients on the Z, and the unknown
Slope = Callable[[Vertex], Block]  # F of a store


def factor_of(
    rows_of: Sequence[Mapping[Block, Block]],
    work: Derivation,
    active: Sequence[Block | None] = (),
    vectors: tuple[Span, ...] = (),
    slope: Slope = compliance,
) -> Block | None:
    """Factor of H4 for constraint rows given by their coefficients on the Z, with the stores'
    `slope`.  Rows that are not `active` are zero; 1 on their diagonal gives them the effort zero.
    `vectors`: see `symmetric_factor`."""
    if not rows_of:
        return None
    compliances = {coenergy(v): slope(v) for v, _ in work.stores}
    sizes = tuple(next(iter(row.values())).rows for row in rows_of)
    pieces = work.products.pieces(rows_of, compliances)
    for i, mode in enumerate(active):
        if mode is not None:
            pieces.append((i, i, 0, 0, times(const(1.0) - mode, identity(sizes[i]))))
    return symmetric_factor(sizes, pieces, vectors)


def correction_steps(
    work: Derivation, given_way: Mapping[Block, Block], impulses: Mapping[Block, Block]
) -> tuple[dict[Block, Block], dict[Block, Block], dict[Block, Block]]:
    """Steps along constraint directions, of the posture in the mass metric, M^-1 G^T H4^-1 rhs,
    and of the stores' states, from those by the Z, G^T H4^-1 rhs where the junction structure
    alone stands between efforts and stores (mathematics.md, section 5): both as while a start is
    assembled, since what rounding leaves of rows is to bend no flexible body; and of the stores
    by impulses, the same where there is none."""
    velocity = steps_of_stores(work, given_way, yielding)
    struck = velocity if impulses is given_way else steps_of_stores(work, impulses, compliance)
    return _of_posture(work, given_way), velocity, struck


def impulses_of(rows_of: Rows, multipliers: Block) -> dict[Block, Block]:
    """G^T multipliers by the Z of the stores."""
    impulses: dict[Block, list[tuple[float, Block]]] = {}
    first = 0
    for coefficients, unknown in rows_of:
        part = rows(multipliers, first, first + unknown.rows)
        first += unknown.rows
        for z, matrix in coefficients.items():
            impulses.setdefault(z, []).append((1.0, mul(transpose(matrix), part)))
    return {z: linear(*terms) for z, terms in impulses.items()}


def steps_of_stores(
    work: Derivation, steps: Mapping[Block, Block], slope: Slope
) -> dict[Block, Block]:
    """Steps of the stores' states."""
    found = {}
    for v, _ in work.stores:
        if v.state is not None and (z := coenergy(v)) in steps:
            step, way = steps[z], v.assembling if slope is yielding else None
            found[v.state] = step if way is None else mul(way.change, step)
    return found


def _of_posture(work: Derivation, steps: Mapping[Block, Block]) -> dict[Block, Block]:
    """Steps of the configurations."""
    still = {coenergy(v): zeros(v.size) for v, _ in work.stores}
    # what passes through resistors or signals does not move with an impulse
    still |= {v: zeros(v.rows) for v in work.laws.values if v not in still}
    moves = Substitution(
        still
        | {z: mul(yielding(v), steps[z]) for v, _ in work.stores if (z := coenergy(v)) in steps}
    )
    at_rest = Substitution(still)
    posture = {}
    for c in work.causal.graph.configurations:
        flow = work.structure.resolve(c.flow)
        step = moves(flow) - at_rest(flow)
        rate = Substitution({c.flow: step})(c.rate)
        if not is_zero(rate):
            posture[c.state] = rate
    return posture


def held_values(work: Derivation, known: Rows, rows_of: Coefficients) -> HeldStart:
    """Start coordinates whose value the engineer wrote."""
    held = [h for h in work.causal.graph.held if h.target is not None]
    rows_here = tuple(HeldRow(h.name, work.in_states(h.value), h.target or 0.0) for h in held)
    flows = [work.structure.resolve(h.flow) for h in held]
    steps, size = _with_held(work, known, [rows_of(f) for f in flows])
    return HeldStart(rows_here, _of_posture(work, steps) if size else {}, size)


def held_speeds(work: Derivation, known: Rows, rows_of: Coefficients) -> HeldStart:
    """Start coordinates whose speed the engineer wrote."""
    held = [h for h in work.causal.graph.held if h.speed is not None]
    flows = [work.structure.resolve(h.flow) for h in held]
    rows_here = tuple(
        HeldRow(h.name, work.laws(flow), h.speed or 0.0)
        for h, flow in zip(held, flows, strict=True)
    )
    steps, size = _with_held(work, known, [rows_of(f) for f in flows])
    return HeldStart(rows_here, steps_of_stores(work, steps, yielding), size)


def _with_held(
    work: Derivation,
    known: Rows,
    of_held: Sequence[Mapping[Block, Block]],
) -> tuple[dict[Block, Block], int]:
    """Impulses of the stores with held coordinates as further constraint rows, and the number
    of rows."""
    if not of_held:
        return {}, 0
    factor = factor_of([*(row for row, _ in known), *of_held], work, slope=yielding)
    assert factor is not None  # there are rows
    held = [(row, leaf(f"held {i}", 1)) for i, row in enumerate(of_held)]
    multipliers = solve(factor, leaf("correction", factor.rows))
    return impulses_of([*known, *held], multipliers), factor.rows
