"""Numbers of the equations that come from parameters, written by the parameters again.

Nobody wrote down how a mass from a shape or a lever between two points depends on the
parameters of the model file, so it is found from the same model with other parameters: every
constant c of its expressions is

    a monomial       c = k p1^a p2^b ...        exponents from the ratio when one p grows
    a polynomial     c or 1/c, of degree 4 in one or two parameters, 2 in three
                     (inertia of a solid, mass times square of a length, differences of lengths,
                     for which fewer models are enough)

A form is taken only if it gives the number at random further values to 1e-10.  A parameter in
which some constant has no such form (an angle in a rotation) keeps its number everywhere, and so
does one whose values change which terms there are; `Named.numbered` has their names.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from vbg.assemble import assemble
from vbg.assemble.matrices.symbolic import beside
from vbg.assemble.system import System
from vbg.blocks import Block
from vbg.errors import VbgError
from vbg.graph import expand
from vbg.model import Model
from vbg.plumbing.paused_collection import paused_collection

Array = NDArray[np.float64]
Change = Callable[[Model], Model]
Roots = Callable[[System], list[Block]]  # blocks whose constants are to be named

READ = ("store", "position", "quaternion", "displacement", "signal")  # states of equations
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
NEGLIGIBLE = 1e-13  # beside the largest entry of its matrix: rounding where it has no form
APART = 1e-15  # the same beside the largest coefficient of a sum
SEED = 5


@dataclass(frozen=True, eq=False)
class Named:
    """`system`: the one that was asked for; `base`: it at general values of its
    parameters, from whose expressions the equations are read; `constants`: matrices of
    symbols for its constant blocks, `factors` symbols for the coefficients of its sums;
    `parameters`: symbol -> its value in the model; `numbered`: those that have no form."""

    system: System
    base: System
    constants: dict[Block, Any]
    factors: dict[Block, list[Any]]
    parameters: dict[Any, float]
    numbered: tuple[str, ...] = ()
    _entries: _Entries | None = None

    def matrix(self, of: Callable[[Model], Any]) -> Any:
        """What `of` takes from a model, an array, in symbols."""
        models: Sequence[Model] = (self.system.model,)
        models = models if self._entries is None else self._entries.models
        entries = _Entries((), np.zeros((1, 0)), models) if self._entries is None else self._entries
        found, _ = entries.symbols(np.array([_array(of, m) for m in models]))
        return found


def _array(of: Callable[[Model], Any], model: Model) -> Array:
    return np.atleast_2d(np.asarray(of(model), dtype=float))


def unnamed(system: System, change: Change | None = None, numbered: tuple[str, ...] = ()) -> Named:
    """All numbers as they are; of `numbered` parameters because they have no form."""
    base = system if change is None else assemble(change(system.model))
    return Named(system, base, {}, {}, {}, numbered)


def remark_on(numbered: Sequence[str]) -> str:
    """What a reader must know of parameters without a form; empty where there are none."""
    why = "what follows from them is no sum of a few powers of parameters"
    return f"in numbers: {', '.join(numbered)} ({why})" if numbered else ""


@paused_collection()
def named(
    system: System,
    needed: Sequence[Callable[[Model], Any]] = (),
    change: Change | None = None,
    roots: Roots | None = None,
    further: Roots | None = None,
) -> Named:
    """Names for the constants of the rates and flows of `system` (or of its `roots`), and of
    the arrays that the `needed` functions take from its model; `further`: blocks besides.
    `change`: what is done to a model before its expressions are read."""
    import sympy

    model: Model = system.model
    values = {name: model.parameters[name] for name in model.document.get("parameters", {})}
    chosen: Mapping[str, float] = {n: v for n, v in values.items() if v != 0.0 and np.isfinite(v)}

    def blocks_of(model: Model) -> _Read:
        graph = expand(model if change is None else change(model))
        new = assemble(replace(graph, held=()))  # where it starts is in none of these blocks
        return _Read(roots(new), system=new) if roots else _read_blocks(new, further)

    try:
        # what frames hide (angles) is left out before any bond graph is expanded for it
        found = _found(model, chosen, lambda _: _Read([]), needed)
        lost = found.lost
        found = _found(model, found.chosen, lambda m: _Read(_moduli(m)), (), found.entries)
        lost |= found.lost
        found = _found(model, found.chosen, blocks_of, needed, entries=found.entries, complete=True)
        lost |= found.lost
    except VbgError:  # other values make no machine: the numbers stay
        return unnamed(system, change, tuple(chosen))
    numbered = tuple(name for name in chosen if name in lost)
    if not found.chosen or found.base is None:
        return unnamed(system, change, numbered)
    parameters = {sympy.Symbol(n, real=True): v for n, v in found.chosen.items()}
    constants, factors = found.constants, found.factors
    return Named(system, found.base, constants, factors, parameters, numbered, found.entries)


@dataclass(frozen=True, eq=False)
class _Read:
    """What one model's numbers are taken from: the blocks under the `roots` but for those whose
    keys are `skipped`, of a `system` where there is one."""

    roots: Sequence[Block]
    skipped: Container[bytes] = ()
    system: System | None = None


@dataclass(frozen=True, eq=False)
class _Found:
    """The parameters that all constants show, and the constants of `base` written by them; those
    that some constant hides are `lost`."""

    chosen: Mapping[str, float]
    lost: frozenset[str] = frozenset()
    base: System | None = None
    constants: dict[Block, Any] = field(default_factory=dict)
    factors: dict[Block, list[Any]] = field(default_factory=dict)
    entries: _Entries | None = None


def _found(
    model: Model,
    chosen: Mapping[str, float],
    blocks_of: Callable[[Model], _Read],
    needed: Sequence[Callable[[Model], Any]],
    entries: _Entries | None = None,
    *,
    complete: bool = False,
) -> _Found:
    """Of the `chosen` parameters those by which all constants of the blocks, and all `needed`
    arrays, can be written: what some constant hides is left out until none does.  A round looks
    at models until every constant that shows no parameter known to be hidden has a form, or has
    none however many there are.  Where the blocks are `complete`, what moves none of them is left
    out, too.  `entries`: models that were read before, for they may be of the same parameters."""
    lost: frozenset[str] = frozenset()
    while chosen:
        if entries is None or entries.names != tuple(chosen):
            entries = _Entries.of(model, chosen)
        reads: list[_Read] = []
        arrays: list[list[Array]] = [[] for _ in needed]
        written = _Written()
        for random in STAGES:
            models = entries.models[: 1 + len(chosen) + random]
            reads += [blocks_of(m) for m in models[len(reads) :]]
            written = _constants(reads, entries)
            for of, taken in zip(needed, arrays, strict=True):
                taken += [_array(of, m) for m in models[len(taken) :]]
                written.read(np.array(taken), entries)
            if not written.undecided:
                break
        kept = written.moved if complete else frozenset(chosen)
        lost |= written.hopeless
        chosen = {n: v for n, v in chosen.items() if n in kept - lost}
        if not written.hidden:
            base = reads[0].system
            return _Found(chosen, lost, base, written.constants, written.factors, entries)
    return _Found(chosen, lost)


def _moduli(model: Model) -> list[Block]:
    """The numbers of the bond graph: laws of its stores and resistors, moduli of its transformers
    and gyrators.  A system's numbers are made of them; they cost a fourth of a system."""
    laws = (
        (v.law, v.inverse, v.effort_law, v.flow_law)
        for v in expand(model).vertices.values()
        if v.kind in ("I", "C", "R", "TF", "GY")
    )
    return [law for four in laws for law in four if law is not None]


