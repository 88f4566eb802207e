"""Factors of z - J, J sparse, in a pattern and with pivots that were chosen before.

Rows and columns of z - J stand in the order of `fill.Fill`, whose places hold L below the diagonal,
the inverse pivot on it, and U above; `re` and `im` from `first` on.
"""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, put
from vbg.simulate.steppers.implicit.ending import GROWTH
from vbg.simulate.steppers.implicit.kernels.compiling import compiled
from vbg.simulate.steppers.implicit.kernels.dense import inverse_of


@compiled
def factor_sparse(f, J, re, im, first, row_re, row_im, z_re, z_im):
    """Whether there are factors, none of L beyond GROWTH; room for two rows."""
    for i in range(f.diagonal.shape[0]):
        begin, middle, end = at(f.begin, i), at(f.diagonal, i), at(f.begin, i + 1)
        for p in range(begin, end):
            j = at(f.column, p)
            put(row_re, j, 0.0)
            put(row_im, j, 0.0)
        for q in range(at(f.given, i), at(f.given, i + 1)):
            j = at(f.to, q)
            put(row_re, j, at(row_re, j) - at(J, at(f.source, q)))
        j = at(f.shifted, i)
        put(row_re, j, at(row_re, j) + z_re)
        put(row_im, j, at(row_im, j) + z_im)
        for p in range(begin, middle):
            k = at(f.column, p)
            a, b = at(row_re, k), at(row_im, k)
            here = at(f.diagonal, k)
            c, d = at(re, first + here), at(im, first + here)
            u, v = a * c - b * d, a * d + b * c
            if not abs(u) + abs(v) < GROWTH:
                return False
            put(re, first + p, u)
            put(im, first + p, v)
            if u != 0.0 or v != 0.0:
                for q in range(here + 1, at(f.begin, k + 1)):
                    j, c, d = at(f.column, q), at(re, first + q), at(im, first + q)
                    put(row_re, j, at(row_re, j) - (u * c - v * d))
                    put(row_im, j, at(row_im, j) - (u * d + v * c))
        a, b = inverse_of(at(row_re, i), at(row_im, i))
        if a == 0.0 and b == 0.0:
            return False
        put(re, first + middle, a)
        put(im, first + middle, b)
        for p in range(middle + 1, end):
            j = at(f.column, p)
            put(re, first + p, at(row_re, j))
            put(im, first + p, at(row_im, j))
    return True


@compiled
def solve_sparse(f, re, im, first, row_re, row_im, b, c):
    """(z - J) x = b + i c, in place; room for two rows."""
    n = f.diagonal.shape[0]
    for i in range(n):
        put(row_re, at(f.row_of, i), at(b, i))
        put(row_im, at(f.row_of, i), at(c, i))
    for i in range(n):
        x, y = at(row_re, i), at(row_im, i)
        for p in range(at(f.begin, i), at(f.diagonal, i)):
            x, y = less(f, re, im, first, p, row_re, row_im, x, y)
        put(row_re, i, x)
        put(row_im, i, y)
    for i in range(n - 1, -1, -1):
        x, y, middle = at(row_re, i), at(row_im, i), at(f.diagonal, i)
        for p in range(middle + 1, at(f.begin, i + 1)):
            x, y = less(f, re, im, first, p, row_re, row_im, x, y)
        u, v = at(re, first + middle), at(im, first + middle)
        put(row_re, i, u * x - v * y)
        put(row_im, i, u * y + v * x)
    for i in range(n):
        put(b, i, at(row_re, at(f.column_of, i)))
        put(c, i, at(row_im, at(f.column_of, i)))


@compiled
def less(f, re, im, first, p, row_re, row_im, x, y):
    """x + i y less the entry p times what stands in its column."""
    j, u, v = at(f.column, p), at(re, first + p), at(im, first + p)
    a, b = at(row_re, j), at(row_im, j)
    return x - (u * a - v * b), y - (u * b + v * a)
