"""Short forms of trigonometric sums: the shortest of a few, without terms that are rounding."""

from __future__ import annotations

import math
from typing import Any

from vbg.analysis.symbolic.loops.counting import Operations, Terms
from vbg.analysis.symbolic.sharing import renumbered, rewritten, written_once

LARGE = 200  # operations above which an expression stays as it is
GROWN = 2  # terms by operations above which a sum is not multiplied out to be cleared
FACTORED = 60  # operations up to which common factors are looked for
DEGREE = 3  # of sines and cosines in a product that is written as a sum of angles
NEGLIGIBLE = 3e-15  # beside the largest coefficient of its sum: rounding
LARGEST_DENOMINATOR, LARGEST_NUMERATOR = 64, 10**6  # of fractions that stay fractions
LONG = 10**18  # a denominator behind which a fraction is a rounded number


class Tidy:
    """Writes expressions shorter where a usual identity makes them so: expanded, with products of
    sines and cosines as sums of angles, or with sin^2 = 1 - cos^2.  An object remembers what it
    has met."""

    def __init__(self) -> None:
        self.operations, self._terms = Operations(), Terms()
        self._known: dict[Any, Any] = {}
        self._written = written_once()

    def __call__(self, expression: Any) -> Any:
        """The shortest form of `expression`."""
        if expression.is_Atom:
            return expression
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._shorter(expression)
        return found

    def grows(self, expression: Any) -> bool:
        """Whether it would have many more terms, multiplied out, than it has operations now."""
        return self._terms(expression) > GROWN * self.operations(expression)

    def _shorter(self, expression: Any) -> Any:
        import sympy

        operations = self.operations
        sizes = {expression: operations(expression)}
        if sizes[expression] > LARGE:
            return expression
        expanded = rounded(sympy.expand(expression))
        if not expression.has(sympy.sin, sympy.cos):
            sizes.setdefault(expanded, operations(expanded))
            best = expanded if sizes[expanded] < sizes[expression] else expression
        else:
            for form in (expanded, rounded(_squares(expanded)), _angles_added(expanded)):
                if form not in sizes:
                    sizes[form] = operations(form)
            best = self._shortest(sizes)
        if sizes[best] > FACTORED:
            return best
        together = sympy.factor_terms(best)
        return together if together != best and operations(together) < sizes[best] else best

    def _shortest(self, sizes: dict[Any, int]) -> Any:
        """Of the forms with fewest operations the one that prints shortest, the first of those."""
        least = min(sizes.values())
        forms = [form for form, size in sizes.items() if size == least]
        return forms[0] if len(forms) == 1 else min(forms, key=lambda f: len(self._written(f)))


def _angles_added(expanded: Any) -> Any:
    """Products of sines and cosines as sums: cos A cos B = (cos(A - B) + cos(A + B)) / 2."""
    import sympy

    total: dict[Any, Any] = {}
    for term in sympy.Add.make_args(expanded):
        number, rest = term.as_coeff_Mul()
        waves, others = [], []
        for factor in sympy.Mul.make_args(rest):
            base, power = factor.as_base_exp()
            if isinstance(base, sympy.sin | sympy.cos) and power.is_Integer and power > 0:
                waves += [base] * int(power)
            else:
                others.append(factor)
        if len(waves) > DEGREE:
            return expanded
        other = sympy.Mul(*others)
        for wave, share in _product(waves).items():
            key = other * wave
            total[key] = total.get(key, 0) + number * share
    return rounded(sympy.Add(*[n * key for key, n in total.items()]))


def _product(waves: list[Any]) -> dict[Any, Any]:
    """A product of sines and cosines as a sum of single ones: wave -> coefficient."""
    import sympy

    half, found = sympy.Rational(1, 2), {sympy.Integer(1): sympy.Integer(1)}
    for wave in waves:
        new: dict[Any, Any] = {}
        for other, n in found.items():
            for made, share in _pair(other, wave, half):
                sign, bare = made.as_coeff_Mul()
                if bare.is_Number or made == 0:
                    bare, sign = sympy.Integer(1), made
                new[bare] = new.get(bare, 0) + n * share * sign
        found = new
    return found


def _pair(a: Any, b: Any, half: Any) -> list[tuple[Any, Any]]:
    """The product of two waves (a may be 1) as a sum."""
    import sympy

    if a == 1:
        return [(b, sympy.Integer(1))]
    A, B = a.args[0], b.args[0]
    if isinstance(a, sympy.cos) and isinstance(b, sympy.cos):
        return [(sympy.cos(A - B), half), (sympy.cos(A + B), half)]
    if isinstance(a, sympy.sin) and isinstance(b, sympy.sin):
        return [(sympy.cos(A - B), half), (sympy.cos(A + B), -half)]
    if isinstance(a, sympy.cos):
        A, B = B, A
    return [(sympy.sin(A - B), half), (sympy.sin(A + B), half)]


