"""Shafts: which nodes and joint coordinates move as one, and what moves them.

Gears, belts and screws without loss only tie motions together by constant ratios; so do
their efforts.  A tied set is one shaft with the sum of the inertias, each times its ratio
squared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.friction import DryFriction, Side
from vbg.tmm_bridge.onedim.mechanical import (
    DRIVEN,
    FREE,
    MASSLESS,
    PAIR,
    Effort,
    Mass,
    Prescribed,
    Shaft,
    SpringDamper,
)
from vbg.tmm_bridge.onedim.network import Pair
from vbg.tmm_bridge.onedim.signals import within
from vbg.tmm_bridge.onedim.sources import Sources
from vbg.tmm_bridge.onedim.working import Port, Term, Value
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key

FRAME = "frame"
TIES = ("gear", "belt", "ball_screw")


@dataclass
class Tied:
    """A set of paths; `ratio` is the speed of each over the set's."""

    ratio: dict[str, float]


def paths_of(part: Any) -> Iterator[str]:
    """Nodes and coordinates that a part acts on."""
    if part.table in ("rotational", "translational") and part.kind != "ball_screw":
        for node in part.nodes or ():
            if node != FRAME:
                yield f"{part.table}.{node}"
    for key in ("on", "shaft", "slide"):
        path = getattr(part, key, None)
        if isinstance(path, str):
            yield path


def tie_of(part: Any) -> tuple[str, str, float]:
    """(first, second, speed of the second over the first's) of a gear, belt or screw."""
    if part.kind == "ball_screw":
        return part.shaft, part.slide, part.lead
    first, second = (f"rotational.{node}" for node in part.nodes)
    return first, second, part.ratio if part.kind == "gear" else part.radius1 / part.radius2


def mechanical_parts(draft: Draft) -> Iterator[tuple[str, Any]]:
    """All parts of the four tables."""
    m = draft.model
    for table in (m.rotational, m.translational, m.electric, m.hydraulic):
        yield from table.items()


def tied_sets(draft: Draft) -> list[Tied]:
    """Sets of paths that move as one."""
    owner: dict[str, Tied] = {}
    for _, part in mechanical_parts(draft):
        for path in paths_of(part):
            owner.setdefault(path, Tied({path: 1.0}))
    for name, part in mechanical_parts(draft):
        if part.kind not in TIES or part.table not in ("rotational", "translational"):
            continue
        first, second, ratio = tie_of(part)
        a, b = owner[first], owner[second]
        if a is b:
            raise no_twin(part, name, "a closed chain of gears")
        factor = ratio * a.ratio[first] / b.ratio[second]
        for path, c in b.ratio.items():
            a.ratio[path] = factor * c
            owner[path] = a
    return list({id(tied): tied for tied in owner.values()}.values())


def _inertia(part: Any) -> tuple[str, float, float | None, float]:
    """(path, inertia, speed and position at the start) that a part brings to a shaft; no speed
    where none is written."""
    if part.kind == "dc_motor":
        return part.on, part.J, None, 0.0
    mass, position = ("J", "angle") if part.kind == "inertia" else ("m", "position")
    path = part.on or f"{part.table}.{part.nodes[0]}"
    return path, getattr(part, mass), part.speed, getattr(part, position)


def add_shafts(draft: Draft, sources: Sources) -> None:
    """Shafts with their ports by path, and speed sources."""
    inertias = [
        _inertia(part)
        for _, part in mechanical_parts(draft)
        if part.kind in ("inertia", "mass", "dc_motor")
    ]
    placed = {path: position for path, _, _, position in inertias if position}
    drives = _speed_sources(draft)
    for tied in tied_sets(draft):
        index = _lay_shaft(draft, sources, tied, inertias, drives)
        shaft_joint = next((path for path in tied.ratio if path.startswith("joints.")), "")
        whole = tied.ratio.get(shaft_joint, 1.0)
        for path, ratio in tied.ratio.items():
            turns = not path.startswith("translational.")
            if path == shaft_joint:
                name, key = coordinate_joint(path), coordinate_key(draft.model, path)
                draft.ports[path] = draft.joint_port(name, key)
                continue
            term = Term(index, ratio / whole, relative=True)
            draft.ports[path] = Port((term,), placed.get(path, 0.0), turns)
    for path, port in draft.ports.items():
        if not path.startswith("joints."):
            what, unit = ("angle", "rad") if port.turns else ("position", "m")
            draft.tell((f"{path}.{what}", unit, port.value))
            draft.tell((f"{path}.speed", f"{unit}/s", port.speed))


