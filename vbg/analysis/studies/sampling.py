"""Points of a parameter study: grids, Latin hypercubes, and what --vary may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vbg.errors import ModelError, UsageError
from vbg.units import coherent_factor, convert, parse

Point = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Range:
    """A parameter from `low` to `high` (SI), evenly or, with `log`, evenly in its logarithm."""

    name: str
    low: float
    high: float
    count: int
    log: bool = False

    def at(self, fraction: float) -> float:
        """The value at a fraction 0 ... 1 of the range."""
        if self.log:
            return float(np.exp(np.log(self.low) * (1 - fraction) + np.log(self.high) * fraction))
        return self.low + fraction * (self.high - self.low)

    def values(self) -> list[float]:
        if self.count == 1:
            return [self.low]
        return [self.at(i / (self.count - 1)) for i in range(self.count)]


def parse_range(text: str, units: Mapping[str, str] | None = None) -> Range:
    """A range from NAME=LOW:HIGH[:COUNT] or NAME=log:LOW:HIGH[:COUNT].

    Bounds are SI, or carry a unit of the dimension in which `units` says that the parameter
    is written.  Raises UsageError for anything else.
    """
    name, equals, rest = text.partition("=")
    parts = rest.split(":")
    log = parts[0] == "log"
    numbers = parts[1:] if log else parts
    wrong = UsageError(
        f"--vary {text}: write NAME=LOW:HIGH:COUNT or NAME=log:LOW:HIGH:COUNT; a bare bound is "
        "SI, as in r=0.03:0.06:4, another has its unit, as in r='30 mm:60 mm:4'."
    )
    if not equals or not name or len(numbers) not in (2, 3):
        raise wrong
    try:
        unit = (units or {}).get(name.strip())
        low, high = _bound(numbers[0], unit), _bound(numbers[1], unit)
        count = int(numbers[2]) if len(numbers) == 3 else 10
    except ValueError:
        raise wrong from None
    except ModelError as error:
        raise UsageError(f"--vary {text}: {error}.") from None
    if count < 1 or not (np.isfinite(low) and np.isfinite(high)):
        raise wrong
    if log and not (low > 0.0 and high > 0.0):
        raise UsageError(f"--vary {text}: a logarithmic range needs positive bounds.")
    return Range(name.strip(), low, high, count, log)


def _bound(text: str, unit: str | None) -> float:
    """The SI value of a bound.  Raises ValueError where it is none, ModelError for the unit of
    another dimension than that of `unit`."""
    try:
        return float(text)
    except ValueError:
        if unit is None or not text.strip().lstrip("+-.")[:1].isdecimal():
            raise
    return coherent_factor(unit) * convert(text.strip(), unit) + parse(unit).offset


def grid(ranges: Sequence[Range]) -> list[Point]:
    """All combinations, the last parameter fastest."""
    names = [r.name for r in ranges]
    columns = [r.values() for r in ranges]
    return [tuple(zip(names, values, strict=True)) for values in product(*columns)]


def latin_hypercube(ranges: Sequence[Range], count: int, seed: int = 1) -> list[Point]:
    """`count` points, one in each of `count` slices of every parameter (McKay, 1979)."""
    random = np.random.default_rng(seed)
    columns = []
    for one in ranges:
        fractions = (random.permutation(count) + random.random(count)) / count
        columns.append([one.at(float(f)) for f in fractions])
    names = [r.name for r in ranges]
    return [tuple(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
