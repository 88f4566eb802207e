"""Minimal equations as a Python module that runs by itself (numpy)."""

from __future__ import annotations

from typing import Any

from vbg.analysis.symbolic.loops.coding import Code, Function, output_names, start_of

_RUN = '''
def close(t, q):
    """The dependent coordinates of q by Newton's method, from those that q has, in place."""
    for _ in range(50):
        phi, jac = closures(t, q)
        if not len(bound):
            return jac
        step = linalg.solve(jac[:, bound], -phi)
        q[bound] += step
        if abs(step).max() <= 1e-14 * (1.0 + abs(q).max()):
            break
    return closures(t, q)[1]


def evaluate(t, y, q):
    """Rates of y, and all u, accelerations and closing efforts; q is closed in place."""
    n = len(free)
    given, x, moved = y[n : 2 * n], y[2 * n :], y[:n] - q[free]
    pieces = 1 + int(10 * max(abs(moved), default=0))  # so that the loops stay in their branch
    for k in range(pieces):
        q[free] = y[:n] - moved * (pieces - 1 - k) / pieces
        jac = close(t, q)
    b = zeros((len(q), n))
    b[free] = eye(n)
    u, g = b @ given, zeros(len(q))
    if len(bound):
        b[bound] = linalg.solve(jac[:, bound], -jac[:, free])
        driven = motion(t, q, u, x)[0]
        u = b @ given
        u[bound] += linalg.solve(jac[:, bound], driven)
    _, bias, mass, loads, rates = motion(t, q, u, x)
    if len(bound):
        g[bound] = linalg.solve(jac[:, bound], bias)
    du = linalg.solve(b.T @ mass @ b, b.T @ (loads - mass @ g)) if n else zeros(0)
    a = b @ du + g
    e = linalg.solve(jac[:, bound].T, (mass @ a - loads)[bound]) if len(bound) else zeros(0)
    return concatenate([given, du, rates]), u, a, e


def rate(t, y, q=q_start.copy()):
    """Rates of y; q, all coordinates, is where the last call left it."""
    return evaluate(t, y, q)[0]


def forces(t, y, q=q_start.copy()):
    """Joint forces and torques on the second body, world axes [N], [N m], and efforts of drives."""
    _, u, a, e = evaluate(t, y, q)
    return dict(zip(output_names, outputs(t, q, u, y[2 * len(free) :], a, e)))


def run(t_end, steps):
    """Classical Runge-Kutta steps from the start: y at the end, and all q."""
    y, q, h = y_start.copy(), q_start.copy(), t_end / steps
    for k in range(steps):
        t = k * h
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
    for name, value in [*zip(y_names, y), *forces(t_end, y, q).items()]:
        print(f"{name} = {value:.15g}")
'''


def as_python(code: Code) -> str:
    """The module: closures, motion, outputs, and a run by Runge-Kutta steps."""
    e = code.equations
    y, q = start_of(e)
    n, m = len(e.q), len(e.closures)
    shapes = {"driven": m, "bias": m, "mass": (n, n), "loads": n, "rates": len(e.states)}
    y_names = [str(e.q[i]) for i in e.independent] + [str(e.u[i]) for i in e.independent]
    lines = [
        f'"""{e.name}: equations of motion in minimal coordinates, written by vbg.',
        "",
        f"q = ({', '.join(map(str, e.q))}),",
        "y: the free ones, their rates, other states; rate(t, y) is y'; forces(t, y): joints.",
        '"""',
        "",
        "from math import *",
        "",
        "from numpy import array, concatenate, eye, linalg, zeros",
        "",
        f"free, bound = {list(e.independent)}, {list(e.dependent)}",
        f"y_names = {[*y_names, *map(str, e.states)]}",
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

    printer = PythonCodePrinter({"fully_qualified_modules": False})
    lines = [f"def {name}({arguments}):"]
    lines += [f"    {symbol} = {array}[{i}]" for array, i, symbol in code.arguments(function)]
    lines += [f"    {symbol} = {value!r}" for symbol, value in code.parameters(function)]
    lines += [f"    {symbol} = {printer.doprint(part)}" for symbol, part in function.parts]
    lines += [f"    {array} = zeros({shape})" for array, shape in shapes.items()]
    for array, place, value in function.values:
        if value != 0:
            lines.append(f"    {array}[{', '.join(map(str, place))}] = {printer.doprint(value)}")
    return [*lines, f"    return {', '.join(shapes)}", "", ""]
