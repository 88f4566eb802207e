"""Hydraulic parts of the model as parts of a network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from vbg.plumbing.words import with_article
from vbg.tmm_bridge.formulas.tape import Number, Slot
from vbg.tmm_bridge.onedim.circuits import add_source
from vbg.tmm_bridge.onedim.draft import REFERENCE, SCALES, Draft, no_twin
from vbg.tmm_bridge.onedim.laws.electric import Conductor, FlowSource
from vbg.tmm_bridge.onedim.laws.hydraulic import (
    Bladder,
    Chamber,
    Cylinder,
    Displacer,
    Pipe,
    Stops,
    Store,
    beyond,
    darcy,
    edge,
    laminar,
    opening_valve,
    orifice,
)
from vbg.tmm_bridge.onedim.laws.oil import Oil
from vbg.tmm_bridge.onedim.laws.signals import places_of, within
from vbg.tmm_bridge.onedim.laws.working import Value, Working
from vbg.tmm_bridge.onedim.shafts import reach
from vbg.tmm_bridge.onedim.sources import Sources

TANK = REFERENCE["hydraulic"]


def add_hydraulic(draft: Draft, sources: Sources) -> None:
    """All parts of [hydraulic]; rails first, stores ask for them."""
    parts = draft.model.hydraulic
    for name, part in parts.items():
        if part.kind == "pressure_source":
            add_source(draft, sources, name, part, part.pressure)
        elif part.kind == "tank":
            _add_tank(draft, sources, name, part)
    for name, part in parts.items():
        match part.kind:
            case "pressure_source" | "tank":
                pass
            case "volume" | "accumulator":
                _add_store(draft, name, part)
            case "cylinder":
                _add_cylinder(draft, name, part)
            case "pump" | "motor":
                _add_displacer(draft, sources, name, part)
            case "proportional_valve":
                _add_valve(draft, sources, name, part)
            case "pipe":
                _add_pipe(draft, name, part)
            case "flow_source":
                ends = draft.ends("hydraulic", name, part.nodes)
                value = sources.source(part, name, part.flow)
                draft.add(FlowSource(ends, value), late=True)
            case _:
                _add_conductor(draft, name, part)


def _add_tank(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    """A rail at a constant pressure that tells only its flow."""
    ends = draft.ends("hydraulic", name, (part.nodes[0], TANK))
    level = draft.levels["hydraulic", part.nodes[0]]
    if level.rail is not None:
        raise no_twin(part, name, "a second source of pressure at one node")
    from vbg.tmm_bridge.onedim.laws.electric import Rail

    value = sources.value(part, name, part.pressure)
    level.rail = Rail(ends, level.index, 1.0, value, sources.slope(part.pressure))
    draft.parts.append(level.rail)
    draft.tell((f"{name}.flow", "m^3/s", lambda w: w.through[ends.place]))


def _at_start(draft: Draft, node: str, given: float | None, otherwise: float) -> float:
    """The pressure of a store at the start: its own, or else that of the others on its node."""
    if given is not None:
        return given
    return next(_written(draft, node), otherwise)


def _written(draft: Draft, node: str) -> Iterator[float]:
    """Pressures that the stores on a node have written for them."""
    for part in draft.model.hydraulic.values():
        match part.kind:
            case "volume" | "accumulator":
                found = {part.nodes[0]: part.pressure}
            case "cylinder":
                found = dict(zip(part.nodes, (part.pressure_a, part.pressure_b), strict=True))
            case _:
                continue
        if found.get(node) is not None:
            yield float(found[node])


def _hold(draft: Draft, part: Any, name: str, node: str, weight: float, start: float) -> None:
    """Give a node a store that is `weight` m^3/Pa large at its start.

    Stores of constant size that start at different pressures share what they hold at once.
    """
    level = draft.levels["hydraulic", node]
    if level.rail is not None:
        if level.rail.slope is None:
            raise no_twin(part, name, "a store at a node whose pressure follows the motion")
        return
    apart = level.weight > 0.0 and abs(level.start / level.weight - start) > 1e-9 * abs(start)
    level.bent |= part.kind != "volume" or part.growth != 0.0
    level.apart |= apart
    if level.apart and level.bent:
        raise no_twin(part, name, "a store that starts at another pressure than its node")
    level.written = any(True for _ in _written(draft, node))
    level.weight += weight
    level.start += weight * start


def _add_store(draft: Draft, name: str, part: Any) -> None:
    node, otherwise = part.nodes[0], 0.0
    capacity: Callable[[Any], Any]
    energy: Callable[[Any], Any]
    if part.kind == "volume":
        oil = Oil(part.bulk, part.growth, part.air)
        capacity, energy = oil.capacity(part.volume), oil.energy(part.volume)
    else:
        otherwise = float(part.precharge)
        port = 0.01 * part.volume if part.dead is None else part.dead
        oil, outside = Oil(part.bulk, 0.0, part.air), float(part.ambient)
        bladder = Bladder(part.volume, part.precharge, outside, part.n, port, oil)
        capacity, energy = bladder.capacity, bladder.energy
        at = draft.node("hydraulic", node)
        draft.changes.append((f"hydraulic.{name}", 1, lambda w: (w.levels[at] - otherwise,)))
    start = _at_start(draft, node, part.pressure, otherwise)
    weight = capacity(start)
    assert not isinstance(weight, Slot)  # a number of a number
    _hold(draft, part, name, node, weight, start)
    draft.add(Store(draft.ends("hydraulic", name, (part.nodes[0], TANK)), capacity, energy))


def _add_conductor(draft: Draft, name: str, part: Any) -> None:
    """Laminar resistances, orifices, check and relief valves."""
    ends = draft.ends("hydraulic", name, part.nodes)
    if part.kind == "laminar_resistance":
        conductance = part.conductance
        draft.add(Conductor(ends, lambda w, p: conductance * p))
        return
    if part.kind == "orifice":
        gain = part.cd * part.area * math.sqrt(2.0 / part.density)
        draft.add(Conductor(ends, orifice(gain, part.laminar)))
        return
    if part.kind == "check_valve":
        at, conductance = part.cracking, part.conductance
    elif part.kind == "relief_valve":
        at, conductance = part.setting, 1.0 / part.slope
    else:
        raise no_twin(part, name, with_article(part.kind))
    draft.add(Conductor(ends, opening_valve(at, conductance, part.leakage)))
    natural = SCALES["hydraulic"][0]
    draft.changes.append((f"hydraulic.{name}", 1, lambda w: (beyond(ends, at, natural, w),)))


def _add_cylinder(draft: Draft, name: str, part: Any) -> None:
    area_b = part.area_b or part.area_a
    sides = (
        (part.nodes[0], part.area_a, part.dead_a, part.pressure_a),
        (part.nodes[1], -area_b, part.dead_b + area_b * part.stroke, part.pressure_b),
    )
    chambers: list[Chamber | None] = []
    oil = Oil(part.bulk, 0.0, part.air)
    for node, area, dead, start in sides:
        if node == TANK:
            chambers.append(None)
            continue
        chamber = Chamber(draft.node("hydraulic", node), area, dead, part.volume, oil)
        held = _at_start(draft, node, start, 0.0)
        _hold(draft, part, name, node, (part.volume or dead) / part.bulk, held)
        chambers.append(chamber)
    stops = _end_stops(part)
    cylinder = Cylinder(
        draft.ends("hydraulic", name, part.nodes),
        reach(draft, name, part),
        part.length,
        (chambers[0], chambers[1]),
        part.leakage,
        part.friction,
        stops,
    )
    draft.add(cylinder)
    if stops is not None:
        draft.changes.append((f"hydraulic.{name}", 2 if stops.c == 0.0 else 4, cylinder.changes))


def _end_stops(part: Any) -> Stops | None:
    """As stiff as is written, else so that 1000 bar on side A go in by 1 mm; damped so that a
    spring force is reached at a speed of its depth in 1 ms."""
    k = part.area_a * 1000e5 / 1e-3 if part.k is None else part.k
    return Stops(part.stroke, k, k * 1e-3 if part.c is None else part.c) if k > 0.0 else None


def _add_displacer(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    nodes, sign = part.nodes, 1.0
    if part.kind == "pump":
        nodes, sign = (nodes[1], nodes[0]), -1.0
    port = None if part.on is None else draft.ports[part.on]
    speed: Value | None = None
    if port is None:
        speed = sources.value(part, name, part.speed)
    ends = draft.ends("hydraulic", name, nodes)
    draft.add(Displacer(ends, port, speed, part.displacement, part.leakage, sign))


def _add_valve(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    given, limited = sources.value(part, name, part.opening), part.limited

    def spool(w: Working) -> Number:
        return within(given(w), -1.0, 1.0) if limited else given(w)

    P, T, A, B = part.nodes
    law = orifice(part.qn / math.sqrt(part.pn), part.laminar)
    for words, nodes, sign in (
        ("PA", (P, A), 1.0),
        ("BT", (B, T), 1.0),
        ("PB", (P, B), -1.0),
        ("AT", (A, T), -1.0),
    ):
        ends = draft.ends("hydraulic", f"{name}.{words}", nodes)
        draft.add(Conductor(ends, edge(spool, sign, part.overlap, part.leakage, law)), late=True)
    draft.tell((f"{name}.opening", "1", spool))
    bends = (part.overlap, -part.overlap, 1.0, -1.0)
    draft.changes.append(
        (f"hydraulic.{name}", 4, lambda w: tuple(given(w) - bend for bend in bends))
    )


def _add_pipe(draft: Draft, name: str, part: Any) -> None:
    n = part.segments
    piece, area = part.length / n, math.pi * part.diameter**2 / 4.0
    loss = laminar(piece, part.diameter, part.viscosity)
    if part.roughness is not None:
        loss = darcy(piece, part.diameter, part.roughness, (part.density, part.viscosity))
    at = len(draft.start)
    flows = places_of(f"{name}.flows", n) if n > 1 else (f"{name}.flow",)
    for one in flows:
        draft.store(draft.begins.get(one))
    for one in places_of(f"{name}.pressures", n - 1):
        draft.store(draft.begins.get(one, part.pressure))
    pipe = Pipe(
        draft.ends("hydraulic", name, part.nodes),
        n,
        part.density * piece / area,
        loss,
        area * piece / part.bulk,
        at,
    )
    draft.add(pipe)