def _speed_sources(draft: Draft) -> dict[str, tuple[str, Any, float]]:
    """Path: (name, part, sign) of the speed sources against the frame."""
    found = {}
    for table in (draft.model.rotational, draft.model.translational):
        for name, part in table.items():
            if part.kind != "speed":
                continue
            paths = list(paths_of(part))
            if len(paths) != 1 or paths[0].startswith("joints."):
                raise no_twin(part, name, "a speed source that is not between node and frame")
            backward = part.nodes is not None and part.nodes[-1] == FRAME
            found[paths[0]] = (name, part, -1.0 if backward else 1.0)
    return found


def _lay_shaft(
    draft: Draft,
    sources: Sources,
    tied: Tied,
    inertias: list[tuple[str, float, float | None, float]],
    drives: dict[str, tuple[str, Any, float]],
) -> int:
    """The shaft of a tied set."""
    joints = [path for path in tied.ratio if path.startswith("joints.")]
    driven = [path for path in tied.ratio if path in drives]
    if len(joints) > 1 or (joints and driven) or len(driven) > 1:
        raise UsageError(
            f"{', '.join(joints + driven)}: gears between joints or driven shafts have no twin in"
            " the transfer-matrix solver."
        )
    whole = tied.ratio[joints[0]] if joints else 1.0
    own = [(tied.ratio[path] / whole, m, s) for path, m, s, _ in inertias if path in tied.ratio]
    mass = sum(m * c * c for c, m, _ in own)
    if joints:
        path = joints[0]
        index = draft.joint(coordinate_joint(path), coordinate_key(draft.model, path))
        known = tuple((c, m, s) for c, m, s in own if s is not None)
        draft.shafts[index] = replace(draft.shafts[index], mass=mass, written=known)
        return index
    index = len(draft.shafts)
    if driven:
        name, part, sign = drives[driven[0]]
        function = sources.time_function(part, name, part.speed)
        factor = sign * tied.ratio[driven[0]]
        shaft = Shaft(DRIVEN, mass, state=draft.state(0.0), drive=function, factor=factor)
        draft.shafts.append(shaft)
        draft.late.append(
            Prescribed(name, index, mass, factor, function, part.table != "translational")
        )
        for output in draft.late[-1].outputs():
            draft.tell(output)
    elif mass > 0.0:
        told = sum(m * c * c for c, m, s in own if s is not None)
        speed = sum(m * c * s for c, m, s in own if s is not None) / told if told else 0.0
        draft.shafts.append(Shaft(FREE, mass, state=draft.state(0.0, speed), start_speed=speed))
    else:
        draft.shafts.append(Shaft(MASSLESS, state=draft.state(0.0), unknown=draft.unknown(1.0)))
    return index


def reach(draft: Draft, name: str, part: Any) -> Port:
    """The port of a part: on a coordinate, between nodes, or between two points."""
    between = getattr(part, "between", None)
    if between is not None:
        return _line(draft, between)
    if getattr(part, "on", None) is not None:
        return draft.ports[part.on]
    ports = [draft.ports[f"{part.table}.{node}"] for node in part.nodes if node != FRAME]
    if len(ports) == 2:
        return ports[1].between(ports[0])
    if part.nodes[-1] == FRAME:
        return Port((), 0.0, ports[0].turns).between(ports[0])
    return ports[0]


