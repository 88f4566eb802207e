"""The compiled reader of a Program: one interpreter for every model.

Everything that numba compiles together stands in this file, because its cache
only notices changes of the file that holds a function.  The workspace may be
float64 or complex128 (complex steps); comparisons look at real parts.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from vbg.assemble import program
from vbg.assemble.lower import FUNCTION_CODES
from vbg.assemble.program import Op
from vbg.blocks import functions
from vbg.compiled import Kernels

PIVOT_THRESHOLD = 1e-12  # of the diagonal before elimination; below: a dependent row
NEWTON_LIMIT = 300  # iterations and halvings of one algebraic loop
NEWTON_CLOSE = 1e-9  # relative step after which one more makes the root exact to rounding
REFINEMENTS = 4  # error after each: shift / (shift + eigenvalue over diagonal)

GEMM, AXPY, CROSS = int(Op.GEMM), int(Op.AXPY), int(Op.CROSS)
ROTATION, SKEW, QUATERNION_RATE = int(Op.ROTATION), int(Op.SKEW), int(Op.QUATERNION_RATE)
TIMES, CALL, COPY = int(Op.TIMES), int(Op.CALL), int(Op.COPY)
FACTOR, SOLVE = int(Op.FACTOR), int(Op.SOLVE)
LINEAR_SOLVE, NEWTON, NEWTON_STEP = int(Op.LINEAR_SOLVE), int(Op.NEWTON), int(Op.NEWTON_STEP)

SIN, COS, TAN = FUNCTION_CODES["sin"], FUNCTION_CODES["cos"], FUNCTION_CODES["tan"]
ASIN, ACOS, ATAN = FUNCTION_CODES["asin"], FUNCTION_CODES["acos"], FUNCTION_CODES["atan"]
ATAN2, SQRT, EXP = FUNCTION_CODES["atan2"], FUNCTION_CODES["sqrt"], FUNCTION_CODES["exp"]
LOG, ABS, SIGN = FUNCTION_CODES["log"], FUNCTION_CODES["abs"], FUNCTION_CODES["sign"]
POSITIVE, MIN, MAX = FUNCTION_CODES["positive"], FUNCTION_CODES["min"], FUNCTION_CODES["max"]
POWER, RECIPROCAL = FUNCTION_CODES["power"], FUNCTION_CODES["reciprocal"]
SELECT, FLOOR = FUNCTION_CODES["select"], FUNCTION_CODES["floor"]

KERNELS = Kernels("assemble", [__file__, program.__file__, functions.__file__])


def compiled(function):
    """Decorator of all kernels; contraction to fused multiply-add is allowed."""
    return KERNELS.compiled(function, fastmath={"contract", "nsz"}, error_model="numpy")


@intrinsic
def at(typingctx, array, index):
    """array[index] without the check for negative indices: the tape has none, and the
    check costs more than the arithmetic (3.3 against 7.6 ns for a 3 x 3 product)."""

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        data = arrayobj.make_array(kind)(context, builder, args[0]).data
        return arrayobj.load_item(context, builder, kind, builder.gep(data, [args[1]]))

    return array.dtype(array, index), codegen


@intrinsic
def put(typingctx, array, index, value):
    """array[index] = value, likewise."""

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        data = arrayobj.make_array(kind)(context, builder, args[0]).data
        arrayobj.store_item(context, builder, kind, args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, index, array.dtype), codegen


@compiled
def gemm3(work, operands, factors, first, count, accumulate, n, dr, dc, ar, ac, br, bc):
    """3 x 3 times 3 x n, unrolled."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        f = at(factors, i)
        a00, a01, a02 = at(work, a), at(work, a + ac), at(work, a + 2 * ac)
        a += ar
        a10, a11, a12 = at(work, a), at(work, a + ac), at(work, a + 2 * ac)
        a += ar
        a20, a21, a22 = at(work, a), at(work, a + ac), at(work, a + 2 * ac)
        for _ in range(n):
            x, y, z = f * at(work, b), f * at(work, b + br), f * at(work, b + 2 * br)
            u = a00 * x + a01 * y + a02 * z
            v = a10 * x + a11 * y + a12 * z
            w = a20 * x + a21 * y + a22 * z
            if accumulate:
                put(work, d, at(work, d) + u)
                put(work, d + dr, at(work, d + dr) + v)
                put(work, d + 2 * dr, at(work, d + 2 * dr) + w)
            else:
                put(work, d, u)
                put(work, d + dr, v)
                put(work, d + 2 * dr, w)
            b += bc
            d += dc


