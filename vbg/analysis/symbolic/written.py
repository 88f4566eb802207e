"""Symbolic equations as text, LaTeX, Python or C."""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

from vbg.analysis.symbolic.equations import SymbolicEquations
from vbg.analysis.symbolic.rewriting.printing import HELPERS, c_code, helpers, ordering
from vbg.analysis.symbolic.rewriting.sharing import remembering, replaced, written_once
from vbg.analysis.symbolic.spelling import latex_symbols, latex_writer, shortened

# names that the code itself has, and words of Python and C: a parameter M becomes M_
OWN = f"t x dx efforts modes rate mass right array linalg M y i j k s {' '.join(HELPERS)}"
WORDS_OF_C = (
    "auto case char const default do double enum extern float goto inline int long register "
    "restrict short signed sizeof static struct switch typedef union unsigned void volatile"
)
RESERVED = frozenset([*keyword.kwlist, *dir(math), *OWN.split(), *WORDS_OF_C.split()])


def as_text(equations: SymbolicEquations) -> str:
    """One equation a line, a prime for the derivative by time."""
    written = written_once()

    def short(expression: Any) -> str:
        return written(shortened(expression, fractions=bool(equations.parameters)))

    lines = [f"{symbol} = {short(value)}" for symbol, value in equations.definitions.items()]
    blocks = [lines] if lines else []
    blocks.append([f"{x}' = {short(rate)}" for x, rate in equations.rates.items()])
    coupled = _coupled(equations)
    if coupled:
        blocks.append([f"{short(left)} = {short(right)}" for left, right in coupled])
        blocks[-1] = [re.sub(r"d_(\S+?)(?=[\s*)]|$)", r"\1'", line) for line in blocks[-1]]
    if equations.constraints:
        blocks.append([f"0 = {short(flow)}" for flow in equations.constraints])
    if equations.parameters:
        blocks.append([", ".join(f"{s} = {v:.7g}" for s, v in equations.parameters.items())])
    if remarks := equations.numbered.remarks:
        blocks.append([f"# {remark}" for remark in remarks])
    return "\n\n".join("\n".join(block) for block in blocks)


def _coupled(equations: SymbolicEquations) -> list[tuple[Any, Any]]:
    """Rows of mass @ speeds' = right that are not solved for one speed."""
    import sympy

    open_speeds = [u for u in equations.speeds if u not in equations.rates]
    if not open_speeds:
        return []
    rates = sympy.Matrix([sympy.Symbol(f"d_{u}", real=True) for u in equations.speeds])
    return list(zip(equations.mass * rates, equations.right, strict=True))


def as_latex(equations: SymbolicEquations) -> str:
    """An align environment; names of parts in upright type; values and remarks as comments."""
    latex = latex_writer(latex_symbols(equations.parameters))

    def written(expression: Any) -> str:
        return latex(shortened(expression, fractions=bool(equations.parameters)))

    lines = [f"{written(s)} &= {written(v)}" for s, v in equations.definitions.items()]
    lines += [
        rf"\frac{{d}}{{dt}} {written(x)} &= {written(rate)}" for x, rate in equations.rates.items()
    ]
    for row, (_, right) in enumerate(_coupled(equations)):
        terms = [
            rf"\left({written(m)}\right) \frac{{d}}{{dt}} {written(u)}"
            for m, u in zip(equations.mass.row(row), equations.speeds, strict=True)
            if m != 0
        ]
        lines.append(f"{' + '.join(terms)} &= {written(right)}")
    lines += [f"0 &= {written(flow)}" for flow in equations.constraints]
    body = "\\begin{align}\n" + " \\\\\n".join(f"  {line}" for line in lines) + "\n\\end{align}"
    values = [", ".join(f"{s} = {v:.7g}" for s, v in equations.parameters.items())]
    told = [f"% {one}" for one in [*values, *equations.numbered.remarks] if one]
    return "\n".join([body, *told])


def identifier(name: str) -> str:
    """A name that Python and C take: A.force.x becomes A_force_x."""
    text = re.sub(r"\W+", "_", name).strip("_")
    return text if re.match(r"[A-Za-z]", text) else f"v_{text}"


def _states(equations: SymbolicEquations) -> list[Any]:
    """All states in the order of the arrays in code: rates first, then open speeds."""
    return [*equations.rates, *(u for u in equations.speeds if u not in equations.rates)]


def _renamed(equations: SymbolicEquations) -> dict[Any, Any]:
    import sympy

    found = set(_states(equations)) | set(equations.efforts) | set(equations.definitions)
    found |= set(equations.parameters) | set(equations.modes)
    names: dict[Any, Any] = {}
    taken = set(RESERVED)
    for symbol in sorted(found, key=str):
        name = identifier(str(symbol))
        while name in taken:
            name += "_"
        taken.add(name)
        names[symbol] = sympy.Symbol(name, real=True)
    return names


def _told_of_modes(equations: SymbolicEquations) -> str:
    """What a caller must know where events or samplers change something: they are no rates."""
    if not equations.modes:
        return ""
    listed = ", ".join(map(str, equations.modes))
    return f"  modes = ({listed}): set by the caller, whose are events and samplers."