@dataclass(slots=True)
class _Written:
    """Constant blocks and coefficients of the first system with their symbols; of each that has
    no form the parameters on which it depends, `hidden`; those that no number of models would
    show, `hopeless`; and those that move any."""

    constants: dict[Block, Any] = field(default_factory=dict)
    factors: dict[Block, list[Any]] = field(default_factory=dict)
    hidden: frozenset[frozenset[str]] = frozenset()
    hopeless: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()

    def read(self, samples: Array, entries: _Entries, *, sums: bool = False) -> Any:
        """A constant (models, rows, columns) in symbols; what it hides and shows is kept."""
        found, missing = entries.symbols(samples, sums=sums)
        self.hidden |= missing
        random = len(samples) - 1 - len(entries.names)
        lost = (one for one in missing if random >= ENOUGH.get(len(one), 0))
        self.hopeless = self.hopeless.union(*lost)
        self.moved |= entries.moving(samples)
        return found

    @property
    def undecided(self) -> bool:
        """Whether more models may give a form to a constant without hopeless parameters; one that
        has some is looked at again without them."""
        return not all(one & self.hopeless for one in self.hidden)


def _constants(reads: Sequence[_Read], entries: _Entries) -> _Written:
    """The constants of the first of the systems."""
    aligned = _aligned([read.roots for read in reads], reads[0].skipped)
    if aligned is None:
        every = frozenset(entries.names)
        return _Written({}, {}, frozenset({every}), every, every)  # other values, other equations
    written = _Written()
    for blocks in aligned:
        if blocks[0] in written.constants or blocks[0] in written.factors:
            continue  # one there, and two in another system that differ by rounding
        if blocks[0].op == "const":
            data = np.array([b.data for b in blocks])
            written.constants[blocks[0]] = written.read(data, entries)
        elif blocks[0].op == "sum":
            row = np.array([[b.data] for b in blocks])
            written.factors[blocks[0]] = list(written.read(row, entries, sums=True))
    return written