@compiled
def gemm(work, operands, factors, first, count, accumulate, m, k, n, dr, dc, ar, ac, br, bc):
    """m x k times k x n."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        f = at(factors, i)
        for r in range(m):
            for c in range(n):
                value = 0.0 * at(work, a)
                for j in range(k):
                    value += at(work, a + r * ar + j * ac) * at(work, b + j * br + c * bc)
                to = d + r * dr + c * dc
                if accumulate:
                    put(work, to, at(work, to) + (f * value))
                else:
                    put(work, to, f * value)


def inner3_kernel(rows, cols):
    """Kernel for rows x 3 times 3 x cols; the two numbers are constants of the compiled
    code, which unrolls it."""

    @compiled
    def kernel(work, operands, factors, first, count, accumulate, dr, dc, ar, ac, br, bc):
        for i in range(first, first + count):
            d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
            f = at(factors, i)
            for c in range(cols):
                x = f * at(work, b + c * bc)
                y = f * at(work, b + c * bc + br)
                z = f * at(work, b + c * bc + 2 * br)
                for r in range(rows):
                    here, to = a + r * ar, d + r * dr + c * dc
                    value = at(work, here) * x
                    value += at(work, here + ac) * y
                    value += at(work, here + 2 * ac) * z
                    if accumulate:
                        value += at(work, to)
                    put(work, to, value)

    return kernel


gemm_131 = inner3_kernel(1, 1)
gemm_231 = inner3_kernel(2, 1)
gemm_233 = inner3_kernel(2, 3)
gemm_535 = inner3_kernel(5, 5)


@compiled
def gemm_inner3(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac, br, bc):
    """m x 3 times 3 x n, the frequent shapes unrolled."""
    if m == 5 and n == 5:
        gemm_535(work, operands, factors, first, count, accumulate, dr, dc, ar, ac, br, bc)
    elif m == 2 and n == 1:
        gemm_231(work, operands, factors, first, count, accumulate, dr, dc, ar, ac, br, bc)
    elif m == 2 and n == 3:
        gemm_233(work, operands, factors, first, count, accumulate, dr, dc, ar, ac, br, bc)
    elif m == 1 and n == 1:
        gemm_131(work, operands, factors, first, count, accumulate, dr, dc, ar, ac, br, bc)
    else:
        gemm(work, operands, factors, first, count, accumulate, m, 3, n, dr, dc, ar, ac, br, bc)


@compiled
def add3(work, operands, factors, first, count, accumulate, dr, ar):
    """D (+)= alpha a for columns of three."""
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        f = at(factors, i)
        x, y, z = f * at(work, a), f * at(work, a + ar), f * at(work, a + 2 * ar)
        if accumulate:
            x, y, z = x + at(work, d), y + at(work, d + dr), z + at(work, d + 2 * dr)
        put(work, d, x)
        put(work, d + dr, y)
        put(work, d + 2 * dr, z)


@compiled
def axpy(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac):
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        f = at(factors, i)
        for r in range(m):
            for c in range(n):
                to = d + r * dr + c * dc
                value = f * at(work, a + r * ar + c * ac)
                if accumulate:
                    put(work, to, at(work, to) + value)
                else:
                    put(work, to, value)


@compiled
def times(work, operands, factors, first, count, accumulate, m, n, dr, dc, br, bc):
    for i in range(first, first + count):
        d, b = at(operands, 4 * i), at(operands, 4 * i + 2)
        f = at(factors, i) * at(work, at(operands, 4 * i + 1))
        for r in range(m):
            for c in range(n):
                to = d + r * dr + c * dc
                value = f * at(work, b + r * br + c * bc)
                if accumulate:
                    put(work, to, at(work, to) + value)
                else:
                    put(work, to, value)


@compiled
def cross(work, operands, factors, first, count, accumulate, dr, ar, br):
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        f = at(factors, i)
        ax, ay, az = f * at(work, a), f * at(work, a + ar), f * at(work, a + 2 * ar)
        bx, by, bz = at(work, b), at(work, b + br), at(work, b + 2 * br)
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        if accumulate:
            put(work, d, at(work, d) + x)
            put(work, d + dr, at(work, d + dr) + y)
            put(work, d + 2 * dr, at(work, d + 2 * dr) + z)
        else:
            put(work, d, x)
            put(work, d + dr, y)
            put(work, d + 2 * dr, z)


@compiled
def rotations(work, operands, first, count, dr, dc, ar):
    """R_WB of quat_WB = (w, x, y, z)."""
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        w, x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar), at(work, a + 3 * ar)
        xx, yy, zz = x * x, y * y, z * z
        xy, yz, zx = x * y, y * z, z * x
        wx, wy, wz = w * x, w * y, w * z
        put(work, d, 1.0 - 2.0 * (yy + zz))
        put(work, d + dc, 2.0 * (xy - wz))
        put(work, d + 2 * dc, 2.0 * (zx + wy))
        d += dr
        put(work, d, 2.0 * (xy + wz))
        put(work, d + dc, 1.0 - 2.0 * (xx + zz))
        put(work, d + 2 * dc, 2.0 * (yz - wx))
        d += dr
        put(work, d, 2.0 * (zx - wy))
        put(work, d + dc, 2.0 * (yz + wx))
        put(work, d + 2 * dc, 1.0 - 2.0 * (xx + yy))


@compiled
def skews(work, operands, first, count, dr, dc, ar):
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar)
        put(work, d, 0.0 * x)
        put(work, d + dc, -z)
        put(work, d + 2 * dc, y)
        put(work, d + dr, z)
        put(work, d + dr + dc, 0.0 * x)
        put(work, d + dr + 2 * dc, -x)
        put(work, d + 2 * dr, -y)
        put(work, d + 2 * dr + dc, x)
        put(work, d + 2 * dr + 2 * dc, 0.0 * x)


@compiled
def quaternion_rates(work, operands, first, count, dr, ar, br):
    """1/2 quat o (0, w_B)."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        w, x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar), at(work, a + 3 * ar)
        p, q, r = 0.5 * at(work, b), 0.5 * at(work, b + br), 0.5 * at(work, b + 2 * br)
        put(work, d, -x * p - y * q - z * r)
        put(work, d + dr, w * p + y * r - z * q)
        put(work, d + 2 * dr, w * q + z * p - x * r)
        put(work, d + 3 * dr, w * r + x * q - y * p)


