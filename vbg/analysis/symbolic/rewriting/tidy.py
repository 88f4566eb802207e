"""Short forms of trigonometric sums: the shortest of a few, without terms that are rounding."""

from __future__ import annotations

import math
from typing import Any

from vbg.analysis.symbolic.rewriting.clearing import Kinds
from vbg.analysis.symbolic.rewriting.counting import Operations, Terms
from vbg.analysis.symbolic.rewriting.factors import factored
from vbg.analysis.symbolic.rewriting.printing import as_float
from vbg.analysis.symbolic.rewriting.sharing import arranged, renumbered, rewritten, written_once
from vbg.analysis.symbolic.rewriting.sums import ONE, Product, Sum, Sums, added

LARGE = 200  # operations above which an expression stays as it is
GROWN = 2  # terms by operations above which a sum is not multiplied out to be cleared
FACTORED = 60  # operations up to which common factors are looked for
DEGREE = 3  # of sines and cosines in a product that is written as a sum of angles
NEGLIGIBLE = 3e-15  # beside the largest coefficient of its kind, which has its units: rounding
FAINT = 1e-8  # beside the largest that a coefficient can be: worth a look at what was added to it
LARGEST_DENOMINATOR, LARGEST_NUMERATOR = 64, 10**6  # of fractions that stay fractions
LONG = 10**18  # a denominator behind which a fraction is a rounded number


class Tidy:
    """Writes expressions shorter where a usual identity makes them so: expanded, with products of
    sines and cosines as sums of angles, or with sin^2 = 1 - cos^2.  An object remembers what it
    has met."""

    def __init__(self) -> None:
        self.operations, self._terms = Operations(), Terms()
        self._known: dict[Any, Any] = {}
        self._bounds: dict[Any, float] = {}
        self._written = written_once()
        self.sums = Sums()
        self._waves, self._like = Waves(self.sums), Kinds(self.sums)

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

    def rounded(self, terms: Sum, before: Any) -> Sum:
        """A sum without terms whose coefficient is rounding, coefficients to 15 digits: what is
        small beside its own kind, or beside what was added to it as `before` was multiplied out
        (terms of other kinds have other units)."""
        sizes: dict[Product, float] = {}
        for product, n in terms.items():
            kind = self._like(product)
            sizes[kind] = max(abs(as_float(n)), sizes.get(kind, 0.0))
        small = FAINT * self._bound(before)
        added_up: Sum | None = None
        kept = {}
        for product, n in terms.items():
            size, beside = abs(as_float(n)), sizes[self._like(product)]
            if size <= small and size > NEGLIGIBLE * beside:
                added_up = self._added_up(before) if added_up is None else added_up
                beside = max(beside, as_float(added_up.get(product, n)))
            if size > NEGLIGIBLE * beside:
                kept[product] = _number(n)
        return kept

    def _bound(self, e: Any) -> float:
        """No coefficient of `e`, multiplied out as if its numbers had one sign, is larger."""
        if e.is_Number:
            return abs(as_float(e))
        if not (e.is_Add or e.is_Mul or (e.is_Pow and e.exp.is_Integer and e.exp > 0)):
            return 1.0
        found = self._bounds.get(e)
        if found is None:
            if e.is_Pow:
                found = self._bound(e.base) ** int(e.exp)
            else:
                found = (sum if e.is_Add else math.prod)(map(self._bound, e.args))
            self._bounds[e] = found
        return found

    def _added_up(self, e: Any) -> Sum:
        """`e` multiplied out as if all its numbers had one sign; of the sums of its products of
        waves, too."""
        terms = self.sums(of_one_sign(e))
        others = [terms]
        for form in (self._waves.angles_added, self._waves.without_squares):
            parts = (form({product: n}) for product, n in terms.items())
            others.append(added([{p: abs(n) for p, n in part.items()} for part in parts]))
        return added(others)

    def _shorter(self, expression: Any) -> Any:
        import sympy

        operations = self.operations
        sizes = {expression: operations(expression)}
        if sizes[expression] > LARGE:
            return expression
        terms = self.rounded(self.sums(expression), expression)
        expanded = self.sums.expression(terms)
        if not expression.has(sympy.sin, sympy.cos):
            sizes.setdefault(expanded, operations(expanded))
            best = expanded if sizes[expanded] < sizes[expression] else expression
        else:
            waves = self._waves
            others = (waves.without_squares(terms), waves.angles_added(terms))
            forms = (
                self.sums.expression(self.rounded(o, expression)) for o in others if o != terms
            )
            for form in (expanded, *forms):
                if form not in sizes:
                    sizes[form] = operations(form)
            best = self._shortest(sizes)
        if sizes[best] > FACTORED:
            return best
        together = factored(best, self.sums)
        return together if together != best and operations(together) < sizes[best] else best

    def _shortest(self, sizes: dict[Any, int]) -> Any:
        """Of the forms with fewest operations the one that prints shortest, the first of those."""
        least = min(sizes.values())
        forms = [form for form, size in sizes.items() if size == least]
        return forms[0] if len(forms) == 1 else min(forms, key=lambda f: len(self._written(f)))