def _squares(expanded: Any) -> Any:
    """sin(x)^2 = 1 - cos(x)^2 for every x."""
    import sympy

    squares = [f for f in expanded.atoms(sympy.Pow) if f.exp == 2 and isinstance(f.base, sympy.sin)]
    one = {f: 1 - sympy.cos(f.base.args[0]) ** 2 for f in squares}
    return sympy.expand(expanded.xreplace(one))


def rounded(sum_of_terms: Any) -> Any:
    """A sum without terms whose coefficient is rounding, coefficients to 15 digits."""
    import sympy

    terms = sympy.Add.make_args(sum_of_terms)
    parts = [term.as_coeff_Mul() for term in terms]
    largest = max((abs(float(number)) for number, _ in parts), default=0.0)
    kept = [(n, rest) for n, rest in parts if abs(float(n)) > NEGLIGIBLE * largest]
    return sympy.Add(*[_number(n) * rest for n, rest in kept])


def _number(n: Any) -> Any:
    """A coefficient to 15 digits, so that 0.3333333333333334 prints as it was meant."""
    import sympy

    if n.is_Rational and n.q > LONG:
        return sympy.Rational(repr(float(n)))
    if not n.is_Float:
        return n
    value = float(f"{float(n):.15g}")
    return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(repr(value), 17)


def exact(expression: Any) -> Any:
    """Decimal numbers as fractions, so that sums of them cancel without a rest."""
    import sympy

    def fraction(number: Any) -> Any:
        return sympy.Rational(repr(float(number)))

    return renumbered(expression, fraction)


class Decimals:
    """Writes fractions that nobody would write as decimal numbers; usual ones, 1/3, stay.  An
    object remembers the parts that it has met.

    A common denominator of 1e17 before a sum leaves numbers of 1e16 in it, and in sums inside of
    it: each sum gets numbers of its own size back, and what is left goes into one of them.
    """

    def __init__(self) -> None:
        self._of_size: dict[Any, Any] = {}
        self._spread: dict[Any, Any] = {}
        self._decimal: dict[Any, Any] = {}

    def __call__(self, expression: Any) -> Any:
        """`expression` with decimal numbers."""
        import sympy

        def decimal(number: Any) -> Any:
            return sympy.Float(repr(float(number)), 17)

        whole = self._into_sums(self._sized(expression))
        return rewritten(whole, lambda e: decimal(e) if _unusual(e) else None, self._decimal)

    def _sized(self, e: Any) -> Any:
        """Sums in products and powers with numbers below 10."""
        if not e.args:
            return e
        found = self._of_size.get(e)
        if found is None:
            made = _again(e, [self._sized(a) for a in e.args])
            found = self._of_size[e] = _sized_product(made) if made.is_Mul or made.is_Pow else made
        return found

    def _into_sums(self, e: Any) -> Any:
        """A number in front of a product with a sum goes into the first one."""
        if not e.args:
            return e
        found = self._spread.get(e)
        if found is None:
            found = self._spread[e] = self._of_sums(e)
        return found

    def _of_sums(self, e: Any) -> Any:
        import sympy

        inside = next((a for a in e.args if a.is_Add), None)
        if e.is_Mul and inside is not None and _unusual(e.args[0]):
            others = [self._into_sums(a) for a in e.args[1:] if a is not inside]
            terms = [self._into_sums(e.args[0] * term) for term in inside.args]
            return sympy.Mul(*others, sympy.Add(*terms))
        return _again(e, [self._into_sums(a) for a in e.args])


def _again(e: Any, args: list[Any]) -> Any:
    return e if all(a is b for a, b in zip(args, e.args, strict=True)) else e.func(*args)


def _sized_product(e: Any) -> Any:
    """A product or power with the sizes of its sums in front."""
    import sympy

    number, rest = e.as_coeff_Mul()
    if not number.is_Rational:
        return e
    factors = list(sympy.Mul.make_args(rest))
    for i, factor in enumerate(factors):
        base, power = factor.as_base_exp()
        if base.is_Add and power.is_Integer:
            ten = _size_of(base)
            number *= ten**power
            factors[i] = factor if ten == 1 else _scaled(base, 1 / ten) ** power
    return sympy.Mul(number, *factors)


def _size_of(total: Any) -> Any:
    """The power of ten of the largest number of a sum that has unusual ones; otherwise 1."""
    import sympy

    numbers = [term.as_coeff_Mul()[0] for term in total.args]
    if not all(n.is_Rational for n in numbers) or not any(map(_unusual, numbers)):
        return sympy.Integer(1)
    tens = max(math.log10(abs(n.p)) - math.log10(n.q) for n in numbers)
    return sympy.Integer(10) ** math.floor(tens)


def _scaled(total: Any, factor: Any) -> Any:
    import sympy

    return sympy.Add(*[factor * term for term in total.args])


def _unusual(e: Any) -> bool:
    return bool(e.is_Rational and (e.q > LARGEST_DENOMINATOR or abs(e.p) > LARGEST_NUMERATOR))


def between_jumps(expression: Any) -> Any:
    """A derivative between the instants at which what is derived jumps: no impulses."""
    import sympy

    smooth = expression.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
    return smooth.replace(sympy.Heaviside, lambda x, *_: sympy.Piecewise((1, x > 0), (0, True)))
