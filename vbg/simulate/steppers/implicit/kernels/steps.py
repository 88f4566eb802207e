"""Steps of the implicit method, the polynomial inside them, and a dense Jacobian."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine.memory import at, put
from vbg.assemble.program.machine.pointer import run_at
from vbg.assemble.program.machine.series.running import evaluate
from vbg.simulate.steppers.implicit.ending import CONVERGED, MOST, SINGULAR, STEP, STUCK
from vbg.simulate.steppers.implicit.kernels.compiling import compiled, entry
from vbg.simulate.steppers.implicit.kernels.dense import (
    factor_complex,
    factor_real,
    solve_complex,
    solve_real,
)
from vbg.simulate.steppers.implicit.kernels.sparse import factor_sparse, solve_sparse


@entry
def derivatives(address, p, t, x, which, columns):
    """Row j of `columns` becomes d rate / d x_j for each j of `which`, by a complex step."""
    n, work = x.shape[0], p.work
    for j in which:
        for i in range(n):
            put(work, i, complex(x[i], 0.0))
        put(work, n, complex(t, 0.0))
        put(work, j, complex(x[j], STEP))
        run_at(address, work, p.segments, p.operands, p.factors, p.stream, p.kept)
        for i in range(n):
            columns[j, i] = at(work, p.first + i).imag / STEP


# -- the polynomial inside a step -----------------------------------------------------


@compiled
def integral(theta, k):
    """int_0^theta P_k = (P_k+1 - P_k-1) / (4k + 2), as `collocation.integrals` has it."""
    if k == 0:
        return theta
    x, before, P = 2.0 * theta - 1.0, 1.0, 2.0 * theta - 1.0
    last = before
    for j in range(1, k + 1):
        last, before, P = before, P, ((2 * j + 1) * x * P - j * before) / (j + 1)
    return (P - last) / (4 * k + 2)


@compiled
def add_terms(K, theta, beyond, to):
    """`to` + S(theta) K, less what that is at the end where only what is `beyond` it is wanted."""
    for k in range(K.shape[0]):
        weight = integral(theta, k)
        if beyond and k == 0:
            weight -= 1.0
        for i in range(to.shape[0]):
            to[i] += weight * K[k, i]


@entry
def inside(K, x, end, begin, h, times, states):
    """The states at `times` in the step of h from (begin, x) to `end`: x + S(theta) K."""
    for j in range(times.shape[0]):
        theta = (times[j] - begin) / h
        for i in range(x.shape[0]):
            states[j, i] = end[i] if theta >= 1.0 else x[i]
        if theta < 1.0:
            add_terms(K, theta, False, states[j])


@entry
def beyond(K, thetas, changes):
    """By how much the polynomial goes on from the end of its step, at `thetas` counted from the
    beginning in steps."""
    for j in range(thetas.shape[0]):
        changes[j, :] = 0.0
        add_terms(K, thetas[j], True, changes[j])


# -- a step ----------------------------------------------------------------------------


@compiled
def norm(values, scale):
    """Root of the mean square of values / scale."""
    total = 0.0
    for i in range(values.shape[0]):
        total += (values[i] / scale[i]) ** 2
    return np.sqrt(total / values.shape[0])


@compiled
def factored(w, h):
    """Factors of z / h - J for all shifts z of the method; whether there are any."""
    n, n_shifts = w.y.shape[0], w.shifts_re.shape[0]
    for k in range(n_shifts):
        pivots, first = w.pivots[k], size_of(w) * k
        z_re, z_im = w.shifts_re[k] / h, w.shifts_im[k] / h
        if w.fill.diagonal.shape[0] > 0:
            room = w.row_re, w.row_im
            done = factor_sparse(w.fill, w.J, w.re, w.im, first, *room, z_re, z_im)
        elif k == 0:
            done = factor_real(w.J, w.re, w.im, first, pivots, z_re, n)
        else:
            done = factor_complex(w.J, w.re, w.im, first, pivots, z_re, z_im, n)
        if not done:
            return False
    return True


@compiled
def size_of(w):
    """Places of a matrix of factors."""
    n = w.y.shape[0]
    return w.fill.column.shape[0] if w.fill.diagonal.shape[0] > 0 else n * n


@compiled
def solve(w, k):
    """(z_k / h - J) x = u_re + i u_im, in place; the first in real numbers."""
    n, first = w.y.shape[0], size_of(w) * k
    if k == 0:
        for i in range(n):
            w.u_im[i] = 0.0
    if w.fill.diagonal.shape[0] > 0:
        solve_sparse(w.fill, w.re, w.im, first, w.row_re, w.row_im, w.u_re, w.u_im)
    elif k == 0:
        solve_real(w.re, first, w.pivots[0], w.u_re, n)
    else:
        solve_complex(w.re, w.im, first, w.pivots[k], w.u_re, w.u_im, n)


@compiled
def correct(w, h):
    """Z + dZ for the defect w.defect, and the size of dZ over the tolerance."""
    n, s = w.y.shape[0], w.Z.shape[0]
    w.change[:] = 0.0
    for k in range(w.shifts_re.shape[0]):
        z_re, z_im = w.shifts_re[k] / h, w.shifts_im[k] / h
        w.u_re[:] = 0.0
        w.u_im[:] = 0.0
        for j in range(s):
            a, b = w.into_re[k, j], w.into_im[k, j]
            p, q = z_re * a - z_im * b, z_re * b + z_im * a
            for i in range(n):
                w.u_re[i] += p * w.defect[j, i]
                w.u_im[i] += q * w.defect[j, i]
        solve(w, k)
        for j in range(s):
            p, q = w.back_re[j, k], w.back_im[j, k]
            for i in range(n):
                w.change[j, i] += p * w.u_re[i] - q * w.u_im[i]
    total = 0.0
    for j in range(s):
        for i in range(n):
            total += (w.change[j, i] / w.scale[i]) ** 2
            w.Z[j, i] += w.change[j, i]
    return np.sqrt(total / (s * n))


@compiled
def find_defect(address, w, t, h):
    """h A F(Z) - Z."""
    n, s = w.y.shape[0], w.Z.shape[0]
    for j in range(s):
        for i in range(n):
            w.u_re[i] = w.y[i] + w.Z[j, i]
        evaluate(address, w.rate, t + h * w.c[j], w.u_re)
        for i in range(n):
            w.F[j, i] = at(w.rate.work, w.rate.first + i)
    for j in range(s):
        for i in range(n):
            w.defect[j, i] = -w.Z[j, i]
        for k in range(s):
            a = h * w.A[j, k]
            for i in range(n):
                w.defect[j, i] += a * w.F[k, i]


@compiled
def iterate(address, w, t, h, newton_tol):
    """Newton's iteration as `ending` has it; w.found: its number, and its contraction."""
    last, left = 0.0, np.inf
    for k in range(MOST):
        find_defect(address, w, t, h)
        size = correct(w, h)
        w.found[0] = k + 1
        if not np.isfinite(size):
            return STUCK
        if k > 0:
            theta = size / last
            w.found[1] = theta if k == 1 else np.sqrt(theta * w.found[1])
            left = theta / (1.0 - theta) if theta < 1.0 else np.inf
            if theta >= 1.0 or left * size * theta ** (MOST - 2 - k) > newton_tol:
                return STUCK
        if size == 0.0 or left * size < newton_tol:
            return CONVERGED
        last = size
    return STUCK