class Waves:
    """Products of sines and cosines in sums that are multiplied out."""

    def __init__(self, sums: Sums) -> None:
        self._sums = sums
        self._products: dict[tuple[Any, ...], Sum] = {}

    def angles_added(self, terms: Sum) -> Sum:
        """Products of sines and cosines as sums: cos A cos B = (cos(A - B) + cos(A + B)) / 2;
        the terms as they are where more than `DEGREE` meet."""
        found: list[Sum] = []
        for product, n in terms.items():
            waves: list[Any] = []
            others: Product = ONE
            for number, power in product:
                factor = self._sums.factor(number)
                if isinstance(power, int) and power > 0 and _is_wave(factor):
                    waves += [factor] * power
                else:
                    others = (*others, (number, power))
            if len(waves) > DEGREE:
                return terms
            found.append(self._sums.times({others: n}, self._product(tuple(waves))))
        return added(found)

    def without_squares(self, terms: Sum) -> Sum:
        """sin(x)^2 = 1 - cos(x)^2 for every x."""
        return added([self._without_squares(product, n) for product, n in terms.items()])

    def _without_squares(self, product: Product, n: Any) -> Sum:
        import sympy

        total: Sum = {ONE: n}
        for number, power in product:
            factor = self._sums.factor(number)
            one: Sum = {((number, power),): sympy.Integer(1)}
            if power == 2 and isinstance(factor, sympy.sin):
                one = self._sums(1 - sympy.cos(factor.args[0]) ** 2)
            total = self._sums.times(total, one)
        return total

    def _product(self, waves: tuple[Any, ...]) -> Sum:
        """A product of sines and cosines as a sum of single ones."""
        import sympy

        if not waves:
            return {ONE: sympy.Integer(1)}
        found = self._products.get(waves)
        if found is None:
            parts = [
                self._sums.times({ONE: n}, self._pair(self._sums.product(one), waves[-1]))
                for one, n in self._product(waves[:-1]).items()
            ]
            found = self._products[waves] = added(parts)
        return found

    def _pair(self, a: Any, b: Any) -> Sum:
        """The product of two waves (a may be 1) as a sum."""
        import sympy

        if a == 1:
            return self._sums(b)
        half, A, B = sympy.Rational(1, 2), a.args[0], b.args[0]
        if a.func == b.func:
            sign = 1 if isinstance(a, sympy.cos) else -1
            return self._sums(half * sympy.cos(A - B) + sign * half * sympy.cos(A + B))
        if isinstance(a, sympy.cos):
            A, B = B, A
        return self._sums(half * sympy.sin(A - B) + half * sympy.sin(A + B))


def _is_wave(factor: Any) -> bool:
    import sympy

    return isinstance(factor, sympy.sin | sympy.cos)


def of_one_sign(e: Any) -> Any:
    """Sums and products with the sizes of their numbers."""
    import sympy

    if e.is_Number:
        return abs(e)
    if e.is_Add or e.is_Mul:
        return e.func(*map(of_one_sign, e.args))
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return sympy.Pow(of_one_sign(e.base), e.exp)
    return e


def _number(n: Any) -> Any:
    """A coefficient to 15 digits, so that 0.3333333333333334 prints as it was meant."""
    import sympy

    if n.is_Rational and n.q > LONG:
        return sympy.Rational(repr(as_float(n)))
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

        def decimal(e: Any) -> Any:
            return sympy.Float(repr(as_float(e)), 17) if _unusual(e) else None

        whole = self._into_sums(self._sized(expression))
        return rewritten(whole, decimal, self._decimal, arranged)

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
    """`e` of other arguments; terms that differed by the sizes of their sums may cancel now."""
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

    return arranged(sympy.Add, [factor * term for term in total.args])


def _unusual(e: Any) -> bool:
    return bool(e.is_Rational and (e.q > LARGEST_DENOMINATOR or abs(e.p) > LARGEST_NUMERATOR))


def between_jumps(expression: Any) -> Any:
    """A derivative between the instants at which what is derived jumps: no impulses."""
    import sympy

    smooth = expression.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
    return smooth.replace(sympy.Heaviside, lambda x, *_: sympy.Piecewise((1, x > 0), (0, True)))
