"""Raw bond graphs as equations of their bonds: a tableau, no causality.

Every bond has its effort and its flow among the unknowns, every end of a bond as many equations
as the bond has components (sparse tableau: G. D. Hachtel, R. K. Brayton, F. G. Gustavson, IEEE
Trans. Circuit Theory 18, 1971).  Power into a vertex is positive: s = 1 where the bond runs into
it, -1 where it runs out.

    0   e_k = e_0,  sum s f = 0          1   f_k = f_0,  sum s e = 0
    C   e = dH/dq, q' = f                I   f = dH/dp, p' = e
    R   e = e(f) or f = f(e)             Se, Sf   e or f as given
    TF  f_out = T f_in, e_in = T^T e_out;   GY  e_out = G f_in, e_in = G^T f_out

A joint or shaft gives the flow of its bond and takes the effort, a node of a circuit gives the
effort and takes the flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.expressions import derivative, parse
from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.onedim.carried import carried_by_joints, lay_on_hinge
from vbg.tmm_bridge.onedim.draft import GROUND, SCALES, Draft
from vbg.tmm_bridge.onedim.laws.signals import closure
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Port, Value, Working
from vbg.tmm_bridge.onedim.rawbonds import shaft_path
from vbg.tmm_bridge.onedim.sources import Sources

ONE_PORTS = ("C", "I", "R", "Se", "Sf")


@dataclass(frozen=True)
class Bond:
    """Places of the unknowns of a bond between two ends, by component."""

    tail: str
    head: str
    effort: tuple[int, ...]
    flow: tuple[int, ...]

    def at(self, end: str) -> End:
        """The bond as this end sees it: the equations in the places of its unknowns are shared
        out, of the efforts to the tail and of the flows to the head."""
        inward = self.head == end
        return End(self.effort, self.flow, self.flow if inward else self.effort, inward)


@dataclass(frozen=True)
class End:
    """One end of a bond: places of its unknowns and of the equations that are its own."""

    effort: tuple[int, ...]
    flow: tuple[int, ...]
    rows: tuple[int, ...]
    inward: bool

    @property
    def sign(self) -> float:
        """+1 where power runs into what is at this end."""
        return 1.0 if self.inward else -1.0


def _read(w: Working, places: Sequence[int]) -> list[Number]:
    return [w.z[place] for place in places]


def _require(w: Working, rows: Sequence[int], left: Sequence[Number]) -> None:
    """left = 0, component by component."""
    for row, value in zip(rows, left, strict=True):
        w.residual[row] = value


def _times(matrix: Any, values: Sequence[Number]) -> list[Number]:
    """A matrix of numbers or of values of the instant times a column."""
    found: list[Number] = []
    for row in matrix:
        total: Number = 0.0
        for c, value in zip(row, values, strict=True):
            total = total + c * value
        found.append(total)
    return found


@dataclass(frozen=True)
class Junction:
    """A 0- or 1-junction: one variable is `shared`, the other adds up to zero."""

    name: str
    ends: tuple[End, ...]
    zero: bool

    def act(self, w: Working) -> None:
        first, *others = self.ends
        shared = [end.effort if self.zero else end.flow for end in self.ends]
        summed = [end.flow if self.zero else end.effort for end in self.ends]
        for end, places in zip(others, shared[1:], strict=True):
            pairs = zip(_read(w, places), _read(w, shared[0]), strict=True)
            _require(w, end.rows, [a - b for a, b in pairs])
        for k, row in enumerate(first.rows):
            total: Number = 0.0
            for end, places in zip(self.ends, summed, strict=True):
                total = total + end.sign * w.z[places[k]]
            w.residual[row] = total

    def outputs(self) -> Iterator[Output]:
        end = self.ends[0]
        if self.zero:
            yield from _told(f"{self.name}.effort", _unknowns(end.effort))
        else:
            yield from _told(f"{self.name}.flow", _unknowns(end.flow))


@dataclass(frozen=True)
class Law:
    """A vertex with one bond: the `law` of (effort, flow), zero by component; of a store the
    places of its states, called `state`, whose rate is the `moved` variable, and its `energy`."""

    name: str
    end: End
    law: tuple[Value, ...]
    states: tuple[int, ...] = ()
    state: str = ""
    moved: tuple[int, ...] = ()
    energy: Value | None = None
    source: bool = False

    def act(self, w: Working) -> None:
        _require(w, self.end.rows, [law(w) for law in self.law])
        for place, unknown in zip(self.states, self.moved, strict=True):
            w.rates[place] = w.z[unknown]

    def energies(self, w: Working) -> Energies:
        if self.energy is not None:
            held = self.energy(w)
            return Energies(kinetic=held) if self.state == "momentum" else Energies(potential=held)
        pairs = zip(_read(w, self.end.effort), _read(w, self.end.flow), strict=True)
        power: Number = 0.0
        for e, f in pairs:
            power = power + self.end.sign * e * f
        return Energies(supplied=-power) if self.source else Energies(lost=power)

    def outputs(self) -> Iterator[Output]:
        yield from _told(f"{self.name}.effort", _unknowns(self.end.effort))
        yield from _told(f"{self.name}.flow", _unknowns(self.end.flow))
        yield from _told(f"{self.name}.{self.state}", [_state(place) for place in self.states])


@dataclass(frozen=True)
class TwoPort:
    """A transformer, or a gyrator that takes its `ratio` the other way."""

    into: End
    out: End
    ratio: tuple[tuple[Value, ...], ...]
    gyrates: bool

    def act(self, w: Working) -> None:
        T = [[c(w) for c in row] for row in self.ratio]
        e_in, f_in = _read(w, self.into.effort), _read(w, self.into.flow)
        e_out, f_out = _read(w, self.out.effort), _read(w, self.out.flow)
        given, back = (e_out, f_out) if self.gyrates else (f_out, e_out)
        pairs = zip(given, _times(T, f_in), strict=True)
        _require(w, self.out.rows, [a - b for a, b in pairs])
        transposed = [list(column) for column in zip(*T, strict=True)]
        pairs = zip(e_in, _times(transposed, back), strict=True)
        _require(w, self.into.rows, [a - b for a, b in pairs])

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class OnShaft:
    """A bond on a joint or shaft."""

    end: End
    port: Port

    def act(self, w: Working) -> None:
        w.residual[self.end.rows[0]] = w.z[self.end.flow[0]] - self.port.speed(w)
        self.port.push(w, self.end.sign * w.z[self.end.effort[0]])

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class OnNode:
    """A bond on a node of a circuit."""

    end: End
    node: int

    def act(self, w: Working) -> None:
        w.residual[self.end.rows[0]] = w.z[self.end.effort[0]] - w.levels[self.node]
        w.net[self.node] += self.end.sign * w.z[self.end.flow[0]]

    def outputs(self) -> Iterator[Output]:
        return iter(())


def _told(name: str, values: Sequence[Value]) -> Iterator[Output]:
    """An output, or its components."""
    for k, value in enumerate(values):
        yield name if len(values) == 1 else f"{name}[{k}]", "1", value


def add_bonded(draft: Draft, sources: Sources) -> None:
    """All vertices of [bondgraph] and what their bonds end on."""
    vertices: dict[str, Any] = dict(draft.model.bondgraph)
    incident: dict[str, list[End]] = {}
    for bond in _bonds(draft, vertices):
        for side in (bond.tail, bond.head):
            incident.setdefault(side, []).append(bond.at(side))
    on_hinges = carried_by_joints(draft.model)
    for name, ends in incident.items():
        part = vertices.get(name)
        if part is None:
            for end in ends:
                draft.add(_outside(draft, name, end))
        elif part.kind in ("0", "1"):
            draft.add(Junction(name, tuple(ends), part.kind == "0"))
        elif part.kind in ("TF", "GY"):
            into, out = sorted(ends, key=lambda end: not end.inward)
            ratio = _ratio(sources, name, part)
            draft.add(TwoPort(into, out, ratio, part.kind == "GY"), late=True)
        elif name in on_hinges:
            (effort,), (flow,), (row,) = ends[0].effort, ends[0].flow, ends[0].rows
            lay_on_hinge(draft, name, on_hinges[name], effort, flow, row)
        else:
            draft.add(_one_port(draft, sources, name, part, ends[0]), late=True)


def _bonds(draft: Draft, vertices: dict[str, Any]) -> Iterator[Bond]:
    for text in draft.model.bonds:
        tail, head = text.split(" -> ")
        sizes = [_size(vertices.get(end), inward=end == head) for end in (tail, head)]
        size = next((n for n in sizes if n), 1)
        tables = [end.partition(".")[0] for end in (tail, head)]
        e, f = next((SCALES[table] for table in tables if table in SCALES), (1.0, 1.0))
        effort = tuple(draft.unknown(e) for _ in range(size))
        yield Bond(tail, head, effort, tuple(draft.unknown(f) for _ in range(size)))


def _size(part: Any, *, inward: bool) -> int:
    """Components of the bonds of a vertex; 0 where it leaves that to the other end."""
    if part is None:
        return 1
    if part.kind in ("TF", "GY"):
        if part.matrix is None:
            return 1
        return len(part.matrix[0]) if inward else len(part.matrix)
    if part.kind in ("Se", "Sf"):
        return len(part.effort if part.kind == "Se" else part.flow)
    return int(part.size)


def _outside(draft: Draft, name: str, end: End) -> OnShaft | OnNode:
    """What a bond ends on beside vertices: JOINT.angle or TABLE.NODE."""
    table, _, node = name.partition(".")
    if table in SCALES:
        at = draft.node(table, node)
        draft.ties.append((at, GROUND))
        return OnNode(end, at)
    return OnShaft(end, draft.ports[shaft_path(draft.model, name)])


def _ratio(sources: Sources, name: str, part: Any) -> tuple[tuple[Value, ...], ...]:
    if part.matrix is None:
        return ((sources.value(part, name, part.ratio),),)
    return tuple(tuple(_constant(c) for c in row) for row in part.matrix)


def _constant(number: float) -> Value:
    value = float(number)
    return lambda w: value


def _one_port(draft: Draft, sources: Sources, name: str, part: Any, end: End) -> Law:
    """A store, a loss or a source at the end of its bond."""
    if part.kind in ("Se", "Sf"):
        given, places = (part.effort, end.effort) if part.kind == "Se" else (part.flow, end.flow)
        values = [sources.value(part, name, value) for value in given]
        return Law(name, end, _differences(_unknowns(places), values), source=True)
    if part.kind == "R":
        return Law(name, end, _loss(part, end))
    n = part.size
    start: Any = [None] * n if part.initial is None else part.initial
    at = [draft.store(value) for value in start]
    letter, told, moved, state = (
        ("q", end.effort, end.flow, "displacement")
        if part.kind == "C"
        else ("p", end.flow, end.effort, "momentum")
    )
    states = [_state(place) for place in at]
    if part.energy is not None:
        law, energy = _gradient(part.energy, letter, states), _energy(part.energy, letter, states)
    else:
        law = _linear(np.linalg.inv(_square(part)), states)
        energy = _half_product(law, states)
    return Law(name, end, _differences(_unknowns(told), law), tuple(at), state, moved, energy)


def _loss(part: Any, end: End) -> tuple[Value, ...]:
    """A resistance by its effort of the flow or its flow of the effort."""
    effort, flow = _unknowns(end.effort), _unknowns(end.flow)
    if part.effort is not None:
        return _differences(effort, _named(part.effort, "f", flow))
    if part.flow is not None:
        return _differences(flow, _named(part.flow, "e", effort))
    return _differences(effort, _linear(_square(part), flow))


def _unknown(place: int) -> Value:
    return lambda w: w.z[place]


def _unknowns(places: Sequence[int]) -> list[Value]:
    return [_unknown(place) for place in places]


def _state(place: int) -> Value:
    return lambda w: w.x[place]


def _square(part: Any) -> np.ndarray[Any, Any]:
    if part.matrix is None:
        return np.eye(part.size) * float(part.value)
    return np.array(part.matrix, dtype=float)


def _linear(matrix: np.ndarray[Any, Any], values: Sequence[Value]) -> list[Value]:
    """The components of a matrix times values."""

    def component(row: Sequence[float]) -> Value:
        return lambda w: _times([row], [value(w) for value in values])[0]

    return [component(row) for row in matrix.tolist()]


def _named(texts: Sequence[str], letter: str, values: Sequence[Value]) -> list[Value]:
    """Expressions in the components of a variable: f is f0."""

    def lookup(name: str) -> Value:
        return values[int(name.removeprefix(letter) or 0)]

    return [closure(parse(text), lookup) for text in texts]


def _energy(text: str, letter: str, states: Sequence[Value]) -> Value:
    """An energy written as an expression of the state, p and p0 being one."""
    return closure(parse(text), lambda name: states[int(name.removeprefix(letter) or 0)])


def _half_product(law: Sequence[Value], states: Sequence[Value]) -> Value:
    """The energy of a linear law: half of the sum of state times what it gives."""
    return lambda w: _times([[0.5 * x(w) for x in states]], [e(w) for e in law])[0]


def _gradient(energy: str, letter: str, states: Sequence[Value]) -> list[Value]:
    """The slopes of an energy by the components of its state, p and p0 being one."""

    def lookup(name: str) -> Value:
        return states[int(name.removeprefix(letter) or 0)]

    def slope(names: Sequence[str]) -> Value:
        slopes = [closure(derivative(tree, name), lookup) for name in names]
        return lambda w: _times([[1.0] * len(slopes)], [one(w) for one in slopes])[0]

    tree, others = parse(energy), range(1, len(states))
    return [slope((letter, f"{letter}0")), *(slope((f"{letter}{k}",)) for k in others)]


def _differences(told: Sequence[Value], law: Sequence[Value]) -> tuple[Value, ...]:
    """told - law, by component."""

    def difference(one: Value, other: Value) -> Value:
        return lambda w: one(w) - other(w)

    return tuple(difference(one, other) for one, other in zip(told, law, strict=True))
