"""Where expressions of time go from one branch to another: kinks and jumps that no signal names.

abs, sign, min, max and `if` change their branch where a function of time, here a switch,
changes its sign: abs(x), sign(x) at x, min(a, b) at a - b, if(x, a, b) at x.  The changes are
looked for between two instants in equal steps and then between neighbouring numbers; two
changes within one step cancel and are not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import combinations

import numpy as np

from vbg.expressions import Binary, Call, Expression, Unary, derivative, names
from vbg.expressions import Number as Literal
from vbg.tmm_bridge.formulas.tape import Number, Played, Tape
from vbg.tmm_bridge.kernels.entries import play

Switch = Callable[[Tape, Number], Number]
LOOKS = 4000  # steps in which a run is looked through


def conditions(node: Expression) -> Iterator[Expression]:
    """What changes its sign where `node` goes from one branch to another."""
    match node:
        case Unary(operand):
            yield from conditions(operand)
        case Binary(operator, left, right):
            if operator == "**" and not (isinstance(right, Literal) and right.value % 1.0 == 0.0):
                yield from _turning(left)
            yield from conditions(left)
            yield from conditions(right)
        case Call(function, arguments):
            if function in ("abs", "sign", "if", "atan2"):  # y = 0: the cut of atan2(y, x)
                yield arguments[0]
            elif function in ("min", "max"):
                for a, b in combinations(arguments, 2):
                    yield Binary("-", a, b)
            elif function in ("asin", "acos", "sqrt"):
                yield from _turning(arguments[0])
            for argument in arguments:
                yield from conditions(argument)


def timed_conditions(node: Expression, timed: Collection[str]) -> Iterator[Expression]:
    """Of the conditions of an expression that reads the motion, too, what changes its sign with the
    time alone: what names nothing but `timed`."""
    for condition in conditions(node):
        for one in _vanishing(condition):
            read = names(one)
            if read and read <= set(timed):
                yield one


def _vanishing(condition: Expression) -> Iterator[Expression]:
    """One of these is zero where a condition passes zero: a factor, or what it is in one of its
    branches (from one branch to another it goes at a condition of its own)."""
    match condition:
        case Unary(operand):
            yield from _vanishing(operand)
        case Binary("*" | "/", left, right):
            yield from _vanishing(left)
            yield from _vanishing(right)
        case _:
            yield from _branches(condition)


def _branches(node: Expression) -> list[Expression]:
    """What an expression may be; of two choices in one sum the sum."""
    match node:
        case Call("min" | "max", arguments):
            return [branch for argument in arguments for branch in _branches(argument)]
        case Call("if", (_, yes, no)):
            return _branches(yes) + _branches(no)
        case Binary("+" | "-" as operator, left, right):
            a, b = _branches(left), _branches(right)
            if min(len(a), len(b)) == 1:
                return [Binary(operator, one, other) for one in a for other in b]
    return [node]


def _turning(argument: Expression) -> Iterator[Expression]:
    """What changes its sign where a function of time can only touch the end of its range."""
    if names(argument) == {"t"}:
        yield derivative(argument, "t")


def changes(
    switches: Collection[Switch], begin: float, end: float
) -> Iterator[tuple[float, float]]:
    """Neighbouring times between which a switch changes its sign, or leaves zero."""
    if not switches or not end > begin:
        return
    tape = Tape()
    t = tape.place()
    places = [tape.slot(switch(tape, t)).place for switch in switches]
    played = tape.played([""])
    times = np.linspace(begin, end, LOOKS + 1)
    signs = np.array([_signs(played, places, time) for time in times])
    for k, place in enumerate(places):
        for n in np.flatnonzero(np.diff(signs[:, k])):
            yield _between(played, place, float(times[n]), float(times[n + 1]))


def _signs(played: Played, places: list[int], t: float) -> np.ndarray:
    m = played.memory
    m[0] = t
    play(played.code, m, played.curves, 0, len(played.code))
    return np.sign(m[places])


def _between(played: Played, place: int, before: float, after: float) -> tuple[float, float]:
    """The last time at which the sign is that of `before`, and the next."""
    sign = _signs(played, [place], before)[0]
    while before < (middle := 0.5 * (before + after)) < after:
        if _signs(played, [place], middle)[0] == sign:
            before = middle
        else:
            after = middle
    return before, after
