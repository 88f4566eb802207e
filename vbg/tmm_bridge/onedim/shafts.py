"""Shafts: which nodes and joint coordinates move as one, and what moves them.

Gears, belts and screws without loss only tie motions together by constant ratios; so do
their efforts.  A tied set is one shaft with the sum of the inertias, each times its ratio
squared.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from vbg.errors import UsageError
from vbg.model import Model
from vbg.plumbing.words import with_article
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.laws.friction import Dry, DryFriction, Rubbing, Side, Way, motion_of
from vbg.tmm_bridge.onedim.laws.mechanical import (
    DRIVEN,
    FREE,
    JOINT,
    MASSLESS,
    Effort,
    Mass,
    Prescribed,
    Shaft,
    SpringDamper,
)
from vbg.tmm_bridge.onedim.laws.signals import within
from vbg.tmm_bridge.onedim.laws.working import Changing, Port, Term, Value
from vbg.tmm_bridge.onedim.network import Row
from vbg.tmm_bridge.onedim.offsets import add_sources, sets_apart, starts
from vbg.tmm_bridge.onedim.sources import Sources
from vbg.tmm_bridge.onedim.trains import (
    FRAME,
    Tied,
    Train,
    mechanical_parts,
    node_path,
    path_to,
    paths_of,
    tied_sets,
)
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key


def _inertia(model: Model, part: Any) -> tuple[str, float, float | None, float]:
    """(path, inertia, speed and position at the start) that a part brings to a shaft; no speed
    where none is written."""
    path = next(paths_of(model, part))
    if part.kind == "dc_motor":
        return path, part.J, None, 0.0
    mass, position = ("J", "angle") if part.kind == "inertia" else ("m", "position")
    return path, getattr(part, mass), part.speed, getattr(part, position)


def add_shafts(draft: Draft, sources: Sources) -> list[Train]:
    """Shafts with their ports by path, and speed sources; what gears tie together."""
    inertias = [
        _inertia(draft.model, part)
        for _, part in mechanical_parts(draft.model)
        if part.kind in ("inertia", "mass", "dc_motor")
    ]
    placed = {path: position for path, _, _, position in inertias if position}
    for signal, value in draft.begins.items():
        path, _, what = signal.rpartition(".")
        if what in ("angle", "position"):
            placed[path] = value
    drives = _speed_sources(draft)
    sets, offsets = sets_apart(draft, sources, tied_sets(draft.model), drives)
    inertias = starts(inertias, sets, offsets)
    hinged = _moving_with_joints(draft, sets, drives)
    trains = []
    for tied in sets:
        first_row = len(draft.rows)
        index = _lay_shaft(draft, sources, tied, inertias, drives, hinged=id(tied) in hinged)
        joints = [path for path in tied.ratio if path.startswith("joints.")]
        whole = tied.ratio[joints[0]] if joints else 1.0
        train = Train(index, {path: ratio / whole for path, ratio in tied.ratio.items()})
        train.rows |= {path: first_row + n for n, path in enumerate(joints[1:])}
        train.moved_at = next((path for path in (*joints, *drives) if path in tied.ratio), "")
        trains.append(train)
        for path, ratio in train.ratio.items():
            turns = not path.startswith("translational.")
            if path.startswith("joints."):
                name, key = coordinate_joint(path), coordinate_key(draft.model, path)
                draft.ports[path] = draft.joint_port(name, key)
                continue
            train.shares[path] = draft.share()
            term = Term(index, ratio, relative=True, path=train.shares[path])
            terms = (term, offsets[path].term(path)) if path in offsets else (term,)
            draft.ports[path] = Port(terms, placed.get(path, 0.0), turns)
    shafts = {path: (train.shaft, ratio) for train in trains for path, ratio in train.ratio.items()}
    add_sources(draft, shafts, inertias, offsets)
    for path, mass, _, _ in inertias:
        train = next(train for train in trains if path in train.ratio)
        train.inertia[path] = train.inertia.get(path, 0.0) + mass
    for path, offset in offsets.items():
        train = next(train for train in trains if path in train.ratio)
        train.ahead[path] = offset.ahead(path), offset.drive
        train.sources.append((offset.base, offset.moved))
    for _, part in mechanical_parts(draft.model):
        for given in (getattr(part, key, None) for key in ("on", "shaft", "slide")):
            if isinstance(given, str):  # a coordinate by the name that the part has for it
                draft.ports.setdefault(given, draft.ports[path_to(draft.model, given)])
    for path, port in list(draft.ports.items()):
        if not path.startswith("joints."):
            what, unit = ("angle", "rad") if port.turns else ("position", "m")
            draft.tell((f"{path}.{what}", unit, port.value))
            draft.tell((f"{path}.speed", f"{unit}/s", port.speed))
    return trains


def _moving_with_joints(draft: Draft, sets: list[Tied], drives: Collection[str]) -> set[int]:
    """Sets without a joint whose shafts move with the mechanism, by identity: those that a
    friction or clutch may hold together with a joint, and those on which frictions share what
    they hold in no one way, for rows of the mechanism may be redundant."""
    links = []
    for _, part in mechanical_parts(draft.model):
        if part.kind in ("friction", "clutch"):
            paths = set(paths_of(draft.model, part))
            links.append([id(tied) for tied in sets if paths & set(tied.ratio)])
    joints = {id(t) for t in sets if any(path.startswith("joints.") for path in t.ratio)}
    driven = {id(t) for t in sets if set(t.ratio) & set(drives)}
    held = joints | _in_circles(links, driven)
    for _ in links:
        for ends in links:
            if set(ends) & held:
                held |= set(ends) - driven
    return held - joints


def _in_circles(links: list[list[int]], driven: Collection[int]) -> set[int]:
    """Ends of links that close a circle of links with what is fixed or driven."""
    owner: dict[int, int] = {}
    found: set[int] = set()

    def root(end: int) -> int:
        while owner.get(end, end) != end:
            end = owner[end]
        return end

    for ends in links:
        first, second = (root(-1 if end in driven else end) for end in (*ends, -1)[:2])
        if first == second:
            found |= set(ends) - set(driven)
        owner[first] = second
    return found


def _speed_sources(draft: Draft) -> dict[str, tuple[str, Any, float]]:
    """Path: (name, part, sign) of the speed sources against the frame."""
    found = {}
    for table in (draft.model.rotational, draft.model.translational):
        for name, part in table.items():
            if part.kind != "speed":
                continue
            paths = list(paths_of(draft.model, part))
            if len(paths) != 1:
                continue  # between two shafts
            if paths[0].startswith("joints."):
                raise no_twin(part, name, "a speed source on a joint")
            backward = part.nodes is not None and part.nodes[-1] == FRAME
            found[paths[0]] = (name, part, -1.0 if backward else 1.0)
    return found


def _lay_shaft(
    draft: Draft,
    sources: Sources,
    tied: Tied,
    inertias: list[tuple[str, float, float | None, float]],
    drives: dict[str, tuple[str, Any, float]],
    *,
    hinged: bool,
) -> int:
    """The shaft of a tied set."""
    joints = [path for path in tied.ratio if path.startswith("joints.")]
    driven = [path for path in tied.ratio if path in drives]
    if (joints and driven) or len(driven) > 1 or (driven and hinged):
        raise UsageError(
            f"{', '.join(joints + driven)}: gears between driven shafts or joints have no twin in"
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
        for other in joints[1:]:
            name, key = coordinate_joint(other), coordinate_key(draft.model, other)
            second = draft.shafts[draft.joint(name, key)].place
            row = Row(draft.shafts[index].place, second, tied.ratio[other] / whole, idle=False)
            draft.rows.append(row)
        return index
    index = len(draft.shafts)
    if hinged and mass > 0.0:
        turns = not next(iter(tied.ratio)).startswith("translational.")
        return draft.hinge(mass, _common_speed(own), turns=turns)
    if driven:
        name, part, sign = drives[driven[0]]
        function = sources.time_function(part, name, part.speed)
        factor = sign * tied.ratio[driven[0]]
        shaft = Shaft(DRIVEN, mass, state=draft.state(0.0), drive=function, factor=factor)
        draft.shafts.append(shaft)
        turns, place = part.table != "translational", draft.place()
        draft.late.append(Prescribed(name, index, mass, factor, function, turns, place))
        for output in draft.late[-1].outputs():
            draft.tell(output)
    elif mass > 0.0:
        speed, at = _common_speed(own), draft.state(0.0)
        draft.store(speed if any(s is not None for _, _, s in own) else None, speed)
        draft.shafts.append(Shaft(FREE, mass, state=at, start_speed=speed))
    else:
        draft.shafts.append(Shaft(MASSLESS, state=draft.state(0.0), unknown=draft.unknown(1.0)))
    return index


def _common_speed(own: Sequence[tuple[float, float, float | None]]) -> float:
    """The speed of a shaft that (ratio, inertia, written speed) of its parts ask for."""
    told = sum(m * c * c for c, m, s in own if s is not None)
    return sum(m * c * s for c, m, s in own if s is not None) / told if told else 0.0


def reach(draft: Draft, name: str, part: Any) -> Port:
    """The port of a part: on a coordinate, between nodes, or between two points."""
    between = getattr(part, "between", None)
    if between is not None:
        return draft.line(between)
    if getattr(part, "on", None) is not None:
        return draft.ports[path_to(draft.model, part.on)]
    paths = [node_path(draft.model, part.table, n) for n in part.nodes if n != FRAME]
    ports = [draft.ports[path] for path in paths]
    if len(ports) == 2:
        return ports[1].between(ports[0])
    if part.nodes[-1] == FRAME:
        return Port((), 0.0, ports[0].turns).between(ports[0])
    return ports[0]


def _add_friction(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    """Dry friction or a clutch, between shafts and the frame."""
    port = reach(draft, name, part)
    if part.kind == "clutch":
        given, capacity = sources.value(part, name, part.engaged), part.capacity
        grip = _engaged(given, capacity)
        law = Dry(Way(grip, grip, 0.0), Way(grip, grip, 0.0), 1.0, ())
        bends = f"{part.table}.{name}", 2, lambda w: (given(w) - 0.0, given(w) - 1.0)
        if isinstance(part.engaged, str):
            draft.changes.append(bends)
    else:
        law = _rubbing(part)
    size = part.capacity if part.kind == "clutch" else part.coulomb
    friction = _held(draft, part, name, port, law, size)
    draft.changes += _changes(f"{part.table}.{name}", friction)
    if isinstance(friction, Rubbing):
        draft.add(friction)
        return
    draft.frictions.append(friction)
    for output in friction.outputs():
        if friction.row < 0:
            draft.tell(output)
        else:
            draft.outputs.append(output)  # known only when the mechanism was solved


def _drive(draft: Draft, shaft: int) -> float | str | None:
    """What drives the joint whose coordinate a shaft is."""
    owners = {index: name for (name, _), index in draft.joints.items()}
    joint = draft.model.joints.get(owners.get(shaft, ""))
    return getattr(joint, "drive", None)


def _is_given(draft: Draft, shaft: int) -> bool:
    """Whether the motion of a shaft is given."""
    return draft.shafts[shaft].kind == DRIVEN or _drive(draft, shaft) is not None


def _given_speed(draft: Draft, term: Term) -> Value:
    """What the given motion of its shaft makes in the speed of a port."""
    drive = _drive(draft, term.shaft)
    if drive is None:
        return lambda w: term.c * w.speeds[term.shaft]
    function = function_of(draft.model, drive)
    draft.functions.append(function)
    return lambda w: term.c * w.timed(function, 1)


def _held(
    draft: Draft, part: Any, name: str, port: Port, law: Dry, size: float
) -> DryFriction | Rubbing:
    """A friction on a port, whose shafts it can hold."""
    terms = _relative(part, name, port)
    if all(_is_given(draft, term.shaft) for term in terms):
        given = tuple(_given_speed(draft, term) for term in terms)
        return Rubbing(name, port, given, law, draft.place(), port.turns)
    kinds = {draft.shafts[term.shaft].kind for term in terms}
    places = draft.place(), (draft.place(), draft.place())
    if kinds == {JOINT}:
        last = terms[-1]
        first = terms[0] if len(terms) > 1 else Term(last.shaft, 0.0, relative=False)
        one, other = (draft.shafts[term.shaft].place for term in (first, last))
        row = draft.first_row + len(draft.rows)
        draft.rows.append(Row(one, other, -first.c / last.c, idle=True))
        index, mode = len(draft.frictions), draft.state(0.0, 0.0, 0.0)
        turns = port.turns
        return DryFriction(name, port, (), law, mode, -1, *places, turns, row, last.c, index)
    if JOINT in kinds and MASSLESS not in kinds:
        raise no_twin(part, name, "a friction that shares with a shaft of given speed")
    sides = []
    for term in terms:
        shaft = draft.shafts[term.shaft]
        if shaft.kind == FREE:
            sides.append(Side(term.shaft, term.c, shaft.state + 1, shaft.mass))
        elif shaft.kind == MASSLESS:
            sides.append(Side(term.shaft, term.c, -1, 0.0))
        else:  # its motion is there before that of what has no inertia
            sides.append(Side(term.shaft, term.c, -1, math.inf))
    # Several on one motion hold it by one of them: the others begin, and stay, at their limits.
    others = {motion_of(f.sides): f for f in draft.frictions if f.row < 0}
    same = others.get(motion_of(sides)) if MASSLESS in kinds else None
    if same is not None and (law.falls or same.law.falls):
        raise no_twin(part, name, "one of several frictions on a motion that fall with its speed")
    if same is None and not _determined([*(f.sides for f in others.values()), sides]):
        raise no_twin(part, name, "a friction that may hold its shaft together with another one")
    begins = 0.0 if same is None else 1.0
    index, mode, unknown = len(draft.frictions), draft.state(begins), draft.unknown(size)
    turns = port.turns
    return DryFriction(name, port, tuple(sides), law, mode, unknown, *places, turns, index=index)


def _relative(part: Any, name: str, port: Port) -> list[Term]:
    """What the speed of a port is made of, one term for each shaft: its two ends may be on one,
    which gears turn at different speeds."""
    whole: dict[int, Term] = {}
    for term in port.terms:
        c = term.c + (whole[term.shaft].c if term.shaft in whole else 0.0)
        whole[term.shaft] = replace(term, c=c)
    moving = [term for term in whole.values() if term.c != 0.0]
    if not moving:
        raise no_twin(part, name, "a friction between ends that gears make turn alike")
    return moving


def _constant(number: float) -> Value:
    return lambda w: number


def _rubbing(given: Any) -> Dry:
    """What is written for ahead, and for back where that differs: what holds at rest is one number
    for both unless back has its own."""
    dry, held, loss = given.coulomb, given.static or given.coulomb, given.viscous
    falls = (1.0,) if held > dry else ()
    ahead = Way(_constant(dry), _constant(held), loss)
    if given.coulomb_back is not None:
        dry = given.coulomb_back
    held = given.static or dry
    if given.static_back is not None:
        held = given.static_back
    if given.viscous_back is not None:
        loss = given.viscous_back
    if held > dry:
        falls = (*falls, -1.0)
    return Dry(ahead, Way(_constant(dry), _constant(held), loss), given.stribeck, falls)


def _changes(path: str, friction: DryFriction | Rubbing) -> list[Changing]:
    """Where its mode ends, and without a name where its law bends."""
    law, port = friction.law, friction.port
    bends = "", len(law.falls), lambda w: law.bends(port.speed(w))
    return [(path, 1, friction.changes), bends]


def add_joint_frictions(draft: Draft) -> None:
    """Dry friction in the model's joints."""
    for name, joint in draft.model.joints.items():
        given = getattr(joint, "friction", None)
        if given is None or given.coulomb <= 0.0:
            continue
        port = draft.joint_port(name, coordinate_key(draft.model, f"joints.{name}"))
        friction = _held(draft, joint, name, port, _rubbing(given), given.coulomb)
        draft.changes += _changes(f"joints.{name}", friction)
        unit = "N*m" if port.turns else "N"
        draft.outputs.append((f"{name}.friction", unit, friction.told))
        if isinstance(friction, Rubbing):
            draft.parts.append(friction)
        else:
            draft.frictions.append(friction)


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
        ends = [side.shaft for side in sides if not side.is_given]
        first, second = (root(end) for end in (*ends, -1, -1)[:2])
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
                    value = sources.source(part, name, given)
                    draft.add(Effort(name, reach(draft, name, part), value, turns), late=True)
                case "friction" | "clutch":
                    _add_friction(draft, sources, name, part)
                case "gear" | "belt" | "ball_screw" | "speed":
                    pass
                case _:
                    raise no_twin(part, name, with_article(part.kind))
