"""Electric parts of the model as parts of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vbg.plumbing.groups import joined
from vbg.plumbing.words import with_article
from vbg.tmm_bridge.formulas.tape import Number, choose, most
from vbg.tmm_bridge.onedim.draft import GROUND, REFERENCE, SCALES, Draft, Level, no_twin
from vbg.tmm_bridge.onedim.laws.electric import (
    Capacitor,
    Conductor,
    Ends,
    FlowSource,
    Gyrator,
    Inductor,
    LevelSource,
    Motor,
    OpAmp,
    Rail,
    Transformer,
    shockley,
    switched,
)
from vbg.tmm_bridge.onedim.laws.hydraulic import NO_SIGN, beyond, level_of
from vbg.tmm_bridge.onedim.laws.magnetic import PoleFace, Solenoid
from vbg.tmm_bridge.onedim.laws.working import Value, Working
from vbg.tmm_bridge.onedim.network import Node
from vbg.tmm_bridge.onedim.rawbonds import outer_bonds
from vbg.tmm_bridge.onedim.shafts import reach
from vbg.tmm_bridge.onedim.sources import Sources


def add_levels(draft: Draft) -> None:
    """Nodes of both tables in the order in which the parts name them."""
    for table in ("electric", "hydraulic"):
        for part in getattr(draft.model, table).values():
            for node in part.nodes:
                if node != REFERENCE[table] and (table, node) not in draft.levels:
                    draft.levels[table, node] = Level(table, len(draft.levels))
    for outer in outer_bonds(draft.model):
        table, _, node = outer.end.partition(".")
        if table in REFERENCE and node != REFERENCE[table]:
            draft.levels.setdefault((table, node), Level(table, len(draft.levels)))
    for (table, name), level in draft.levels.items():
        what, unit = ("voltage", "V") if table == "electric" else ("pressure", "Pa")
        at = level.index
        draft.tell((f"{table}.{name}.{what}", unit, level_of(at)))


def add_source(draft: Draft, sources: Sources, name: str, part: Any, given: float | str) -> None:
    """A level source: a rail where it can give a node its level outright."""
    table = part.table
    ends, value = draft.ends(table, name, part.nodes), sources.source(part, name, given)
    free = [node for node in part.nodes if node != REFERENCE[table]]
    level = draft.levels[table, free[0]] if len(free) == 1 else None
    if level is None or level.rail is not None or sources.reads_balance(given):
        draft.add(LevelSource(ends, value, draft.unknown(SCALES[table][1])), late=True)
        return
    sign = 1.0 if part.nodes[0] == free[0] else -1.0
    slope = None if name in draft.taps else sources.slope(given)
    level.rail = Rail(ends, level.index, sign, value, slope)
    draft.add(level.rail)


def lay_nodes(draft: Draft) -> tuple[Node, ...]:
    """Nodes with the places of their levels; the reference last."""
    nodes, crossing = [], _crossing(draft)
    for (table, _), level in draft.levels.items():
        if level.rail is not None:
            nodes.append(Node(rail=level.rail))
        elif level.weight > 0.0:
            start = level.start / level.weight
            at = draft.store(start) if level.written else draft.store(None, start)
            nodes.append(Node(state=at))
        else:
            unknown = draft.unknown(SCALES[table][0])
            nodes.append(Node(unknown=unknown, crossing=crossing.get(level.index, ())))
    return (*nodes, Node())


def _crossing(draft: Draft) -> dict[int, tuple[tuple[float, int], ...]]:
    """What flows into each island of nodes that parts tie together, but to no reference: (sign,
    place in `through`), at one of its nodes.

    The sum of an island's nodal balances, in which what flows within it does not occur: 1e-12 S
    of a diode that blocks gives the island its voltage beside amperes of a capacitor.  Islands
    that chokes alone join are one for what leaks into it: of these one is told by leaks only.
    """
    found: dict[int, tuple[tuple[float, int], ...]] = {}
    if not draft.leaks:
        return found
    chokes = [ends for ends, _ in draft.chokes]
    for island in _islands(draft):
        flows = _into_island(island, [*draft.leaks, *chokes])
        if flows and GROUND not in island:
            found[min(island)] = flows
    for joined_ones in _islands(draft, *((ends.first, ends.second) for ends in chokes)):
        leaks = _into_island(joined_ones, draft.leaks)
        if leaks and GROUND not in joined_ones:
            found[min(joined_ones & set(found))] = leaks
    return found


def _into_island(island: set[int], parts: Sequence[Ends]) -> tuple[tuple[float, int], ...]:
    """(sign, place in `through`) of what leads into it."""
    return tuple(
        (1.0 if ends.second in island else -1.0, ends.place)
        for ends in parts
        if (ends.first in island) != (ends.second in island)
    )


def _islands(draft: Draft, *ties: tuple[int, int]) -> list[set[int]]:
    """Nodes that parts tie together, these `ties` among them."""
    nodes = (GROUND, *range(len(draft.levels)))
    return [set(island) for island in joined(nodes, (*draft.ties, *ties))]


def choked(draft: Draft) -> tuple[int, ...]:
    """States of inductors whose current nothing but leaks of diodes need lead on."""
    if not draft.leaks:
        return ()
    grounded = next(island for island in _islands(draft) if GROUND in island)
    return tuple(at for ends, at in draft.chokes if not {ends.first, ends.second} <= grounded)


def paced(draft: Draft) -> tuple[int, ...]:
    """Places among the outputs of the voltages of sources, where diodes are exponential."""
    if not draft.leaks:
        return ()
    parts = draft.model.electric.items()
    told = {f"{name}.voltage" for name, part in parts if part.kind == "voltage_source"}
    return tuple(i for i, (name, _, _) in enumerate(draft.outputs) if name in told)


def add_electric(draft: Draft, sources: Sources) -> None:
    """All parts of [electric]."""
    for name, part in draft.model.electric.items():
        match part.kind:
            case "resistor" | "diode" | "switch":
                _add_conductor(draft, sources, name, part)
            case "capacitor":
                ends, at = draft.ends("electric", name, part.nodes), draft.store(part.voltage)
                draft.add(Capacitor(ends, part.C, at, draft.unknown(SCALES["electric"][1])))
            case "inductor":
                ends, at = draft.loose_ends("electric", name, part.nodes), draft.store(part.current)
                draft.chokes.append((ends, at))
                draft.add(Inductor(ends, part.L, at))
            case "voltage_source":
                add_source(draft, sources, name, part, part.voltage)
            case "current_source":
                ends = draft.ends("electric", name, part.nodes)
                value = sources.source(part, name, part.current)
                draft.add(FlowSource(ends, value), late=True)
            case "dc_motor":
                at = draft.store(part.current) if part.L > 0.0 else -1
                ends, port = draft.ends("electric", name, part.nodes), draft.ports[part.on]
                draft.add(Motor(ends, port, part.R, part.L, part.K, part.B, at))
            case "solenoid":
                _add_solenoid(draft, name, part)
            case _:
                _add_several_ends(draft, name, part)


def _add_conductor(draft: Draft, sources: Sources, name: str, part: Any) -> None:
    exponential = part.kind == "diode" and part.law == "exponential"
    made = draft.loose_ends if exponential else draft.ends
    ends = made("electric", name, part.nodes)
    if part.kind == "resistor":
        conductance = 1.0 / part.R
        draft.add(Conductor(ends, lambda w, v: conductance * v))
    elif exponential:
        draft.leaks.append(ends)
        draft.add(Conductor(ends, shockley(part.Is, part.Vt, part.Gmin or 0.0)))
    elif part.kind == "diode":
        draft.add(Conductor(ends, switched(lambda w, v: v, 1.0 / part.Ron, part.Goff)))
        draft.changes.append((f"electric.{name}", 1, lambda w: (_blocking(draft.wires, ends, w),)))
    else:
        command: Value = sources.value(part, name, part.closed)
        law = switched(lambda w, v: command(w), 1.0 / part.Ron, part.Goff)
        draft.add(Conductor(ends, law))
        draft.changes.append((f"electric.{name}", 1, lambda w: (command(w),)))


def _blocking(wires: Sequence[Ends], ends: Ends, w: Working) -> Number:
    """The voltage of an ideal diode; zero, which is no change of sign, where it is rounding, or its
    current is rounding of those around it: of all wires that hang together with it other than by
    the ground.

    An island that the diode alone ties to the ground sends it what rounding leaves of the sum of
    its currents; over the leak of a diode that blocks that may be volts, of either sign.  Where
    there is no voltage at all Newton's method leaves the square of what it ends at (1e-13) of a
    scale of 1 V.  More than that has its sign: an ampere through a diode that conducts is 10 uV.
    """
    size: Number = 0.0
    nodes, left = {ends.first, ends.second} - {GROUND}, list(wires)
    while near := [one for one in left if {one.first, one.second} & nodes]:
        nodes |= {node for one in near for node in (one.first, one.second)} - {GROUND}
        left = [one for one in left if one not in near]
        for one in near:
            size = size + _size(w.through[one.place])
    own = w.through[ends.place]
    own_sign = beyond(ends, 0.0, SCALES["electric"][0], w)
    return choose(NO_SIGN * size - _size(own), 0.0, own_sign)


def _size(value: Number) -> Number:
    return most(value, -value)


def _add_solenoid(draft: Draft, name: str, part: Any) -> None:
    ends, port = draft.ends("electric", name, part.nodes), reach(draft, name, part)
    face, stop = PoleFace(part.k, part.c), draft.place() if part.k > 0.0 else -1
    law = part.length, part.R, part.L0, part.a, part.stray
    solenoid = Solenoid(ends, port, *law, face, stop, draft.store(part.current))
    draft.add(solenoid)
    draft.changes.append((f"electric.{name}", 2 if solenoid.pulls else 1, solenoid.changes))


def _add_several_ends(draft: Draft, name: str, part: Any) -> None:
    """Transformers, gyrators, operational amplifiers."""
    scale = SCALES["electric"][1]
    if part.kind in ("transformer", "gyrator"):
        pairs: tuple[Ends, ...] = tuple(
            draft.ends("electric", name, pair) for pair in (part.nodes[:2], part.nodes[2:])
        )
        if part.kind == "gyrator":
            draft.add(Gyrator(pairs[0], pairs[1], part.r))
        else:
            draft.add(Transformer(pairs[0], pairs[1], part.ratio, draft.unknown(scale)))
    elif part.kind == "op_amp":
        plus, minus = (draft.node("electric", node) for node in part.nodes[:2])
        ends = draft.ends("electric", name, (part.nodes[2], REFERENCE["electric"]))
        lower = -math.inf if part.lower is None else part.lower
        upper = math.inf if part.upper is None else part.upper
        unknown = draft.unknown(scale)
        draft.add(OpAmp(ends, plus, minus, part.gain, lower, upper, unknown))
    else:
        raise no_twin(part, name, with_article(part.kind))
