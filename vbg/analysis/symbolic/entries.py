"""Constants of a model as monomials and polynomials of its parameters, from models with other
parameters (`vbg.analysis.symbolic.named`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.matrices.symbolic import beside
from vbg.model import Model

Array = NDArray[np.float64]

STEP = 1.1  # factor by which one parameter grows
CLOSE = 1e-10  # relative error at which a form is believed
CHECKS = 3  # random models for monomials
QUADRATIC = 2  # of all parameters together: the polynomial that is tried before others
DEGREES = {1: 4, 2: 4, 3: 2}  # of a polynomial's parameters, by their number
POWERS = {  # of its terms, those of lower degree first
    n: [
        [powers for powers in product(range(d + 1), repeat=n) if sum(powers) <= most]
        for most in (QUADRATIC, n * d)
    ]
    for n, d in DEGREES.items()
}
ENOUGH = {n: len(forms[-1]) + CHECKS for n, forms in POWERS.items()}  # random models for one
STAGES = (CHECKS, 8, 13, 28, 30)
DENOMINATORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of numbers that become fractions
FRACTION = 1e-12  # of a number that is a usual fraction
FITTED = 1e-14  # of the numbers of a polynomial, beside the largest of its terms
LAST = 1e-15  # of a number's last digits
FEW, MANY = 6, 12  # digits of numbers that somebody wrote
NEGLIGIBLE = 1e-13  # beside the largest entry of its matrix: rounding where it has no form
APART = 1e-15  # the same beside the largest coefficient of a sum
NEAR = 1e-3  # of a value: none of two that are equal in the model is then
SEED = 5


class Models(Sequence[Model]):
    """Models at the rows of `values`, made when they are looked at."""

    def __init__(self, model: Model, names: Sequence[str], values: Array) -> None:
        self._fixed = {n: v for n, v in model.parameters.items() if n not in names}
        self._model, self._names, self._values = model, names, values
        self._made: dict[int, Model] = {}

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, at: int) -> Model: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Model]: ...
    def __getitem__(self, at: int | slice) -> Model | Sequence[Model]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if at not in self._made:
            row = dict(zip(self._names, self._values[at].tolist(), strict=True))
            self._made[at] = self._model.with_parameters(**self._fixed, **row)
        return self._made[at]


@dataclass(frozen=True, eq=False)
class Entries:
    """Models at the base values, with each parameter grown in turn, next to those of the model
    itself (there its numbers may cancel by chance), and at random values;
    `values` (models, parameters)."""

    names: tuple[str, ...]
    values: Array
    models: Sequence[Model]
    _met: dict[bytes, Any] = field(default_factory=dict, repr=False)
    _numbers: list[float] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, model: Model, chosen: Mapping[str, float]) -> Entries:
        random = np.random.default_rng(SEED)
        nominal = np.array(list(chosen.values()))
        base = nominal * random.uniform(0.93, 1.07, len(nominal))
        grown = [np.where(np.arange(len(base)) == i, STEP * base, base) for i in range(len(base))]
        others = [base * random.uniform(0.8, 1.25, len(base)) for _ in range(STAGES[-1])]
        near = nominal * random.uniform(1.0 - NEAR, 1.0 + NEAR, len(nominal))
        values = np.array([base, *grown, near, *others])
        names = tuple(chosen)
        return cls(names, values, Models(model, names, values))

    def symbols(
        self, samples: Array, *, sums: bool = False
    ) -> tuple[Any, frozenset[frozenset[str]]]:
        """A constant (models, rows, columns) in symbols, and of each entry that has no form the
        parameters on which it depends; of the first models only monomials and polynomials in few
        parameters are found.  Coefficients of `sums` have units of their own: a small one is
        rounding only where it is now positive, now negative, now nothing, or, as a cosine of 90
        degrees times what moves, has no form; of a matrix also beside its row and column."""
        import sympy

        count, rows, columns = samples.shape
        random = count - 2 - len(self.names)
        matrix = sympy.zeros(rows, columns)
        hidden: set[frozenset[str]] = set()
        sizes = np.abs(samples).max(axis=0, initial=0.0)
        most = sizes.max(initial=0.0)
        least = np.zeros_like(sizes) if sums else NEGLIGIBLE * beside(sizes)
        formless = (APART if sums else NEGLIGIBLE) * np.where(_alone(sizes), 0.0, most)
        for i, j in product(range(rows), range(columns)):
            one, size = samples[:, i, j], sizes[i, j]
            noise = size <= NEGLIGIBLE * most and one.min() <= 0.0 <= one.max()
            if noise or size <= least[i, j]:
                continue
            found = self._remembered(one)
            if not isinstance(found, frozenset):
                matrix[i, j] = found
            elif size > formless[i, j] or random < ENOUGH.get(len(found), 0):
                hidden.add(found)
        return matrix, frozenset(hidden)

    def _remembered(self, c: Array) -> Any:
        """`_entry(c)`: like parts have like numbers."""
        key = c.tobytes()
        if key not in self._met:
            self._met[key] = self._entry(c)
        return self._met[key]

    def moving(self, samples: Array) -> frozenset[str]:
        """The parameters that move a constant when they grow."""
        n = len(self.names)
        apart = (samples[1 : 1 + n] != samples[0]).reshape(n, -1).any(axis=1)
        return frozenset(name for name, moves in zip(self.names, apart, strict=True) if moves)

    def _entry(self, c: Array) -> Any:
        """One number in symbols, or the parameters on which it depends in another way."""
        n = len(self.names)
        size = np.abs(c).max()
        changed = [i for i in range(n) if abs(c[1 + i] - c[0]) > CLOSE * size]
        if not changed:
            return _plain(float(c[0])) if np.ptp(c) <= CLOSE * size else frozenset(self.names)
        found = self._monomial(c, changed)
        if found is None:
            found = self._polynomial(c, changed)
        if found is None and c.all():
            inverse = self._polynomial(1.0 / c, changed)
            found = None if inverse is None else 1 / inverse
        return frozenset(self.names[i] for i in changed) if found is None else found

    def _monomial(self, c: Array, changed: list[int]) -> Any:
        if not c.all():
            return None
        ratios = c[[1 + i for i in changed]] / c[0]
        if np.any(ratios <= 0.0):
            return None
        exponents = np.round(2.0 * np.log(ratios) / np.log(STEP)) / 2.0
        values = self.values[: len(c), changed]
        if np.any(values < 0.0) and np.any(exponents % 1.0):
            return None
        scale = np.prod(values**exponents, axis=1)
        k = c[0] / scale[0]
        if np.abs(c - k * scale).max() > CLOSE * np.abs(c).max():
            return None
        return self._term(self._meant(float(np.median(c / scale)), LAST), changed, exponents)

    def _polynomial(self, c: Array, changed: list[int]) -> Any:
        forms = POWERS.get(len(changed), [])
        found = (self._of_powers(c, changed, np.array(powers, dtype=float)) for powers in forms)
        return next((one for one in found if one is not None), None)

    def _of_powers(self, c: Array, changed: list[int], powers: Array) -> Any:
        """A polynomial of at most four terms, of those with the `powers` (terms, parameters)."""
        if len(c) < len(powers) + CHECKS:
            return None
        p = self.values[: len(c), changed] / self.values[0, changed]
        terms = np.prod(p[:, None, :] ** powers[None, :, :], axis=2)
        kept, large = np.arange(len(powers)), np.zeros(1, dtype=bool)
        while not large.all():  # without the terms that were only rounding the rest is sharper
            k, *_ = np.linalg.lstsq(terms[:, kept], c, rcond=None)
            if np.abs(terms[:, kept] @ k - c).max() > CLOSE * np.abs(c).max():
                return None  # fewer terms are no better
            large = np.abs(k) > 1e-7 * np.abs(k).max()
            k, kept = k[large], kept[large]
        if len(kept) > 4:
            return None
        scale = np.prod(self.values[0, changed] ** powers[kept], axis=1)
        errors = np.clip(FITTED * np.abs(k).max() / np.abs(k), FRACTION, CLOSE)
        numbers = map(self._meant, (k / scale).tolist(), errors.tolist())
        parts = zip(numbers, powers[kept], strict=True)
        return sum(self._term(one, changed, exponents) for one, exponents in parts)

    def _meant(self, k: float, error: float) -> Any:
        """k, known to a relative `error`: a usual fraction, a number of a few digits, or a usual
        fraction of a number that was met before, so that what is equal cancels; else k itself.  Of
        polynomials the small terms are known worst: those of the radius of a long rod, half and
        a quarter of what its other moment has."""
        import sympy

        simple = simple_fraction(k, max(error, FRACTION))
        if simple is not None:
            return simple
        for digits, known in ((FEW, error), (MANY, LAST)):
            short = float(f"{k:.{digits}g}")
            if abs(short - k) <= known * abs(k):
                return sympy.Float(repr(short), 17)
        for one in self._numbers:
            ratio = simple_fraction(k / one, error)
            if ratio is not None and abs(ratio.p) <= max(DENOMINATORS):
                return sympy.Float(repr(one * float(ratio)), 17)
        self._numbers.append(k)
        return sympy.Float(repr(k), 17)

    def _term(self, number: Any, changed: list[int], exponents: Array) -> Any:
        import sympy

        term = number
        for i, a in zip(changed, exponents, strict=True):
            power = sympy.Rational(round(2 * a), 2)
            term *= sympy.Symbol(self.names[i], real=True) ** power
        return term


def _alone(sizes: Array) -> Any:
    """Which entries are the largest of their row and of their column: what has units of its own."""
    return (sizes == sizes.max(axis=0, initial=0.0)) & (sizes.max(axis=1, initial=0.0) == sizes.T).T


def _plain(c: float) -> Any:
    """A number that depends on nothing; whole ones exact."""
    import sympy

    near = round(c)
    return (
        sympy.Integer(near) if abs(c - near) <= NEGLIGIBLE * abs(near) else sympy.Float(repr(c), 17)
    )


def simple_fraction(k: float, error: float = FRACTION) -> Any:
    """The whole number or fraction with one of the `DENOMINATORS` that k is to a relative `error`;
    or None."""
    import sympy

    near = Fraction(k).limit_denominator(max(DENOMINATORS))
    usual = near.denominator == 1 or near.denominator in DENOMINATORS
    if near and usual and abs(float(near) - k) < error * abs(k):
        return sympy.Rational(near.numerator, near.denominator)
    return None