@compiled
def atan2(y, x):
    """atan2 whose complex step is its derivative."""
    base = math.atan2(y.real, x.real)
    square = x.real * x.real + y.real * y.real
    return (y * x.real - x * y.real) / square + base


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
        return 0.0 * a + (1.0 if a.real > 0.0 else (-1.0 if a.real < 0.0 else 0.0))
    if code == POSITIVE:
        return 0.0 * a + (1.0 if a.real > 0.0 else 0.0)
    if code == MIN:
        return a if a.real <= b.real else b
    if code == MAX:
        return a if a.real >= b.real else b
    if code == POWER:
        return a**b
    if code == RECIPROCAL:
        return 1.0 / a
    if code == SELECT:
        return b if a.real > 0.0 else c
    return 0.0 * a + math.floor(a.real)


@compiled
def calls(work, operands, first, count, code):
    for i in range(first, first + count):
        a, b, c = at(operands, 4 * i + 1), at(operands, 4 * i + 2), at(operands, 4 * i + 3)
        value = function(code, at(work, a), at(work, b), at(work, c))
        put(work, at(operands, 4 * i), value)


def elimination_kernels(size):
    """Kernels for a pivot block of `size` unknowns, a constant of the compiled code."""

    @compiled
    def diagonal(work, d, original, shift):
        """LDL^T of the block in place: unit lower triangle, inverse pivots on the
        diagonal; a pivot below the threshold counts as a dependent row."""
        for j in range(size):
            scale = at(work, original + j)
            pivot = at(work, d + j * size + j) + shift * scale
            for k in range(j):
                x = at(work, d + j * size + k)  # L_jk D_k, turned into L_jk
                factor = x * at(work, d + k * size + k)
                pivot -= x * factor
                put(work, d + j * size + k, factor)
            inverse = 0.0 * pivot
            if pivot.real > PIVOT_THRESHOLD * scale.real:
                inverse = 1.0 / pivot
            put(work, d + j * size + j, inverse)
            for i in range(j + 1, size):
                value = at(work, d + i * size + j)
                for k in range(j):
                    value -= at(work, d + i * size + k) * at(work, d + j * size + k)
                put(work, d + i * size + j, value)

    @compiled
    def coupling(work, d, b, n, w):
        """n rows at b: W = H L^-T into the scratch w, M = W D^-1 in place."""
        for r in range(n):
            here, to = b + r * size, w + r * size
            for j in range(size):
                value = at(work, here + j)
                for k in range(j):
                    value -= at(work, to + k) * at(work, d + j * size + k)
                put(work, to + j, value)
            for j in range(size):
                put(work, here + j, at(work, to + j) * at(work, d + j * size + j))

    @compiled
    def downdate(work, t, w, n, b, p, symmetric):
        """H_t -= W M^T; W has n rows at w, M p rows at b; the lower half if symmetric."""
        for r in range(n):
            last = r + 1 if symmetric else p
            for c in range(last):
                value = at(work, t + r * p + c)
                for k in range(size):
                    value -= at(work, w + r * size + k) * at(work, b + c * size + k)
                put(work, t + r * p + c, value)

    return diagonal, coupling, downdate


