"""The kernel that plays tapes of scalar operations (`formulas.tape`).

An operand without a value (NaN) leaves none: no comparison may take it for "not larger".
"""

from __future__ import annotations

import math

import numpy as np

from vbg.tmm_bridge.kernels.sources import compiled

# operations, with the operands a, b, c
MOVE, ADD, SUBTRACT, TIMES, OVER, POWER, NEGATIVE = range(7)
LEAST, MOST, SIZE, SIGN, CHOOSE, FLOOR, CURVE = range(7, 14)
ROOT, EXP, EXPM1, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2 = range(14, 25)

ROW = 5  # of a curve: where a piece begins, and its coefficients from the constant on


@compiled
def curve_value(curves, first, n, x):
    """Value of the curve whose `n` pieces begin at row `first`."""
    low, high = first, first + n - 1
    while low < high:
        middle = (low + high + 1) // 2
        if curves[middle, 0] < x:
            low = middle
        else:
            high = middle - 1
    d = x - curves[low, 0]
    return curves[low, 1] + d * (curves[low, 2] + d * (curves[low, 3] + d * curves[low, 4]))


@compiled
def of_one(operation, a):
    """A function of one operand."""
    if operation == ROOT:
        return math.sqrt(a)
    if operation == EXP:
        return math.exp(a)
    if operation == EXPM1:
        return math.expm1(a)
    if operation == LOG:
        return math.log(a)
    if operation == SIN:
        return math.sin(a)
    if operation == COS:
        return math.cos(a)
    if operation == TAN:
        return math.tan(a)
    if operation == ASIN:
        return math.asin(a)
    if operation == ACOS:
        return math.acos(a)
    return math.atan(a)


@compiled
def of_several(operation, a, b, c, curves):
    """What is neither arithmetic nor a function of one operand."""
    if operation == POWER:
        return math.pow(a, b)
    if operation == LEAST:
        return b if b < a or b != b else a
    if operation == MOST:
        return b if b > a or b != b else a
    if operation == SIZE:
        return abs(a)
    if operation == SIGN:
        return 1.0 if a > 0.0 else (-1.0 if a < 0.0 else 0.0 * a)
    if operation == CHOOSE:
        return b if a > 0.0 else (c if a <= 0.0 else a)
    if operation == FLOOR:
        return np.floor(a)
    if operation == ATAN2:
        return math.atan2(a, b)
    return curve_value(curves, int(b), int(c), a)


@compiled
def play(code, memory, curves, first, last):
    """Operations first ... last - 1, results into memory."""
    for k in range(first, last):
        operation = code[k, 0]
        a, b, c = memory[code[k, 2]], memory[code[k, 3]], memory[code[k, 4]]
        if operation == MOVE:
            value = a
        elif operation == ADD:
            value = a + b
        elif operation == SUBTRACT:
            value = a - b
        elif operation == TIMES:
            value = a * b
        elif operation == OVER:
            value = a / b
        elif operation == NEGATIVE:
            value = -a
        elif operation >= ROOT and operation < ATAN2:
            value = of_one(operation, a)
        else:
            value = of_several(operation, a, b, c, curves)
        memory[code[k, 1]] = value
