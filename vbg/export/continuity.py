"""Whether a function of states that is written by cases is continuous where it goes from one to
another: `if(x > 0.4, 0.3*(x - 0.4), 0)` is, as is `y*sign(y)`.

What a case differs by from the other is looked at where the condition c is zero.  There

    D = R(case above) - R(case below),   c = a z + b,  a constant, b free of the entry z of a leaf,

is a function of all else, as z = -b/a; where nothing in it is written by cases it is analytic, and
one that vanishes at random places vanishes wherever it has a value.  (Of an a that is zero
somewhere c may have further zeros there, for any z: none of the random ones.)  Cases within D
whose condition is constant on c = 0 are known; of others each must leave nothing of D, so that
none is overlooked that random places do not meet.  What cannot be decided so counts as a jump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import Block, Coefficients, NotLinear, Substitution, call, const, dependencies, leaf

Array = NDArray[np.float64]

PLACES = 8  # at random; as many as `ENOUGH` of them must have values
ENOUGH = 4
CASES = 64  # that are looked through at most
ROUNDING = 1e-13  # of what is subtracted, and of what the place is known to
BESIDE = 1e-6  # of the place: where the slope of D is seen
OPAQUE = ("floor", "atan2", "sqrt", "asin", "acos")  # with branches: sqrt(x^2) is |x|


def is_continuous(function: Block, node: Block) -> bool:
    """Whether `function` surely does not jump where `node` in it, a select or a sign, goes from
    one case to the other."""
    cases = _cases(node)
    if cases is None:
        return False
    condition, *sides = cases
    if sides[0] == sides[1]:  # that it has a value is all that is asked
        return True
    above, below = (Substitution({node: side})(function) for side in sides)
    for count, plain in enumerate(_by_cases(condition)):
        if count == CASES or not _vanishes(plain, above, below):
            return False
    return True


def _cases(node: Block) -> tuple[Block, Block, Block] | None:
    """The condition of a function by cases, what it is where that is above zero, and below."""
    if node.op != "call":
        return None
    a, *others = node.args
    match node.data:
        case "select":
            return a, others[0], others[1]
        case "sign":
            return a, const(1.0), const(-1.0)
        case "positive":
            return a, const(1.0), const(0.0)
        case "abs":
            return a, a, -a
        case "max":
            return a - others[0], a, others[0]
        case "min":
            return a - others[0], others[0], a
    return None


def _first(block: Block) -> Block | None:
    """The first function by cases in `block`, whose arguments have none."""
    return next((n for n in dependencies([block]) if _cases(n) is not None or _opaque(n)), None)


def _opaque(node: Block) -> bool:
    if node.op == "call" and node.data == "power":
        b = node.args[1]
        return not (b.is_const and float(b.data[0, 0]).is_integer())
    return node.op == "lookup" or (node.op == "call" and node.data in OPAQUE)


def _any_value(node: Block) -> Block:
    return leaf(f"any value of {node.key.hex()}", node.rows, node.cols)


def _by_cases(block: Block) -> Iterator[Block]:
    """`block` in each combination of its cases: where it is zero, one of these is."""
    node = _first(block)
    if node is None:
        yield block
        return
    cases = _cases(node)
    for side in (_any_value(node),) if cases is None else cases[1:]:
        yield from _by_cases(Substitution({node: side})(block))


def _vanishes(condition: Block, above: Block, below: Block) -> bool:
    """Whether above - below is zero wherever the condition is, which has no cases."""
    places = _Places.where(condition, [above, below])
    if places is None:
        return condition.is_const and bool(condition.data[0, 0] != 0.0)
    pending, count = [(above, below)], 0
    while pending:
        a, b = pending.pop()
        node = _first(a - b)
        if node is None:
            if not places.agree(a, b):
                return False
            continue
        count += 1
        if count > CASES:
            return False
        pending += [
            (chosen(a), chosen(b))
            for chosen in (Substitution({node: side}) for side in _sides(node, places))
        ]
    return True


def _sides(node: Block, places: _Places) -> Sequence[Block]:
    """What a node in D is on the condition's zeros, as far as it is known."""
    cases = _cases(node)
    if cases is None:
        known = [places.constant(arg) for arg in node.args] if node.op == "call" else [None]
        given = [const(value) for value in known if value is not None]
        return (call(node.data, *given) if len(given) == len(known) else _any_value(node),)
    condition, above, below = cases
    value = places.constant(condition)
    if not value:
        return above, below
    return (above,) if value > 0.0 else (below,)


