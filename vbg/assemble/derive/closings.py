"""Constraint efforts that go on from where one elimination has left them.

What rounding leaves of the rows is seen in the rows themselves, so that it can be taken away by
conjugate gradients with the elimination as preconditioner (M. Hestenes and E. Stiefel, J. Res. NBS
49, 1952).  One elimination of H4 = G M^-1 G^T is off by rounding times the square of the condition
of M^-1/2 G^T; products with G^T and M^-1 one behind the other by rounding times that condition
only.  Whatever the elimination has made of a direction that is lost in its rounding, a step whose
length is sought finds it again: each step leaves the least energy, (a - a*)^T M (a - a*) of the
accelerations, that its directions allow (docs/derivations/redundancy.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vbg.assemble.derive.equations import Equations
from vbg.blocks import (
    Block,
    Substitution,
    call,
    const,
    divide,
    dot,
    linear,
    mul,
    smallest,
    solve,
    times,
    whole,
)

Steps = Mapping[Block, Block]  # of the stores' states
Left = Callable[[Steps], Block]  # what these leave of the rows


def closed(
    e: Equations, rates: Steps, efforts: Block, left: Left, steps: int
) -> tuple[Steps, Block]:
    """Rates of states and the constraint efforts U2 that cause them, so many steps further:

        r = left(rates),  z = H4^-1 r,  w = z - (G^T z, G^T w') / (G^T w', G^T w') w',
        a = r^T w / (G^T w, G^T w),  U2 + a w,  rates + a G^T w

    with (p, q) = p^T M^-1 q, those of the step before marked '; a step of nothing where nothing
    is left.  Both shares are computed as they stand, not from residuals of other steps, since what
    is left soon is rounding, which knows no recurrence; and in the energy of the stores, in which
    nothing of what large efforts do to light bodies is lost.  z is that of the kept rows alone:
    beside the joints, what is left of rows that depend on others does not vanish.
    """
    assert e.factor is not None and e.multipliers is not None  # there are efforts
    way, energy = efforts, efforts
    moved: Steps = {}
    for number in range(steps):
        rates, efforts = {s: whole(v) for s, v in rates.items()}, whole(efforts)
        right = left(rates)
        towards = solve(e.factor, right, alone=True)
        moves = Substitution({e.multipliers: towards})
        moves_of = {s: moves(v) for s, v in e.struck.items() if s in rates}
        if number == 0:
            way, moved = towards, moves_of
        else:
            turn = -_ratio(_energy(e, moves_of, moved), energy)
            way = towards + times(turn, way)
            moved = {s: v + times(turn, moved[s]) for s, v in moves_of.items()}
        energy = _energy(e, moved, moved)
        length = _ratio(dot(right, way), energy)
        rates = {**rates, **{s: rates[s] + times(length, v) for s, v in moved.items()}}
        efforts = efforts + times(length, way)
    return rates, efforts


def closed_rates(e: Equations, left: Left, steps: int) -> tuple[Steps, Block]:
    """All rates, and the efforts that cause them."""
    return _with_others(e, *closed(e, e.rates, e.efforts, left, steps))


def closed_smallest(e: Equations, left: Left, steps: int) -> tuple[Steps, Block]:
    """The same of the smallest efforts: of the kept rows alone, shared with those that depend on
    them, and closed again, since sharing is elimination, too."""
    assert e.factor is not None  # there are efforts
    alone = solve(e.factor, e.efforts.args[1], alone=True)
    _, efforts = closed(e, _caused(e, alone), alone, left, steps)
    shared = smallest(e.factor, efforts)
    return _with_others(e, *closed(e, _caused(e, shared), shared, left, steps))


def _with_others(e: Equations, rates: Steps, efforts: Block) -> tuple[Steps, Block]:
    """With what else reads efforts: what drives supply, and signals."""
    return {**_caused(e, efforts), **{s: rates[s] for s in e.struck if s in rates}}, efforts


def _caused(e: Equations, efforts: Block) -> Steps:
    """Rates of the states by these efforts."""
    by = Substitution({e.efforts: efforts})
    return {state: by(rate) for state, rate in e.rates.items()}


def _energy(e: Equations, p: Steps, q: Steps) -> Block:
    """p^T M^-1 q of changes of the stores' states."""
    each = ((1.0, dot(v, mul(e.slopes[s], q[s]))) for s, v in p.items())
    return linear((1.0, const(0.0)), *each)


def _ratio(a: Block, b: Block) -> Block:
    """a / b, and 0 where b is nothing."""
    there = call("positive", call("abs", b))
    return times(there, divide(a, call("select", there, b, const(1.0))))
