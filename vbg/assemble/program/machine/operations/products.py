"""Kernels of block products and sums: one call for all instances of a segment."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, compiled, put, unrolled


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


@compiled
def gemm_3k1(work, operands, factors, first, count, accumulate, k, dr, ar, ac, br):
    """3 x k times a column of k entries, its rows unrolled."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        f, x = at(factors, i), at(work, b)
        u, v, w = at(work, a) * x, at(work, a + ar) * x, at(work, a + 2 * ar) * x
        for _ in range(1, k):
            a += ac
            b += br
            x = at(work, b)
            u += at(work, a) * x
            v += at(work, a + ar) * x
            w += at(work, a + 2 * ar) * x
        if accumulate:
            put(work, d, at(work, d) + f * u)
            put(work, d + dr, at(work, d + dr) + f * v)
            put(work, d + 2 * dr, at(work, d + 2 * dr) + f * w)
        else:
            put(work, d, f * u)
            put(work, d + dr, f * v)
            put(work, d + 2 * dr, f * w)


@unrolled
def inner3(work, operands, factors, first, count, accumulate, rows, cols, dr, dc, ar, ac, br, bc):
    """rows x 3 times 3 x cols."""
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


@unrolled
def inner2(work, operands, factors, first, count, accumulate, rows, dr, ar, ac, br):
    """rows x 2 times a column."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        f = at(factors, i)
        x, y = f * at(work, b), f * at(work, b + br)
        for r in range(rows):
            value = at(work, a + r * ar) * x + at(work, a + r * ar + ac) * y
            if accumulate:
                value += at(work, d + r * dr)
            put(work, d + r * dr, value)


@compiled
def gemm_inner3(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac, br, bc):
    """m x 3 times 3 x n, the frequent shapes unrolled."""
    if m == 3 and n == 1:
        inner3(work, operands, factors, first, count, accumulate, 3, 1, dr, dc, ar, ac, br, bc)
    elif m == 3:
        gemm3(work, operands, factors, first, count, accumulate, n, dr, dc, ar, ac, br, bc)
    elif m == 5 and n == 5:
        inner3(work, operands, factors, first, count, accumulate, 5, 5, dr, dc, ar, ac, br, bc)
    elif m == 4:
        inner3(work, operands, factors, first, count, accumulate, 4, n, dr, dc, ar, ac, br, bc)
    elif m == 2 and n == 1:
        inner3(work, operands, factors, first, count, accumulate, 2, 1, dr, dc, ar, ac, br, bc)
    elif m == 2 and n == 3:
        inner3(work, operands, factors, first, count, accumulate, 2, 3, dr, dc, ar, ac, br, bc)
    elif m == 1 and n == 1:
        inner3(work, operands, factors, first, count, accumulate, 1, 1, dr, dc, ar, ac, br, bc)
    else:
        gemm(work, operands, factors, first, count, accumulate, m, 3, n, dr, dc, ar, ac, br, bc)


@unrolled
def add(work, operands, factors, first, count, accumulate, rows, cols, dr, dc, ar, ac):
    """D (+)= alpha a for rows x cols entries."""
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        f = at(factors, i)
        for c in range(cols):  # of long ones columns are longer than rows
            for r in range(rows):
                to = d + r * dr + c * dc
                value = f * at(work, a + r * ar + c * ac)
                if accumulate:
                    value += at(work, to)
                put(work, to, value)


@compiled
def axpy(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac):
    """D (+)= alpha a, the frequent shapes unrolled."""
    if n == 1 and m == 3:
        add(work, operands, factors, first, count, accumulate, 3, 1, dr, dc, ar, ac)
    elif n == 1 and m == 2:
        add(work, operands, factors, first, count, accumulate, 2, 1, dr, dc, ar, ac)
    elif n == 1 and m == 1:
        add(work, operands, factors, first, count, accumulate, 1, 1, dr, dc, ar, ac)
    elif n == 3 and m == 3:
        add(work, operands, factors, first, count, accumulate, 3, 3, dr, dc, ar, ac)
    else:
        add(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac)


@compiled
def multiply(work, operands, factors, first, count, accumulate, m, k, n, dr, dc, ar, ac, br, bc):
    """The kernel of a product by its shape."""
    if k == 3:
        gemm_inner3(work, operands, factors, first, count, accumulate, m, n, dr, dc, ar, ac, br, bc)
    elif k == 2 and n == 1 and m == 2:
        inner2(work, operands, factors, first, count, accumulate, 2, dr, ar, ac, br)
    elif k == 2 and n == 1 and m == 3:
        inner2(work, operands, factors, first, count, accumulate, 3, dr, ar, ac, br)
    elif m == 3 and n == 1:
        gemm_3k1(work, operands, factors, first, count, accumulate, k, dr, ar, ac, br)
    else:
        gemm(work, operands, factors, first, count, accumulate, m, k, n, dr, dc, ar, ac, br, bc)


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