class _Places:
    """Random places at which a condition is zero: values of all leaves, one row each."""

    def __init__(self, leaves: list[Block], at: Array, moved: int):
        self.leaves, self.at, self._moved = leaves, at, moved

    @staticmethod
    def where(condition: Block, blocks: Sequence[Block]) -> _Places | None:
        """None where the condition is linear in no leaf, with constant coefficients."""
        leaves = _leaves([condition, *blocks])
        at = np.random.default_rng(0).standard_normal(
            (PLACES, sum(b.rows * b.cols for b in leaves))
        )
        first = 0
        for z in leaves:
            slopes = _slopes(condition, z)
            if slopes is not None:
                entry = int(np.argmax(np.abs(slopes)))
                every = _Places(leaves, at, first + entry)
                return every._on(condition, float(slopes[entry]))
            first += z.rows * z.cols
        return None

    def _on(self, condition: Block, slope: float) -> _Places:
        """With one entry moved to where the condition is zero; the second step is rounding."""
        at = self.at.copy()
        for _ in range(2):
            values = _Places(self.leaves, at, self._moved)._all(condition)
            at[:, self._moved] -= values[:, 0] / slope
        return _Places(self.leaves, at[np.isfinite(at).all(axis=1)], self._moved)

    def _all(self, block: Block) -> Array:
        """Values, those of a place in each row."""
        others = [one for one in _leaves([block]) if one not in self.leaves]  # any values
        given = {f"{i}": one for i, one in enumerate([*self.leaves, *others])}
        evaluate = Evaluator(lower({"value": block}, given | {"t": leaf("no time", 1)}))
        found = np.full((len(self.at), block.rows * block.cols), np.nan)
        at = np.hstack([self.at, *(_random(one)[: len(self.at)] for one in others)])
        for row, x in zip(found, at, strict=True):
            try:
                row[:] = evaluate(0.0, x)
            except ZeroDivisionError:  # it has no value there
                continue
        return found

    def values(self, block: Block) -> Array:
        """Those that there are, of all entries."""
        found = self._all(block)
        return np.asarray(found[np.isfinite(found).all(axis=1)].ravel())

    def _beside(self) -> _Places:
        at = self.at.copy()
        at[:, self._moved] *= 1.0 + BESIDE
        return _Places(self.leaves, at, self._moved)

    def _change(self, block: Block) -> Array:
        """What a block changes by from rounding of the entry that was moved."""
        return np.abs(self._beside()._all(block) - self._all(block)) * (ROUNDING / BESIDE)

    def constant(self, block: Block) -> float | None:
        """The value of a scalar that is the same at all places, rounding being zero."""
        found, change = self.values(block), self._change(block)
        if len(found) < ENOUGH:
            return None
        slack = ROUNDING * np.abs(found).max() + change[np.isfinite(change)].max(initial=0.0)
        if np.ptp(found) > slack:
            return None
        return float(found[0]) if abs(found[0]) > slack else 0.0

    def agree(self, a: Block, b: Block) -> bool:
        """Whether a - b is rounding at all places, of which enough have values."""
        difference, change = self._all(a - b), self._change(a - b)
        sizes = ROUNDING * (np.abs(self._all(a)) + np.abs(self._all(b)))
        there = np.isfinite(difference + change + sizes).all(axis=1)
        small = np.abs(difference) <= sizes + change
        return int(np.count_nonzero(there)) >= ENOUGH and bool(small[there].all())


def _slopes(condition: Block, z: Block) -> Array | None:
    """The coefficients of the condition on a leaf that it is linear in, where they are constant."""
    if z.cols != 1:
        return None
    try:
        found = Coefficients([z])(condition).get(z)
    except NotLinear:
        return None
    if found is None or not found.is_const or not found.data.any():
        return None
    return np.asarray(found.data[0], dtype=float)


def _random(one: Block) -> Array:
    """Values of a leaf, those of a place in each row, the same whenever it is asked for."""
    random = np.random.default_rng(list(one.key))
    return random.standard_normal((PLACES, one.rows * one.cols))


def _leaves(blocks: Sequence[Block]) -> list[Block]:
    return [node for node in dependencies(blocks) if node.op == "leaf"]
