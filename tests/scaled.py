"""A model in other units of length, mass and time: the same machine, every number of it scaled.

Of a quantity of the dimension kg^a m^b s^c the number is multiplied by M^a L^b T^c.  Values of
blocks stay what they are: what a block reads of the machine and of the time is divided by its
unit, what a part reads of a block is multiplied by its own.  Current, temperature and angle are
not scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import vbg
from vbg import expressions, units
from vbg.expressions import Binary, Name, Number
from vbg.fields import Attachment, Field, Shape
from vbg.model.catalogue import TABLES

SLIDING = ("prismatic", "distance", "guide")  # joints whose coordinate is a length
TIMED = {"ki": -1, "kd": 1}  # of a PID: powers of time that its fields without a unit have


@dataclass(frozen=True)
class Scale:
    """Units of the scaled model, in those of the first: length [m], mass [kg], time [s]."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def of(self, unit: str) -> float:
        """How large a quantity in `unit` of the first model is in the scaled one."""
        mass, length, time, *_ = units.parse(unit).dimension
        return self.mass**mass * self.length**length * self.time**time

    def model(self, model: vbg.Model) -> vbg.Model:
        """The model with every number scaled."""
        known = vbg.assemble(model).signal_units
        tables = {
            table: {
                name: _Scaling(self, model, known, _slides(model, part), table == "signals").part(
                    part
                )
                for name, part in getattr(model, table).items()
            }
            for table in TABLES
        }
        gravity = [g * self.of("m/s^2") for g in model.gravity]
        return vbg.Model(name=model.name, gravity=gravity, **{k: v for k, v in tables.items() if v})


def _slides(model: vbg.Model, part: Any) -> bool:
    """Whether the coordinate that a part has or acts on is a length."""
    on = getattr(part, "on", "")
    if isinstance(on, str) and on.startswith("joints."):
        part = model.joints[on.split(".")[1]]
    elif isinstance(on, str) and on:
        return on.startswith("translational")
    return part.kind in SLIDING or part.table in ("translational", "forces")


@dataclass(frozen=True)
class _Scaling:
    """Of one part: `known` are the units of what it may read."""

    scale: Scale
    model: vbg.Model
    known: Mapping[str, str]
    slides: bool
    is_block: bool

    def part(self, part: Any) -> Any:
        changed = {}
        for entry in fields(part):
            value = getattr(part, entry.name)
            if value is None or "field" not in entry.metadata:
                continue
            field: Field = entry.metadata["field"]
            if self.is_block and entry.name in TIMED:
                changed[entry.name] = value * self.scale.time ** TIMED[entry.name]
            elif self.is_block and entry.name in ("numerator", "denominator"):
                powers = range(len(value) - 1, -1, -1)
                changed[entry.name] = tuple(
                    c * self.scale.time**n for c, n in zip(value, powers, strict=True)
                )
            else:
                changed[entry.name] = self.value(value, field)
        return replace(part, **changed)

    def value(self, value: Any, field: Field) -> Any:
        if field.form in ("condition", "signal", "signals", "expression"):
            return self.signal(value, self.factor(field.unit))
        if is_dataclass(value) and not isinstance(value, (Attachment, Shape)):
            return self.part(value)
        if field.form in ("shape", "ends", "span", "end", "end or coordinate"):
            return self.placed(value)
        if field.form == "matrix" and field.size == 6:  # of forces and torques
            alternatives = [self.scale.of(u) for u in field.unit.split(" or ")]
            mixed = [alternatives[k] for k in (0, 2, 1)]
            return tuple(
                tuple(mixed[(i > 2) + (j > 2)] * entry for j, entry in enumerate(row))
                for i, row in enumerate(value)
            )
        if field.columns:
            factors = [self.factor(unit) for unit in field.columns]
            return tuple(tuple(f * v for f, v in zip(factors, row, strict=True)) for row in value)
        return times(self.factor(field.unit), value) if field.unit not in ("1", "rad") else value

    def factor(self, unit: str) -> float:
        """Of alternatives that of turning has more of an angle, or of a length."""
        if not unit:
            return 1.0

        def turning(way: str) -> tuple[int, int]:
            _, length, *_, angle = units.parse(way).dimension
            return abs(angle), length

        ways = sorted(unit.split(" or "), key=turning)
        return self.scale.of(ways[0 if self.slides else -1])

    def signal(self, value: Any, factor: float) -> Any:
        if isinstance(value, tuple):
            return tuple(self.signal(v, factor) for v in value)
        if not isinstance(value, str):
            return value * factor
        tree = expressions.parse(value)
        new = {
            name: Binary("/", Name(name), Number(unit))
            for name in expressions.names(tree)
            if (unit := self.unit_of(name)) != 1.0
        }
        tree = expressions.replaced(tree, new)
        return expressions.to_text(tree if factor == 1.0 else Binary("*", Number(factor), tree))

    def unit_of(self, name: str) -> float:
        if name == "t":
            return self.scale.time
        return 1.0 if name in self.model.signals else self.scale.of(self.known[name.split("[")[0]])

    def placed(self, value: Any) -> Any:
        """Points and shapes."""
        L = self.scale.length
        if isinstance(value, tuple):
            return tuple(self.placed(v) for v in value)
        if isinstance(value, Attachment):
            return replace(value, at=times(L, value.at), point="")
        if isinstance(value, Shape):
            return replace(
                value,
                sizes=times(L, value.sizes),
                density=value.density * self.scale.of("kg/m^3"),
                position=times(L, value.position),
            )
        return value


def times(factor: float, value: Any) -> Any:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping):
        return {key: times(factor, entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(times(factor, entry) for entry in value)
    return factor * value
