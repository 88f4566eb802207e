"""The parameters of a document: numbers, expressions in one another, texts with units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vbg import expressions, units
from vbg.errors import ModelError
from vbg.model.text.names import is_name
from vbg.model.text.places import Path
from vbg.model.values.quantities import quantity
from vbg.model.values.reading import Reading, described

Functions = Mapping[str, expressions.Defined]

_KEYS = ("value", "unit", "note")


def read_parameters(reading: Reading, raw: Any) -> None:
    """Fill `reading.parameters` from the table `raw`, in any order of dependence."""
    table = reading.table(("parameters",), raw)
    if table is None:
        return
    reading.broken.update(table)
    waiting: dict[str, tuple[Path, expressions.Expression]] = {}
    for name, entry in table.items():
        if _name_is_free(reading, name):
            _read_one(reading, name, entry, waiting)
    _evaluate(reading, waiting, set(table))


def _name_is_free(reading: Reading, name: str) -> bool:
    path = ("parameters", name)
    if not name.isidentifier():
        reading.fail_key(
            path, f"{name!r} cannot name a parameter.", "Use letters, digits and _, a letter first."
        )
    elif name in expressions.RESERVED:
        reading.fail_key(
            path,
            f"{name!r} is the name of a function, of pi or of the time.",
            "Choose another name.",
        )
    else:
        return is_name(name) or name.startswith("_")
    return False


def _read_one(
    reading: Reading,
    name: str,
    entry: Any,
    waiting: dict[str, tuple[Path, expressions.Expression]],
) -> None:
    """Take a constant at once; put an expression among the `waiting`."""
    path: Path = ("parameters", name)
    unit = ""
    if isinstance(entry, Mapping):
        for key in entry:
            if key not in _KEYS:
                remedy = reading.hint(key, _KEYS, "keys")
                reading.fail_key((*path, key), f"unknown key {key!r} of a parameter.", remedy)
        if "value" not in entry:
            reading.fail_key(
                path, "the parameter has no value.", 'Write { value = 1.0, unit = "m" }.'
            )
            return
        if "note" in entry:
            reading.text((*path, "note"), entry["note"])
        unit = entry.get("unit", "")
        if unit and reading.text((*path, "unit"), unit) is None:
            return
        path, entry = (*path, "value"), entry["value"]
    _take_value(reading, name, path, entry, unit, waiting)


def _take_value(
    reading: Reading,
    name: str,
    path: Path,
    raw: Any,
    unit: str,
    waiting: dict[str, tuple[Path, expressions.Expression]],
) -> None:
    try:
        node, written = _node(raw, reading.defined)
        if written and unit:
            told = f"has a unit in its text [{written}] and another beside it [{unit}]."
            reading.fail(path, told, "Take one of them out.")
            return
        if unit:
            node = _scaled(node, unit)
        if written or unit:
            reading.parameter_units[name] = written or unit
    except ModelError as error:
        reading.fail(path, f"{error}.", reading.unit_hint(raw) if isinstance(raw, str) else "")
        return
    waiting[name] = (path, node)


def _node(raw: Any, defined: Functions) -> tuple[expressions.Expression, str]:
    """The value as an expression in SI, and the unit written after it."""
    if isinstance(raw, str):
        return quantity(raw, "", defined)
    if type(raw) in (int, float):
        try:
            value = float(raw)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            return expressions.Number(value), ""
    raise ModelError(f"expected a finite number or an expression, found {described(raw)}")


def unit_of(entry: Any, defined: Functions = expressions.NONE) -> str:
    """The unit in which a parameter is written, beside its value or in its text; "" without
    one.  `defined` are the functions of its file.  Raises ModelError where the value is no
    number, expression or text with a unit."""
    if isinstance(entry, Mapping):
        return str(entry.get("unit") or unit_of(entry.get("value"), defined))
    return _node(entry, defined)[1]


def _scaled(node: expressions.Expression, unit: str) -> expressions.Expression:
    factor, offset = units.coherent_factor(unit), units.parse(unit).offset
    if factor != 1.0:
        node = expressions.Binary("*", expressions.Number(factor), node)
    if offset:
        node = expressions.Binary("+", node, expressions.Number(offset))
    return node


def _evaluate(
    reading: Reading, waiting: dict[str, tuple[Path, expressions.Expression]], all_names: set[str]
) -> None:
    """Evaluate each expression once the parameters it needs are known; what is
    left at the end defines itself in a circle."""
    needs = {name: expressions.names(node) for name, (_, node) in waiting.items()}
    for name, needed in needs.items():
        for other in sorted(needed - all_names):
            known = [*sorted(all_names), *expressions.FUNCTIONS]
            reading.unknown(waiting[name][0], "unknown parameter", other, known, "parameters")
    waiting = {name: entry for name, entry in waiting.items() if needs[name] <= all_names}
    users: dict[str, list[str]] = {}
    missing = {}
    for name in waiting:
        missing[name] = len(needs[name])
        for other in needs[name]:
            users.setdefault(other, []).append(name)
    ready = [name for name in waiting if not missing[name]]
    while ready:
        name = ready.pop()
        path, node = waiting.pop(name)
        try:
            reading.parameters[name] = expressions.evaluate(node, reading.parameters)
        except ModelError as error:
            reading.fail(path, f"{error}.")
            continue
        reading.broken.discard(name)
        for user in users.get(name, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    _report_circle(reading, waiting, needs)


def _report_circle(
    reading: Reading,
    left: Mapping[str, tuple[Path, expressions.Expression]],
    needs: Mapping[str, frozenset[str]],
) -> None:
    """Name one circle among the parameters `left` over, if there is one: follow
    what each needs until a name comes again."""
    for start in left:
        chain = [start]
        while True:
            onward = [other for other in sorted(needs[chain[-1]]) if other in left]
            if not onward:
                break
            if onward[0] in chain:
                circle = chain[chain.index(onward[0]) :]
                shown = " -> ".join([*circle, circle[0]])
                what = f"parameters define each other in a circle: {shown}."
                reading.fail(left[circle[0]][0], what, "Give one of them a number.")
                return
            chain.append(onward[0])
