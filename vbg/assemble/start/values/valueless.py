"""What has no value at a start: a drive's speed; pressures and voltages that nothing gives.

A pressure or a voltage that nothing gives is an algebraic loop without a solution.

Where all parts on a node tell the flow for a pressure, the pressure is the one at which the flows
balance.  There is none, or any will do, where no flow changes with it: a shut valve without a
leak behind a pipe, a pump against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.elements.electric.diode import WITHSTOOD
from vbg.errors import AssemblyError, Problem
from vbg.model import Model
from vbg.model.amplifiers import fed_back
from vbg.physics.hydraulics import GIVEN_FLOWS, SHUT

Array = NDArray[np.float64]

TRIES = 3  # each search for a root begins where the last one ended
ENDED = "cylinder"  # beyond its end it gives no pressure
QUANTITIES = {"hydraulic": "pressure", "electric": "voltage"}
# parts of which no flow depends on the pressures at their ends, or none while they are shut
RIGID = (*GIVEN_FLOWS, "motor", "pipe", "current_source", "inductor")
SHUTTING = (*SHUT, "proportional_valve")
REMEDIES = {
    "hydraulic": "Add the oil in the line, whose pressure is a state:"
    ' kind = "volume", nodes = ["{0}"], volume = "1 L"; or give a valve that shuts a leakage.',
    "electric": 'Put a capacitor or a resistor between {0} and "gnd".',
}


class Begun(Protocol):
    """What is asked of a start."""

    @property
    def system(self) -> System: ...
    @property
    def state(self) -> Array: ...
    def evaluator(self, what: str) -> Evaluator: ...
    def outputs(self, t: float, x: Array, /) -> Mapping[str, Array]: ...


S = TypeVar("S", bound=Begun)


def with_values(start: S) -> S:
    """The start, whose algebraic loops have one solution each; AssemblyError where one has none,
    or where positive feedback leaves several."""
    equations, x = start.system.equations, start.state
    if not (equations.loops or equations.direct):
        return start
    if problems := tuple(fed_back(start.system.model)):
        raise AssemblyError.of(list(problems))
    evaluate = start.evaluator("rate")
    if not any(np.all(np.isfinite(evaluate(0.0, x))) for _ in range(TRIES)):
        problems = without_value(start.system.model, start.outputs(0.0, x))
        if problems:
            raise AssemblyError.of(list(problems))
    if forced := _forced(start):
        raise AssemblyError.of(
            [_problem("electric", forced, _parts(start.system.model, "electric"))]
        )
    return start


def _forced(start: Begun) -> list[str]:
    """The nodes of diodes through whose leakage alone a source or a coil forces its current."""
    diodes = {
        name: part
        for name, part in start.system.model.electric.items()
        if part.kind == "diode" and part.law == "exponential"
    }
    if not diodes:
        return []
    found = start.outputs(0.0, start.state)
    nodes = [
        node
        for name, part in diodes.items()
        if np.min(found[f"{name}.voltage"]) < -WITHSTOOD
        for node in part.nodes
    ]
    return [node for node in dict.fromkeys(nodes) if node != "gnd"]


def without_value(model: Model, outputs: Mapping[str, Array]) -> tuple[Problem, ...]:
    """A problem for each node whose pressure or voltage is no number among the `outputs`: of
    those on which nothing holds it, or, where something does, of all of them together."""
    found = []
    for table, quantity in QUANTITIES.items():
        parts = _parts(model, table)
        lost = [
            node
            for node in parts
            if not np.all(np.isfinite(outputs.get(f"{table}.{node}.{quantity}", 0.0)))
        ]
        ended = [node for node in lost if _ended(parts[node])]
        if ended:
            found += [_beyond(node, _ended(parts[node])) for node in ended]
            continue
        loose = [node for node in lost if all(map(_gives_nothing, parts[node].values()))]
        found += [_problem(table, [node], parts) for node in loose]
        if lost and not loose:
            found.append(_problem(table, lost, parts))
    return tuple(found)


def without_speed(part: str, t: float) -> Problem:
    """The problem of a drive that comes to the end of a function, where its slope is infinite, or
    0 times infinite: sqrt(t), asin(sin(t)) at its tops."""
    return Problem(
        "error",
        part,
        f"what it prescribes has no speed at t = {t:.6g} s: asin, acos, a root, a power "
        "or a division comes to the end of where it has values.",
        "Write it without them there: with abs, if, or a table.",
    )


def _parts(model: Model, table: str) -> dict[str, dict[str, Any]]:
    """node -> the parts on it by name."""
    found: dict[str, dict[str, Any]] = {}
    for name, part in getattr(model, table).items():
        for node in getattr(part, "nodes", ()) or ():
            found.setdefault(node, {})[name] = part
    return found


def _ended(parts: Mapping[str, Any]) -> str:
    """The name of the cylinder among them, whose oil holds the pressure."""
    return next((name for name, part in parts.items() if part.kind == ENDED), "")


def _beyond(node: str, name: str) -> Problem:
    return Problem(
        "error",
        f"hydraulic.{name}.stroke",
        f"the oil of {name} on the node {node!r} has no volume left, as beyond the end of the"
        f" {ENDED}: it has no pressure.",
        "Give it stops (k), or look at what pushes it beyond its stroke.",
    )


def _gives_nothing(part: Any) -> bool:
    """Whether no flow of it need change with the pressure at its end."""
    return part.kind in RIGID + SHUTTING and getattr(part, "leakage", 0.0) == 0.0


def _problem(table: str, nodes: list[str], parts: Mapping[str, Mapping[str, Any]]) -> Problem:
    here = {name: part for node in nodes for name, part in parts[node].items()}
    which = f"the node {nodes[0]!r} its" if len(nodes) == 1 else f"one of {', '.join(nodes)} its"
    names = ", ".join(f"{name} ({part.kind})" for name, part in here.items())
    return Problem(
        "error",
        f"{table}.{next(iter(here))}.nodes",
        f"nothing gives {which} {QUANTITIES[table]}: no value was found that balances what flows "
        f"through {names}; there is none, or any does, as behind a valve that is shut.",
        REMEDIES[table].format(nodes[0]),
    )
