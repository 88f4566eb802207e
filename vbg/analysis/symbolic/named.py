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
does one whose values change which terms there are, or between which a formula of the file chooses
(`choices`); `Named.numbered` has their names, and those of parameters that are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vbg.analysis.symbolic.choices import choosing
from vbg.analysis.symbolic.entries import ENOUGH, STAGES, Array, Entries
from vbg.analysis.symbolic.numbered import Numbered
from vbg.assemble import assemble
from vbg.assemble.matrices.symbolic import without_rounding
from vbg.assemble.system import System
from vbg.blocks import Block
from vbg.errors import VbgError
from vbg.graph import expand
from vbg.model import Model
from vbg.plumbing.paused_collection import paused_collection

Change = Callable[[Model], Model]
Roots = Callable[[System], list[Block]]  # blocks whose constants are to be named

NONE = Numbered()
SMALL = 2.0**-10  # in SI, in place of a zero
READ = ("store", "position", "quaternion", "displacement", "signal")  # states of equations


@dataclass(frozen=True, eq=False)
class Named:
    """`system`: the one that was asked for; `base`: it at general values of its
    parameters, from whose expressions the equations are read; `constants`: matrices of
    symbols for its constant blocks, `factors` symbols for the coefficients of its sums;
    `parameters`: symbol -> its value in the model; `numbered`: those that have no symbol."""

    system: System
    base: System
    constants: dict[Block, Any]
    factors: dict[Block, list[Any]]
    parameters: dict[Any, float]
    numbered: Numbered = field(default_factory=Numbered)
    _entries: Entries | None = None

    def matrix(self, of: Callable[[Model], Any]) -> Any:
        """What `of` takes from a model, an array, in symbols.

        Raises LookupError for an array that was not among the `needed` of `named` and depends on
        parameters in another way.
        """
        models: Sequence[Model] = (self.system.model,)
        models = models if self._entries is None else self._entries.models
        entries = Entries((), np.zeros((1, 0)), models) if self._entries is None else self._entries
        found, _ = entries.symbols(np.array([_array(of, m) for m in models]))
        return found


def _array(of: Callable[[Model], Any], model: Model) -> Array:
    return np.atleast_2d(np.asarray(of(model), dtype=float))


def unnamed(system: System, change: Change | None = None, numbered: Numbered = NONE) -> Named:
    """All numbers as they are; of `numbered` parameters because they have no form."""
    base = system if change is None else assemble(change(system.model))
    return Named(system, base, {}, {}, {}, numbered)


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
    choices = choosing(model)
    sides = tuple(n for n in values if n in choices)
    chosen: Mapping[str, float] = {
        n: v for n, v in values.items() if v != 0.0 and np.isfinite(v) and n not in choices
    }

    def blocks_of(model: Model) -> _Read:
        graph = expand(model if change is None else change(model))
        new = assemble(replace(graph, held=()))  # where it starts is in none of these blocks
        return _Read(roots(new), system=new) if roots else _read_blocks(new, further)

    zero = [name for name, value in values.items() if value == 0.0 and name not in choices]
    told = Numbered(choosing=sides, zero=_felt(model, zero, blocks_of, needed))
    try:
        # what frames hide (angles) is left out before any bond graph is expanded for it
        found = _found(model, chosen, lambda _: _Read([]), needed)
        lost = found.lost
        found = _found(model, found.chosen, lambda m: _Read(_moduli(m)), (), found.entries)
        lost |= found.lost
        found = _found(model, found.chosen, blocks_of, needed, entries=found.entries, complete=True)
        lost |= found.lost
    except VbgError:  # other values make no machine: the numbers stay
        return unnamed(system, change, replace(told, formless=tuple(chosen)))
    numbered = replace(told, formless=tuple(name for name in chosen if name in lost))
    if not found.chosen or found.base is None:
        return unnamed(system, change, numbered)
    parameters = {sympy.Symbol(n, real=True): v for n, v in found.chosen.items()}
    constants, factors = found.constants, found.factors
    return Named(system, found.base, constants, factors, parameters, numbered, found.read)


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
    that some constant hides are `lost`; `models`: how many of the entries were looked at."""

    chosen: Mapping[str, float]
    lost: frozenset[str] = frozenset()
    base: System | None = None
    constants: dict[Block, Any] = field(default_factory=dict)
    factors: dict[Block, list[Any]] = field(default_factory=dict)
    entries: Entries | None = None
    models: int = 0

    @property
    def read(self) -> Entries | None:
        """The entries of those models by which the forms were found."""
        if self.entries is None:
            return None
        return replace(self.entries, models=self.entries.models[: self.models])


def _found(
    model: Model,
    chosen: Mapping[str, float],
    blocks_of: Callable[[Model], _Read],
    needed: Sequence[Callable[[Model], Any]],
    entries: Entries | None = None,
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
            entries = Entries.of(model, chosen)
        reads: list[_Read] = []
        arrays: list[list[Array]] = [[] for _ in needed]
        written = _Written()
        for random in STAGES:
            models = entries.models[: 2 + len(chosen) + random]
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
            named = (written.constants, written.factors)
            return _Found(chosen, lost, reads[0].system, *named, entries, len(reads))
    return _Found(chosen, lost)


def _felt(
    model: Model,
    zero: Sequence[str],
    blocks_of: Callable[[Model], _Read],
    needed: Sequence[Callable[[Model], Any]],
) -> tuple[str, ...]:
    """Of the parameters that are `zero` those without which the blocks or `needed` arrays would be
    others."""
    if not zero:
        return ()
    read, arrays = blocks_of(model), [_array(of, model) for of in needed]

    def felt(name: str) -> bool:
        try:
            other = model.with_parameters(**{name: SMALL})
            moved = [_array(of, other) for of in needed]
            aligned = _aligned([read.roots, blocks_of(other).roots], read.skipped)
        except VbgError:  # no machine with it: it counts
            return True
        pairs = [*zip(arrays, moved, strict=True), *((a.data, b.data) for a, b in aligned or ())]
        return aligned is None or any(not np.array_equal(a, b) for a, b in pairs)

    return tuple(filter(felt, zero))


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

    def read(self, samples: Array, entries: Entries, *, sums: bool = False) -> Any:
        """A constant (models, rows, columns) in symbols; what it hides and shows is kept."""
        found, missing = entries.symbols(samples, sums=sums)
        self.hidden |= missing
        random = len(samples) - 2 - len(entries.names)
        lost = (one for one in missing if random >= ENOUGH.get(len(one), 0))
        self.hopeless = self.hopeless.union(*lost)
        self.moved |= entries.moving(samples)
        return found

    @property
    def undecided(self) -> bool:
        """Whether more models may give a form to a constant without hopeless parameters; one that
        has some is looked at again without them."""
        return not all(one & self.hopeless for one in self.hidden)


def _constants(reads: Sequence[_Read], entries: Entries) -> _Written:
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
            data = np.array([without_rounding(b) for b in blocks])
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