def as_python(equations: SymbolicEquations) -> str:
    """A function of (t, x[, efforts][, modes]): the rates of x as an array."""
    from sympy.printing.pycode import PythonCodePrinter

    printer = remembering(ordering(PythonCodePrinter))({"fully_qualified_modules": False})
    states, names = _states(equations), _renamed(equations)
    further = {"efforts": equations.efforts, "modes": equations.modes}
    given = {name: symbols for name, symbols in further.items() if symbols}
    head = f"def rate({', '.join(['t', 'x', *given])}):"
    lines = [f"# {remark}" for remark in equations.numbered.remarks]
    lines += ["from math import *", "", "from numpy import array, linalg", "", "", head]
    told = f"Rates of x = ({', '.join(map(str, states))}).{_told_of_modes(equations)}"
    lines.append(f'    """{told}"""')
    lines.append(f"    {', '.join(str(names[s]) for s in states)}, = x")
    for name, symbols in given.items():
        lines.append(f"    {', '.join(str(names[s]) for s in symbols)}, = {name}")

    renamed: dict[Any, Any] = {}

    def code(expression: Any) -> str:
        return str(printer.doprint(replaced(expression, names, renamed)))

    lines += [f"    {names[s]} = {v!r}" for s, v in equations.parameters.items()]
    lines += [f"    {names[s]} = {code(v)}" for s, v in equations.definitions.items()]
    rates = [code(v) for v in equations.rates.values()]
    if _coupled(equations):
        rows = [f"[{', '.join(code(v) for v in row)}]" for row in equations.mass.tolist()]
        lines.append(f"    mass = array([{', '.join(rows)}])")
        lines.append(f"    right = array([{', '.join(code(v) for v in equations.right)}])")
        lines.append(f"    return array([{', '.join(rates)}, *linalg.solve(mass, right)])")
    else:
        lines.append(f"    return array([{', '.join(rates)}])")
    return "\n".join(lines)


def _read(equations: SymbolicEquations) -> set[Any]:
    """Symbols that the rates read, by themselves or through definitions."""
    coupled = (equations.mass, equations.right) if _coupled(equations) else ()
    read: set[Any] = set().union(
        *(value.free_symbols for value in (*equations.rates.values(), *coupled))
    )
    for symbol, value in reversed(list(equations.definitions.items())):
        if symbol in read:
            read |= value.free_symbols
    return read


def as_c(equations: SymbolicEquations) -> str:
    """A C99 function; a coupled minimal form is solved by Cholesky's method inside.  What no
    equation reads is not declared, so that a compiler has nothing to warn of."""
    states, names, read = _states(equations), _renamed(equations), _read(equations)
    further = {"efforts": equations.efforts, "modes": equations.modes}
    given = {name: symbols for name, symbols in further.items() if symbols}
    arrays = "".join(f", const double *{name}" for name in given)
    held = _told_of_modes(equations)
    lines = ["#include <math.h>", "", f"/* x = ({', '.join(map(str, states))}){held} */"]
    lines.append(f"void rate(double t, const double *x{arrays}, double *dx)")
    lines.append("{")
    for name, symbols in {"x": states, **given}.items():
        places = [(i, s) for i, s in enumerate(symbols) if s in read]
        lines += [f"    const double {names[s]} = {name}[{i}];" for i, s in places]
        lines += [] if places else [f"    (void){name};"]

    renamed: dict[Any, Any] = {}

    def code(expression: Any) -> str:
        return c_code(replaced(expression, names, renamed))

    parameters = ((s, v) for s, v in equations.parameters.items() if s in read)
    definitions = ((s, v) for s, v in equations.definitions.items() if s in read)
    lines += [f"    const double {names[s]} = {v!r};" for s, v in parameters]
    lines += [f"    const double {names[s]} = {code(v)};" for s, v in definitions]
    lines += [f"    dx[{i}] = {code(v)};" for i, v in enumerate(equations.rates.values())]
    if _coupled(equations):
        n, first = len(equations.speeds), len(equations.rates)
        lines.append(f"    double M[{n}][{n}], *y = dx + {first};")
        for i in range(n):
            lines += [f"    M[{i}][{j}] = {code(equations.mass[i, j])};" for j in range(i + 1)]
            lines.append(f"    y[{i}] = {code(equations.right[i])};")
        lines += _CHOLESKY.format(n=n).splitlines()
    lines += ["    (void)t;", "}"]
    told = [f"/* {remark} */" for remark in equations.numbered.remarks]
    return "\n".join([*told, *lines[:2], *helpers("\n".join(lines)), *lines[2:]])


_CHOLESKY = """\
    for (int i = 0; i < {n}; i++) {{
        for (int j = 0; j <= i; j++) {{
            double s = M[i][j];
            for (int k = 0; k < j; k++) s -= M[i][k] * M[j][k];
            M[i][j] = i == j ? sqrt(s) : s / M[j][j];
        }}
        for (int k = 0; k < i; k++) y[i] -= M[i][k] * y[k];
        y[i] /= M[i][i];
    }}
    for (int i = {n} - 1; i >= 0; i--) {{
        for (int k = i + 1; k < {n}; k++) y[i] -= M[k][i] * y[k];
        y[i] /= M[i][i];
    }}"""
