"""Minimal equations as a Python module that runs by itself (numpy)."""

from __future__ import annotations

from typing import Any

from vbg.analysis.symbolic.loops.code.coding import (
    Code,
    Function,
    motion_names,
    output_names,
    start_of,
)
from vbg.analysis.symbolic.rewriting.printing import ordering

_RUN = '''
def factors(jac):
    """Q, R of the dependent coordinates' columns; rows may be more than these (redundant loops)."""
    d = jac[:, bound]
    q, r = linalg.qr(d)
    if any(abs(r.diagonal()) <= 1e-12 * linalg.norm(d, axis=0)):
        raise ArithmeticError("the free coordinates are none at this posture: choose others")
    return q, r


def solved(d, b):
    """x of d x = b."""
    q, r = d
    return linalg.solve(r, q.T @ b)


def efforts(d, b):
    """The smallest e of d^T e = b."""
    q, r = d
    return q @ linalg.solve(r.T, b)


def choose(t, q):
    """Takes other free coordinates where a dependent one says less than a third of what another
    would (a rocker's angle is free up to the dead point of its crank); whether it did."""
    jac = closures(t, q)[1]
    s = jac / (linalg.norm(jac, axis=1, keepdims=True) + 1e-300)
    s /= linalg.norm(s, axis=0) + 1e-12
    wish, found = array([3.0 if i in bound else 1.0 for i in range(len(q))]), []
    for _ in bound:
        sizes = wish * linalg.norm(s, axis=0)
        j = int((sizes > 0.999999 * sizes.max()).argmax())  # of like ones the first
        column = s[:, j] / (linalg.norm(s[:, j]) + 1e-300)
        s -= outer(column, column @ s)
        s[:, j] = 0.0
        found.append(j)
    if set(found) == set(bound):
        return False
    bound[:] = sorted(found)
    free[:] = [i for i in range(len(q)) if i not in bound]
    return True


def close(t, q):
    """The dependent coordinates of q by Newton's method, from those that q has, in place."""
    for _ in range(50):
        phi, jac = closures(t, q)
        step = solved(factors(jac), phi)
        q[bound] -= step
        if max(abs(step), default=0.0) <= 1e-11 * (1.0 + max(abs(q), default=0.0)):
            phi, jac = closures(t, q)
            if all(abs(phi) <= 1e-9 * (abs(jac) @ (1.0 + abs(q)))):
                return jac
            break
    raise ArithmeticError(f"the loops do not close at t = {t}")


def evaluate(t, y, q):
    """Rates of y, and all u, accelerations and closing efforts; q is closed in place."""
    n = len(free)
    given, x, moved = y[n : 2 * n], y[2 * n :], y[:n] - q[free]
    pieces = 1 + int(min(10 * max(abs(moved), default=0), 1e4))  # so that loops keep their branch
    for k in range(pieces):
        q[free] = y[:n] - moved * (pieces - 1 - k) / pieces
        jac = close(t, q)
    b, g, d = zeros((len(q), n)), zeros(len(q)), factors(jac)
    b[free] = eye(n)
    b[bound] = solved(d, -jac[:, free])
    u = b @ given
    u[bound] += solved(d, motion(t, q, u, x)[0])
    _, bias, mass, loads, rates = motion(t, q, u, x)
    g[bound] = solved(d, bias)
    du = linalg.solve(b.T @ mass @ b, b.T @ (loads - mass @ g)) if n else zeros(0)
    a = b @ du + g
    e = efforts(d, (mass @ a - loads)[bound])
    return concatenate([given, du, rates]), u, a, e


def rate(t, y, q=q_start.copy()):
    """Rates of y; q, all coordinates, is where the last call left it."""
    return evaluate(t, y, q)[0]


def forces(t, y, q=q_start.copy()):
    """Joint forces and torques on the second body, world axes [N], [N m], and efforts of drives."""
    _, u, a, e = evaluate(t, y, q)
    return dict(zip(output_names, outputs(t, q, u, y[2 * len(free) :], a, e)))


def run(t_end, steps):
    """Classical Runge-Kutta steps from the start: y at the end, of what is `free` there, all q."""
    y, q, h = y_start.copy(), q_start.copy(), t_end / steps
    free[:], bound[:] = free_start, bound_start  # an earlier run may have taken others
    for k in range(steps):
        t = k * h
        k1, u, _, _ = evaluate(t, y, q)
        if choose(t, q):
            y = concatenate([q[free], u[free], y[2 * len(free) :]])
            k1 = rate(t, y, q)
        k2 = rate(t + h / 2, y + h / 2 * k1, q)
        k3 = rate(t + h / 2, y + h / 2 * k2, q)
        k4 = rate(t + h, y + h * k3, q)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    rate(t_end, y, q)
    return y, q


if __name__ == "__main__":
    import sys

    t_end = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    y, q = run(t_end, steps)
    u = evaluate(t_end, y, q)[1]
    motion_of = zip(q_names + u_names + x_names, [*q, *u, *y[2 * len(free) :]])
    for name, value in [*motion_of, *forces(t_end, y, q).items()]:
        print(f"{name} = {value:.15g}")
'''


def as_python(code: Code) -> str:
    """The module: closures, motion, outputs, and a run by Runge-Kutta steps."""
    e = code.equations
    y, q = start_of(e)
    n, m = len(e.q), len(e.closures)
    shapes = {"driven": m, "bias": m, "mass": (n, n), "loads": n, "rates": len(e.states)}
    lines = [
        f'"""{e.name}: equations of motion in minimal coordinates, written by vbg.',
        "",
        f"q = ({', '.join(map(str, e.q))}),",
        "y: the free ones, their rates, other states; rate(t, y) is y'; forces(t, y): joints;",
        "run(t_end, steps) takes others as free ones where they do not determine the rest.",
        *e.remarks(forces=True),
        '"""',
        "",
        "from math import *",
        "",
        "from numpy import array, concatenate, eye, linalg, outer, zeros",
        "",
        f"free_start, bound_start = {list(e.independent)}, {list(e.dependent)}",
        "free, bound = free_start.copy(), bound_start.copy()",
        *(f"{name}_names = {found}" for name, found in motion_names(e).items()),
        f"y_start = array({y}, float)",
        f"q_start = array({q}, float)",
        f"output_names = {output_names(e)}",
        "",
        "",
        *_function(code, "closures", "t, q", code.closures, {"phi": m, "jac": (m, n)}),
        *_function(code, "motion", "t, q, u, x", code.motion, shapes),
        *_function(code, "outputs", "t, q, u, x, a, e", code.outputs, {"f": len(output_names(e))}),
    ]
    return "\n".join(lines) + _RUN.lstrip("\n")


def _function(
    code: Code, name: str, arguments: str, function: Function, shapes: dict[str, Any]
) -> list[str]:
    from sympy.printing.pycode import PythonCodePrinter

    printer = ordering(PythonCodePrinter)({"fully_qualified_modules": False})
    lines = [f"def {name}({arguments}):"]
    lines += [f"    {symbol} = {array}[{i}]" for array, i, symbol in code.arguments(function)]
    lines += [f"    {symbol} = {value!r}" for symbol, value in code.parameters(function)]
    lines += [f"    {symbol} = {printer.doprint(part)}" for symbol, part in function.parts]
    lines += [f"    {array} = zeros({shape})" for array, shape in shapes.items()]
    for array, place, value in function.values:
        if value != 0:
            lines.append(f"    {array}[{', '.join(map(str, place))}] = {printer.doprint(value)}")
    return [*lines, f"    return {', '.join(shapes)}", "", ""]