def substitution_kernels(size):
    """Forward and backward substitution at a pivot block of `size` unknowns at y."""

    @compiled
    def forward(work, d, y):
        for i in range(1, size):
            value = at(work, y + i)
            for k in range(i):
                value -= at(work, d + i * size + k) * at(work, y + k)
            put(work, y + i, value)

    @compiled
    def forward_coupling(work, b, n, to, y):
        for r in range(n):
            value = at(work, to + r)
            for k in range(size):
                value -= at(work, b + r * size + k) * at(work, y + k)
            put(work, to + r, value)

    @compiled
    def backward_coupling(work, b, n, to, y):
        for r in range(n):
            x = at(work, to + r)
            for k in range(size):
                put(work, y + k, at(work, y + k) - at(work, b + r * size + k) * x)

    @compiled
    def backward(work, d, y):
        for i in range(size - 1, -1, -1):
            value = at(work, y + i)
            for k in range(i + 1, size):
                value -= at(work, d + k * size + i) * at(work, y + k)
            put(work, y + i, value)

    return forward, forward_coupling, backward_coupling, backward


forward_3, forward_coupling_3, backward_coupling_3, backward_3 = substitution_kernels(3)
forward_5, forward_coupling_5, backward_coupling_5, backward_5 = substitution_kernels(5)

