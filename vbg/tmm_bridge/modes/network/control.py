"""Control elements, circuits, oil and shafts in the overall transfer equation at a frequency s.

An element reads motions y of bodies and hinges and acts on others with u (`acting`).  Between the
state vectors of the paths these are two rows more for each,

    y = C z,      u = Z(s) y,      -z_root + U ... z_tip + U ... B u = 0,

with C the row that reads the state of a body (a place, a turn, the coordinate of its hinge) and
B its transpose, by which u enters the forces there.  In numbers the unknowns are the hinges'
displacements, y, u and the efforts of closed loops:

    D(s) q - A^T u - G^T lambda = f,     y - R q = 0,     u - Z(s) y = 0,     G q = 0,

D(s) the transfer equation of bodies, hinges and springs read the other way (`passing.needed`).
Rui et al., mstmmsim.txt: control elements stand in the library of transfer matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from vbg.errors import UsageError
from vbg.plumbing.components import component
from vbg.tmm_bridge.kernels.rows import TURNING
from vbg.tmm_bridge.kernels.tables import IDLE, LAW_INPUT, PAIR_INPUT
from vbg.tmm_bridge.mechanism.contradictions import node_name, row_name
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.modes.modal import Vibration
from vbg.tmm_bridge.modes.network.linearising import snapshot
from vbg.tmm_bridge.modes.passing import needed, nodes_of
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.overall.deduction import Reach, reaches
from vbg.tmm_bridge.overall.transfer import Overall, numbered

GENERIC = 1.37 + 2.11j  # a frequency at which nothing cancels by chance


@dataclass(frozen=True)
class Port:
    """What an element reads or acts along: its name, the bodies whose state vectors it is on;
    `columns` of Z that read it, as a displacement and as a speed; the `shaft` that it is, where
    it turns or slides by itself and not as a joint."""

    name: str
    bodies: tuple[str, ...]
    columns: tuple[int, ...] = ()
    shaft: str = ""


@dataclass(frozen=True)
class Ports:
    """Of all readings, and of all actions in the order of Z's rows."""

    reads: tuple[Port, ...]
    acts: tuple[Port, ...]


def ports_of(plant: Plant) -> Ports:
    """Of the network of the plant; every one has a name of its own."""
    mechanism, p = plant.mechanism, plant.program
    reads = [_coordinate(mechanism, int(k)) for k in p.joints[:, 0]]
    reads += [_distance(mechanism, int(a), int(b)) for a, b in p.pairs[:, :2]]
    at = 2 * len(reads)
    reads = [replace(port, columns=(2 * n, 2 * n + 1)) for n, port in enumerate(reads)]
    for node, what, _ in p.sensors:
        body = _body_on(mechanism, int(node))
        told = "turn" if what == TURNING else "position"
        for j in range(3):
            reads.append(Port(component(f"{body}.{told}", j, 3), (body,), (at,)))
            at += 1
    acts = [_acted(mechanism, int(place)) for place in p.fed[:, 0]]
    return Ports(_each_named(reads), _each_named(acts))


def _each_named(ports: list[Port]) -> tuple[Port, ...]:
    names = numbered([port.name for port in ports])
    return tuple(replace(port, name=name) for port, name in zip(ports, names, strict=True))


def _coordinate(mechanism: Mechanism, k: int) -> Port:
    named = {number: name for name, number in mechanism.coordinates.items()}
    if k not in named and mechanism.network is not None:
        hinges = [hinge.coordinate for hinge in mechanism.network.hinges]
        shaft = f"shaft {hinges.index(k) + 1}"
        return Port(shaft, (), shaft=shaft)
    joint, key = named[k]
    ends = mechanism.model.joints[joint].between if joint in mechanism.model.joints else ()
    bodies = tuple(end.body for end in ends if end.body != "ground")
    carried = mechanism.tree.get(joint)
    if carried is not None:  # a hinge of the tree belongs to the body that it carries
        bodies = (_body_on(mechanism, carried.nodes[-1]),)
    return Port(f"{joint}.{key}", bodies)


def _distance(mechanism: Mechanism, a: int, b: int) -> Port:
    bodies = tuple(_body_on(mechanism, node) for node in (a, b))
    moving = tuple(body for body in bodies if body != "ground")
    return Port(f"distance of {bodies[0]} and {bodies[1]}", moving)


def _body_on(mechanism: Mechanism, node: int) -> str:
    """The body on a node, or the one that the node's hinge carries at last."""
    if node < 0:
        return "ground"
    by_node = {place.node: body for body, place in mechanism.bodies.items()}
    for carried in mechanism.tree.values():
        if node in carried.nodes:
            node = carried.nodes[-1]
    return by_node.get(node, node_name(mechanism, node))


def _acted(mechanism: Mechanism, place: int) -> Port:
    """What an input of the mechanism that the network gives acts along."""
    t = mechanism.tables
    names = {where: name for name, where in mechanism.parts.items()}
    for row, (law, coordinate, given) in enumerate(t.laws):
        if law == LAW_INPUT and given == place:
            port = _coordinate(mechanism, int(coordinate))
            return replace(port, name=names.get(("law", row), port.name))
    for row, (law, a, b, given) in enumerate(t.pairs):
        if law == PAIR_INPUT and given == place:
            port = _distance(mechanism, int(a), int(b))
            return Port(names.get(("pair", row), port.name), port.bodies)
    for row, (_, node, *given) in enumerate(t.loads):
        if place in given:
            body = _body_on(mechanism, int(node))
            name = names.get(("load", row), body)
            return Port(component(name, given.index(place), 3), (body,))
    return Port(f"input {place}", ())


