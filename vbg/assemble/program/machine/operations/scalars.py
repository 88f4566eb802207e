"""The scalar functions of `vbg.blocks.functions`, real and complex.

What has no value gives none (`vbg.blocks.scalars`): every comparison here is written so that NaN
comes out where it comes in.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from numba import types
from numba.extending import intrinsic

from vbg.assemble.program.lower import FUNCTION_CODES
from vbg.assemble.program.machine.memory import at, compiled, put

SIN, COS, TAN = FUNCTION_CODES["sin"], FUNCTION_CODES["cos"], FUNCTION_CODES["tan"]
ASIN, ACOS, ATAN = FUNCTION_CODES["asin"], FUNCTION_CODES["acos"], FUNCTION_CODES["atan"]
ATAN2, SQRT, EXP = FUNCTION_CODES["atan2"], FUNCTION_CODES["sqrt"], FUNCTION_CODES["exp"]
LOG, ABS, SIGN = FUNCTION_CODES["log"], FUNCTION_CODES["abs"], FUNCTION_CODES["sign"]
POSITIVE, MIN, MAX = FUNCTION_CODES["positive"], FUNCTION_CODES["min"], FUNCTION_CODES["max"]
POWER, RECIPROCAL = FUNCTION_CODES["power"], FUNCTION_CODES["reciprocal"]
SELECT, FLOOR = FUNCTION_CODES["select"], FUNCTION_CODES["floor"]


@compiled
def atan2(y, x):
    """atan2 whose complex step is its derivative."""
    base = math.atan2(y.real, x.real)
    square = x.real * x.real + y.real * y.real
    turned = y * x.real - x * y.real
    return base if turned == 0.0 else turned / square + base


def complex_power(a, b):
    """a**b whose complex step is its derivative, b a^(b-1) a' + a^b log(a) b'.

    By length and angle, as the C library has it, the sine of b pi is 1e-16 and not zero where a is
    negative: 1e24 times a step of 1e-40.  At a = 0 they give the slope's limit, huge or zero.
    """
    if b == 2.0:
        return a * a
    if b == 0.0:
        return complex(1.0, 0.0)
    if a == 0.0:
        lost = math.nan if b.imag != 0.0 or b.real < 0.0 else 0.0
        return complex(lost, lost)
    if a.real == 0.0:
        grown, turned = abs(a.imag) ** b.real, math.copysign(0.5 * math.pi, a.imag) * b.real
        return complex(grown * math.cos(turned), grown * math.sin(turned))
    value = a.real**b.real
    step = b.real * a.real ** (b.real - 1.0) * a.imag
    if b.imag != 0.0:
        step += value * math.log(a.real) * b.imag
    return complex(value, step)


@intrinsic
def power(typingctx, a, b):
    """a**b; numba's own of complex numbers is a function of its runtime, which kernels are
    without."""

    def codegen(context, builder, signature, args):
        if isinstance(a, types.Complex):
            return context.compile_internal(builder, complex_power, signature, args)
        return context.get_function(operator.pow, signature)(builder, args)

    return a(a, b), codegen


@compiled
def function(code, a, b, c):
    """The scalar function of `vbg.blocks.functions` with this code."""
    if code == SIN:
        return np.sin(a)
    if code == COS:
        return np.cos(a)
    if code == TAN:
        return np.tan(a)
    if code == ASIN:
        return np.arcsin(a)
    if code == ACOS:
        return np.arccos(a)
    if code == ATAN:
        return np.arctan(a)
    if code == ATAN2:
        return atan2(a, b)
    if code == SQRT:
        return np.sqrt(a)
    if code == EXP:
        return np.exp(a)
    if code == LOG:
        return np.log(a)
    if code == ABS:
        return -a if a.real < 0.0 else a
    if code == SIGN:
        return 1.0 if a.real > 0.0 else (-1.0 if a.real < 0.0 else 0.0 * a)
    if code == POSITIVE:
        return 1.0 if a.real > 0.0 else (0.0 if a.real <= 0.0 else a)
    if code == MIN:
        return a if a.real <= b.real or a.real != a.real else b
    if code == MAX:
        return a if a.real >= b.real or a.real != a.real else b
    if code == POWER:
        return power(a, b)
    if code == RECIPROCAL:
        return 1.0 / a
    if code == SELECT:
        return b if a.real > 0.0 else (c if a.real <= 0.0 else a)
    return np.floor(a.real)


@compiled
def calls(work, operands, first, count, code):
    for i in range(first, first + count):
        a, b, c = at(operands, 4 * i + 1), at(operands, 4 * i + 2), at(operands, 4 * i + 3)
        value = function(code, at(work, a), at(work, b), at(work, c))
        put(work, at(operands, 4 * i), value)


@compiled
def lookups(work, operands, first, count, m, n):
    """D = the row of n words, of m, that a is in: the last that begins at or before a."""
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        starts, table = at(operands, 4 * i + 2), at(operands, 4 * i + 3)
        x = at(work, a).real
        low, high = 0, m
        while high - low > 1:
            middle = (low + high) // 2
            if at(work, starts + middle).real <= x:
                low = middle
            else:
                high = middle
        for j in range(n):
            put(work, d + j, at(work, table + low * n + j) if x == x else at(work, a))