diagonal_1, coupling_1, downdate_1 = elimination_kernels(1)
diagonal_2, coupling_2, downdate_2 = elimination_kernels(2)
diagonal_3, coupling_3, downdate_3 = elimination_kernels(3)
diagonal_4, coupling_4, downdate_4 = elimination_kernels(4)
diagonal_5, coupling_5, downdate_5 = elimination_kernels(5)
diagonal_6, coupling_6, downdate_6 = elimination_kernels(6)


@compiled
def eliminate_diagonal(work, d, m, original, shift):
    if m == 5:
        diagonal_5(work, d, original, shift)
    elif m == 1:
        diagonal_1(work, d, original, shift)
    elif m == 3:
        diagonal_3(work, d, original, shift)
    elif m == 4:
        diagonal_4(work, d, original, shift)
    elif m == 2:
        diagonal_2(work, d, original, shift)
    else:
        diagonal_6(work, d, original, shift)


@compiled
def eliminate_coupling(work, d, m, b, n, w):
    if m == 5:
        coupling_5(work, d, b, n, w)
    elif m == 1:
        coupling_1(work, d, b, n, w)
    elif m == 3:
        coupling_3(work, d, b, n, w)
    elif m == 4:
        coupling_4(work, d, b, n, w)
    elif m == 2:
        coupling_2(work, d, b, n, w)
    else:
        coupling_6(work, d, b, n, w)


@compiled
def downdate(work, t, w, n, b, p, m, symmetric):
    if m == 5:
        downdate_5(work, t, w, n, b, p, symmetric)
    elif m == 1:
        downdate_1(work, t, w, n, b, p, symmetric)
    elif m == 3:
        downdate_3(work, t, w, n, b, p, symmetric)
    elif m == 4:
        downdate_4(work, t, w, n, b, p, symmetric)
    elif m == 2:
        downdate_2(work, t, w, n, b, p, symmetric)
    else:
        downdate_6(work, t, w, n, b, p, symmetric)


@compiled
def stream_head(stream, here):
    """Size, block offset, first unknown and number of neighbours of a pivot."""
    return at(stream, here), at(stream, here + 1), at(stream, here + 2), at(stream, here + 3)


@compiled
def unknowns_of(stream, start):
    """Number of scalar unknowns of a schedule."""
    last = at(stream, start)
    return at(stream, start + 1 + last)


@compiled
def factorise(work, stream, start, scratch, shift):
    """Block LDL^T in the fixed order; `scratch`: original diagonal, then W."""
    pivots = at(stream, start)
    unknowns = unknowns_of(stream, start)
    mark = start + 2 + pivots
    here = mark
    for _ in range(pivots):  # remember the diagonal before anything is eliminated
        m, d, first, later = stream_head(stream, here)
        here += 4 + 3 * later + later * (later + 1) // 2
        for j in range(m):
            put(work, scratch + first + j, at(work, d + j * m + j))
    w = scratch + unknowns
    here = mark
    for _ in range(pivots):
        m, d, first, later = stream_head(stream, here)
        here += 4
        eliminate_diagonal(work, d, m, scratch + first, shift)
        neighbours = here
        for a in range(later):
            n, b = at(stream, here), at(stream, here + 1)
            eliminate_coupling(work, d, m, b, n, w)
            other = neighbours
            for c in range(a + 1):
                p, h = at(stream, other), at(stream, other + 1)
                downdate(work, at(stream, here + 3 + c), w, n, h, p, m, c == a)
                other += 3 + c + 1
            here += 3 + a + 1


