"""Second rates of expressions of sums of angles.

With s the arguments of sines and cosines, sums of coordinates, and the coordinates outside of
them, and w = s':

    y(s)'' = sum dy/ds_i s_i'' + sum d2y/(ds_i ds_k) w_i w_k

The last sum is short where every s turns by one w: -l cos(A + B) (A' + B')^2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vbg.analysis.symbolic.rewriting.slopes import Slopes


@dataclass(frozen=True, eq=False)
class Arguments:
    """`own`: argument -> its symbol s; `rates`: s -> symbol w; `speeds`: w -> sum of u."""

    own: dict[Any, Any]
    rates: dict[Any, Any]
    speeds: dict[Any, Any]


def arguments_of(
    expressions: Iterable[Any], q: tuple[Any, ...], u: tuple[Any, ...], mark: str = ""
) -> Arguments:
    """The arguments in `expressions` of the coordinates `q` with the rates `u`; their symbols are
    marked."""
    import sympy

    found = set()
    for expression in expressions:
        found |= {wave.args[0] for wave in expression.atoms(sympy.sin, sympy.cos)}
    own, rates = {}, dict(zip(q, u, strict=True))
    speeds = {}
    for i, sum_of in enumerate(sorted((a for a in found if a.is_Add), key=str)):
        if sum_of.free_symbols <= set(q):
            s, w = (sympy.Symbol(f"_{letter}{mark}{i}", real=True) for letter in "sw")
            own[sum_of], rates[s] = s, w
            speeds[w] = sum(sum_of.diff(x) * v for x, v in zip(q, u, strict=True))
    return Arguments(own, rates, speeds)


def second_rate(expression: Any, known: Arguments, slope_of: Slopes) -> Any:
    """The part of y'' without second rates of coordinates, in the symbols w."""
    import sympy

    def wave(kind: Any) -> Any:
        return lambda a: kind(known.own.get(a, a))

    y = expression.replace(sympy.sin, wave(sympy.sin)).replace(sympy.cos, wave(sympy.cos))
    met = [(s, w) for s, w in known.rates.items() if s in y.free_symbols]
    total = sympy.Integer(0)
    for i, (s, w) in enumerate(met):
        slope = slope_of(y, s)
        total += slope_of(slope, s) * w**2
        total += sum(2 * slope_of(slope, r) * w * v for r, v in met[i + 1 :])
    return total.xreplace({s: sum_of for sum_of, s in known.own.items()})