@compiled
def find_error(address, w, t, h, again):
    """Of the step over the tolerance, `again` through the rates where it is too large and that is
    asked for; w.found[3]: rates for that."""
    n, s = w.y.shape[0], w.Z.shape[0]
    for i in range(n):
        w.scale[i] = w.atol[i] + w.rtol[i] * max(abs(w.y[i]), abs(w.y[i] + w.Z[s - 1, i]))
        w.embedded[i] = 0.0
    for j in range(s):
        weight = w.shifts_re[0] / h * w.error[j]
        for i in range(n):
            w.embedded[i] += weight * w.Z[j, i]
    for i in range(n):
        w.u_re[i] = w.f[i] + w.embedded[i]
    solve(w, 0)
    error = norm(w.u_re, w.scale)
    if error >= 1.0 and again != 0:
        for i in range(n):
            w.u_re[i] += w.y[i]
        evaluate(address, w.rate, t, w.u_re)
        w.found[3] += 1.0
        for i in range(n):
            w.u_re[i] = at(w.rate.work, w.rate.first + i) + w.embedded[i]
        solve(w, 0)
        error = norm(w.u_re, w.scale)
    return error if np.isfinite(error) else np.inf


@entry
def attempt(address, w, before, t, end, fresh, again, newton_tol, shorter):
    """A step from (t, w.y), with the rate w.f there, to `end`: w.Z, and where it is accepted w.f
    becomes the rate at its end.  w.found: iterations, contraction, error over the tolerance, and
    rates beside those of the stages.

    `before`: K of the step before, of which this one has h / (length before) = `shorter`; none
    if it is 0.  `fresh`: whether its matrices are to be factored."""
    n, s, h = w.y.shape[0], w.Z.shape[0], end - t
    w.found[:] = 0.0
    w.Z[:, :] = 0.0
    if shorter > 0.0:
        for j in range(s):
            add_terms(before, 1.0 + w.c[j] * shorter, True, w.Z[j])
    for i in range(n):
        w.scale[i] = w.atol[i] + w.rtol[i] * abs(w.y[i])
    if fresh != 0 and not factored(w, h):
        return SINGULAR
    said = iterate(address, w, t, h, newton_tol)
    if said == CONVERGED:
        w.found[2] = find_error(address, w, t, h, again)
        if w.found[2] < 1.0:
            for i in range(n):
                w.u_re[i] = w.y[i] + w.Z[s - 1, i]
            evaluate(address, w.rate, end, w.u_re)
            w.found[3] += 1.0
            for i in range(n):
                w.f[i] = at(w.rate.work, w.rate.first + i)
    return said
