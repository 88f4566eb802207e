"""The functions of a document: ``[functions]``, formulas with arguments.

[functions.drag]
arguments = { v = "km/h" }            # or ["v"], in SI
value = "0.5*rho*cw*A*(v/3.6)^2"      # of arguments and parameters
unit = "N"                            # of the value; none: SI
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vbg import expressions, units
from vbg.errors import ModelError
from vbg.expressions import Binary, Defined, Name, Number
from vbg.model.text.places import Path, Places
from vbg.model.values.reading import Reading, described

KEYS = ("arguments", "value", "unit", "note")
_BESIDE = 'The unit of the value stands beside it: unit = "N".'


def read_functions(reading: Reading, raw: Any, parameters: Any) -> Mapping[str, Defined]:
    """The functions of the table `raw`; `parameters` are the names of those of the document.

    A function may call others, in any order, but none that calls it.  One that is wrong stands
    for its own name, which is in `reading.broken`.
    """
    table = reading.table(("functions",), raw) or {}
    names = frozenset(parameters) if isinstance(parameters, Mapping) else frozenset()
    declared = {name: _declared(reading, name, table[name], names) for name in table}
    found = {name: function or Defined((), Name(name)) for name, function in declared.items()}
    reading.broken.update(name for name, function in declared.items() if function is None)
    waiting = {}
    for name, function in declared.items():
        entry = table[name]
        body = _body(reading, name, entry, function, found, names) if function else None
        if body is None:
            reading.broken.add(name)
            found[name] = Defined((), Name(name))
        else:
            waiting[name] = body
    _expand(reading, found, waiting)
    return found


def functions_of(document: Mapping[str, Any]) -> Mapping[str, Defined]:
    """The functions of a document whose problems are told elsewhere."""
    unheard = Reading("", Places())
    return read_functions(unheard, document.get("functions", {}), document.get("parameters", {}))


def with_values(
    functions: Mapping[str, Defined], values: Mapping[str, float]
) -> dict[str, Defined]:
    """The functions with numbers in place of parameters: where they are called a name may
    mean something else (the flow `f` of a resistor's law)."""
    found = {}
    for name, function in functions.items():
        others = {key: value for key, value in values.items() if key not in function.arguments}
        found[name] = replace(function, body=expressions.substitute(function.body, others))
    return found


def _declared(
    reading: Reading, name: str, entry: Any, parameters: frozenset[str]
) -> Defined | None:
    """Arguments and unit of a function, its body still to come; None where they are wrong."""
    path: Path = ("functions", name)
    table = reading.table(path, entry)
    if table is None or not _name_is_free(reading, path, name, parameters):
        return None
    before = len(reading.problems)
    for key in table:
        if key not in KEYS:
            remedy = reading.hint(key, KEYS, "keys")
            reading.fail_key((*path, key), f"unknown key {key!r} of a function.", remedy)
    for key in ("arguments", "value"):
        if key not in table and set(table) <= set(KEYS):  # else it is misspelt
            remedy = 'Write { arguments = ["x"], value = "x^2" }.'
            reading.fail_key(path, f"the function has no {key}.", remedy)
    if "note" in table:
        reading.text((*path, "note"), table["note"])
    arguments = _arguments(reading, (*path, "arguments"), table.get("arguments", ("x",)))
    unit = table.get("unit", "")
    factor, offset = _to_si(reading, (*path, "unit"), unit) if unit else (1.0, 0.0)
    if len(reading.problems) > before:
        return None
    return Defined(tuple(arguments), Number(0.0), str(unit), factor, offset)


def _name_is_free(reading: Reading, path: Path, name: str, parameters: frozenset[str]) -> bool:
    if not name.isidentifier():
        remedy = "Use letters, digits and _, a letter first."
        reading.fail_key(path, f"{name!r} cannot name a function.", remedy)
    elif name in expressions.RESERVED or name in parameters:
        what = "a parameter" if name in parameters else "a function that is always there, pi or t"
        reading.fail_key(path, f"{name!r} is also the name of {what}.", "Choose another name.")
    else:
        return True
    return False


def _arguments(reading: Reading, path: Path, raw: Any) -> Mapping[str, str]:
    """The arguments with their units, "" for SI: a list of names, or NAME = "UNIT"."""
    if not isinstance(raw, (list, tuple, Mapping)):
        what = f'expected names, ["x", "y"] or {{ x = "mm" }}, found {described(raw)}.'
        reading.fail(path, what)
        return {}
    if not raw:
        reading.fail(path, "a function needs an argument.", "A formula without one is a parameter.")
    found: dict[str, str] = {}
    pairs = raw.items() if isinstance(raw, Mapping) else ((entry, "") for entry in raw)
    for place, (name, unit) in enumerate(pairs):
        at = (*path, name if isinstance(raw, Mapping) else place)
        told = reading.fail_key if isinstance(raw, Mapping) else reading.fail
        if not isinstance(name, str) or not name.isidentifier() or name in expressions.RESERVED:
            what = f"{described(name)} cannot name an argument."
            told(at, what, "Use letters, digits and _, a letter first; t, pi and sin are taken.")
        elif name in found:
            told(at, f"the argument {name!r} is there twice.", "Give it another name.")
        elif unit == "" or reading.text(at, unit) is not None:
            found[name] = unit
            if unit:
                _to_si(reading, at, unit)
    return found


def _to_si(reading: Reading, path: Path, unit: Any) -> tuple[float, float]:
    """Factor and offset from `unit` to SI; a problem is noted where it is none."""
    if reading.text(path, unit) is None:
        return 1.0, 0.0
    try:
        return units.coherent_factor(unit), units.parse(unit).offset
    except ModelError as error:
        reading.fail(path, f"{error}.")
        return 1.0, 0.0


def _body(
    reading: Reading,
    name: str,
    entry: Mapping[str, Any],
    function: Defined,
    defined: Mapping[str, Defined],
    parameters: frozenset[str],
) -> expressions.Expression | None:
    """The value as an expression of the arguments in SI, calls as written."""
    path, raw = ("functions", name, "value"), entry["value"]
    if type(raw) in (int, float):
        return expressions.parse(repr(raw))
    text = reading.text(path, raw)
    if text is None:
        return None
    try:
        node = expressions.parse(text, defined)
    except ModelError as error:
        reading.fail(path, f"{error}.", _BESIDE if "expected an operator" in str(error) else "")
        return None
    for other in sorted(expressions.names(node) - parameters - set(function.arguments)):
        remedy = reading.hint(other, [*function.arguments, *parameters], "names")
        if other == "t" or "." in other:
            remedy = f"Hand it over: add an argument, and call {name}(..., {other})."
        what = f"{expressions.shown(text)} uses {other!r}, neither an argument nor a parameter."
        reading.fail(path, what, remedy)
        return None
    given = entry["arguments"]
    scaled = given.items() if isinstance(given, Mapping) else ()
    return expressions.replaced(node, {key: _in_unit(key, unit) for key, unit in scaled if unit})


def _in_unit(name: str, unit: str) -> expressions.Expression:
    """The argument, which is handed over in SI, as the body counts it."""
    factor, offset = units.coherent_factor(unit), units.parse(unit).offset
    node: expressions.Expression = Name(name)
    if offset:
        node = Binary("-", node, Number(offset))
    return node if factor == 1.0 else Binary("/", node, Number(factor))


def _expand(
    reading: Reading, found: dict[str, Defined], waiting: dict[str, expressions.Expression]
) -> None:
    """Put the bodies into `found`, each once those that it calls are there; what is left at the
    end calls itself."""
    calls = {name: expressions.called(body) & found.keys() for name, body in waiting.items()}
    while ready := [name for name in waiting if not calls[name] & waiting.keys()]:
        for name in ready:
            try:
                body = expressions.expanded(waiting.pop(name), found)
            except ModelError as error:
                reading.fail(("functions", name, "value"), f"{error}.")
                reading.broken.add(name)
                body = Name(name)
            found[name] = replace(found[name], body=body)
    for name in waiting:
        reading.broken.add(name)
        found[name] = Defined((), Name(name))
    if waiting:
        chain = [next(iter(waiting))]
        while chain[-1] not in chain[:-1]:
            chain.append(min(calls[chain[-1]] & waiting.keys()))
        circle = chain[chain.index(chain[-1]) :]
        what = f"functions call each other in a circle: {' -> '.join(circle)}."
        remedy = "A function may not call itself; write the steps out, or solve with a signal."
        reading.fail(("functions", circle[0], "value"), what, remedy)
