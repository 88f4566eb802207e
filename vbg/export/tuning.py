"""How the numbers of a machine's tapes follow its parameters.

Reading, placing and assembling a model fold its parameters into numbers.  The machine is assembled
for several values of the chosen ones, and each number that changes is written as

    c(p) = +-S^o,   S(p) = sum_k a_k p_1^e_k1 ... p_n^e_kn,   o = 1, -1, 1/2 or -1/2

with exponents e from a short list, as masses, stiffnesses, areas and gains enter (1/(m + load),
square roots of inertias in scaled directions).  The exponents
come from samples along each parameter alone, the a_k from all samples by least squares, which are
more than there are terms: what is not such a sum is refused by name, and so is a parameter that
changes what has to be computed, not only numbers in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from vbg.assemble import assemble
from vbg.assemble.program.program import Program
from vbg.assemble.start.start import Start, assemble_start
from vbg.errors import UsageError
from vbg.export.machine import TAPES, Machine, exported
from vbg.model.text.names import suggestion

Array = NDArray[np.float64]
Terms = tuple[tuple[float, tuple[float, ...]], ...]

POWERS = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 0.5, -0.5)
OUTER = (-1.0, 0.5, -0.5)  # powers of a sum, as 1/(m + load)
MOST_TERMS = 3  # along one parameter
ALONG = 6  # samples along each parameter
ACROSS = 9  # samples of all together
SPARE = 4  # samples more than terms
DECADE = 10.0  # a parameter may be as much larger or smaller than in the file
CLOSE = 1e-11  # of the largest value of a number, as of equal numbers computed in other ways
START = len(TAPES)  # the place of the start behind the tapes


@dataclass(frozen=True)
class Wish:
    """A parameter that is to stay one; the range from `low` to `high` in SI (None: a tenth of its
    value to ten times it)."""

    name: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Parameter:
    """One that stays: its value in the file and the range in which it was tried."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Word:
    """A number that follows parameters: word `at` of tape number `tape` (START: of the states at
    the start), factors of operations counted on behind the workspace; `terms` (a, exponents)
    of S; the number is `sign` S^`outer`."""

    tape: int
    at: int
    terms: Terms
    outer: float = 1.0
    sign: float = 1.0

    def value(self, parameters: Array) -> float:
        """c(p)."""
        found = float(sum(a * np.prod(parameters ** np.array(e)) for a, e in self.terms))
        return float(self.sign * found**self.outer)


@dataclass(frozen=True)
class Tuning:
    """The parameters that stay, and all numbers that follow them."""

    parameters: tuple[Parameter, ...] = ()
    words: tuple[Word, ...] = ()

    def of(self, tape: int) -> tuple[Word, ...]:
        """The words of one tape."""
        return tuple(word for word in self.words if word.tape == tape)


NOTHING = Tuning()


def tuned(begun: Start, wishes: Sequence[Wish]) -> tuple[Machine, Tuning]:
    """The machine of a start, and what of it follows the parameters of `wishes`.

    Raises UsageError for a name that the file does not have and for a parameter that enters in
    another way than by sums of powers; ModelError as `exported`, and where the machine is
    impossible with a value that is tried.
    """
    machine = exported(begun)
    if not wishes:
        return machine, NOTHING
    names = [wish.name for wish in wishes]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise UsageError(f"--tunable {twice}: named twice.")
    parameters = tuple(_chosen(machine, wish) for wish in wishes)
    points = _points(parameters)
    tried = [_assembled(machine, parameters, row) for row in points]
    values = np.array([p.value for p in parameters])
    for i, one in enumerate(tried):
        _require(parameters, points[i], _likeness(tried[0], one))
        _require(parameters, points[i], _same_tapes(tried[0], one))
    # tapes of the file's own values may lack what vanishes there, a coefficient of 0
    _require(parameters, values, _likeness(tried[0], machine))
    words = tuple(_words(tried, parameters, points))
    _require_use(parameters, words)
    programs = {
        name: _filled(tried[0].programs[name], [w for w in words if w.tape == n], values)
        for n, name in enumerate(TAPES)
    }
    if tried[0].programs["recorded"] is tried[0].programs["rate"]:
        programs["recorded"] = programs["rate"]
    return replace(machine, programs=programs), Tuning(parameters, words)


# -- samples -------------------------------------------------------------------------------------


