"""The file, wires, ports and values of a functional mock-up unit as a part."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from vbg.errors import ModelError, UsageError
from vbg.fields import Field
from vbg.fmi.description import REALS, Description, Variable, read_description
from vbg.model.forms.references import REFERENCES
from vbg.model.text.allowed import refusal
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope, described
from vbg.model.values.values import unknown_keys
from vbg.plumbing.components import gathered
from vbg.plumbing.words import with_article

_FIXED = "Only numbers are wired; set it by start = { ... }."
_LEFT = "Leave it out of outputs."
_SIGNAL = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")  # a name that expressions can read


def read_wires(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """{ INPUT = signal } or { INPUT = [signal, ...] }; None, with problems noted, if wrong."""
    table = reading.table(path, raw)
    if table is None:
        return None
    one = replace(declared, form="signal", unit="")
    found: dict[str, Any] = {}
    for name, entry in table.items():
        here = (*path, name)
        if isinstance(entry, (list, tuple)):
            each = [
                REFERENCES["signal"](reading, scope, (*here, i), e, one)
                for i, e in enumerate(entry)
            ]
            found[name] = None if None in each else tuple(each)
        else:
            found[name] = REFERENCES["signal"](reading, scope, here, entry, one)
    return None if None in found.values() else MappingProxyType(found)


def read_selection(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """["OUTPUT", ...] or { NAME = "OUTPUT", NAME = ["OUTPUT", ...] } as NAME -> outputs."""
    table = {name: name for name in raw} if _is_names(raw) else raw
    if not isinstance(table, Mapping):
        what = f"expected names of outputs or a table of them, found {described(raw)}."
        reading.fail(path, what)
        return None
    found: dict[str, tuple[str, ...]] = {}
    for name, entry in table.items():
        told = (entry,) if isinstance(entry, str) else entry
        if not _is_names(told):
            reading.fail((*path, name), f"expected names of outputs, found {described(entry)}.")
            return None
        if not _SIGNAL.match(name):
            what = f"{name!r} is no name that an expression could read."
            reading.fail(path, what, f'Give it another: outputs = {{ y1 = "{name}" }}.')
            return None
        found[name] = tuple(told)
    return MappingProxyType(found)


def _is_names(raw: Any) -> bool:
    return isinstance(raw, (list, tuple)) and all(isinstance(name, str) for name in raw)


def read_values(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """A table of values, which the unit's own declarations explain (`complete_fmu`)."""
    table = reading.table(path, raw)
    return None if table is None else MappingProxyType(dict(table))


@dataclass(frozen=True, slots=True)
class UnitPort:
    """A power port: `on` the node or coordinate, or two nodes; `effort`, `flow` the variables of
    the unit; `toward` where the power goes that is their product, the unit or the machine."""

    on: str | tuple[str, ...]
    effort: str
    flow: str
    toward: str = "unit"


TOWARD = ("unit", "machine")
_PORT = tuple(f.name for f in fields(UnitPort))


