"""Common parts of expressions, named: what `sympy.cse` finds, in half of its time.

    x = A + 2 B,  y = 3 (A + 2 B)       z0 = A + 2 B,  x = z0,  y = 3 z0

Looked for are equal sub-expressions, those that differ by their sign, and arguments that sums, or
products, have in common; the last is sympy's search.  Sympy asks every product whether it is its
own opposite, sorts its factors and multiplies them again, and makes every expression anew, whether
something in it was named or not.  Expressions here are of real symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from vbg.analysis.symbolic.rewriting.printing import as_float, ordered_terms
from vbg.analysis.symbolic.rewriting.sharing import arranged

Part = tuple[Any, Any]  # symbol, expression


def common_parts(
    expressions: Sequence[Any], symbols: Iterator[Any]
) -> tuple[list[Part], list[Any]]:
    """The parts that occur more than once, by symbols out of `symbols`, in the order in which they
    need each other, and the expressions written by them."""
    known = _Forms.of(expressions).others
    repeated, used = _repeated(expressions, known)
    free = (symbol for symbol in symbols if symbol.name not in used)
    naming = _Naming(known, repeated, free)
    written = [naming(e) for e in expressions]
    return naming.parts, written


class _Forms:
    """Other forms of expressions, by which more of them have parts in common: `others`."""

    def __init__(self) -> None:
        self.others: dict[Any, Any] = {}
        self._seen: set[Any] = set()
        self._sums: dict[Any, None] = {}
        self._products: dict[Any, None] = {}
        self._signs: dict[Any, bool] = {}

    @classmethod
    def of(cls, expressions: Iterable[Any]) -> _Forms:
        """What is found in all expressions together."""
        import sympy
        from sympy.simplify.cse_main import match_common_args

        forms = cls()
        for e in expressions:
            forms._look(e)
        match_common_args(sympy.Add, forms._sums, forms.others)
        match_common_args(sympy.Mul, forms._products, forms.others)
        return forms

    def _look(self, e: Any) -> None:
        import sympy
        from sympy.simplify.cse_main import Unevaluated

        if not e.args or e in self._seen:
            return
        if not isinstance(e, sympy.Tuple):
            self._seen.add(e)
        for arg in e.args:
            self._look(arg)
        if self._minus(e):
            opposite = arranged(sympy.Add, [-term for term in e.args]) if e.is_Add else -e
            if not opposite.is_Atom:
                self.others[e] = Unevaluated(sympy.Mul, (sympy.S.NegativeOne, opposite))
                self._seen.add(opposite)
                e = opposite
        if e.is_Mul:
            self._products[e.func(*e.args) if e.args[1].is_Add else e] = None
        elif e.is_Add:
            self._sums[e] = None
        elif e.is_Pow and self._minus(e.exp):
            inverse = sympy.Pow(e.base, -e.exp)
            self.others[e] = Unevaluated(sympy.Pow, (inverse, sympy.S.NegativeOne))

    def _minus(self, e: Any) -> bool:
        """Whether an expression is written as the opposite of its opposite."""
        if e.is_Mul:
            return bool(e.args[0].is_Number and as_float(e.args[0]) < 0.0)
        if not e.is_Add:
            return bool(e.could_extract_minus_sign())
        found = self._signs.get(e)
        if found is None:
            minus = sum(map(self._minus, e.args))
            plus = len(e.args) - minus
            found = minus > plus if minus != plus else _first_is_negative(e)
            self._signs[e] = found
        return found


def _first_is_negative(total: Any) -> bool:
    """Which of a sum with as many negative terms as others and its opposite sympy takes for the
    opposite: the one whose first term, as it prints them, is negative."""
    spoken = len(total.args) == 2 and total.args[0].is_Number  # 1 - x has no order of its own
    terms = None if spoken else ordered_terms(total)
    if terms is None:
        return bool(total.could_extract_minus_sign())
    return as_float(terms[0].as_coeff_Mul()[0]) < 0.0


def _repeated(expressions: Iterable[Any], known: dict[Any, Any]) -> tuple[set[Any], set[str]]:
    """Expressions that are met more than once, and the names of all symbols."""
    import sympy

    repeated: set[Any] = set()
    seen: set[Any] = set()
    names: set[str] = set()

    def look(e: Any) -> None:
        if not e.args:
            if e.is_Symbol:
                names.add(e.name)
            return
        if not isinstance(e, sympy.Tuple):
            if e in seen:
                repeated.add(e)
                return
            seen.add(e)
        for arg in known.get(e, e).args:
            look(arg)

    for e in expressions:
        look(e)
    return repeated, names


class _Naming:
    """Writes expressions by the symbols of those that are `repeated`."""

    def __init__(self, known: dict[Any, Any], repeated: set[Any], symbols: Iterator[Any]) -> None:
        self.parts: list[Part] = []
        self._known, self._repeated, self._symbols = known, repeated, symbols
        self._named: dict[Any, Any] = {}

    def __call__(self, e: Any) -> Any:
        """`e`, or its symbol."""
        import sympy

        if not e.args:
            return e
        if e in self._named:
            return self._named[e]
        form = self._known.get(e, e)
        args = [self(arg) for arg in form.args]
        same = all(a is b for a, b in zip(args, form.args, strict=True))
        whole = isinstance(form, sympy.Basic) and not (form.is_Mul and form.args[1].is_Add)
        written = form if same and whole else arranged(form.func, args)
        if e not in self._repeated:
            return written
        symbol = self._named[e] = next(self._symbols)
        self.parts.append((symbol, written))
        return symbol
