"""Trim: values of the model with which its rest meets conditions.

    a spring's free length such that the arm hangs at 10 deg; the current that holds a valve

Unknown are parameters, or entries of parts; conditions are signals at the rest.  Newton with
difference quotients, every point a machine assembled anew and let come to rest
(`scipy.optimize.root`, MINPACK's hybrd; J. Moré and others, 1980).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg import units
from vbg.analysis.begin.begin import begin
from vbg.assemble import Start, assemble
from vbg.errors import AssemblyError, ModelError, UsageError, VbgError
from vbg.fields import EQUILIBRIUM, declared
from vbg.model import Model
from vbg.model.catalogue import TABLES
from vbg.model.text.names import suggestion
from vbg.plumbing.components import vector_of

Array = NDArray[np.float64]

MET = 1e-7  # of its size: a condition that is missed by less holds
# largest first step, in sizes of what is free: of MINPACK, and where a leap leaves what is possible
REACHES = (100.0, 0.1)
STEP = 1e-5  # of a value, for difference quotients: rests are found to 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Trimmed:
    """values : of what was free, SI;  conditions : signal -> value at the rest;  model : with
    the values in it;  start : its rest;  evaluations : machines that were brought to rest."""

    values: Mapping[str, float]
    conditions: Mapping[str, float]
    model: Model
    start: Start
    evaluations: int


def trim(model: Model, free: Sequence[str], hold: Mapping[str, float | str]) -> Trimmed:
    """The values of `free` with which the signals of `hold` have these values at rest: numbers
    in SI, or texts with a unit, "10 deg".

    free : names of parameters, or entries of parts as "spring.length" (or with their table,
    "forces.spring.length"), as many as there are conditions; the written values are where the
    search begins.

    Raises UsageError for unknown names and for units of another quantity, AssemblyError where
    no values are found.
    """
    if len(free) != len(hold) or not free:
        raise UsageError(
            f"trim: {len(free)} free values and {len(hold)} conditions: there must be as many."
        )
    free = [_entry(model, name) for name in free]
    first = np.array([value_of(model, name) for name in free])
    units_of = assemble(model).signal_units
    wanted = {name: _wanted(name, value, units_of) for name, value in hold.items()}
    search = _Search(model, tuple(free), wanted)
    sizes = np.where(first != 0.0, np.abs(first), 1.0)
    values, left = first, np.array([np.inf])
    for reach in REACHES:
        values, left = _searched(search, first, sizes, reach)
        if float(np.abs(left).max()) <= MET:
            break
    else:
        raise AssemblyError(_not_met(search, values, left))
    trimmed, start, conditions = search.rest(values)
    named = dict(zip(free, map(float, values), strict=True))
    return Trimmed(named, conditions, trimmed, start, search.evaluations)


def _searched(search: _Search, first: Array, sizes: Array, reach: float) -> tuple[Array, Array]:
    """Where the search ends, and what each condition misses there."""
    from scipy.optimize import root

    found = root(
        lambda u: search.misses(sizes * u),
        first / sizes,
        method="hybr",
        options={"eps": STEP, "xtol": 1e-11, "maxfev": 60 * len(first), "factor": reach},
    )
    values = sizes * found.x
    return values, search.misses(values)


class _Search:
    """Rests of the model with other values; counts them."""

    def __init__(self, model: Model, free: tuple[str, ...], hold: dict[str, float]):
        self.model, self.free, self.hold = model, free, hold
        self.evaluations = 0
        self.refused: VbgError | None = None

    def rest(self, values: Array) -> tuple[Model, Start, dict[str, float]]:
        """The model with the values, its rest, and the signals of the conditions there."""
        model = self.model
        for name, value in zip(self.free, values, strict=True):
            model = with_value(model, name, float(value))
        start = begin(assemble(model), EQUILIBRIUM)
        self.evaluations += 1
        signals = start.outputs(0.0, start.state)
        return model, start, {name: _signal(signals, name) for name in self.hold}

    def misses(self, values: Array) -> Array:
        """Of each condition, relative to its size; infinite where there is no rest."""
        try:
            _, _, found = self.rest(values)
        except (AssemblyError, ModelError) as error:  # a mass below zero is on no way to a rest
            self.refused = error
            return np.full(len(self.hold), 1e6)
        wanted = np.array(list(self.hold.values()))
        return (np.array(list(found.values())) - wanted) / np.maximum(np.abs(wanted), 1.0)


def _not_met(search: _Search, values: Array, left: Array) -> str:
    named = ", ".join(f"{n} = {v:.6g}" for n, v in zip(search.free, values, strict=True))
    if float(np.abs(left).max()) >= 1e6 and search.refused is not None:
        return f"trim: no rest with {named}: {search.refused}"
    worst = list(search.hold)[int(np.argmax(np.abs(left)))]
    return (
        f"trim: no values of {', '.join(search.free)} meet the conditions: nearest is {named}, "
        f"where {worst} is {float(np.abs(left).max()):.3g} of its size away. What is free may "
        "not act on what is held; begin nearer, with other written values."
    )


def _wanted(name: str, value: float | str, units_of: Mapping[str, str]) -> float:
    """The value that a signal is to have, in SI."""
    unit = units_of.get(name) or units_of.get(vector_of(name), "")
    try:
        return units.convert(str(value), "" if unit == "1" else unit)
    except ModelError as error:
        raise UsageError(f"trim: {name} = {value}: {error}.") from None


def _signal(signals: Mapping[str, Array], name: str) -> float:
    base, _, letter = name.rpartition(".")
    if name in signals and signals[name].size == 1:
        return float(np.ravel(signals[name])[0])
    if base in signals and letter in ("x", "y", "z"):
        return float(np.ravel(signals[base])["xyz".index(letter)])
    if name in signals:
        raise UsageError(f"trim: {name} is a vector: hold a component, {name}.x.")
    raise UsageError(f"trim: no signal {name!r}. {suggestion(name, signals, 'signals')}")


def _entry(model: Model, name: str) -> str:
    """PART.KEY with its table before it; any other name as it is."""
    part, _, key = name.partition(".")
    if key and part not in TABLES:
        table = next((table for table in TABLES if part in getattr(model, table)), "")
        return f"{table}.{name}" if table else name
    return name


def value_of(model: Model, name: str) -> float:
    """The written value of a parameter or of an entry TABLE.PART.KEY, SI.

    Raises UsageError for one that there is not, or that is no number.
    """
    if name in model.parameters:
        return model.parameters[name]
    table, _, rest = name.partition(".")
    part_name, _, key = rest.partition(".")
    parts: Mapping[str, Any] = getattr(model, table, {}) if key else {}
    if not isinstance(parts, Mapping) or part_name not in parts:
        if key and isinstance(parts, Mapping) and parts:
            raise UsageError(f"trim: {name}: {suggestion(part_name, parts, table)}")
        near = suggestion(name, model.parameters, "parameters")
        raise UsageError(
            f"trim: nothing to free is called {name!r}. {near} An entry of a part is written "
            "PART.KEY or TABLE.PART.KEY, as forces.spring.length."
        )
    part = parts[part_name]
    for step in key.split("."):
        fields = declared(type(part)) if hasattr(type(part), "__dataclass_fields__") else {}
        if step not in fields:
            raise UsageError(f"trim: {name}: no key {step!r}. {suggestion(step, fields, 'keys')}")
        part = getattr(part, step)
    if part is None:
        return 0.0
    if not isinstance(part, (int, float)) or isinstance(part, bool):
        raise UsageError(f"trim: {name} is no number that could be varied.")
    return float(part)


def entry_unit(model: Model, name: str) -> str:
    """The unit of SI of an entry TABLE.PART.KEY; "" where it has none, or name is none."""
    table, _, rest = name.partition(".")
    part, _, key = rest.partition(".")
    fields = declared(type(getattr(model, table)[part])) if key else {}
    return fields[key].unit if key in fields else ""


def with_value(model: Model, name: str, value: float) -> Model:
    """The model with another value of a parameter or an entry, SI."""
    if name in model.parameters:
        return model.with_parameters(**{name: value})
    return model.edited(tuple(name.split(".")), value)
