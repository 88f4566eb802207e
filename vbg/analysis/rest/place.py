"""An operating point in the engineer's words: coordinates, states and inputs that are not zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import available_inputs
from vbg.analysis.rest.resting import stuck
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, dependencies
from vbg.graph.bondgraph import Vertex
from vbg.graph.placeholders import OUTPUT, SIGNAL
from vbg.physics.stiction import most_held
from vbg.plumbing.components import component_names

Array = NDArray[np.float64]

NOUGHT = 1e-12  # of the unit of what is shown; contents of volumes and fluxes are not shown by it
SEEN = (".angle", ".angle2", ".slide", ".speed", ".speed2", ".slide_speed")
NODES = ("electric.", "hydraulic.")  # of whose levels those of the parts are differences


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Held:
    """A dry friction that sticks: it holds `load` of at most `most` (N or N*m)."""

    name: str
    load: float
    most: float


def coordinates(system: System, t: float, x: Array) -> tuple[Value, ...]:
    """Joint coordinates and speeds, positions of nodes, states of controllers, currents,
    voltages and pressures that are not zero; of bodies without such coordinates the places."""
    signals = _signals(system, t, x)
    shown: dict[str, Value] = {}
    for s in system.slices:
        if s.state.kind in ("displacement", "signal"):
            for name, value in _components(s.state.name, x[s.first : s.last]):
                shown[name] = Value(name, value, s.state.unit)
    for name, value in signals.items():
        level = name.startswith(NODES) and name.endswith((".voltage", ".pressure"))
        if (level or name.endswith((*SEEN, ".current"))) and name not in shown:
            shown[name] = Value(name, value, system.equations.units[name])
    if not shown:
        for name in system.causal.graph.bodies:
            for what, unit in (("position", "m"), ("velocity", "m/s"), ("angular_velocity", "")):
                shown |= _of_body(f"{name}.{what}", unit or "rad/s", signals)
    return tuple(one for one in shown.values() if abs(one.value) > NOUGHT)


def _of_body(name: str, unit: str, signals: Mapping[str, float]) -> dict[str, Value]:
    names = component_names(name, 3)
    return {one: Value(one, signals[one], unit) for one in names if one in signals}


def _components(name: str, values: Array) -> list[tuple[str, float]]:
    return [*zip(component_names(name, len(values)), map(float, values))]


def _signals(system: System, t: float, x: Array) -> dict[str, float]:
    """All outputs at a point, vectors by component."""
    found: dict[str, float] = {}
    for name, value in assemble_start(system).outputs(t, x).items():
        found |= dict(_components(name, np.ravel(value)))
    return found


def inputs(system: System, t: float, x: Array) -> tuple[Value, ...]:
    """What the sources impose, components that are not zero."""
    signals = _signals(system, t, x)
    graph = system.causal.graph
    found = []
    for one in available_inputs(system):
        vertex = graph.vertices[one.vertex]
        value = None if vertex.law is None else _value(vertex.law, graph.time, t, signals)
        if value is not None and abs(value[one.component]) > NOUGHT:
            found.append(Value(one.name, float(value[one.component]), _unit(vertex)))
    return tuple(found)


def _value(law: Block, time: Block, t: float, signals: Mapping[str, float]) -> Array | None:
    """Value of a source's law of time and signals; None where it reads anything else."""
    given: dict[str, tuple[Block, float]] = {}
    for block in dependencies([law]):
        if block.op != "leaf":
            continue
        name = str(block.data).removeprefix(SIGNAL).removeprefix(OUTPUT)
        if block != time and name not in signals:
            return None
        given[str(block.data)] = (block, t if block == time else signals[name])
    program = lower({"value": law}, {name: block for name, (block, _) in given.items()})
    work = program.workspace.copy()
    work[: len(given)] = [value for _, value in given.values()]
    evaluate(program, work)
    at, rows, _ = program.outputs["value"]
    return np.array(work[at : at + rows])


def _unit(vertex: Vertex) -> str:
    """Unit of what a source imposes, where its domain tells."""
    units = {
        ("electric", "Se"): "V",
        ("electric", "Sf"): "A",
        ("hydraulic", "Se"): "Pa",
        ("hydraulic", "Sf"): "m^3/s",
        ("rotation", "Se"): "N*m",
        ("rotation", "Sf"): "rad/s",
        ("translation", "Se"): "N",
        ("translation", "Sf"): "m/s",
    }
    return units.get((vertex.domain, vertex.kind), "")


def held(system: System, t: float, x: Array) -> tuple[Held, ...]:
    """The dry frictions that stick, with what each holds.

    The condition of one direction is -most - 1 while the other slips, see `vbg.physics.stiction`.
    """
    names = stuck(system, x)
    if not names:
        return ()
    start = assemble_start(system)
    efforts = start.constraint_efforts(t, x)
    loads = dict(zip(system.constraint_names, efforts, strict=True))
    places = {s.state.name: s.first for s in system.slices}
    evaluate_switches = start.evaluator("switch")
    found = []
    for name in names:
        load = float(loads[f"{name}.grip.friction"])
        would, other = ("forward", "backward") if load < 0.0 else ("backward", "forward")
        slipping = x.copy()
        slipping[places[f"{name}.{other}"]] = 1.0
        evaluate_switches(t, slipping)
        most = most_held(evaluate_switches.output(f"{name}.{would}"))
        found.append(Held(name, abs(load), float(most[0])))
    return tuple(found)
