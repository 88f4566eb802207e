"""Expressions in C99 that keep what has no value: NaN stays NaN.

C's own fmax(NaN, 1) is 1, its comparisons with NaN are false, and (x > 0) - (x < 0) is 0 then: a
root of a negative number would become a plausible result.
"""

from __future__ import annotations

from functools import cache
from typing import Any

# what a function needs before it, by its name
HELPERS = {
    "larger_of": "static double larger_of(double a, double b) { return a > b || a != a ? a : b; }",
    "smaller_of": "static double smaller_of(double a, double b) "
    "{ return a < b || a != a ? a : b; }",
    "sign_of": "static double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }",
}


def c_code(expression: Any) -> str:
    """The expression; functions that it may need before it are those of `helpers`."""
    return str(_printer().doprint(expression))


def helpers(text: str) -> list[str]:
    """Definitions of the functions that `text` calls, a line each."""
    return [line for name, line in HELPERS.items() if f"{name}(" in text]


@cache
def _printer() -> Any:
    import sympy
    from sympy.printing.c import C99CodePrinter

    class Printer(C99CodePrinter):
        def _print_Max(self, expr: Any) -> str:
            return self._of_two("larger_of", expr.args)

        def _print_Min(self, expr: Any) -> str:
            return self._of_two("smaller_of", expr.args)

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

        def _of_two(self, name: str, args: Any) -> str:
            found = self._print(args[-1])
            for one in reversed(args[:-1]):
                found = f"{name}({self._print(one)}, {found})"
            return str(found)

    return Printer()
