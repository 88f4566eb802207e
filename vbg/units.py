"""Units in text: the factor of ``"12 bar"`` or ``"kg*m^2"`` and the check of its dimension.

A unit is a product of powers of symbols: ``N*m/rad``, ``kg*m^2``, ``L/min``,
``1/s``.  Angle is carried as a dimension of its own, so that ``rpm`` cannot be
taken for a plain number; where a text and a field differ in nothing but
radians (``N*m`` for ``N*m/rad``), rad counts as 1, as it does in SI.  Not so where
catalogues count by the turn: a lead of ``5 mm``, a pump of ``16 cc``, ``1500 1/min``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from vbg.errors import ModelError

Dimension = tuple[int, int, int, int, int, int]  # kg, m, s, A, K, rad

NONE: Dimension = (0, 0, 0, 0, 0, 0)
_MASS: Dimension = (1, 0, 0, 0, 0, 0)
_LENGTH: Dimension = (0, 1, 0, 0, 0, 0)
_TIME: Dimension = (0, 0, 1, 0, 0, 0)
_CURRENT: Dimension = (0, 0, 0, 1, 0, 0)
_CHARGE: Dimension = (0, 0, 1, 1, 0, 0)
_TEMPERATURE: Dimension = (0, 0, 0, 0, 1, 0)
_ANGLE: Dimension = (0, 0, 0, 0, 0, 1)
_FORCE: Dimension = (1, 1, -2, 0, 0, 0)
_PRESSURE: Dimension = (1, -1, -2, 0, 0, 0)
_ENERGY: Dimension = (1, 2, -2, 0, 0, 0)
_POWER: Dimension = (1, 2, -3, 0, 0, 0)
_VOLUME: Dimension = (0, 3, 0, 0, 0, 0)
_VOLTAGE: Dimension = (1, 2, -3, -1, 0, 0)
_RESISTANCE: Dimension = (1, 2, -3, -2, 0, 0)
_SPIN: Dimension = (0, 0, -1, 0, 0, 1)
_TRAVEL: Dimension = (0, 1, 0, 0, 0, -1)
_DISPLACEMENT: Dimension = (0, 3, 0, 0, 0, -1)


@dataclass(frozen=True, slots=True)
class Unit:
    """value in SI = factor * value + offset; `cycles` counts the powers of Hz
    in it, which are turns per second (2 pi rad/s); `turning` says that it
    counts angle in degrees or turns, which cannot be left out as rad can."""

    factor: float
    dimension: Dimension
    offset: float = 0.0
    cycles: int = 0
    turning: bool = False


# symbols that take the prefixes below
_PREFIXED: Mapping[str, Unit] = {
    "m": Unit(1.0, _LENGTH),
    "g": Unit(1e-3, _MASS),
    "s": Unit(1.0, _TIME),
    "A": Unit(1.0, _CURRENT),
    "K": Unit(1.0, _TEMPERATURE),
    "rad": Unit(1.0, _ANGLE),
    "N": Unit(1.0, _FORCE),
    "Pa": Unit(1.0, _PRESSURE),
    "bar": Unit(1e5, _PRESSURE),
    "J": Unit(1.0, _ENERGY),
    "W": Unit(1.0, _POWER),
    "V": Unit(1.0, _VOLTAGE),
    "ohm": Unit(1.0, _RESISTANCE),
    "Ohm": Unit(1.0, _RESISTANCE),
    "Ω": Unit(1.0, _RESISTANCE),
    "S": Unit(1.0, (-1, -2, 3, 2, 0, 0)),
    "F": Unit(1.0, (-1, -2, 4, 2, 0, 0)),
    "H": Unit(1.0, (1, 2, -2, -2, 0, 0)),
    "C": Unit(1.0, _CHARGE),
    "Wb": Unit(1.0, (1, 2, -2, -1, 0, 0)),
    "T": Unit(1.0, (1, 0, -2, -1, 0, 0)),
    "L": Unit(1e-3, _VOLUME),
    "l": Unit(1e-3, _VOLUME),
    "Hz": Unit(2 * math.pi, (0, 0, -1, 0, 0, 1), cycles=1),
    "t": Unit(1e3, _MASS),
    "Wh": Unit(3600.0, _ENERGY),
    "Ah": Unit(3600.0, _CHARGE),
    "P": Unit(0.1, (1, -1, -1, 0, 0, 0)),
    "St": Unit(1e-4, (0, 2, -1, 0, 0, 0)),
}
_PREFIXES: Mapping[str, float] = {
    "G": 1e9,
    "M": 1e6,
    "k": 1e3,
    "h": 1e2,
    "d": 1e-1,
    "c": 1e-2,
    "m": 1e-3,
    "u": 1e-6,
    "µ": 1e-6,  # micro sign
    "μ": 1e-6,  # Greek mu
    "n": 1e-9,
    "p": 1e-12,
}
_POUND = 0.45359237  # kg
_G = 9.80665  # standard gravity [m/s^2], by which a pound and a kilogram weigh lbf and kgf
_PLAIN: Mapping[str, Unit] = {
    "1": Unit(1.0, NONE),
    "%": Unit(1e-2, NONE),
    "deg": Unit(math.pi / 180, _ANGLE, turning=True),
    "°": Unit(math.pi / 180, _ANGLE, turning=True),
    "rev": Unit(2 * math.pi, _ANGLE, turning=True),
    "rpm": Unit(2 * math.pi / 60, (0, 0, -1, 0, 0, 1), turning=True),
    "min": Unit(60.0, _TIME),
    "h": Unit(3600.0, _TIME),
    "in": Unit(0.0254, _LENGTH),
    "inch": Unit(0.0254, _LENGTH),
    "ft": Unit(0.3048, _LENGTH),
    "mi": Unit(1609.344, _LENGTH),
    "mph": Unit(1609.344 / 3600, (0, 1, -1, 0, 0, 0)),
    "oz": Unit(_POUND / 16, _MASS),
    "lb": Unit(_POUND, _MASS),
    "slug": Unit(_POUND * _G / 0.3048, _MASS),
    "kgf": Unit(_G, _FORCE),
    "ozf": Unit(_POUND * _G / 16, _FORCE),
    "lbf": Unit(_POUND * _G, _FORCE),
    "psi": Unit(_POUND * _G / 0.0254**2, _PRESSURE),
    "ksi": Unit(1e3 * _POUND * _G / 0.0254**2, _PRESSURE),
    "mmHg": Unit(133.322387415, _PRESSURE),
    "atm": Unit(101325.0, _PRESSURE),
    "hp": Unit(550 * 0.3048 * _POUND * _G, _POWER),
    "PS": Unit(75 * _G, _POWER),
    "gal": Unit(231 * 0.0254**3, _VOLUME),  # of the United States, as gpm
    "gpm": Unit(231 * 0.0254**3 / 60, (0, 3, -1, 0, 0, 0)),
    "degC": Unit(1.0, _TEMPERATURE, offset=273.15),
    "°C": Unit(1.0, _TEMPERATURE, offset=273.15),
    "degF": Unit(5.0 / 9.0, _TEMPERATURE, offset=459.67 * 5.0 / 9.0),
    "°F": Unit(5.0 / 9.0, _TEMPERATURE, offset=459.67 * 5.0 / 9.0),
    "cc": Unit(1e-6, _VOLUME),
}
_USUAL = (
    *("kg", "mg", "mm", "cm", "km", "µm", "ms", "µs", "kN", "MN", "mN", "kW", "MW", "kJ", "MJ"),
    *("kPa", "MPa", "GPa", "mA", "mV", "kV", "kHz", "MHz", "mH", "µH", "µF", "nF", "pF"),
)
_NAMES: Mapping[Dimension, str] = {
    NONE: "a plain number",
    _MASS: "a mass",
    _LENGTH: "a length",
    _TIME: "a time",
    _CURRENT: "a current",
    _TEMPERATURE: "a temperature",
    _ANGLE: "an angle",
    _FORCE: "a force",
    _PRESSURE: "a pressure",
    _ENERGY: "an energy or a torque",
    _POWER: "a power",
    _VOLUME: "a volume",
    _VOLTAGE: "a voltage",
    _RESISTANCE: "a resistance",
    (0, 1, -1, 0, 0, 0): "a velocity",
    (0, 1, -2, 0, 0, 0): "an acceleration",
    _SPIN: "an angular velocity",
    (0, 3, -1, 0, 0, 0): "a volume flow",
    (0, 2, 0, 0, 0, 0): "an area",
    (1, -3, 0, 0, 0, 0): "a density",
    (1, 2, 0, 0, 0, 0): "a moment of inertia",
    (1, 0, -2, 0, 0, 0): "a stiffness",
    (1, 0, -1, 0, 0, 0): "a damping coefficient",
    (1, 2, -2, 0, 0, -1): "a torsional stiffness",
    (1, 2, -1, 0, 0, -1): "a torsional damping coefficient",
    (-1, -2, 4, 2, 0, 0): "a capacitance",
    (1, 2, -2, -2, 0, 0): "an inductance",
}

_FACTOR = re.compile(r"\s*([^\s*/^().·²³0-9+-]+|1)\s*(?:(?:\^|\*\*)\s*([+-]?[0-9]{1,2})|([²³]))?")
_JOINER = re.compile(r"\s*(\*(?!\*)|·|/)")
_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*$")


def _symbol(text: str) -> Unit | None:
    if text in _PLAIN:
        return _PLAIN[text]
    if text in _PREFIXED:
        return _PREFIXED[text]
    base = _PREFIXED.get(text[1:])
    prefix = _PREFIXES.get(text[:1])
    if base is None or prefix is None:
        return None
    return Unit(prefix * base.factor, base.dimension, cycles=base.cycles)


def symbols() -> tuple[str, ...]:
    """The unit symbols that are known, without their prefixes."""
    return (*_PLAIN, *_PREFIXED)


def prefixed_symbols() -> tuple[str, ...]:
    """Unit symbols with prefixes as engineers write them."""
    return _USUAL


@lru_cache(maxsize=256)
def fitting(expected: str) -> tuple[str, ...]:
    """The units of quantity `expected`, as `conversion` takes it, that engineers write: its own
    first, then single symbols."""
    found = []
    for name in (*expected.split(" or "), *_USUAL, *symbols()):
        try:
            conversion(name, expected)
        except ModelError:
            continue
        found.append(name)
    return tuple(dict.fromkeys(name for name in found if name not in ("", "1")))


@lru_cache(maxsize=1024)
def parse(text: str) -> Unit:
    """The unit that `text` writes; raises ModelError where it writes none."""
    factor, dimension, cycles, offset, turning = 1.0, NONE, 0, 0.0, False
    position, sign = 0, 1
    if not text.strip():
        return _PLAIN["1"]
    while True:
        match = _FACTOR.match(text, position)
        unit = _symbol(match[1]) if match else None
        if match is None or unit is None:
            raise ModelError(
                f"{(match[1] if match else text)!r} is not a unit such as mm, N*m or 1/min"
            )
        power = sign * int(match[2] or {"²": 2, "³": 3}.get(match[3], 1))
        factor *= unit.factor**power
        cycles += unit.cycles * power
        turning = turning or unit.turning
        dimension = _plus(dimension, unit.dimension, power)
        position, offset = match.end(), unit.offset
        if position >= len(text.rstrip()):
            break
        joiner = _JOINER.match(text, position)
        if joiner is None:
            raise ModelError(f"{text!r} is not a unit: expected * or / before {text[position:]!r}")
        sign = -1 if joiner[1] == "/" else 1
        position = joiner.end()
    alone = text.strip() in _PLAIN
    return Unit(factor, dimension, offset if alone else 0.0, cycles, turning)


def _plus(a: Dimension, b: Dimension, power: int) -> Dimension:
    kg, m, s, ampere, kelvin, rad = (x + power * y for x, y in zip(a, b, strict=True))
    return kg, m, s, ampere, kelvin, rad


@lru_cache(maxsize=4096)
def conversion(written: str, expected: str) -> tuple[float, float]:
    """(factor, offset): value in `expected` = factor * value in `written` + offset.

    `expected` may name alternatives, ``"N/m or N*m/rad"``; the first one that
    fits is meant, or be "" for any dimension in SI.  Raises ModelError where
    `written` is no unit or of another dimension.
    """
    unit = parse(written)
    if not expected:
        return coherent_factor(written), unit.offset
    for alternative in expected.split(" or "):
        target = parse(alternative)
        if unit.dimension == target.dimension:
            return unit.factor / target.factor, (unit.offset - target.offset) / target.factor
    for alternative in expected.split(" or "):
        factor = _without_angle(unit, parse(alternative))
        if factor is not None:
            return factor, 0.0
    wanted = _wanted(expected) + _advice(written, expected)
    raise ModelError(f"[{written}] is {described(unit)}, expected {wanted}")


def _without_angle(unit: Unit, target: Unit) -> float | None:
    """The factor where both differ in radians only, one of them having none and
    neither counting in degrees or turns, except that 1/s is meant by Hz."""
    if unit.dimension[:5] != target.dimension[:5] or (unit.dimension[5] and target.dimension[5]):
        return None
    if unit.turning or target.turning or _by_the_turn(unit, target):
        return None
    turns = 2 * math.pi
    return (unit.factor / turns**unit.cycles) / (target.factor / turns**target.cycles)


def _by_the_turn(unit: Unit, target: Unit) -> bool:
    """Whether catalogues count it by the turn, so that leaving out rad would be wrong by 2 pi
    most of the time: travel and volume per angle (5 mm, 16 cc) and speeds in 1/min."""
    if unit.dimension[5]:
        return False
    return target.dimension in (_TRAVEL, _DISPLACEMENT) or (
        target.dimension == _SPIN and unit.factor < 1.0
    )


def _advice(written: str, expected: str) -> str:
    unit, target = parse(written), parse(expected.split(" or ")[0])
    if unit.dimension[:5] != target.dimension[:5] or not _by_the_turn(unit, target):
        return ""
    if target.dimension == _SPIN:
        return ": write rpm for turns per minute"
    return (
        f": write {written}/rev for one turn, {written}/rad for one radian; a parameter NAME that "
        f'is meant for one radian stands as "NAME {expected}"'
    )


def coherent_factor(text: str) -> float:
    """SI value per unit of `text`, where Hz counts as 1/s: what a parameter's value
    is multiplied by, so that 2*pi*f means what it says for f = 50 Hz."""
    unit = parse(text)
    return unit.factor / (2 * math.pi) ** unit.cycles


def in_brackets(unit: str) -> str:
    """ " [N/m]", or nothing for a plain number, to follow a value in a message."""
    return "" if unit in ("", "1") else f" [{unit}]"


def described(unit: Unit) -> str:
    """ "a length" and so on, for messages."""
    return _NAMES.get(unit.dimension, "another quantity")


def _wanted(expected: str) -> str:
    alternatives = expected.split(" or ")
    words = dict.fromkeys(described(parse(a)) for a in alternatives)
    if "another quantity" in words:
        return f"[{expected}]"
    return " or ".join(words) + in_brackets(expected)


def convert(text: str, unit: str) -> float:
    """The number in `text`, ``"45 deg"``, in `unit`, ``"rad"``; bare numbers are in `unit`.

    Raises ModelError for another dimension, an unknown unit, or no number.
    """
    match = _NUMBER.match(text)
    if match is None:
        raise ModelError(f"{text!r} is not a number with a unit")
    value = float(match[1])
    if not match[2]:
        return value
    factor, offset = conversion(match[2], unit)
    return factor * value + offset