def _line(draft: Draft, between: tuple[Attachment, Attachment]) -> Port:
    """The distance of two points."""
    places, points = [], []
    for end in between:
        place = draft.bodies[end.body]
        p = place.p_NB + place.R_NB @ np.array(end.at)
        places.append(place.node)
        points.append((float(p[0]), float(p[1]), float(p[2])))
    draft.pairs.append(Pair((places[0], places[1]), points[0], points[1]))
    draft.shafts.append(Shaft(PAIR, place=len(draft.pairs) - 1))
    return Port((Term(len(draft.shafts) - 1, 1.0, relative=False),))


def _add_friction(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    """Dry friction or a clutch, between shafts and the frame."""
    port = reach(draft, name, part)
    sides = []
    for term in port.terms:
        shaft = draft.shafts[term.shaft]
        if shaft.kind == FREE:
            sides.append(Side(term.shaft, term.c, shaft.state + 1, shaft.mass))
        elif shaft.kind == DRIVEN:
            sides.append(Side(term.shaft, term.c, -1, math.inf))
        else:
            raise no_twin(part, name, "a friction on a joint or on a shaft without inertia")
    if not _determined([*(f.sides for f in draft.frictions), sides]):
        raise no_twin(part, name, "a friction that may hold its shaft together with another one")
    if part.kind == "clutch":
        given, capacity = sources.value(part, name, part.engaged), part.capacity
        coulomb = static = _engaged(given, capacity)
        stribeck, viscous = 1.0, 0.0
        bends = f"{part.table}.{name}", 2, lambda w: (given(w) - 0.0, given(w) - 1.0)
        if isinstance(part.engaged, str):
            draft.changes.append(bends)
    else:
        coulomb = sources.value(part, name, part.coulomb)
        static = sources.value(part, name, part.static or part.coulomb)
        stribeck, viscous = part.stribeck, part.viscous
    friction = DryFriction(
        name,
        port,
        tuple(sides),
        coulomb,
        static,
        stribeck,
        viscous,
        draft.state(0.0),
        draft.unknown(part.capacity if part.kind == "clutch" else part.coulomb),
        draft.place(),
        draft.place(),
        part.table == "rotational",
    )
    draft.frictions.append(friction)
    draft.changes.append((f"{part.table}.{name}", 1, friction.changes))
    for output in friction.outputs():
        draft.tell(output)


def _engaged(given: Value, capacity: float) -> Value:
    """capacity times a signal within 0 ... 1."""
    return lambda w: capacity * within(given(w), 0.0, 1.0)


def _determined(frictions: Sequence[Sequence[Side]]) -> bool:
    """Whether what each friction holds follows from the loads when all stick: no closed chain
    of them between shafts and what is fixed or driven (shaft -1 here)."""
    owner: dict[int, int] = {}

    def root(shaft: int) -> int:
        while owner.get(shaft, shaft) != shaft:
            shaft = owner[shaft]
        return shaft

    for sides in frictions:
        ends = [side.shaft if side.state >= 0 else -1 for side in sides]
        first, second = (root(end) for end in (*ends, -1)[:2])
        if first == second:
            return False
        owner[first] = second
    return True


def add_mechanical(draft: Draft, sources: Sources) -> None:
    """Springs, dampers, masses and given efforts of both tables."""
    for table in (draft.model.rotational, draft.model.translational):
        for name, part in table.items():
            turns = part.table == "rotational"
            match part.kind:
                case "spring" | "damper":
                    k, c = getattr(part, "k", 0.0), getattr(part, "c", 0.0)
                    rest = getattr(part, "length", 0.0)
                    port = reach(draft, name, part)
                    draft.add(SpringDamper(name, port, k, rest, c, draft.place()))
                case "inertia" | "mass":
                    draft.add(Mass(name, reach(draft, name, part), turns))
                case "torque" | "force":
                    given = part.torque if turns else part.force
                    value = sources.value(part, name, given)
                    draft.add(Effort(name, reach(draft, name, part), value, turns), late=True)
                case "friction" | "clutch":
                    _add_friction(draft, sources, name, part)
                case "gear" | "belt" | "ball_screw" | "speed":
                    pass
                case _:
                    raise no_twin(part, name, f"a {part.kind}")
