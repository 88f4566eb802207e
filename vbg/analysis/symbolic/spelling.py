"""Names and numbers of equations as they are read, in text and in LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vbg.analysis.symbolic.entries import simple_fraction
from vbg.analysis.symbolic.rewriting.sharing import renumbered, rewritten
from vbg.plumbing.components import split_component

DIGITS = 12  # significant digits of coefficients in text and LaTeX; code keeps all
LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
GREEK = frozenset(LETTERS.split())
NUMBERED = re.compile(r"([^\W\d_]+)(\d*)")  # L1, omega0


def shortened(expression: Any, *, fractions: bool) -> Any:
    """Coefficients to `DIGITS` digits, whole numbers without a point; with `fractions` 1/3
    for 0.333333333333.  Fractions that are short decimal numbers, 157/50, are written so: 3.14."""
    import sympy

    def shorter(number: Any) -> Any:
        if fractions and (simple := simple_fraction(float(number))) is not None:
            return simple
        value = float(f"{float(number):.{DIGITS}g}")
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(repr(value), DIGITS)

    return renumbered(decimal(expression), shorter)


def decimal(expression: Any) -> Any:
    """157/50 as 3.14 and 2/5 as 0.4; halves and thirds stay, and so do exponents."""
    import sympy

    def changed(node: Any) -> Any:
        if node.is_Pow and node.exp.is_Rational:
            base = rewritten(node.base, changed, done)
            return base**node.exp if base is not node.base else node
        if not node.is_Rational or node.q % 5:
            return None
        left = node.q
        for prime in (2, 5):
            while left % prime == 0:
                left //= prime
        return sympy.Float(repr(int(node.p) / int(node.q)), 17) if left == 1 else None

    done: dict[Any, Any] = {}
    return rewritten(expression, changed, done)


def latex_writer(names: Mapping[Any, str]) -> Callable[[Any], str]:
    """Expressions in LaTeX: symbols by their `names`, others as names of parts."""
    import sympy

    def written(expression: Any) -> str:
        others = {s: upright(str(s)) for s in expression.free_symbols - names.keys()}
        return str(sympy.latex(expression, symbol_names={**others, **names}))

    return written


def latex_symbols(parameters: Iterable[Any]) -> dict[Any, str]:
    """How symbols of parameters are spelled; those that would look alike, m1 and m_1, by their
    whole names."""
    found = {symbol: latex_symbol(str(symbol)) for symbol in parameters}
    met = Counter(found.values())
    return {
        symbol: spelled if met[spelled] == 1 else rf"\mathrm{{{_escaped(str(symbol))}}}"
        for symbol, spelled in found.items()
    }


def latex_symbol(name: str) -> str:
    """The symbol of a parameter: a letter, Latin or Greek, with its number and what stands behind
    an underscore below it; a longer word is upright, or it would be read as a product."""
    head, *below = name.split("_")
    numbered = NUMBERED.fullmatch(head)
    if not numbered or not all(below):
        return rf"\mathrm{{{_escaped(name)}}}"
    base, number = numbered.groups()
    subscript = ",".join([*([number] if number else []), *map(_word, below)])
    return _word(base) + (f"_{{{subscript}}}" if subscript else "")


def _word(text: str) -> str:
    if text in GREEK:
        return f"\\{text}"
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{_escaped(text)}}}"


def upright(name: str) -> str:
    """The name of a part or a signal, its component below it."""
    base, part = split_component(name)
    below = f"_{{{part}}}" if part else ""
    return rf"\mathrm{{{_escaped(base)}}}{below}"


def _escaped(name: str) -> str:
    return name.replace("_", r"\_").replace(" ", r"\ ")
