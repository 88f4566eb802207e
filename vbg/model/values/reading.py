"""The state of reading one document: its parameters, its problems, and numbers."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg import expressions, units
from vbg.errors import ModelError, Problem, Severity
from vbg.fields import Attachment
from vbg.model.catalogue import REFERENCE_NODES, TABLES
from vbg.model.text.names import nearest, suggestion
from vbg.model.text.places import Path, Places, spelled
from vbg.model.values.quantities import moved_to_the_end, quantity
from vbg.plumbing.words import with_article

UNITS_AT_THE_END = (
    'A unit stands at the end, not inside brackets: "(l + 0.1) mm"; parameters hold the rest.'
)
_UNIT_INSIDE = re.compile(r"\([^()]*\d\s*[^\W\d]")  # in brackets a number and a word
_PI = re.compile(r"\bpi\b")
READ_BY_SIGNALS = (
    "Only signals may read it: write the law as what a source gives, the force of a `force`, the "
    "torque of a `torque`, the flow of a `flow_source`, the voltage of a `voltage_source`."
)
LARGEST, SMALLEST = 1e50, 1e-100
WITHOUT_TABLE = {"parameters", *TABLES} - REFERENCE_NODES.keys()  # rotational.NODE.speed has it
MAX_SUGGESTIONS = 50  # a search for the nearest name is slow in a model of thousands of parts


@dataclass(slots=True)
class Reading:
    """Collects the problems of one document; lives only while it is resolved.

    `parameters` are resolved values in SI, `parameter_units` the units some
    were written in, `defined` the functions of the document, `broken` the parameters and
    functions that are wrong themselves: what uses them is silently left out, so that one
    mistake is reported once.  `signals` are the names in [signals], `told` values of which all
    has been said, `balanced` start values that are written "equilibrium", as PART.KEY.
    """

    file: str = ""
    places: Places = field(default_factory=Places)
    parameters: dict[str, float] = field(default_factory=dict)
    parameter_units: dict[str, str] = field(default_factory=dict)
    defined: Mapping[str, expressions.Defined] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    signals: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)
    told: set[Path] = field(default_factory=set)
    balanced: list[str] = field(default_factory=list)

    def fail(self, path: Path, what: str, remedy: str = "") -> None:
        """Note that the value at `path` is wrong."""
        self._note("error", path, what, remedy, self.places.of_value(path))

    def fail_key(self, path: Path, what: str, remedy: str = "") -> None:
        """Note that the key at `path` itself is wrong, or its table incomplete."""
        self._note("error", path, what, remedy, self.places.of_key(path))

    def _note(
        self, severity: Severity, path: Path, what: str, remedy: str, place: tuple[int, int]
    ) -> None:
        line, column = place
        if path in self.told:
            return
        self.problems.append(
            Problem(severity, spelled(path), what, remedy, self.file, line, column)
        )

    def unknown(self, path: Path, what: str, name: str, known: Any, plural: str) -> None:
        """Note an unknown name in a value, with the nearest known one."""
        self.fail(path, f"{what} {expressions.shown(name)}.", self.hint(name, known, plural))

    def hint(self, name: str, known: Any, plural: str) -> str:
        """The nearest of the `known` names, as a remedy."""
        if len(self.problems) > MAX_SUGGESTIONS:
            return "Look at the first problems first: others may follow from them."
        return suggestion(name, known, plural)

    def table(self, path: Path, raw: Any) -> Mapping[str, Any] | None:
        """`raw` if it is a table; otherwise None, with a problem noted."""
        if isinstance(raw, Mapping):
            return raw
        self.fail(path, f"expected a table, found {described(raw)}.")
        return None

    def text(self, path: Path, raw: Any) -> str | None:
        """`raw` if it is a string that is not empty; otherwise None, with a problem noted."""
        if isinstance(raw, str) and raw:
            return raw
        self.fail(path, f"expected a text in quotes, found {described(raw)}.")
        return None

    def number(self, path: Path, raw: Any, unit: str = "1") -> float | None:
        """The value of a number, an expression in parameters or a text with a
        unit, in `unit`; None, with a problem noted, where it has none."""
        kind = type(raw)
        if kind is float or kind is int:
            value = _float(raw)
        elif kind is str:
            return self._text_number(path, raw, unit)
        else:
            self.fail(path, f"expected a number{units.in_brackets(unit)}, found {described(raw)}.")
            return None
        if not math.isfinite(value):
            wanted = f"a finite number{units.in_brackets(unit)}"
            self.fail(path, f"expected {wanted}, found {described(raw)}.")
            return None
        return self._in_range(path, value)

    def _in_range(self, path: Path, value: float) -> float | None:
        """`value`, zero where its square would vanish; None where its powers would overflow."""
        if abs(value) > LARGEST:
            what = f"no machine has a number as large as {value:.3g}."
            self.fail(
                path, what, f"At most {LARGEST:g} in SI units; look at its exponent and unit."
            )
            return None
        return value if abs(value) > SMALLEST else 0.0

    def _text_number(self, path: Path, text: str, unit: str) -> float | None:
        try:
            node, written = quantity(text, unit, self.defined)
            if not self.names_known(path, text, node, known=()):
                return None
            value = expressions.evaluate(node, self.parameters)
            if isinstance(node, expressions.Name) and not written:
                value = self._in_unit(node.name, value, unit)
            elif not written and self._counts_turns(text, node, value, unit):
                self.fail(
                    path,
                    f"{text!r} is a frequency in Hz and would count as {unit} here.",
                    f"Write '({text}) Hz', which is multiplied by 2 pi, or '({text}) {unit}'.",
                )
                return None
        except ModelError as error:
            self.fail(path, f"{error}.", self.unit_hint(text))
            return None
        return self._in_range(path, value)

    def _in_unit(self, name: str, value: float, unit: str) -> float:
        """The value of the parameter `name`, alone in a field of `unit`: its
        dimension is checked, and Hz is told from rad/s."""
        written = self.parameter_units.get(name)
        if written is None:
            return value
        factor, _ = units.conversion(written, unit)
        ratio = factor / units.coherent_factor(written)
        return value if abs(ratio - 1) < 1e-12 else value * ratio

    def _counts_turns(
        self, text: str, node: expressions.Expression, value: float, unit: str
    ) -> bool:
        """Whether an expression in parameters of Hz is one itself (it doubles with them all) where
        `unit` is not, and no pi in it turns one into the other."""
        turning = {
            name: 2.0 * self.parameters[name]
            for name in expressions.names(node) & self.parameter_units.keys()
            if units.parse(self.parameter_units[name]).cycles
        }
        if not turning or _PI.search(text) or units.parse(unit.split(" or ")[0]).cycles:
            return False
        try:
            factor, _ = units.conversion("Hz", unit)
            doubled = expressions.evaluate(node, {**self.parameters, **turning})
        except ModelError:
            return False
        return factor != 1.0 and math.isclose(doubled, 2.0 * value, rel_tol=1e-9)

    def unit_hint(self, text: str) -> str:
        """The remedy where what follows a number is no unit that fits: a ``*`` is missing, the
        unit is not at the end, or its name is nearly right."""
        try:
            terms = expressions.parse_terms(text, self.defined)
            names = frozenset((*self.parameters, "t"))
            at_end = moved_to_the_end(text, names, self.defined)
        except ModelError:
            return UNITS_AT_THE_END if _UNIT_INSIDE.search(text) else ""
        known = (*units.symbols(), *units.prefixed_symbols())
        for node, rest in terms:
            if rest in self.parameters:  # "2L"
                return f"For the parameter {rest} write {expressions.to_text(node)}*{rest}."
            close = nearest(rest, known) if rest.isalpha() and rest not in known else ""
            if close:
                return f"Did you mean {close!r}?"
        return f"A unit stands at the end of its product: {at_end!r}." if at_end else ""

    def names_known(self, path: Path, text: str, node: expressions.Expression, known: Any) -> bool:
        """Whether every name of `node` is a parameter or in `known`; notes those that are not."""
        missing = expressions.names(node) - self.parameters.keys()
        fine = True
        for name in sorted(missing):
            if name in known:
                continue
            fine = False
            if name in self.broken:
                continue
            if name == "t":
                self.fail(
                    path,
                    f"{expressions.shown(text)} depends on the time t, but this value is constant.",
                    "Only signals may use t.",
                )
                continue
            if not known and ("." in name or name in self.signals):
                what = "an output of the run" if "." in name else "a signal"
                what = (
                    f"{expressions.shown(text)} reads {name}, {what}, but this value is constant."
                )
                self.fail(path, what, READ_BY_SIGNALS)
                continue
            table, _, rest = name.partition(".")
            if table in WITHOUT_TABLE and rest:
                remedy = f"Names stand without their table: {rest!r}."
            else:
                remedy = self.hint(name, [*self.parameters, *known], "names")
            self.fail(path, f"unknown name {name!r} in {expressions.shown(text)}.", remedy)
        return fine


@dataclass(slots=True)
class Scope:
    """The names that a value may refer to.

    `points` has, per body, its points from the mass centre; `origins` the
    mass centre from the origin in which points are written, where they differ;
    `joints` the coordinates of each joint; `objects` every named thing that
    can have an output signal, with its table; `nodes` those with a coordinate that
    a part can act on, `terminals` all nodes, by table; `beams` the nodes of each beam;
    `frames` the places of frames, None of one that is wrong itself.
    """

    points: dict[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    origins: dict[str, tuple[float, ...]] = field(default_factory=dict)
    joints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    signals: Collection[str] = ()
    objects: Mapping[str, str] = field(default_factory=dict)
    nodes: dict[str, Collection[str]] = field(default_factory=dict)
    terminals: dict[str, Collection[str]] = field(default_factory=dict)
    beams: dict[str, dict[str, Attachment]] = field(default_factory=dict)
    frames: dict[str, Attachment | None] = field(default_factory=dict)

    def take(self, other: Scope) -> None:
        """The names of `other`, too: those of an included file."""
        self.points.update(other.points)
        self.origins.update(other.origins)
        self.beams.update(other.beams)
        self.frames.update(other.frames)
        self.joints.update(other.joints)
        self.signals = (*self.signals, *other.signals)
        self.objects = {**other.objects, **self.objects}
        for mine, theirs in ((self.nodes, other.nodes), (self.terminals, other.terminals)):
            for table, names in theirs.items():
                mine[table] = (*mine.get(table, ()), *names)


def _float(raw: float | int) -> float:
    try:
        return float(raw)
    except OverflowError:
        return math.inf


def described(raw: Any) -> str:
    """What `raw` is and says, for messages."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str):
        return f"the text {expressions.shown(raw)}" if raw else "an empty text"
    if isinstance(raw, float) or type(raw) is int:
        return str(raw) if isinstance(raw, float) or abs(raw) < 10**20 else "a number too large"
    if isinstance(raw, Mapping):
        return "a table"
    if isinstance(raw, (list, tuple)):
        return f"a list of {len(raw)}"
    if isinstance(raw, (datetime.date, datetime.time)):
        return f"the date or time {raw}"
    return with_article(type(raw).__name__)