def _chosen(machine: Machine, wish: Wish) -> Parameter:
    known: Mapping[str, float] = machine.system.model.parameters
    if wish.name not in known:
        hint = suggestion(wish.name, known, "parameters")
        raise UsageError(f"--tunable {wish.name}: the model has no such parameter. {hint}")
    value = float(known[wish.name])
    if wish.low is None or wish.high is None:
        if value == 0.0:
            raise UsageError(
                f"--tunable {wish.name}: it is 0 in the file, so its range has no size. Give one: "
                f"--tunable {wish.name}=0:1."
            )
        low, high = sorted((value / DECADE, value * DECADE))
        return Parameter(wish.name, value, low, high)
    if not (wish.low < wish.high and wish.low <= value <= wish.high):
        given = f"{wish.low:g}:{wish.high:g}"
        raise UsageError(f"--tunable {wish.name}={given}: {value:g}, its value, is not in between.")
    return Parameter(wish.name, value, wish.low, wish.high)


def _points(parameters: Sequence[Parameter]) -> Array:
    """Values for the samples, (samples, parameters): general ones first, then along each
    parameter alone from the first of them, then others."""
    generator = np.random.default_rng(20261123)
    across = [_between(parameters, generator.uniform(size=len(parameters))) for _ in range(ACROSS)]
    along = []
    for i in range(len(parameters)):
        for part in np.linspace(0.0, 1.0, ALONG):
            row = across[0].copy()
            row[i] = _between(parameters[i : i + 1], np.array([part]))[0]
            along.append(row)
    return np.array([across[0], *along, *across[1:]])


def _between(parameters: Sequence[Parameter], parts: Array) -> Array:
    """From the low end (0) to the high one (1), by ratio where the range is of one sign."""
    low = np.array([p.low for p in parameters])
    high = np.array([p.high for p in parameters])
    ratio = low * high > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = low * np.power(np.where(ratio, high / np.where(low == 0.0, 1.0, low), 1.0), parts)
    return np.where(ratio, steps, low + (high - low) * parts)


def _assembled(machine: Machine, parameters: Sequence[Parameter], values: Array) -> Machine:
    given = {p.name: float(v) for p, v in zip(parameters, values, strict=True)}
    return exported(assemble_start(assemble(machine.system.model.with_parameters(**given))))


def _told(parameters: Sequence[Parameter], values: Array) -> str:
    return ", ".join(f"{p.name} = {v:.6g}" for p, v in zip(parameters, values, strict=True))


def _require(
    parameters: Sequence[Parameter], values: Array, alike: Iterator[tuple[str, bool]]
) -> None:
    """Raises UsageError where the machine of other values is not alike."""
    why = next((what for what, same in alike if not same), "")
    if why:
        raise UsageError(
            f"--tunable: with {_told(parameters, values)} {why}; as a parameter it could only "
            "change numbers. Leave it out, or give a range in which it does not: NAME=LOW:HIGH."
        )


def _require_use(parameters: Sequence[Parameter], words: Sequence[Word]) -> None:
    for i, parameter in enumerate(parameters):
        if not any(e[i] != 0.0 for word in words for _, e in word.terms):
            raise UsageError(
                f"--tunable {parameter.name}: nothing in the equations or at the start follows it. "
                "Leave it out."
            )


def _likeness(a: Machine, b: Machine) -> Iterator[tuple[str, bool]]:
    yield "the machine has other states or signals", (a.states, a.signals) == (b.states, b.signals)
    yield "it has other switches", a.switches == b.switches
    times = (a.clocks, a.singles, a.scale, a.pauses, a.sampled)
    yield (
        "instants of clocks and sources move",
        times == (b.clocks, b.singles, b.scale, b.pauses, b.sampled),
    )
    yield "other joint closures are redundant", np.array_equal(a.start.kept, b.start.kept)


def _same_tapes(a: Machine, b: Machine) -> Iterator[tuple[str, bool]]:
    for name in TAPES:
        yield "other operations are needed", _same_tape(a.programs[name], b.programs[name])


def _same_tape(a: Program, b: Program) -> bool:
    return (
        np.array_equal(a.segments, b.segments)
        and np.array_equal(a.operands, b.operands)
        and np.array_equal(a.stream, b.stream)
        and a.workspace.shape == b.workspace.shape
        and a.factors.shape == b.factors.shape
        and dict(a.outputs) == dict(b.outputs)
    )


# -- the numbers ---------------------------------------------------------------------------------


def _words(
    tried: Sequence[Machine], parameters: Sequence[Parameter], points: Array
) -> Iterator[Word]:
    """All numbers that change as functions of the parameters.  Raises UsageError where one is none
    of the laws."""
    search = _Search(tuple(p.name for p in parameters), points)
    for n, name in enumerate((*TAPES, "")):
        if n == START:
            rows = np.array([m.start.state for m in tried])
        else:
            both = [(m.programs[name].workspace, m.programs[name].factors) for m in tried]
            rows = np.array([np.concatenate(one) for one in both])
        sizes = np.maximum(np.abs(rows).max(axis=0), 1.0 if n == START else 0.0)
        for at in np.flatnonzero(np.abs(rows - rows[0]).max(axis=0) > CLOSE * sizes):
            yield search.word(n, int(at), rows[:, at], float(sizes[at]))


