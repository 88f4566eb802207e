"""Power ports of functional mock-up units: each is a source of the machine that gives what the
unit tells, and a wire back to the unit with what the source finds.

A port names the two power variables of the unit.  One is an output of it, the other an input:

    output           the machine's source                the input reads
    effort, v or p   voltage_source, pressure_source     current, flow through the source
    flow, i or Q     current_source, flow_source         voltage, pressure between its nodes
    effort, M or F   torque, force                       speed there

The sources are parts like any that a file writes, called UNIT_PORT; the second solver has them
from the model as it has others.  A unit cannot tell a speed: what prescribes a motion must have a
rate, and the values of a unit come at instants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vbg.model.catalogue import REFERENCE_NODES
from vbg.model.forms.fmus import find_unit
from vbg.model.resolve.resolved import Home
from vbg.model.text.places import Path, Place, Places
from vbg.model.values.reading import Reading

# table -> kind and key of the source of effort, of that of flow, and its signals effort, flow
CIRCUITS: Mapping[str, tuple[tuple[str, str], tuple[str, str], tuple[str, str]]] = {
    "electric": (
        ("voltage_source", "voltage"),
        ("current_source", "current"),
        ("voltage", "current"),
    ),
    "hydraulic": (("pressure_source", "pressure"), ("flow_source", "flow"), ("pressure", "flow")),
}
SHAFTS = {"rotational": "torque", "translational": "force"}
SPEEDS = {"": "speed", "angle": "speed", "slide": "slide_speed", "angle2": "speed2"}


def with_sources(
    reading: Reading, document: Mapping[str, Any]
) -> tuple[Mapping[str, Any], dict[Path, Home]]:
    """The document with the sources and wires of all ports, and where each source is written.
    What is wrong with a port is told where the unit is read; here it makes nothing."""
    units = document.get("fmu", {})
    found: dict[str, Any] = dict(document)
    homes: dict[Path, Home] = {}
    for unit, entry in units.items() if isinstance(units, Mapping) else ():
        inputs = dict(_table(_table(entry).get("inputs")))
        for port, (table, name, source, wire) in _ports(reading, unit, _table(entry)).items():
            if name in _table(found.get(table)):
                what = f"it makes a part called {name!r}, and {table} has one."
                reading.fail_key(("fmu", unit, "ports", port), what, "Choose another name.")
                continue
            if wire[0] in inputs:
                what = f"the input {wire[0]} has a wire already."
                reading.fail(("fmu", unit, "ports", port), what, "Take one of them out.")
                continue
            found[table] = {**_table(found.get(table)), name: source}
            inputs[wire[0]] = wire[1]
            _place(reading, ("fmu", unit, "ports", port), (table, name))
            homes[table, name] = Home(reading.file, reading.places, ("fmu", unit, "ports", port))
        if inputs and isinstance(entry, Mapping):
            found["fmu"] = {**found["fmu"], unit: {**entry, "inputs": inputs}}
    return found, homes


Source = tuple[str, str, dict[str, Any], tuple[str, str]]  # table, name, part, (input, signal)


def _ports(reading: Reading, unit: str, entry: Mapping[str, Any]) -> dict[str, Source]:
    """What each port of a unit makes."""
    written = _table(entry.get("ports"))
    description = find_unit(reading.file, entry.get("file")) if written else None
    if description is None:
        return {}
    inputs = {v.name for v in description.of("input")}
    made = {}
    for port, raw in written.items():
        told = _table(raw)
        words = [told.get("effort"), told.get("flow")]
        if sum(word in inputs for word in words) != 1 or not all(isinstance(w, str) for w in words):
            continue
        gives = 0 if words[1] in inputs else 1
        for source in _sources(f"{unit}_{port}", told, gives, f"{unit}.{words[gives]}"):
            table, part, back = source
            made[port] = (table, f"{unit}_{port}", part, (str(words[1 - gives]), back))
    return made


def _sources(
    name: str, port: Mapping[str, Any], gives: int, signal: str
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Table and entry of the source, and the signal that goes back; nothing where the port is not
    as it has to be.  `gives`: 0 where the unit tells the effort, 1 the flow."""
    on = port.get("on")
    ends = [on] if isinstance(on, str) else on
    if not isinstance(ends, (list, tuple)) or not all(isinstance(e, str) for e in ends):
        return
    tables = {end.partition(".")[0] for end in ends}
    nodes = [end.partition(".")[2] for end in ends]
    if len(tables) != 1 or not 1 <= len(ends) <= 2:
        return
    table = tables.pop()
    outwards = port.get("toward", "unit") == "machine"
    if table in CIRCUITS:
        effort, flow, signals = CIRCUITS[table]
        kind, key = (effort, flow)[gives]
        nodes = nodes if len(nodes) == 2 else [*nodes, REFERENCE_NODES[table]]
        # through the unit from its first node to its second, if power goes into it
        given = f"-{signal}" if outwards and gives == 1 else signal
        back = f"{'-' if outwards and gives == 0 else ''}{name}.{signals[1 - gives]}"
        yield table, {"kind": kind, "nodes": nodes, key: given}, back
    elif gives == 0 and table in SHAFTS:
        key = SHAFTS[table]
        speeds = [(sign, n) for sign, n in zip("+-", reversed(nodes)) if n != "frame"]
        back = " ".join(f"{sign} {table}.{node}.speed" for sign, node in speeds)
        given = signal if outwards else f"-{signal}"
        yield table, {"kind": key, "nodes": nodes, key: given}, back.removeprefix("+ ")
    elif gives == 0 and table == "joints" and len(ends) == 1:
        joint, _, coordinate = nodes[0].partition(".")
        part = {"kind": "torque", "on": on, "torque": [signal if outwards else f"-{signal}"]}
        yield "forces", part, f"{joint}.{SPEEDS.get(coordinate, 'speed')}"


def _place(reading: Reading, port: Path, part: Path) -> None:
    """What is wrong with the source is told where the port is written."""
    at: Place = reading.places.of_key(port)
    keys, values = reading.places.keys, reading.places.values
    reading.places = Places({**keys, part: at}, values)


def _table(raw: Any) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