@compiled
def forward_step(work, stream, here, x):
    """Forward substitution of the pivot that stands at `here` in the stream."""
    m, d, first, later = stream_head(stream, here)
    here += 4
    y = x + first
    if m == 5:
        forward_5(work, d, y)
    elif m == 3:
        forward_3(work, d, y)
    else:
        for i in range(1, m):
            value = at(work, y + i)
            for k in range(i):
                value -= at(work, d + i * m + k) * at(work, y + k)
            put(work, y + i, value)
    for a in range(later):
        n, b, to = at(stream, here), at(stream, here + 1), x + at(stream, here + 2)
        if m == 5:
            forward_coupling_5(work, b, n, to, y)
        elif m == 3:
            forward_coupling_3(work, b, n, to, y)
        else:
            for r in range(n):
                value = at(work, to + r)
                for k in range(m):
                    value -= at(work, b + r * m + k) * at(work, y + k)
                put(work, to + r, value)
        here += 3 + a + 1


@compiled
def backward_step(work, stream, here, x):
    """Division by the pivots and backward substitution."""
    m, d, first, later = stream_head(stream, here)
    here += 4
    y = x + first
    for i in range(m):
        put(work, y + i, at(work, y + i) * at(work, d + i * m + i))
    for a in range(later):
        n, b, to = at(stream, here), at(stream, here + 1), x + at(stream, here + 2)
        if m == 5:
            backward_coupling_5(work, b, n, to, y)
        elif m == 3:
            backward_coupling_3(work, b, n, to, y)
        else:
            for r in range(n):
                for k in range(m):
                    value = at(work, y + k) - at(work, b + r * m + k) * at(work, to + r)
                    put(work, y + k, value)
        here += 3 + a + 1
    if m == 5:
        backward_5(work, d, y)
    elif m == 3:
        backward_3(work, d, y)
    else:
        for i in range(m - 1, -1, -1):
            value = at(work, y + i)
            for k in range(i + 1, m):
                value -= at(work, d + k * m + i) * at(work, y + k)
            put(work, y + i, value)


@compiled
def solve_factored(work, stream, start, x, rhs):
    """x = solution; forward and backward through the stream, whose first words after
    the number of pivots are the places of the pivots."""
    pivots = at(stream, start)
    total = unknowns_of(stream, start)
    for i in range(total):
        put(work, x + i, at(work, rhs + i))
    for step in range(pivots):
        forward_step(work, stream, at(stream, start + 1 + step) + start, x)
    for step in range(pivots - 1, -1, -1):
        backward_step(work, stream, at(stream, start + 1 + step) + start, x)


@compiled
def subtract_product(work, stream, start, shift, x, r):
    """r -= H x, with the blocks of H `shift` words behind those of the factor."""
    pivots = at(stream, start)
    here = start + 2 + pivots
    for _ in range(pivots):
        m, d, first, later = stream_head(stream, here)
        d += shift
        here += 4
        for i in range(m):  # the lower half of the diagonal block is complete
            for k in range(m):
                h = at(work, d + i * m + k) if k <= i else at(work, d + k * m + i)
                put(work, r + first + i, at(work, r + first + i) - (h * at(work, x + first + k)))
        for a in range(later):
            n, b, to = at(stream, here), at(stream, here + 1) + shift, at(stream, here + 2)
            for i in range(n):
                for k in range(m):
                    h = at(work, b + i * m + k)
                    put(work, r + to + i, at(work, r + to + i) - (h * at(work, x + first + k)))
                    put(work, r + first + k, at(work, r + first + k) - (h * at(work, x + to + i)))
            here += 3 + a + 1


@compiled
def refine(work, stream, start, kept, x, rhs, spare):
    """x += solution for the residual, twice: the fixed point solves H x = rhs itself
    where the right-hand side is consistent, with x in the range of H."""
    # the first pivot's block is the first of the factor
    shift = kept - at(stream, start + 3 + at(stream, start))
    total = unknowns_of(stream, start)
    for _ in range(REFINEMENTS):
        for i in range(total):
            put(work, spare + i, at(work, rhs + i))
        subtract_product(work, stream, start, shift, x, spare)
        solve_factored(work, stream, start, spare + total, spare)
        for i in range(total):
            put(work, x + i, at(work, x + i) + (at(work, spare + total + i)))


