"""Formulas recorded once as a tape of scalar operations, which a small kernel plays.

A `Slot` is a place in the tape's memory.  Arithmetic on slots does not compute: it
appends an operation whose result is a new slot, so that a law reads like its formula,

    flow = gain * p / sqrt(sqrt(p * p + laminar * laminar)),

and runs without the interpreter.  Where nothing in a formula is a slot it gives a float.
Where a law depends on the sign of something both branches are computed and `choose`
takes one.  A law without a value there (a root of a negative number) gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.tmm_bridge.kernels.play import (
    ACOS,
    ADD,
    ASIN,
    ATAN,
    ATAN2,
    CHOOSE,
    COS,
    CURVE,
    EXP,
    EXPM1,
    FLOOR,
    LEAST,
    LOG,
    MOST,
    MOVE,
    NEGATIVE,
    OVER,
    POWER,
    ROOT,
    ROW,
    SIGN,
    SIN,
    SIZE,
    SUBTRACT,
    TAN,
    TIMES,
)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Slot:
    """A place in the memory of a tape."""

    tape: Tape
    place: int

    def __add__(self, other: Number) -> Slot:
        return self.tape.record(ADD, self, other)

    def __radd__(self, other: float) -> Slot:
        return self.tape.record(ADD, other, self)

    def __sub__(self, other: Number) -> Slot:
        return self.tape.record(SUBTRACT, self, other)

    def __rsub__(self, other: float) -> Slot:
        return self.tape.record(SUBTRACT, other, self)

    def __mul__(self, other: Number) -> Slot:
        return self.tape.record(TIMES, self, other)

    def __rmul__(self, other: float) -> Slot:
        return self.tape.record(TIMES, other, self)

    def __truediv__(self, other: Number) -> Slot:
        return self.tape.record(OVER, self, other)

    def __rtruediv__(self, other: float) -> Slot:
        return self.tape.record(OVER, other, self)

    def __neg__(self) -> Slot:
        return self.tape.record(NEGATIVE, self)


Number = Slot | float
Operation = tuple[int, int, int, int, int]


@dataclass
class Tape:
    """A tape while it grows: operations by section, memory, curves of tables and splines."""

    sections: dict[str, list[Operation]] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)
    curves: list[tuple[float, ...]] = field(default_factory=list)
    section: str = ""
    _constants: dict[float, Slot] = field(default_factory=dict)

    @property
    def constants(self) -> frozenset[int]:
        """Places of numbers that stay as they are."""
        return frozenset(slot.place for slot in self._constants.values())

    def place(self, start: float = 0.0) -> Slot:
        """A new slot, which nothing computes."""
        self.memory.append(start)
        return Slot(self, len(self.memory) - 1)

    def slot(self, value: Number) -> Slot:
        """A slot that holds `value`."""
        if isinstance(value, Slot):
            return value
        if value not in self._constants:
            self._constants[value] = self.place(value)
        return self._constants[value]

    def record(self, operation: int, *operands: Number) -> Slot:
        """The result of an operation, appended to the current section."""
        return self._append(operation, self.place(), operands)

    def store(self, value: Number, into: Slot) -> None:
        """Put `value` into a slot that exists already."""
        self._append(MOVE, into, (value,))

    def _append(self, operation: int, out: Slot, operands: Sequence[Number]) -> Slot:
        a, b, c = ([self.slot(value).place for value in operands] + [0, 0])[:3]
        self.sections.setdefault(self.section, []).append((operation, out.place, a, b, c))
        return out

    def curve(self, x: Number, starts: Sequence[float], pieces: Array) -> Slot:
        """Piece k, a polynomial of degree 3 in x - starts[k], from starts[k] < x on; the first
        also before.  pieces (k, 4): coefficients from the constant on."""
        first = len(self.curves)
        self.curves += [
            (start, *map(float, row)) for start, row in zip(starts, pieces, strict=True)
        ]
        return self.record(CURVE, x, float(first), float(len(self.curves) - first))

    def played(self, order: Sequence[str]) -> Played:
        """The sections in this order, one after the other."""
        ends, code = [0], []
        for name in order:
            code += self.sections.get(name, [])
            ends.append(len(code))
        return Played(
            np.array(code, dtype=np.int64).reshape(-1, 5),
            np.array(self.memory or [0.0]),
            np.array(self.curves, dtype=float).reshape(-1, ROW),
            np.array(ends, dtype=np.int64),
        )


@dataclass(frozen=True)
class Played:
    """A finished tape: operations, memory at the start, curves, ends of the sections."""

    code: Array
    memory: Array
    curves: Array
    ends: Array


def _function(operation: int, plain: Callable[..., float]) -> Callable[..., Number]:
    """A function of slots that is `plain` where all operands are floats; NaN where that has no
    value, which the branch that is not taken need not have."""

    def apply(*operands: Number) -> Number:
        for operand in operands:
            if isinstance(operand, Slot):
                return operand.tape.record(operation, *operands)
        try:
            return plain(*operands)
        except (ValueError, ArithmeticError):
            return math.nan

    return apply


def _folded(two: Callable[..., Number]) -> Callable[..., Number]:
    """The function of two operands for any number of them."""

    def apply(*operands: Number) -> Number:
        found = operands[0]
        for operand in operands[1:]:
            found = two(found, operand)
        return found

    return apply


def _sign(x: float) -> float:
    return x if math.isnan(x) else float((x > 0.0) - (x < 0.0))


def _choose(x: float, yes: float, no: float) -> float:
    return x if math.isnan(x) else (yes if x > 0.0 else no)


def _least(a: float, b: float) -> float:
    return b if b < a or math.isnan(b) else a


def _most(a: float, b: float) -> float:
    return b if b > a or math.isnan(b) else a


least = _folded(_function(LEAST, _least))
most = _folded(_function(MOST, _most))
size = _function(SIZE, abs)
sign = _function(SIGN, _sign)
power = _function(POWER, math.pow)
floor = _function(FLOOR, math.floor)
root = _function(ROOT, math.sqrt)
exp = _function(EXP, math.exp)
expm1 = _function(EXPM1, math.expm1)
log = _function(LOG, math.log)
sin = _function(SIN, math.sin)
cos = _function(COS, math.cos)
choose = _function(CHOOSE, _choose)
"""choose(x, yes, no): `yes` where x > 0, else `no`; nothing where x has no value."""

OPERATIONS: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _function(OVER, lambda a, b: a / b),
    "**": power,
}
FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sin": sin,
    "cos": cos,
    "tan": _function(TAN, math.tan),
    "asin": _function(ASIN, math.asin),
    "acos": _function(ACOS, math.acos),
    "atan": _function(ATAN, math.atan),
    "atan2": _function(ATAN2, math.atan2),
    "sqrt": root,
    "exp": exp,
    "log": log,
    "abs": size,
    "min": least,
    "max": most,
    "sign": sign,
    "if": choose,
}
