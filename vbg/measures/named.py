"""Measures of a model file: an expression, and the unit that its value is told in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vbg import units
from vbg.errors import UsageError
from vbg.expressions import NONE, Defined
from vbg.measures.language import evaluate, parse
from vbg.solution import Solution


@dataclass(frozen=True, slots=True)
class Measure:
    """`expression` as `vbg.measures.language` reads it; `unit` of what is told, "" for SI."""

    expression: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a measure: `value` in `unit`, or None and the reason in `why`."""

    name: str
    expression: str
    value: float | None
    unit: str
    why: str = ""


def measured(
    name: str,
    measure: Measure,
    solution: Solution,
    parameters: Mapping[str, float],
    functions: Mapping[str, Defined] = NONE,
) -> Measured:
    """The measure of a run; a mistake in it is told in its place, for the run itself is good."""
    if solution.status.code != "finished":
        why = "the run did not reach its end"
        return Measured(name, measure.expression, None, measure.unit, why)
    try:
        value = evaluate(parse(measure.expression, functions), solution, parameters, functions)
    except UsageError as error:
        return Measured(name, measure.expression, None, measure.unit, str(error))
    if not math.isfinite(value):
        return Measured(name, measure.expression, None, measure.unit, "it has no value here")
    if measure.unit:
        value = (value - units.parse(measure.unit).offset) / units.coherent_factor(measure.unit)
    return Measured(name, measure.expression, value, measure.unit)