@compiled
def solve_dense(work, a, d, m, n):
    """D = A^-1 D with A (m x m) at `a`, used up, and D (m x n): partial pivoting."""
    for j in range(m):
        pivot = j
        for i in range(j + 1, m):
            if abs(work[a + i * m + j].real) > abs(work[a + pivot * m + j].real):
                pivot = i
        if pivot != j:
            for k in range(m):
                held = work[a + j * m + k]
                work[a + j * m + k] = work[a + pivot * m + k]
                work[a + pivot * m + k] = held
            for k in range(n):
                held = work[d + j * n + k]
                work[d + j * n + k] = work[d + pivot * n + k]
                work[d + pivot * n + k] = held
        inverse = 1.0 / work[a + j * m + j]
        for i in range(j + 1, m):
            factor = work[a + i * m + j] * inverse
            if factor.real == 0.0 and factor.imag == 0.0:
                continue
            for k in range(j + 1, m):
                work[a + i * m + k] -= factor * work[a + j * m + k]
            for k in range(n):
                work[d + i * n + k] -= factor * work[d + j * n + k]
    for k in range(n):
        for i in range(m - 1, -1, -1):
            value = work[d + i * n + k]
            for j in range(i + 1, m):
                value -= work[a + i * m + j] * work[d + j * n + k]
            work[d + i * n + k] = value / work[a + i * m + i]


@compiled
def begin_newton(work, y, record, m):
    """Starts from the last root, or from zero where there is none."""
    for i in range(m):
        if not np.isfinite(work[y + i].real):
            work[y + i] = 0.0 * work[record]
            if not np.isfinite(work[y + i].real):
                work[y + i] = 0.0
    for i in range(4):
        work[record + i] = 0.0


@compiled
def step_newton(work, y, residual, slope, record, m):
    """One Newton step on the m words at `y`; whether to go on.

    Record: iterations, halvings of the present step, size of the residual before it,
    steps made after convergence (they bring imaginary parts to rounding), then the
    last y and the last step.  A step that makes the residual grow is halved.
    """
    before, step = record + 4, record + 4 + m
    size = 0.0
    for i in range(m):
        size = max(size, abs(work[residual + i].real))
        if not np.isfinite(work[residual + i].real):
            size = np.inf
    iterations = work[record].real
    if iterations >= NEWTON_LIMIT:
        for i in range(m):
            work[y + i] = np.nan
        return False
    work[record] = iterations + 1.0
    halvings, polished = work[record + 1].real, work[record + 3].real
    grown = not size <= work[record + 2].real
    if iterations > 0.0 and polished == 0.0 and halvings < 40.0 and grown:
        for i in range(m):
            work[step + i] *= 0.5
            work[y + i] = work[before + i] - work[step + i]
        work[record + 1] = halvings + 1.0
        return True
    for i in range(m):
        work[before + i] = work[y + i]
        work[step + i] = work[residual + i]
    solve_dense(work, slope, step, m, 1)
    small = True
    for i in range(m):
        work[y + i] = work[before + i] - work[step + i]
        if not abs(work[step + i].real) <= NEWTON_CLOSE * abs(work[y + i].real) + 1e-30:
            small = False
    work[record + 1] = 0.0
    work[record + 2] = size
    if small or size == 0.0:
        work[record + 3] = polished + 1.0
        return polished < 1.0
    return True


