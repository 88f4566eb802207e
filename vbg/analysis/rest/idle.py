"""Where to look at a machine when nobody says where: steady motion, rest, rest without motors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vbg.analysis.probe.probe import Probe, available_inputs
from vbg.analysis.rest.operating import OperatingPoint, classify, operating_point
from vbg.analysis.rest.resting import with_modes
from vbg.assemble import Start, assemble, assemble_start
from vbg.assemble.system import System
from vbg.blocks import dependencies, zeros
from vbg.plumbing.components import vector_of
from vbg.simulate.state_at import state_at

MECHANICAL = ("mechanical", "rotation", "translation")


@dataclass(frozen=True, slots=True)
class Place:
    """A system, a point of it, and the names of the sources that were switched off for it."""

    system: System
    point: OperatingPoint
    off: tuple[str, ...] = ()


def sensible_point(system: System) -> Place:
    """The first of these that there is: the start, where the machine moves steadily from there
    on; a rest; a steady motion next to the start; a rest without motors; the start as it stands."""
    begun = start_point(system)
    if begun.kind == "steady motion":
        return Place(system, begun)
    rest = operating_point(system, "equilibrium")
    if rest.kind != "instant":
        return Place(system, rest)
    steady = operating_point(system, "steady")
    if steady.kind != "instant":
        return Place(system, steady)
    return _idle_rest(system) or Place(system, steady)


def resting_point(system: System) -> Place | None:
    """Where the machine rests, if need be without motors, whatever its start moves."""
    place = sought_rest(system)
    return place if place.point.kind == "equilibrium" else None


def sought_rest(system: System) -> Place:
    """The same; where there is none a point of another kind, whose sentence tells why."""
    rest = operating_point(system, "equilibrium")
    place = Place(system, rest)
    return place if rest.kind == "equilibrium" else _idle_rest(system) or place


def _idle_rest(system: System) -> Place | None:
    """A rest with the forces and torques of motors switched off: a machine that a constant torque
    turns has none with it."""
    off = mechanical_sources(system)
    if not off:
        return None
    idle = without_sources(system, off)
    rest = operating_point(idle, "equilibrium")
    return Place(idle, rest, off) if rest.kind == "equilibrium" else None


def start_point(system: System, start: Start | None = None) -> OperatingPoint:
    """The start of the motion as it stands, by default the assembled one."""
    start = assemble_start(system) if start is None else start
    return classify(Probe(system), 0.0, with_modes(start, 0.0, start.state))


def mechanical_sources(system: System) -> tuple[str, ...]:
    """Names of the force, torque and speed sources that follow nothing but time: neither
    weights, nor drives of joints, nor what a controller commands."""
    graph = system.causal.graph
    names = []
    for one in available_inputs(system):
        vertex = graph.vertices[one.vertex]
        if vertex.domain not in MECHANICAL or vertex.kind != "Se" or vertex.law is None:
            continue
        leaves = [b for b in dependencies([vertex.law]) if b.op == "leaf"]
        name = vector_of(one.name)
        if all(b is graph.time for b in leaves) and name not in names:
            names.append(name)
    return tuple(names)


def without_sources(system: System, names: tuple[str, ...]) -> System:
    """The same machine with the effort of the sources `names` at zero."""
    graph = system.causal.graph
    vertices = dict(graph.vertices)
    for one in available_inputs(system):
        if vector_of(one.name) in names:
            vertex = vertices[one.vertex]
            vertices[one.vertex] = replace(vertex, law=zeros(vertex.size))
    return assemble(replace(system.causal, graph=replace(graph, vertices=vertices)))


def instant(system: System, t: float, start: Start | None = None) -> OperatingPoint:
    """The instant t [s] of the motion from the start, by default the assembled one.

    Raises UsageError where the run ends before.
    """
    if t == 0.0:
        return start_point(system, start)
    start = assemble_start(system) if start is None else start
    return classify(Probe(system), t, state_at(start, t))
