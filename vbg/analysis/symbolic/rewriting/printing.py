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
    """A class of printers that write sums and products as sympy does, but sort terms without its
    complex numbers and with keys that are made once, and take a product for negative where its
    number is, which sympy finds out by making the opposite of the product."""

    class Ordering(printer):
        def _print_Add(self, expr: Any, order: Any = None) -> str:
            terms = None if order or self.order else ordered_terms(expr)
            if terms is None or not all(t.is_Mul or t.is_Number or _bare(t) for t in terms):
                return str(super()._print_Add(expr, **({"order": order} if order else {})))
            texts = map(self._print, terms)
            signed = [f"- {one[1:]}" if one.startswith("-") else f"+ {one}" for one in texts]
            text = " ".join(signed)
            return text[2:] if text[0] == "+" else text[0] + text[2:]

        def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
            terms = None if order or self.order else ordered_terms(expr)
            return super()._as_ordered_terms(expr, order) if terms is None else terms

        def _print_Mul(self, expr: Any) -> str:
            number, rest = expr.as_coeff_Mul()
            factors = rest.args if rest.is_Mul else (rest,)
            plain = (number.is_Integer or number.is_Float) and not self.order
            if not plain or not all(one.is_Add or _bare(one) for one in factors):
                return str(super()._print_Mul(expr))
            texts = [
                f"({self._print(one)})" if one.is_Add else self._print(one)
                for one in sorted(factors, key=_place)
            ]
            sign, size = ("-", -number) if as_float(number) < 0.0 else ("", number)
            if not (size.is_Integer and size.p == 1):
                texts = [self._print(size), *texts]
            return sign + "*".join(texts)

    return Ordering


def _bare(e: Any) -> bool:
    """Whether a factor or term is written without brackets and above the line, and is no number:
    a symbol, a function, a power of one."""
    if e.is_Pow:
        return bool(e.exp.is_Rational and e.exp.p > 0 and not e.base.is_number)
    return bool(e.is_Symbol or (e.is_Function and not hasattr(e, "precedence")))


def ordered_terms(total: Any) -> list[Any] | None:
    """`total.as_ordered_terms()`: terms by the powers of their factors, these in sympy's order, but
    1 - x as it is; None of roots of numbers, which have rules of their own."""
    from sympy import Mul
    from sympy.core.exprtools import decompose_power

    rows = []
    for term in total.args:
        number, rest = term.as_coeff_Mul()
        factors = () if rest.is_Number else Mul.make_args(rest)
        if not (number.is_Rational or number.is_Float) or any(
            factor.is_number for factor in factors
        ):
            return None
        rows.append((term, as_float(number), dict(map(decompose_power, factors))))
    if _is_less_of_one(total):
        return list(total.args)
    bases = sorted({base for *_, powers in rows for base in powers}, key=_place)
    rows.sort(key=lambda row: ([-row[2].get(base, 0) for base in bases], row[1]))
    return [term for term, *_ in rows]


def as_float(number: Any) -> float:
    """A real number; sympy's own way to a fraction's leads through its long floats."""
    return float(number.p / number.q if number.is_Rational else number)


def _is_less_of_one(total: Any) -> bool:
    """Whether a sum is a number above zero less a multiple of one factor."""
    first, second = total.args[:2]
    if len(total.args) > 2 or not (first.is_Number and second.is_Mul and len(second.args) == 2):
        return False
    number = second.args[0]
    return bool(number.is_Number and as_float(number) < 0.0 < as_float(first))


@lru_cache(maxsize=10_000)
def _place(e: Any) -> Any:
    """`e.sort_key()`, of sums by terms that are put in order here."""
    from sympy import S

    if not e.is_Add:
        return e.sort_key()
    terms = ordered_terms(e) or e.as_ordered_terms()
    return e.class_key(), (len(terms), tuple(map(_place, terms))), S.One.sort_key(), S.One


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
