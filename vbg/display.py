"""Units in which values are shown; what is computed and kept is in SI.

A rule is for one quantity, every signal of it (``pressure = "bar"``, ``bar``), or for the
signals that a pattern names (``"*.stroke" = "mm"``).  Rules for signals go before those for
quantities, and later rules before earlier ones.

    shown = (value in SI - offset) / factor
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from vbg import units
from vbg.errors import ModelError, UsageError

# what a file may call a quantity, and its unit in SI
QUANTITIES = {
    "length": "m",
    "area": "m^2",
    "volume": "m^3",
    "angle": "rad",
    "speed": "m/s",
    "angular_speed": "rad/s",
    "acceleration": "m/s^2",
    "angular_acceleration": "rad/s^2",
    "mass": "kg",
    "force": "N",
    "torque": "N*m",
    "energy": "J",
    "power": "W",
    "pressure": "Pa",
    "flow": "m^3/s",
    "voltage": "V",
    "current": "A",
    "charge": "C",
    "temperature": "K",
}
_OF_ENERGY = re.compile(r"[GMkhdcmuµμnp]?(?:J|Wh)\b")
_COMPONENT = re.compile(r"\[\d+\]\Z|\.[wxyz]\Z")
_BASE = ("kg", "m", "s", "A", "K", "rad")


@dataclass(frozen=True, slots=True)
class Rule:
    """Show in `unit` the signals that `pattern` names; with no pattern all of its quantity.
    All components of a vector are in one unit."""

    unit: str
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.pattern}={self.unit}" if self.pattern else self.unit

    def names(self, signal: str) -> bool:
        """Whether the pattern is for the signal, or for a component of the same vector."""
        asked = {self.pattern, _COMPONENT.sub("", self.pattern)}
        there = {signal, _COMPONENT.sub("", signal)}
        return any(fnmatchcase(s, p.replace("[", "[[]")) for s in there for p in asked)


@dataclass(frozen=True, slots=True)
class Scale:
    """How a signal is shown: in `unit`, (value in SI - offset) / factor."""

    unit: str
    factor: float = 1.0
    offset: float = 0.0


Display = tuple[Rule, ...]
SI: Display = ()


def rule_of(text: str) -> Rule:
    """The rule that ``bar`` or ``A.force=kN`` writes; raises UsageError for no unit."""
    pattern, _, unit = text.rpartition("=")
    try:
        units.parse(unit.strip() or "?")
    except ModelError as error:
        raise UsageError(f"cannot show values in {text!r}: {error}.") from None
    return Rule(unit.strip(), pattern.strip())


def rules_of(texts: Iterable[str]) -> Display:
    """The rules of ``"bar,deg,A.force=kN"``, one text or several."""
    return tuple(rule_of(one) for text in texts for one in text.split(",") if one.strip())


def scale(display: Display, signal: str, unit: str) -> Scale:
    """How the signal, whose values are in `unit` of SI, is shown.

    Raises UsageError where a rule for this very signal has a unit of another quantity.
    """
    named = [rule for rule in display if rule.pattern and rule.names(signal)]
    if named:
        if not same_quantity(named[-1].unit, unit):
            raise UsageError(
                f"{signal} is in {unit or '1'} and cannot be shown in {named[-1].unit}."
            )
        return _scale(named[-1].unit, unit)
    of_quantity = [r for r in display if not r.pattern and same_quantity(r.unit, unit)]
    return _scale(of_quantity[-1].unit, unit) if of_quantity else Scale(unit)


def require(display: Display, signals: Mapping[str, str]) -> None:
    """Raises UsageError for a rule that names none of the `signals` (name -> unit in SI), or
    one that is of another quantity."""
    for rule in display:
        if not rule.pattern:
            continue
        named = [name for name in signals if rule.names(name)]
        if not named:
            near = difflib.get_close_matches(rule.pattern, signals, n=3)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            raise UsageError(f"there is no signal {rule.pattern} to show in {rule.unit}.{hint}")
        for name in named:
            scale((rule,), name, signals[name])


def fitting(display: Display, signals: Mapping[str, str]) -> Display:
    """The rules that `require` does not refuse: what a file half written wants shown."""
    found = []
    for rule in display:
        try:
            require((rule,), signals)
        except UsageError:
            continue
        found.append(rule)
    return tuple(found)


def same_quantity(one: str, other: str) -> bool:
    """Whether both units are of one quantity: angle counts, and energy is no torque."""
    try:
        first, second = units.parse(one), units.parse(other)
    except ModelError:  # "m or rad" of residuals
        return False
    energies = (bool(_OF_ENERGY.search(text)) for text in (one, other))
    return first.dimension == second.dimension and len(set(energies)) == 1


def _scale(shown: str, unit: str) -> Scale:
    factor, offset = units.conversion(shown, unit)
    return Scale(shown, factor, offset)


def in_si(unit: str) -> Scale:
    """How values that are written in `unit` were scaled, its own unit replaced by that of SI;
    a text that is no unit stays as it is."""
    try:
        parsed = units.parse(unit)
    except ModelError:
        return Scale(unit)
    if parsed.factor == 1.0 and parsed.offset == 0.0:
        return Scale(unit)
    usual = (si for si in QUANTITIES.values() if same_quantity(unit, si))
    return Scale(next(usual, _composed(parsed.dimension)), parsed.factor, parsed.offset)


def unit_of(dimension: units.Dimension) -> str:
    """The unit of SI of a dimension, by its own name where it has one: W, not kg*m^2/s^3; that
    of a torque by an angle is J, by an angular speed W."""
    named = (si for si in QUANTITIES.values() if units.parse(si).dimension == dimension)
    worked = (si for si in "JW" if (*units.parse(si).dimension[:5], 1) == dimension)
    return next(named, next(worked, _composed(dimension)))


def _composed(dimension: units.Dimension) -> str:
    """A unit of SI by its base units: kg*m/s^2."""
    powers = list(zip(_BASE, dimension, strict=True))
    over = [f"{u}^{p}" if p > 1 else u for u, p in powers if p > 0]
    under = [f"/{u}^{-p}" if p < -1 else f"/{u}" for u, p in powers if p < 0]
    return ("*".join(over) or "1") + "".join(under)
