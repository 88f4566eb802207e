"""Trigonometric simplification of laws in which angles meet oil, stops and switches.

    sum_k c_k(sin, cos) m_k        each c_k is simplified by itself, m_k stays as it is

`sympy.trigsimp` looks at all that stands beside the angles in each of its tries, on every path to
it.  What stands in Max, Min and the like, and below roots and lines where angles and other things
are together, is simplified by itself, once.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from vbg.analysis.symbolic.rewriting.sharing import replaced, rewritten

ROUNDING = 1e-12  # of the largest term of a sum of angles


def simplified(expression: Any) -> Any:
    """The shortest form; what is left of a coefficient c_k whose terms cancel but for rounding
    vanishes.  Coefficients of other m_k say nothing of it: they have other units."""
    import sympy

    return sympy.Add(*[_rounded(term) for term in sympy.Add.make_args(_short(expression))])


@lru_cache(maxsize=1000)
def _short(expression: Any) -> Any:
    """The sum of the products c_k m_k, short."""
    import sympy
    from sympy.functions.elementary.trigonometric import TrigonometricFunction

    inside: dict[Any, Any] = {}
    bare = sympy.expand(rewritten(expression, partial(_stand_in, inside=inside), {}))
    coefficients: dict[Any, list[Any]] = {}
    for term in sympy.Add.make_args(bare):
        factors = sympy.Mul.make_args(term)
        waves = [f for f in factors if f.is_Number or f.has(TrigonometricFunction)]
        others = sympy.Mul(*[f for f in factors if f not in waves])
        coefficients.setdefault(others, []).append(sympy.Mul(*waves))
    parts = [others * _summed(waves) for others, waves in coefficients.items()]
    return replaced(sympy.expand(sympy.Add(*parts)), inside)


def _summed(waves: list[Any]) -> Any:
    """A coefficient, of its terms; those of the sum that are rounding beside them left out."""
    import sympy

    least = ROUNDING * max(abs(float(w.as_coeff_Mul()[0])) for w in waves)
    terms = sympy.Add.make_args(sympy.expand(_of_angles(sympy.Add(*waves))))
    return sympy.Add(*[t for t in terms if abs(float(t.as_coeff_Mul()[0])) > least])


@lru_cache(maxsize=1000)
def _of_angles(coefficient: Any) -> Any:
    """`trigsimp` of what has more than one sine or cosine; machines have the same ones often."""
    import sympy

    _, rest = coefficient.as_coeff_Mul()
    return coefficient if rest.is_Function or rest.is_Number else sympy.trigsimp(coefficient)


def _stand_in(node: Any, inside: dict[Any, Any]) -> Any:
    """A symbol for a function that is no sine, exponential or root, and for a root or quotient of
    angles and other things together, which `inside` then holds with simplified arguments; None for
    all else."""
    import sympy
    from sympy.core.function import Application
    from sympy.functions.elementary.hyperbolic import HyperbolicFunction
    from sympy.functions.elementary.trigonometric import TrigonometricFunction

    elementary = (TrigonometricFunction, HyperbolicFunction, sympy.exp, sympy.log)
    made = sympy.Dummy(real=True)
    if node.is_Pow and node.base.is_Add and not (node.exp.is_Integer and node.exp > 0):
        angles = set().union(*(w.free_symbols for w in node.base.atoms(TrigonometricFunction)))
        if node.base.free_symbols <= angles:
            return None
        inside[made] = _short(node.base) ** node.exp
        return made
    if not isinstance(node, Application) or isinstance(node, elementary):
        return None
    if not all(isinstance(argument, sympy.Expr) for argument in node.args):
        return None  # the conditions of a Piecewise are no sums
    inside[made] = node.func(*map(simplified, node.args))
    return made


def _rounded(term: Any) -> Any:
    """Coefficients to 15 digits, so that 0.3333333333333334 prints as it was meant."""
    import sympy

    number, rest = term.as_coeff_Mul()
    if number.is_Float:
        value = float(f"{float(number):.14g}")
        number = sympy.Integer(int(value)) if value.is_integer() else sympy.Float(repr(value), 15)
    return number * rest
