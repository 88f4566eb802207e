"""Expressions in C99 and Fortran 2008 that keep what has no value: NaN stays NaN.

C's own fmax(NaN, 1) is 1, its comparisons with NaN are false, and (x > 0) - (x < 0) is 0 then;
Fortran leaves max(NaN, 1) open: a root of a negative number would become a plausible result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

# what a function needs before it, by its name
HELPERS = {
    "larger_of": "static double larger_of(double a, double b) { return a > b || a != a ? a : b; }",
    "smaller_of": "static double smaller_of(double a, double b) "
    "{ return a < b || a != a ? a : b; }",
    "sign_of": "static double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }",
}


@cache
def ordering(printer: type) -> type:
    """A class of printers that sort the terms of sums as sympy does, without its complex numbers
    and with keys that are made once."""

    class Ordering(printer):
        def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
            terms = None if order or self.order else ordered_terms(expr)
            return super()._as_ordered_terms(expr, order) if terms is None else terms

    return Ordering


def ordered_terms(total: Any) -> list[Any] | None:
    """`total.as_ordered_terms()`: terms by the powers of their factors, these in sympy's order;
    None of a number and one term, and of roots of numbers, which have rules of their own."""
    from sympy import Mul
    from sympy.core.exprtools import decompose_power

    rows = []
    for term in total.args:
        number, rest = term.as_coeff_Mul()
        factors = () if rest.is_Number else Mul.make_args(rest)
        if not number.is_real or any(factor.is_number for factor in factors):
            return None
        rows.append((term, float(number), dict(map(decompose_power, factors))))
    if len(rows) == 2 and total.args[0].is_Number:
        return None
    bases = sorted({base for *_, powers in rows for base in powers}, key=_place)
    rows.sort(key=lambda row: ([-row[2].get(base, 0) for base in bases], row[1]))
    return [term for term, *_ in rows]


@lru_cache(maxsize=10_000)
def _place(base: Any) -> Any:
    from sympy import default_sort_key

    return default_sort_key(base)


def c_code(expression: Any) -> str:
    """The expression; functions that it may need before it are those of `helpers`."""
    return str(_printer().doprint(expression))


def helpers(text: str) -> list[str]:
    """Definitions of the functions that `text` calls, a line each."""
    return [line for name, line in HELPERS.items() if f"{name}(" in text]


# the same in Fortran: procedures of a module
PROCEDURES = """
  pure real(dp) function larger_of(a, b)
    real(dp), intent(in) :: a, b
    larger_of = merge(a, b, a > b .or. a /= a)
  end function

  pure real(dp) function smaller_of(a, b)
    real(dp), intent(in) :: a, b
    smaller_of = merge(a, b, a < b .or. a /= a)
  end function

  pure real(dp) function sign_of(a)
    real(dp), intent(in) :: a
    sign_of = merge(1.0_dp, merge(-1.0_dp, a, a < 0.0_dp), a > 0.0_dp)
  end function

  ! x, or nothing where a or b, which were compared, have no value
  pure real(dp) function compared(a, b, x)
    real(dp), intent(in) :: a, b, x
    compared = merge(a + b, x, a /= a .or. b /= b)
  end function
"""


def fortran_code(expression: Any) -> str:
    """The expression on one line; it may call PROCEDURES."""
    text = str(_fortran_printer().doprint(expression))
    return " ".join(line.strip().removesuffix("&").strip() for line in text.splitlines())


@cache
def _fortran_printer() -> Any:
    from sympy.core.relational import Relational
    from sympy.printing.fortran import FCodePrinter

    class Printer(ordering(FCodePrinter)):  # type: ignore[misc]
        def _print_Max(self, expr: Any) -> str:
            return _of_two(self.real, "larger_of", expr.args)

        def _print_Min(self, expr: Any) -> str:
            return _of_two(self.real, "smaller_of", expr.args)

        def _print_sign(self, expr: Any) -> str:
            return f"sign_of({self.real(expr.args[0])})"

        def _print_Piecewise(self, expr: Any) -> str:
            (value, condition), *others = expr.args
            if condition == True:  # noqa: E712  (sympy's own)
                return self.real(value)
            rest = self.real(expr.func(*others))
            text = f"merge({self.real(value)}, {rest}, {self._print(condition)})"
            for one, other in sorted((r.args for r in condition.atoms(Relational)), key=str):
                text = f"compared({self.real(one)}, {self.real(other)}, {text})"
            return text

        def real(self, expr: Any) -> str:
            """What functions take: no whole numbers."""
            return f"real({expr}, dp)" if expr.is_Integer else str(self._print(expr))

    return Printer({"standard": 2008, "source_format": "free"})


def _of_two(written: Callable[[Any], str], name: str, args: Any) -> str:
    found = written(args[-1])
    for one in reversed(args[:-1]):
        found = f"{name}({written(one)}, {found})"
    return found


@cache
def _printer() -> Any:
    import sympy
    from sympy.printing.c import C99CodePrinter

    class Printer(ordering(C99CodePrinter)):  # type: ignore[misc]
        def _print_Max(self, expr: Any) -> str:
            return _of_two(self._print, "larger_of", expr.args)

        def _print_Min(self, expr: Any) -> str:
            return _of_two(self._print, "smaller_of", expr.args)

        def _print_sign(self, expr: Any) -> str:
            return f"sign_of({self._print(expr.args[0])})"

        def _print_Piecewise(self, expr: Any) -> str:
            text = ""
            for value, condition in expr.args:
                if condition == True:  # noqa: E712  (sympy's own)
                    return f"({text}{self._print(value)})"
                relations = condition.atoms(sympy.core.relational.Relational)
                for one, other in sorted((r.args for r in relations), key=str):
                    text += f"isunordered({self._print(one)}, {self._print(other)}) ? NAN : "
                text += f"({self._print(condition)}) ? {self._print(value)} : "
            return f"({text}NAN)"

    return Printer()