@compiled
def run(work, segments, operands, factors, stream):
    """Runs the whole tape on `work`."""
    s = -1
    while s + 1 < segments.shape[0]:
        s += 1
        op, count, first = segments[s, 0], segments[s, 1], segments[s, 2]
        accumulate = segments[s, 3] != 0
        m, k, n = segments[s, 4], segments[s, 5], segments[s, 6]
        dr, dc = segments[s, 7], segments[s, 8]
        ar, ac = segments[s, 9], segments[s, 10]
        br, bc = segments[s, 11], segments[s, 12]
        if op == GEMM:
            if m == 3 and k == 3:
                gemm3(work, operands, factors, first, count, accumulate, n, dr, dc, ar, ac, br, bc)
            elif k == 3:
                gemm_inner3(
                    work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac, br, bc
                )
            else:
                gemm(
                    work,
                    operands,
                    factors,
                    first,
                    count,
                    accumulate,
                    m,
                    k,
                    n,
                    dr,
                    dc,
                    ar,
                    ac,
                    br,
                    bc,
                )
        elif op == AXPY and m == 3 and n == 1:
            add3(work, operands, factors, first, count, accumulate, dr, ar)
        elif op == AXPY:
            axpy(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac)
        elif op == CROSS:
            cross(work, operands, factors, first, count, accumulate, dr, ar, br)
        elif op == ROTATION:
            rotations(work, operands, first, count, dr, dc, ar)
        elif op == SKEW:
            skews(work, operands, first, count, dr, dc, ar)
        elif op == QUATERNION_RATE:
            quaternion_rates(work, operands, first, count, dr, ar, br)
        elif op == TIMES:
            times(work, operands, factors, first, count, accumulate, m, n, dr, dc, br, bc)
        elif op == CALL:
            calls(work, operands, first, count, m)
        elif op == COPY:
            for i in range(first, first + count):
                d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
                for j in range(m):
                    put(work, d + j, at(work, a + j))
        elif op == FACTOR:
            factorise(
                work, stream, at(stream, 1 + 2 * m), at(stream, 2 + 2 * m), at(factors, first)
            )
        elif op == SOLVE:
            x, rhs = at(operands, 4 * first), at(operands, 4 * first + 1)
            kept, spare = at(operands, 4 * first + 2), at(operands, 4 * first + 3)
            start = at(stream, 1 + 2 * m)
            solve_factored(work, stream, start, x, rhs)
            if kept > 0:
                refine(work, stream, start, kept, x, rhs, spare)
        elif op == LINEAR_SOLVE:
            for i in range(first, first + count):
                solve_dense(work, at(operands, 4 * i + 1), at(operands, 4 * i), m, n)
        elif op == NEWTON:
            begin_newton(work, at(operands, 4 * first), at(operands, 4 * first + 1), m)
        elif op == NEWTON_STEP:
            y, residual, slope = (
                at(operands, 4 * first),
                at(operands, 4 * first + 1),
                at(operands, 4 * first + 2),
            )
            if step_newton(work, y, residual, slope, at(operands, 4 * first + 3), m):
                s = k - 1


@compiled
def rk4_step(work, segments, operands, factors, stream, first, t, h, x):
    """One step of the classical Runge-Kutta method; x is replaced.

    The program takes x and then t here the beginning of `work` and leaves dx/dt here
    `first`.
    """
    n = x.shape[0]
    total = np.zeros(n)
    for stage in range(4):
        shift = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        for i in range(n):
            # at(work, first + i) still holds the rate of the stage before
            put(work, i, x[i] + (shift * at(work, first + i) if stage > 0 else 0.0))
        put(work, n, t + shift)
        run(work, segments, operands, factors, stream)
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        for i in range(n):
            total[i] += weight * at(work, first + i)
    for i in range(n):
        x[i] += h / 6.0 * total[i]


def ensure_compiled(kind):
    """Compiles the machine for workspaces of the dtype `kind`, or loads it."""

    def compile_all():
        work = np.zeros(8, dtype=kind)
        segments = np.zeros((0, len(program.SEGMENT_FIELDS)), dtype=np.int64)
        operands, stream = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        run(work, segments, operands, np.zeros(0), stream)
        if kind is np.float64:
            rk4_step(work, segments, operands, np.zeros(0), stream, 4, 0.0, 0.0, np.zeros(1))

    KERNELS.ensure(np.dtype(kind).name, compile_all)