def control_rows(mechanism: Mechanism) -> tuple[str, ...]:
    """The rows of the overall equation that one-dimensional parts and controllers add, at the
    frequency s, with what each action depends on at the start.  Empty where there are none."""
    if mechanism.network is None:
        return ()
    plant, reach = Plant(mechanism), reaches(mechanism.model)
    ports, lines = ports_of(plant), []
    acting: list[Port] = []
    seen: set[str] = set()
    depends = _dependence(plant, ports)
    for act, reads in zip(ports.acts, depends, strict=True):
        terms = [f"Z[{act.name}, {name}] y[{name}]" for name in reads]
        if terms:  # else it is a load that follows the time
            lines.append(f"u[{act.name}]  =  {' + '.join(terms)}")
            acting.append(act)
        seen.update(reads)
    for port in ports.reads:
        if port.name in seen:
            lines.append(f"y[{port.name}]  =  {' + '.join(_read(port, reach))}")
    lines += [row for act in acting for row in _entered(act, reach)]
    return tuple(lines)


def _read(port: Port, reach: dict[str, Reach]) -> list[str]:
    if port.shaft:
        return [f"q[{port.shaft}]"]
    return [f"C[{port.name}] ({reach[body].state})" for body in port.bodies if body in reach]


def _entered(act: Port, reach: dict[str, Reach]) -> Iterator[str]:
    """The terms of an action in the equations of the roots and of shafts."""
    if act.shaft:
        yield f"+ u[{act.name}]  enters the equation of {act.shaft}"
    for body in act.bodies:
        if body in reach:
            way = f"{reach[body].beyond} " if reach[body].beyond else ""
            yield f"+ {way}B[{act.name}] u[{act.name}]  enters the equation of {body}'s root"


def _dependence(plant: Plant, ports: Ports) -> list[list[str]]:
    """For each action the names of the readings that it depends on at the start, all of them
    where its laws have no slope there."""
    mechanism = plant.mechanism
    network = mechanism.network
    every = [port.name for port in ports.reads]
    assert network is not None
    try:
        Z = snapshot(plant, start(mechanism).y, np.array(network.start)).acting.gain(GENERIC)
    except UsageError:
        return [every] * len(ports.acts)
    return [[p.name for p in ports.reads if np.any(row[list(p.columns)])] for row in Z]


def overall_at(found: Vibration, s: complex) -> Overall:
    """Of a mechanism about rest, control and one-dimensional parts as elements: complex; efforts
    along the hinges stand on the right."""
    small, free = found.small, found.small.free
    unit = np.zeros((small.n_v, len(free)))
    unit[free, np.arange(len(free))] = 1.0
    D = needed(replace(small, acting=None, closing=None), s, unit)[free]
    nodes, a = nodes_of(small, unit), small.acting
    hinges = _hinge_names(found)
    R, A, Z = np.zeros((0, len(free))), np.zeros((0, len(free))), np.zeros((0, 0))
    G = np.zeros((0, len(free))) if small.closing is None else small.closing.of(nodes, unit)
    reads: list[str] = []
    acts: list[str] = []
    if a is not None and found.network is not None:
        ports, gain = ports_of(Plant(found.network)), a.gain(s)
        R = a.reads.of(nodes, unit)[[port.columns[0] for port in ports.reads]]
        Z = np.array([gain[:, list(p.columns)].sum(axis=1) for p in ports.reads]).T
        A, Z = a.acts.of(nodes, unit), Z.reshape(len(gain), len(R))
        reads, acts = [p.name for p in ports.reads], [p.name for p in ports.acts]
    n, y, u, loops = len(free), len(R), len(A), len(G)
    M = np.zeros((n + y + u + loops,) * 2, dtype=complex)
    M[:n, :n], M[:n, n + y : n + y + u], M[:n, n + y + u :] = D, -A.T, -G.T
    M[n : n + y, :n], M[n : n + y, n : n + y] = -R, np.eye(y)
    M[n + y : n + y + u, n : n + y], M[n + y : n + y + u, n + y : n + y + u] = -Z, np.eye(u)
    M[n + y + u :, :n] = G
    tied = _loop_names(found)
    rows = [f"effort along {h}" for h in hinges] + [f"reading {name}" for name in reads]
    rows += [f"action {name}" for name in acts] + [f"loop at {name}" for name in tied]
    columns = [*hinges, *(f"y[{name}]" for name in reads), *(f"u[{name}]" for name in acts)]
    columns += [f"effort of {name}" for name in tied]
    return Overall(tuple(rows), tuple(columns), M, np.zeros(len(M)))


def _hinge_names(found: Vibration) -> list[str]:
    """Displacements of the free hinges and modes."""
    small, mechanism = found.small, found.small.mechanism
    owner: dict[int, str] = {}
    for hinge in small.hinges:
        for k in range(hinge.h.shape[1]):
            owner[hinge.place + k] = f"{node_name(mechanism, hinge.node)} q"
    for modal in small.modal.values():
        name = node_name(mechanism, modal.node)
        owner |= dict.fromkeys(range(modal.places.start, modal.places.stop), f"modes of {name} q")
    return numbered([owner[int(v)] for v in small.free])


def _loop_names(found: Vibration) -> list[str]:
    closing, t = found.small.closing, found.small.mechanism.tables
    if closing is None:
        return []
    held = np.flatnonzero(t.rows[:, 4] != IDLE)
    return numbered([row_name(found.small.mechanism, int(r)) for r in held])
