"""Derivatives of what a tape computes, along given derivatives of its places.

One rule for each operation, in both uses: with slots it appends the formula of the
derivative to the tape, with floats and arrays it computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import numpy as np

from vbg.tmm_bridge.formulas.tape import (
    FUNCTIONS,
    Operation,
    Slot,
    Tape,
    choose,
    cos,
    power,
    root,
    sin,
)
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
    LEAST,
    LOG,
    MOST,
    MOVE,
    NEGATIVE,
    OVER,
    POWER,
    ROOT,
    SIN,
    SIZE,
    SUBTRACT,
    TAN,
    TIMES,
)

Array = np.ndarray[Any, Any]


def _of_one(operation: int, a: Any, out: Any) -> Any:
    """d out / d a of a function of one operand."""
    match operation:
        case _ if operation == NEGATIVE:
            return -1.0
        case _ if operation == SIZE:
            return choose(a, 1.0, -1.0)
        case _ if operation == ROOT:
            return 0.5 / out
        case _ if operation == EXP:
            return out
        case _ if operation == EXPM1:
            return out + 1.0
        case _ if operation == LOG:
            return 1.0 / a
        case _ if operation == SIN:
            return cos(a)
        case _ if operation == COS:
            return -sin(a)
        case _ if operation == TAN:
            return 1.0 + out * out
        case _ if operation == ASIN:
            return 1.0 / root(1.0 - a * a)
        case _ if operation == ACOS:
            return -1.0 / root(1.0 - a * a)
        case _ if operation == ATAN:
            return 1.0 / (1.0 + a * a)
    return 0.0  # floor and sign are constant but for their jumps


def _of_two(operation: int, a: Any, b: Any, out: Any, da: Any, db: Any) -> Any:
    """d out of an operation on two operands."""
    match operation:
        case _ if operation == ADD:
            return da + db
        case _ if operation == SUBTRACT:
            return da - db
        case _ if operation == TIMES:
            return da * b + db * a
        case _ if operation == OVER:
            return (da - db * out) / b
        case _ if operation == LEAST:
            return choose(a - b, db, da)
        case _ if operation == MOST:
            return choose(b - a, db, da)
        case _ if operation == ATAN2:
            return (da * b - db * a) / (a * a + b * b)
    found = 0.0 if _none(da) else da * (b * power(a, b - 1.0))
    return found if _none(db) else found + db * (out * FUNCTIONS["log"](a))


def _none(derivative: Any) -> bool:
    """Whether a derivative is known to vanish."""
    return isinstance(derivative, float) and derivative == 0.0


def along(
    operations: Iterable[Operation],
    value: Callable[[int], Any],
    slope: Callable[[Any, int, int], Any],
    seeds: Mapping[int, Any],
) -> dict[int, Any]:
    """Derivatives by place when those of the places in `seeds` are given.

    `value` reads a place, `slope(x, first, n)` gives the derivative of a curve.
    """
    found: dict[int, Any] = dict(seeds)
    for operation, out, a, b, c in operations:
        da, db = found.get(a, 0.0), found.get(b, 0.0)
        if operation == MOVE:
            found[out] = da
        elif operation == CHOOSE:
            dc = found.get(c, 0.0)
            vanish = _none(db) and _none(dc)
            found[out] = 0.0 if vanish else choose(value(a), db, dc)
        elif operation == CURVE:
            found[out] = 0.0 if _none(da) else da * slope(value(a), b, c)
        elif operation in (ADD, SUBTRACT, TIMES, OVER, POWER, LEAST, MOST, ATAN2):
            if _none(da) and _none(db):
                found[out] = 0.0
            else:
                found[out] = _of_two(operation, value(a), value(b), value(out), da, db)
        else:
            found[out] = 0.0 if _none(da) else da * _of_one(operation, value(a), value(out))
    return found


def recorded_along(
    tape: Tape, operations: Iterable[Operation], seeds: Mapping[int, Any]
) -> dict[int, Any]:
    """The same, appended to the tape's current section."""

    def slope(x: Any, first: int, n: int) -> Any:
        return _curve_slope(tape, x, first, n)

    return along(list(operations), lambda place: Slot(tape, place), slope, seeds)


def _curve_slope(tape: Tape, x: Any, first: int, n: int) -> Slot:
    """The slope of the curve of which the places `first` and `n` tell the rows."""
    begin, count = int(tape.memory[first]), int(tape.memory[n])
    rows = np.array(tape.curves[begin : begin + count])
    pieces = np.column_stack([rows[:, 2], 2.0 * rows[:, 3], 3.0 * rows[:, 4], 0.0 * rows[:, 4]])
    return tape.curve(x, list(rows[:, 0]), pieces)


def jacobian_recorded(
    tape: Tape, operations: Iterable[Operation], by: Iterable[int], of: Iterable[int]
) -> list[tuple[int, int, int]]:
    """The derivatives of places by places that do not vanish, appended to the tape's current
    section: (row, column, place).  One way along the operations for all columns."""

    def slope(x: Any, first: int, n: int) -> Any:
        return _curve_slope(tape, x, first, n)

    found: dict[int, dict[int, Any]] = {place: {k: 1.0} for k, place in enumerate(by)}
    for step in operations:
        operands = {place for place in step[2:] if place in found}
        columns = sorted({k for place in operands for k in found[place]})
        seeds = [{p: found[p][k] for p in operands if k in found[p]} for k in columns]
        taken = [along([step], lambda p: Slot(tape, p), slope, seed)[step[1]] for seed in seeds]
        found[step[1]] = {k: d for k, d in zip(columns, taken, strict=True) if not _none(d)}
    return [
        (row, column, tape.slot(value).place)
        for row, place in enumerate(of)
        for column, value in found.get(place, {}).items()
    ]


def computed_along(
    operations: Iterable[Operation], memory: Array, curves: Array, seeds: Mapping[int, Any]
) -> dict[int, Any]:
    """The same, computed at the values that a tape was just played to."""
    slope = _slope_at(memory, curves)
    with np.errstate(all="ignore"):
        return along(operations, lambda place: float(memory[place]), slope, seeds)


def _slope_at(memory: Array, curves: Array) -> Callable[[float, int, int], float]:
    """The slopes of curves."""

    def slope(x: float, first: int, n: int) -> float:
        begin, count = int(memory[first]), int(memory[n])
        k = begin + max(int(np.searchsorted(curves[begin : begin + count, 0], x)) - 1, 0)
        d = x - curves[k, 0]
        return float(curves[k, 2] + d * (2.0 * curves[k, 3] + d * 3.0 * curves[k, 4]))

    return slope


def step_slopes(
    operation: Operation, memory: Array, curves: Array, by: Container[int]
) -> list[tuple[int, float]]:
    """The operands of one operation among the places `by`, with its slopes by them where they do
    not vanish, NaN where it has none."""
    found = []
    for place in dict.fromkeys(one for one in operation[2:] if one in by):
        try:
            one = float(computed_along([operation], memory, curves, {place: 1.0})[operation[1]])
        except ArithmeticError:
            one = math.nan
        if one != 0.0:
            found.append((place, one if math.isfinite(one) else math.nan))
    return found