def read_unit_ports(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """{ NAME = { on, effort, flow, toward } }; the parts that they make are read by themselves
    (`vbg.model.resolve.unit_ports`)."""
    table = reading.table(path, raw)
    if table is None:
        return None
    found = {name: _unit_port(reading, (*path, name), entry) for name, entry in table.items()}
    return None if None in found.values() else MappingProxyType(found)


def _unit_port(reading: Reading, path: Path, raw: Any) -> UnitPort | None:
    entry = reading.table(path, raw)
    if entry is None:
        return None
    before = len(reading.problems)
    unknown_keys(reading, path, entry, _PORT, "a port")
    for key in ("on", "effort", "flow"):
        if key not in entry:
            reading.fail_key(path, f"a port needs {key}.")
    effort = reading.text((*path, "effort"), entry["effort"]) if "effort" in entry else None
    flow = reading.text((*path, "flow"), entry["flow"]) if "flow" in entry else None
    on = entry.get("on", "")
    if not (isinstance(on, str) or (_is_names(on) and len(on) == 2)):
        what = f"expected a node, a coordinate or two nodes, found {described(on)}."
        reading.fail(
            (*path, "on"), what, 'Write on = "electric.a" or ["electric.a", "electric.b"].'
        )
    toward = entry.get("toward", TOWARD[0])
    if toward not in TOWARD:
        what = f"expected {' or '.join(TOWARD)}, found {described(toward)}."
        reading.fail((*path, "toward"), what)
    if len(reading.problems) > before or effort is None or flow is None:
        return None
    return UnitPort(on if isinstance(on, str) else tuple(on), effort, flow, str(toward))


def _check_ports(
    reading: Reading, path: Path, ports: Mapping[str, UnitPort], found: Description
) -> None:
    """One power variable comes from the unit, the other goes to it, and both fit the place."""
    inputs = {v.name for v in found.of("input")}
    for name, port in ports.items():
        here = (*path, name)
        given = [word for word in (port.effort, port.flow) if word in inputs]
        ends = (port.on,) if isinstance(port.on, str) else port.on
        tables = dict.fromkeys(end.partition(".")[0] for end in ends)
        if len(given) != 1:
            which = "both are inputs" if given else "neither is an input"
            what = f"of {port.effort} and {port.flow} one is an input of the FMU, found: {which}."
            reading.fail(here, what, "The other is what the FMU tells.")
        elif len(tables) > 1 or not set(tables) <= PLACES.keys():
            reading.fail(
                (*here, "on"),
                f"expected one node, one coordinate or two nodes of {', '.join(PLACES)}, "
                f"found {', '.join(ends)}.",
            )
        elif given == [port.effort] and PLACES[next(iter(tables))]:
            reading.fail(
                (*here, "flow"),
                f"the FMU tells the speed {port.flow}: what prescribes a motion must have a rate, "
                "and an FMU tells values at instants.",
                "Take an FMU that tells the torque or force, or put a stiff spring in between.",
            )
        elif tables == {"joints": None} and len(ends) > 1:
            reading.fail((*here, "on"), "two joints are no place.", "Write one of them.")


# tables of nodes and coordinates; whether the flow there is a speed
PLACES: Mapping[str, bool] = MappingProxyType(
    {
        "electric": False,
        "hydraulic": False,
        "rotational": True,
        "translational": True,
        "joints": True,
    }
)


def complete_fmu(
    reading: Reading, path: Path, entry: Mapping[str, Any], values: dict[str, Any]
) -> None:
    """Read the FMU that `values` name, check what is written of it, and fill in its outputs."""
    written = values.get("file")
    if written is None:
        return
    found = _found(reading, (*path, "file"), written)
    if found is None:
        return
    values["described"] = found
    _check_wires(reading, (*path, "inputs"), values.get("inputs") or {}, found)
    _check_ports(reading, (*path, "ports"), values.get("ports") or {}, found)
    values["outputs"] = _selected(reading, (*path, "outputs"), values.get("outputs"), found)
    own = {
        name: _own_value(reading, (*path, "parameters", name), name, raw, found)
        for name, raw in (values.get("parameters") or {}).items()
    }
    values["parameters"] = MappingProxyType(own)


def find_unit(file: str, written: Any) -> Description | None:
    """The unit that the model `file` names; None where there is none that could be read."""
    if not isinstance(written, str):
        return None
    path = os.path.join(os.path.dirname(file), written)
    if refusal(written, path, os.path.realpath(file or "model")):
        return None
    try:
        return read_description(path)
    except (UsageError, ModelError):
        return None  # `complete_fmu` says why


def _found(reading: Reading, path: Path, written: str) -> Description | None:
    file = os.path.join(os.path.dirname(reading.file), written)
    told = refusal(written, file, os.path.realpath(reading.file or "model"))
    if told:
        reading.fail(path, told, "Put it there, or allow its folder: --allow-include DIR.")
        return None
    try:
        return read_description(file)
    except UsageError as error:
        reading.fail(path, f"{error}.", "The path counts from this file's folder.")
        return None
    except ModelError as error:
        reading.fail(path, f"{error}.", "Export it again as FMI 2.0 or 3.0.")
        return None


def _check_wires(
    reading: Reading, path: Path, wires: Mapping[str, Any], found: Description
) -> None:
    """Every wire goes to an input, and has as many signals as that has elements."""
    inputs = {v.name: v for v in found.of("input")}
    for name, wire in wires.items():
        here = (*path, name)
        variable = inputs.get(name)
        if variable is None:
            other = found.variables.get(name)
            what = "the FMU has no input" if other is None else f"an {other.causality}, no input:"
            reading.fail_key(
                here, f"{what} {name!r}.", reading.hint(name, inputs, "inputs of the FMU")
            )
        elif not variable.is_number:
            what = f"the input {name} is {with_article(variable.type)}, no number."
            reading.fail_key(here, what, _FIXED)
        elif variable.size != (len(wire) if isinstance(wire, tuple) else 1):
            many = f"{variable.size} elements" if variable.size > 1 else "one element"
            reading.fail(here, f"the input {name} has {many}.", "Write as many signals.")


def _selected(
    reading: Reading,
    path: Path,
    selection: Mapping[str, tuple[str, ...]] | None,
    found: Description,
) -> Mapping[str, tuple[str, ...]]:
    """Signals and the variables that they are made of; all outputs where none are selected."""
    if selection is None:
        return MappingProxyType(_all_outputs(found))
    told = {v.name: v for v in found.variables.values() if v.causality in ("output", "local")}
    for name, variables in selection.items():
        for one in variables:
            if one not in told:
                hint = reading.hint(one, told, "outputs of the FMU")
                here = (*path, name) if name != one else path
                reading.fail(here, f"the FMU has no output {one!r}.", hint)
            elif not told[one].is_number:
                reading.fail(path, f"the output {one} is a {told[one].type}, no number.", _LEFT)
    return selection


def _all_outputs(found: Description) -> dict[str, tuple[str, ...]]:
    """Every output that is a number and has a name that expressions can read; y.x, y.y, y.z or
    y[0], y[1], ... as the vector y."""
    names = [v.name for v in found.of("output") if v.is_number]
    return {
        name: tuple(names[k] for k in places)
        for name, places in gathered(names)
        if _SIGNAL.match(name)
    }


def _own_value(
    reading: Reading, path: Path, name: str, raw: Any, found: Description
) -> tuple[Any, ...]:
    """What a variable is set to before the unit begins, in its own unit."""
    variable = found.variables.get(name)
    if variable is None or not variable.settable:
        known = [v.name for v in found.of("parameter")]
        what = "the FMU has no parameter" if variable is None else "nobody may set"
        reading.fail_key(path, f"{what} {name!r}.", reading.hint(name, known, "parameters"))
        return ()
    entries = raw if isinstance(raw, (list, tuple)) else (raw,)
    if len(entries) != variable.size:
        what = f"{name} has {variable.size} elements, found {len(entries)}."
        reading.fail(path, what, "Write a list of as many.")
        return ()
    several = isinstance(raw, (list, tuple))
    places = [(*path, i) if several else path for i in range(len(entries))]
    own = [_one(reading, at, entry, variable) for at, entry in zip(places, entries, strict=True)]
    return () if None in own else tuple(own)


def _one(reading: Reading, path: Path, raw: Any, variable: Variable) -> Any:
    if variable.type == "Boolean":
        if not isinstance(raw, bool):
            reading.fail(path, f"expected true or false, found {described(raw)}.")
            return None
        return raw
    if variable.type == "String":
        return reading.text(path, raw)
    scale = variable.scale
    value = reading.number(path, raw, scale.unit)
    if value is None:
        return None
    own = (value - scale.offset) / scale.factor
    if variable.type not in REALS and own != round(own):
        reading.fail(path, f"expected a whole number for {variable.name}, found {own:g}.")
        return None
    if not variable.low <= own <= variable.high:
        bounds = f"from {variable.low:g} to {variable.high:g}"
        reading.fail(path, f"the FMU takes {variable.name} {bounds}, found {own:g}.")
        return None
    return own
