"""Measures of a model file: an expression, and the unit that its value is told in."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from vbg import units
from vbg.errors import UsageError
from vbg.expressions import NONE, Defined
from vbg.measures.dimensions import unit_told
from vbg.measures.language import CONSTANTS, evaluate, names_in, parse, spelled
from vbg.measures.remarks import remarks
from vbg.plumbing.components import vector_of
from vbg.solution import Solution

NO_UNITS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Measure:
    """`expression` as `vbg.measures.language` reads it; `unit` of what is told, "" for SI."""

    expression: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a measure: `value` in `unit`, or None and the reason in `why`; `note` is what
    it may not have meant (`vbg.measures.remarks`)."""

    name: str
    expression: str
    value: float | None
    unit: str
    why: str = ""
    note: str = ""


def measured(
    name: str,
    measure: Measure,
    solution: Solution,
    parameters: Mapping[str, float],
    functions: Mapping[str, Defined] = NONE,
    parameter_units: Mapping[str, str] = NO_UNITS,
) -> Measured:
    """The measure of a run; a mistake in it is told in its place, for the run itself is good.

    Its unit is the one that it names, or that of SI which follows from signals, numbers and
    parameters with their units (`parameter_units`)."""
    if solution.status.code != "finished":
        why = "the run did not reach its end"
        return Measured(name, measure.expression, None, measure.unit, why)
    try:
        tree = parse(measure.expression, functions)
        value = evaluate(tree, solution, parameters, functions)
        unit = unit_told(tree, solution.units, parameter_units, measure.unit)
        note = "; ".join(remarks(tree, solution, parameters, functions))
    except UsageError as error:
        return Measured(name, measure.expression, None, measure.unit, str(error))
    if not math.isfinite(value):
        return Measured(name, measure.expression, None, measure.unit, "it has no value here")
    value = in_unit(value, measure.unit)
    return Measured(name, measure.expression, value, measure.unit or unit, note=note)


def in_unit(value: float, unit: str) -> float:
    """What is `value` in SI, in `unit`; "" is SI."""
    factor, offset = units.conversion(unit, "") if unit else (1.0, 0.0)
    return (value - offset) / factor


def faults(
    measure: Measure,
    signals: Mapping[str, str],
    parameter_units: Mapping[str, str],
    functions: Mapping[str, Defined] = NONE,
) -> str:
    """What is wrong with a measure before there is a run: a name that no signal (name -> unit)
    and no parameter has, or quantities that do not go together; empty if nothing is."""
    tree = parse(measure.expression, functions)
    for name in names_in(tree):
        if name in parameter_units or name in CONSTANTS or {name, vector_of(name)} & set(signals):
            continue
        near = difflib.get_close_matches(name, signals, n=3)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        return f"measure {spelled(tree)!r}: the model has no signal {name!r}.{hint}"
    try:
        unit_told(tree, signals, parameter_units, measure.unit)
    except UsageError as error:
        return str(error)
    return ""
