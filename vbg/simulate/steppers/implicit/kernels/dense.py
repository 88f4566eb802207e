"""Factors of z - J, J small and dense.

A matrix is kept by columns, entry (i, j) at n j + i; a complex one in two arrays, its real and its
imaginary part, so that columns are added as vectors.  Zeros of a column are passed by: what nothing
depends on, as energies, costs nothing.
"""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, put
from vbg.simulate.steppers.implicit.kernels.compiling import compiled


@compiled
def exchange(a, first, i, j, n):
    """Rows i and j of the matrix at `first`."""
    for k in range(n):
        here = first + n * k
        put_by(a, here + i, here + j)


@compiled
def put_by(a, i, j):
    """a_i and a_j change places."""
    before = at(a, i)
    put(a, i, at(a, j))
    put(a, j, before)


@compiled
def largest_below(re, im, first, k, n):
    """The row, from k on, of the largest entry of column k."""
    row, most = k, -1.0
    for i in range(k, n):
        here = first + n * k + i
        size = abs(at(re, here)) + abs(at(im, here))
        if size > most:
            row, most = i, size
    return row


@compiled
def factor_real(J, re, im, first, pivots, z, n):
    """Factors of z - J, J by columns, in re from `first` on, as LAPACK's getrf has them; whether
    there are any.  im is zero there."""
    for i in range(n * n):
        put(re, first + i, -at(J, i))
    for i in range(n):
        put(re, first + (n + 1) * i, z + at(re, first + (n + 1) * i))
    for k in range(n):
        column = first + n * k
        row = largest_below(re, im, first, k, n)
        pivots[k] = row
        if row != k:
            exchange(re, first, k, row, n)
        if at(re, column + k) == 0.0:
            return False
        inverse = 1.0 / at(re, column + k)
        for i in range(k + 1, n):
            put(re, column + i, at(re, column + i) * inverse)
        for j in range(k + 1, n):
            other = first + n * j
            u = at(re, other + k)
            if u != 0.0:
                for i in range(k + 1, n):
                    put(re, other + i, at(re, other + i) - u * at(re, column + i))
    return True


@compiled
def factor_complex(J, re, im, first, pivots, z_re, z_im, n):
    """The same of a complex z."""
    for i in range(n * n):
        put(re, first + i, -at(J, i))
        put(im, first + i, 0.0)
    for i in range(n):
        here = first + (n + 1) * i
        put(re, here, z_re + at(re, here))
        put(im, here, z_im)
    for k in range(n):
        column = first + n * k
        row = largest_below(re, im, first, k, n)
        pivots[k] = row
        if row != k:
            exchange(re, first, k, row, n)
            exchange(im, first, k, row, n)
        a, b = inverse_of(at(re, column + k), at(im, column + k))
        if a == 0.0 and b == 0.0:
            return False
        for i in range(k + 1, n):
            c, d = at(re, column + i), at(im, column + i)
            put(re, column + i, a * c - b * d)
            put(im, column + i, a * d + b * c)
        for j in range(k + 1, n):
            other = first + n * j
            u, v = at(re, other + k), at(im, other + k)
            if u != 0.0 or v != 0.0:
                subtract(re, im, other, re, im, column, u, v, k + 1, n)
    return True


@compiled
def inverse_of(a, b):
    """1 / (a + i b) by its parts (R. Smith, Comm. ACM 5, 1962); 0 of 0."""
    if a == 0.0 and b == 0.0:
        return 0.0, 0.0
    if abs(a) >= abs(b):
        r = b / a
        d = a + b * r
        return 1.0 / d, -r / d
    r = a / b
    d = a * r + b
    return r / d, -1.0 / d


@compiled
def subtract(re, im, to, of_re, of_im, column, u, v, begin, end):
    """From the vector at `to` (u + i v) times that at `column`, entries begin to end - 1."""
    for i in range(begin, end):
        c, d = at(of_re, column + i), at(of_im, column + i)
        put(re, to + i, at(re, to + i) - (u * c - v * d))
        put(im, to + i, at(im, to + i) - (u * d + v * c))


@compiled
def solve_real(re, first, pivots, b, n):
    """(z - J) x = b by the factors at `first`, in place."""
    for k in range(n):
        if pivots[k] != k:
            put_by(b, k, pivots[k])
    for k in range(n):
        u = at(b, k)
        if u != 0.0:
            for i in range(k + 1, n):
                put(b, i, at(b, i) - u * at(re, first + n * k + i))
    for k in range(n - 1, -1, -1):
        u = at(b, k)
        if u != 0.0:
            u /= at(re, first + (n + 1) * k)
            put(b, k, u)
            for i in range(k):
                put(b, i, at(b, i) - u * at(re, first + n * k + i))


@compiled
def solve_complex(re, im, first, pivots, b, c, n):
    """(z - J) x = b + i c, likewise."""
    for k in range(n):
        if pivots[k] != k:
            put_by(b, k, pivots[k])
            put_by(c, k, pivots[k])
    for k in range(n):
        u, v = at(b, k), at(c, k)
        if u != 0.0 or v != 0.0:
            subtract(b, c, 0, re, im, first + n * k, u, v, k + 1, n)
    for k in range(n - 1, -1, -1):
        u, v = at(b, k), at(c, k)
        if u != 0.0 or v != 0.0:
            here = first + (n + 1) * k
            p, q = inverse_of(at(re, here), at(im, here))
            u, v = u * p - v * q, u * q + v * p
            put(b, k, u)
            put(c, k, v)
            subtract(b, c, 0, re, im, first + n * k, u, v, 0, k)