class _Search:
    """Finds laws of numbers from their values at the samples `points`."""

    def __init__(self, names: Sequence[str], points: Array):
        self._names, self._points = names, points
        self._along = [_candidates(points[self._part(i), i]) for i in range(len(names))]

    def _part(self, i: int) -> slice:
        """The samples along parameter i."""
        return slice(1 + i * ALONG, 1 + (i + 1) * ALONG)

    def word(self, tape: int, at: int, values: Array, size: float) -> Word:
        """One number.  Raises UsageError where it is none of the laws."""
        terms = why = self.terms(values, CLOSE * size)
        if not isinstance(terms, str):
            return Word(tape, at, terms)
        signs = np.sign(values)
        for outer in OUTER if np.all(signs == signs[0]) and signs[0] != 0.0 else ():
            inside = np.abs(values) ** (1.0 / outer)
            terms = self.terms(inside, CLOSE * float(inside.max()))
            if not isinstance(terms, str):
                return Word(tape, at, terms, outer, float(signs[0]))
        raise UsageError(
            f"--tunable: {why} (an angle, a length that moves the start, a case that is chosen). "
            "Leave it out, or give a smaller range: NAME=LOW:HIGH."
        )

    def terms(self, values: Array, close: float) -> Terms | str:
        """The sum of powers that makes a number, or why there is none."""
        powers = []
        for i, (chosen, left) in enumerate(self._along):
            miss = np.abs(left @ values[self._part(i)]).max(axis=1)
            fits = np.flatnonzero(miss <= close)
            if not len(fits):
                return (
                    f"{self._names[i]} enters the equations, or where the machine begins, in "
                    "another way than by sums of powers, their roots and reciprocals"
                )
            powers.append(chosen[fits[0]])
        exponents = list(product(*powers))
        names = ", ".join(n for n, e in zip(self._names, powers, strict=True) if e != (0.0,))
        if len(exponents) + SPARE > len(values):
            return f"{names} enter one number together in too many ways"
        columns, sizes = _columns(self._points, exponents)
        solved = np.linalg.lstsq(columns, values, rcond=None)[0]
        if np.abs(columns @ solved - values).max() > close:
            return f"{names} enter one number together in another way than by sums of powers"
        kept = zip(solved / sizes, exponents, strict=True)
        return tuple((float(a), e) for a, e in kept if a != 0.0)


def _candidates(values: Array) -> tuple[list[tuple[float, ...]], Array]:
    """Sets of exponents, the fewest first, and for each the matrix that gives what is left of a
    row of numbers behind its best sum of these powers of `values`."""
    positive, negative = values.min() > 0.0, values.max() < 0.0
    possible = [p for p in POWERS if positive or (p == int(p) and (p >= 0.0 or negative))]
    counts = range(1, MOST_TERMS + 1)
    chosen = [c for count in counts for c in combinations(possible, count)]
    left = []
    for powers in chosen:
        columns, _ = _columns(values[:, None], [(p,) for p in powers])
        left.append(np.eye(len(values)) - columns @ np.linalg.pinv(columns))
    return chosen, np.array(left)


def _columns(points: Array, exponents: Sequence[tuple[float, ...]]) -> tuple[Array, Array]:
    """Products of powers at the points, of size 1, and what they were divided by."""
    columns = np.prod(points[:, None, :] ** np.array(exponents)[None, :, :], axis=2)
    sizes = np.abs(columns).max(axis=0)
    return columns / sizes, sizes


def _filled(program: Program, words: Sequence[Word], parameters: Array) -> Program:
    """The program with the numbers of these parameters."""
    if not words:
        return program
    size = len(program.workspace)
    numbers = np.concatenate([program.workspace, program.factors])
    for word in words:
        numbers[word.at] = word.value(parameters)
    return replace(program, workspace=numbers[:size], factors=numbers[size:])


def parse_wish(text: str) -> Wish:
    """NAME or NAME=LOW:HIGH.  Raises UsageError."""
    name, equals, span = text.partition("=")
    if not equals:
        return Wish(name)
    low, _, high = span.partition(":")
    try:
        return Wish(name, float(low), float(high))
    except ValueError:
        raise UsageError(f"--tunable {text}: expected NAME or NAME=LOW:HIGH, in SI.") from None