def _aligned(
    roots: Sequence[Sequence[Block]], skipped: Container[bytes]
) -> list[tuple[Block, ...]] | None:
    """Constants and sums that stand at the same place of all systems; None where their expressions
    differ.  They are followed from place to place: blocks that are one in a system are two in
    another where a number came out with another last digit."""
    if len({len(one) for one in roots}) > 1:
        return None
    found: list[tuple[Block, ...]] = []
    seen: set[tuple[bytes, ...]] = set()
    waiting = list(zip(*roots, strict=True))
    while waiting:
        blocks = waiting.pop()
        first, keys = blocks[0], tuple([b.key for b in blocks])
        if keys in seen or first.key in skipped:
            continue
        seen.add(keys)
        kind = (first.op, len(first.args), first.rows, first.cols)
        if any((b.op, len(b.args), b.rows, b.cols) != kind for b in blocks):
            return None
        if first.op in ("const", "sum"):
            found.append(blocks)
        waiting += zip(*(b.args for b in blocks), strict=True)
    return found


def _read_blocks(system: System, further: Roots | None) -> _Read:
    """Rates and flows, but for what gives the constraint efforts."""
    e = system.equations
    skipped = {e.efforts.key, *(c.unknown.key for c in e.constraints)}
    roots = [e.rates[s.state.leaf] for s in system.slices if s.state.kind in READ]
    if not system.model.bodies:  # networks name their states by laws and outputs
        stores = (v for v in system.causal.graph.vertices.values() if v.state is not None)
        roots += [v.law for v in stores if v.law is not None]
        roots += [value for value in e.outputs.values() if value.rows == 1]
    besides = [] if further is None else further(system)
    return _Read([*roots, *besides, e.residual], skipped, system)


class _Models(Sequence[Model]):
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
class _Entries:
    """Models at the base values, with each parameter grown in turn, and at random values;
    `values` (models, parameters)."""

    names: tuple[str, ...]
    values: Array
    models: Sequence[Model]
    _met: dict[bytes, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: Model, chosen: Mapping[str, float]) -> _Entries:
        random = np.random.default_rng(SEED)
        nominal = np.array(list(chosen.values()))
        base = nominal * random.uniform(0.93, 1.07, len(nominal))
        grown = [np.where(np.arange(len(base)) == i, STEP * base, base) for i in range(len(base))]
        others = [base * random.uniform(0.8, 1.25, len(base)) for _ in range(STAGES[-1])]
        values = np.array([base, *grown, *others])
        names = tuple(chosen)
        return cls(names, values, _Models(model, names, values))

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
        random = count - 1 - len(self.names)
        matrix = sympy.zeros(rows, columns)
        hidden: set[frozenset[str]] = set()
        sizes = np.abs(samples).max(axis=0, initial=0.0)
        most = sizes.max(initial=0.0)
        least = np.zeros_like(sizes) if sums else NEGLIGIBLE * beside(sizes)
        formless = (APART if sums else NEGLIGIBLE) * most
        for i, j in product(range(rows), range(columns)):
            one, size = samples[:, i, j], sizes[i, j]
            noise = size <= NEGLIGIBLE * most and one.min() <= 0.0 <= one.max()
            if noise or size <= least[i, j]:
                continue
            found = self._remembered(one)
            if not isinstance(found, frozenset):
                matrix[i, j] = found
            elif size > formless or random < ENOUGH.get(len(found), 0):
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
        return self._term(float(np.median(c / scale)), changed, exponents)

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
        parts = zip(k / scale, powers[kept], strict=True)
        return sum(self._term(float(one), changed, exponents) for one, exponents in parts)

    def _term(self, k: float, changed: list[int], exponents: Array) -> Any:
        import sympy

        term = _fraction(k)
        for i, a in zip(changed, exponents, strict=True):
            power = sympy.Rational(round(2 * a), 2)
            term *= sympy.Symbol(self.names[i], real=True) ** power
        return term


def _plain(c: float) -> Any:
    """A number that depends on nothing; whole ones exact."""
    import sympy

    near = round(c)
    return (
        sympy.Integer(near) if abs(c - near) <= NEGLIGIBLE * abs(near) else sympy.Float(repr(c), 17)
    )


def _fraction(k: float) -> Any:
    """k as a whole number or a usual fraction where it is one."""
    import sympy

    return simple_fraction(k) or sympy.Float(f"{k:.15g}", 15)


def simple_fraction(k: float) -> Any:
    """The whole number or fraction with one of the `DENOMINATORS` that k is to rounding; or
    None."""
    import sympy

    near = Fraction(k).limit_denominator(max(DENOMINATORS))
    usual = near.denominator == 1 or near.denominator in DENOMINATORS
    if near and usual and abs(float(near) - k) < 1e-12 * abs(k):
        return sympy.Rational(near.numerator, near.denominator)
    return None
