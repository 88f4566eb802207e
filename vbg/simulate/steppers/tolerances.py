"""Tolerances of the states: errors of effort and flow, not of coulombs and kg m/s.

A state X of a store with the law Z(X) (effort of a C, flow of an I) may err by what changes Z
by `atol` times the unit of its domain (UNITS), with the slope F = dZ/dX of the law,

    dX = atol unit / F        C dV, L di, m dv, J dw, (V / B) dp, ...

An error in one store is passed on to those it exchanges energy with, ½ F dX² at most.  In a
network of one domain all stores are therefore held to the energy of that error which is the
smallest among them: 1e-10 A in 1 H would be 1e-4 V in the 1 pF beside it.

What forces pass through a body leaves rounding in its momentum, however light it is: bodies
that a constraint connects are held to at least PASSED of the heaviest among them.

Of the relative part, rtol |X|, only what makes the effort counts, |Z| / F where that is less: the
content of a cylinder is a thousand times what its pressure adds to it, and so would be the error
of the pressure (Z = K log(X / V), |Z| / F = X p / K).  But no store is held to less than GRAIN of
what it holds, nor to less than GRAINS times what rounding of the states makes in |Z| / F: the
volume of a chamber at its end is the difference of large ones.  Coils beside diodes: LEAKING.

Positions are held to atol times the size of the machine; speeds to atol times that size in a
second where it is below 1 m; angles, quaternions and controllers to atol.  A run that lasts longer
than LONG asks for more of speeds, what adds up to that of positions in the whole of it; but no
speed is held to less than what adds up to PLACED of a turn or a size, rounding of the posture,
and no spring to less than a force that moves the lightest inertia by so little.

So it is at the pace of what moves: in a short run that adds up to rounding of the way that the
fastest speed so far makes of the run, where that is less than a turn or a size.

What is closed, stores and resistors alone, never holds more than the energy E that it has: no
effort or flow there is above Z = sqrt(2 E F).  A start may be as slow as it likes, 1e-8 rad/s of a
rotor; so no store of it is held to more than CLOSED of that Z.  Where something supplies, E is
what the stores have held in the run so far (`look`): there no store is held to more than HELD of
Z, but none to less than SUPPLIED of its own, and no speed to less than GRAIN of a turn or a size in
a step: where little has moved yet, it is rounding that moves.  In both, ways of nodes are held to
atol times how far the fastest speed so far comes in the run, but to no less than SUPPLIED of a turn
or a size.  Implicit steps are not held to that: they would follow fast waves which nobody has
excited.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.programs import StateSlice
from vbg.assemble.system import System
from vbg.blocks import dependencies
from vbg.graph.bondgraph import Vertex
from vbg.plumbing.groups import joined
from vbg.plumbing.once import once
from vbg.simulate.steppers.exponential import LEAKING, choked
from vbg.simulate.steppers.machine_size import LINE, least_eigenvalues, machine_size

Array = NDArray[np.float64]

# of effort and flow, for which atol is meant: their product is 1 W in every domain
UNITS = {"hydraulic": (1e5, 1e-5)}
MOVING = ("translation", "rotation")
OPEN = {"Se", "Sf", "Sc", "EJS"}  # kinds of vertices that power may come from, or bodies
SHARED = 1e-6  # least part of its own tolerance that a store is held to for the sake of others
PASSED = 1e-6
GRAINS = 100.0
GRAIN = GRAINS * np.finfo(float).eps
PLACED = 1e-12  # of a turn or a size: rounding of a posture, and of what the forces there make,
SHARE = 1e-2  # or this part of atol,
ROUNDED = 10.0 * np.finfo(float).eps  # and what is left of that in any case
LONG = 10.0  # s, from which on what speeds are off by adds up
SHORTEST = 1e-100  # s, whose square is a number
CLOSED = 1e-9  # of the largest effort or flow that a store of a closed network can have,
HELD = 1e-7  # and of what one can have by the energy so far, where something supplies
SUPPLIED = 1e-3  # of its own tolerance, what a store is held to while little moves
GROWN = 2.0  # times, from which on a speed or an energy is another one


@dataclass(frozen=True, slots=True)
class _Store:
    """A store with a state: its place in x, the unit of its effort or flow, and whether that is a
    speed."""

    vertex: Vertex
    place: StateSlice
    unit: float
    moves: bool


class Tolerances:
    """The tolerances of a system's states, at a time and a state where a law is not
    proportional (`varies`)."""

    def __init__(
        self, system: System, atol: float, duration: float = 1.0, *, supplied: bool = False
    ):
        """`duration` [s] is that of the run; `supplied`: whether stores are held to what there is
        so far where something supplies, too."""
        duration = max(duration or 1.0, SHORTEST)  # where no time goes by nothing is held to it
        self._system, self._atol, self.duration = system, atol, duration
        self.discrete = system.discrete
        self._stores, self._networks = _stores(system), _networks(system)
        self._slopes = Evaluator(system.programs.slope)
        self._effective = Evaluator(system.programs.effective)
        self._choked = choked(system.causal.graph, [s.vertex.name for s in self._stores])
        shared = self._effective.program.outputs
        self._stretched = [s for s in system.slices if s.state.name in shared]
        self._stretched_at = np.array([s.first for s in self._stretched], dtype=np.intp)
        self._parts_at = np.array([shared[s.state.name][0] for s in self._stretched], dtype=np.intp)
        self.sums: list[int] = [  # places of energies in x, which are integrals
            i for s in system.slices if s.state.kind == "quadrature" for i in range(s.first, s.last)
        ]
        self.varies = bool(self._slopes.program.outputs or self._stretched)
        self._most = 0.0  # energy of the stores so far [J]
        self._fastest = np.inf  # speed so far [rad/s, or sizes in a second]; not looked at
        self._step = np.inf  # length of a step [s]
        self._others: Array | None = None  # tolerances of states that are no stores
        self._asked: Array | None = None  # what each store makes that is borne [its unit]
        self._is_driven = supplied and self._is_linear and not self._is_closed

    def look(self, x: Array, step: float = np.inf) -> bool:
        """Takes note of how fast a run is at x (n,), of the energy there, and of the length [s] of
        the step that led there; whether its tolerances are others by that.  Without it they are
        those of what moves a turn, or a size, in the run."""
        first, was_driven = self._fastest == np.inf, self._is_driven
        if not first and self._way == 1.0 and not was_driven:
            return False
        speed = float(np.max(np.abs(x) * self._speeds, initial=0.0))
        energy = 0.5 * float(self._energies @ (x * x))
        if not (np.isfinite(speed) and np.isfinite(energy)):
            return False
        faster = first or (self._way < 1.0 and speed > GROWN * self._fastest)
        if faster:
            self._fastest, self._others, self._asked = speed, None, None
        fuller = energy > GROWN * self._most
        if fuller:
            self._most = energy
        other = not 1.0 / GROWN < step / self._step < GROWN if step < np.inf else False
        if other:
            self._step = step
        return faster or (was_driven and (fuller or other))

    @cached_property
    def _speeds(self) -> Array:
        """What makes speeds of the states [rad/s, or sizes in a second], (n,); 0 of others."""
        moves = self._moves & np.isfinite(self._linear)
        return self._of_states(np.where(moves, self._linear, 0.0) / self._units)

    @cached_property
    def _energies(self) -> Array:
        """F of the states of linear stores, (n,); 0 of others."""
        return self._of_states(np.nan_to_num(self._linear, nan=0.0))

    def _of_states(self, each: Array) -> Array:
        """(n,): `each` value of a store in the places of its states."""
        values = np.zeros(self._system.size)
        values[self._places[0]] = each[self._places[1]]
        return values

    @cached_property
    def _places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of the states of stores: where they stand, and the number of the store."""
        pairs = [
            (at, i)
            for i, store in enumerate(self._stores)
            for at in range(store.place.first, store.place.last)
        ]
        at, number = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return at, number

    @cached_property
    def _units(self) -> Array:
        return np.array([store.unit for store in self._stores])

    @cached_property
    def _moves(self) -> NDArray[np.bool_]:
        return np.array([store.moves for store in self._stores], dtype=bool)

    @cached_property
    def _size(self) -> float:
        return machine_size(self._system)

    @property
    def _way(self) -> float:
        """How far what moves can come in the run by what is known [rad, sizes], at most 1."""
        return min(1.0, self._fastest * self.duration)

    def _rest(self) -> Array:
        """Those of states that are no stores; of these nothing yet."""
        system = self._system
        values, energy = np.full(system.size, self._atol), self._energy()
        way = max(SUPPLIED, self._way) if self._is_closed or self._is_driven else 1.0
        for s in system.slices:
            if s.state.kind == "position":
                values[s.first : s.last] *= self._size
            elif s.state.kind == "displacement":
                values[s.first : s.last] *= way * (self._size if s.state.unit == "m" else 1.0)
            elif s.state.kind == "quadrature":
                values[s.first : s.last] *= energy
        return values

    def _energy(self) -> float:
        """Energy [J] of the largest store at the unit of its effort or flow, at most 1 J, but no
        less than rounding of what moves as far as the machine is large in the run."""
        slopes = self._each_slope(0.0, self._system.written_state)
        known = slopes > 0.0
        units = self._units_of_now()[known]
        most = float((units * units / slopes[known]).max(initial=0.0)) if known.any() else 1.0
        way = self._way / self.duration
        passing = max((s * s / f for _, s, f in self._inertias), default=0.0) * way**2
        return max(min(1.0, most), _placed(self._atol) / self._atol * passing)

    def _each_slope(self, t: float, x: Array) -> Array:
        """F of every store; 0 where its law has no slope there."""
        if not self.varies:
            return self._linear
        found, work = self._linear.copy(), self._slopes.work
        self._slopes(t, x)
        for stores, at in self._curved:
            found[stores] = _least_slopes(work[at])
        return found

    @cached_property
    def _curved(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Stores whose law is not linear, those of one size together: their numbers (k,), and the
        places (k, size, size) of their dZ/dX where they are evaluated."""
        alike: dict[int, list[tuple[int, int]]] = {}
        for i in np.flatnonzero(np.isnan(self._linear)).tolist():
            vertex = self._stores[i].vertex
            assert vertex.state is not None
            at, *_ = self._slopes.program.outputs[vertex.state.data]
            alike.setdefault(vertex.size, []).append((i, at))
        found = []
        for size, pairs in alike.items():
            stores, at = np.array(pairs, dtype=np.intp).T
            inside = np.arange(size * size, dtype=np.intp).reshape(size, size)
            found.append((stores, at[:, None, None] + inside))
        return found

    @cached_property
    def _linear(self) -> Array:
        """F of the stores with a linear law; not a number for others."""
        alike: dict[int, list[tuple[int, Array]]] = {}
        for i, store in enumerate(self._stores):
            assert store.vertex.state is not None
            block, size = self._system.equations.slopes[store.vertex.state], store.vertex.size
            if block.is_const:
                alike.setdefault(size, []).append((i, np.reshape(block.data, (size, size))))
        found = np.full(len(self._stores), np.nan)
        for pairs in alike.values():
            found[[i for i, _ in pairs]] = _least_slopes(np.stack([F for _, F in pairs]))
        return found

    def __call__(self, t: float, x: Array) -> Array:
        """The tolerance of each state, (n,)."""
        with np.errstate(over="ignore"):  # what nothing holds is held to no number
            return self._each(t, x)

    def _each(self, t: float, x: Array) -> Array:
        slopes = self._each_slope(t, x)
        if self._asked is None:
            self._asked = np.maximum(self._atol * self._units_of_now(), self._unfelt())
        own = np.full(len(slopes), self._atol)
        np.divide(self._asked, slopes, out=own, where=slopes > 0.0)
        held = self._closed(self._shared(own, slopes), x)
        for group in _connected(self._system):
            held[group] = np.maximum(held[group], PASSED * own[group].max())
        if len(self._choked) > 0:
            held[self._choked] = np.minimum(held[self._choked], LEAKING * own[self._choked])
        if self._others is None:
            self._others = self._rest()
        values = self._others.copy()
        values[self._places[0]] = held[self._places[1]]
        return values

    @cached_property
    def _is_linear(self) -> bool:
        return bool(np.isfinite(self._linear).all())

    @cached_property
    def _is_closed(self) -> bool:
        """Whether stores with linear laws, resistors and what passes power on are all there is."""
        kinds = {vertex.kind for vertex in self._system.causal.graph.vertices.values()}
        return not kinds & OPEN and self._is_linear

    def _closed(self, held: Array, x: Array) -> Array:
        """At most CLOSED, or HELD, of what the energy at x, or one before, can make of each."""
        if not (self._is_closed or self._is_driven):
            return held
        self._most = max(self._most, 0.5 * float(self._energies @ (x * x)))
        if self._most == np.inf or (self._is_closed and self._most == 0.0):
            return held
        slopes, part = self._linear, CLOSED if self._is_closed else HELD
        most, has = np.full(len(held), np.inf), slopes > 0.0
        most[has] = part * np.sqrt(2.0 * self._most / slopes[has])
        self._is_driven &= bool((most < held).any())
        return np.minimum(held, np.maximum(most, self._least(held)))

    def _least(self, own: Array) -> Array:
        """What a store is held to at the least while little moves."""
        least = np.zeros(len(own))
        if self._is_closed:
            return least
        slopes = self._linear
        moves = self._moves & (slopes != 0.0)
        least[moves] = GRAIN * self._units[moves] / (self._step * slopes[moves])
        return np.where(slopes == 0.0, 0.0, np.maximum(SUPPLIED * own, least))

    def _units_of_now(self) -> Array:
        """Of what each store makes: of a speed at the pace of the run."""
        pace = _pace(self._atol, self.duration, self._way)
        return np.where(self._moves, self._units * pace, self._units)

    def _unfelt(self) -> Array:
        """The effort of each spring that in the whole run moves no inertia by more than PLACED."""
        part = _placed(self._atol) * self._way
        lightest = [
            self._lightest.get(s.vertex.domain, 0.0) if s.vertex.kind == "C" else 0.0
            for s in self._stores
        ]
        return part * np.array(lightest) / self.duration**2

    @cached_property
    def _lightest(self) -> dict[str, float]:
        """Of each domain of motion the least inertia, times the machine's size of a mass."""
        found: dict[str, float] = {}
        for domain, size, slope in self._inertias:
            found[domain] = min(found.get(domain, np.inf), size / slope)
        return found

    @cached_property
    def _inertias(self) -> list[tuple[str, float, float]]:
        """Of each of bodies, shafts and slides: the domain, the way that counts there [rad, or m],
        F."""
        sizes = {"translation": min(1.0, self._size), "rotation": 1.0}
        return [
            (store.vertex.domain, sizes[store.vertex.domain], slope)
            for store, slope in zip(self._stores, self._linear.tolist(), strict=True)
            if store.vertex.kind == "I" and store.vertex.domain in sizes and slope > 0.0
        ]

    def relative(self, t: float, x: Array, rtol: float) -> Array:
        """What rtol is of the size of each state, (n,): rtol |Z| / (F |X|) where the law of a store
        is not proportional, rtol at most."""
        values = np.full(self._system.size, rtol)
        if not self._stretched:
            return values
        grain = np.where(self.discrete, 0.0, np.spacing(np.abs(x)))
        grain[::2] *= -1.0
        states = x, x + grain, x - grain
        parts = zip(*(self._parts(t, state).tolist() for state in states), strict=True)
        places = self._stretched_at.tolist()
        for at, whole, (part, ahead, behind) in zip(
            places, np.abs(x[self._stretched_at]).tolist(), parts, strict=True
        ):
            if abs(part) < whole:
                moved = abs(ahead - part), abs(behind - part)
                rounding = 0.0 if math.isnan(sum(moved)) else GRAINS * max(moved)
                held = max(rtol * abs(part), rounding, GRAIN * whole)
                values[at] = min(rtol, held / whole)
        return values

    def _parts(self, t: float, x: Array) -> Array:
        """Z / F of the stores whose law is not proportional."""
        self._effective(t, x)
        return self._effective.work[self._parts_at]

    def _shared(self, own: Array, slopes: Array) -> Array:
        """Held to the smallest energy of an error in each network."""
        held = own.copy()
        for network in self._networks:
            at = network[slopes[network] > 0.0]
            F = slopes[at]
            least = (F * own[at] ** 2).min(initial=np.inf)
            held[at] = np.maximum(np.sqrt(least / F), SHARED * own[at])
        return held


def _least_slopes(slopes: Array) -> Array:
    """Of matrices (k, n, n) the smallest eigenvalues, of the largest inertia: what is held must not
    depend on the axes; 0 where one has no value."""
    if slopes.shape[1] == 1:
        alone = np.abs(slopes[:, 0, 0])
        return np.where(np.isfinite(alone), alone, 0.0)
    least = np.zeros(len(slopes))
    finite = np.isfinite(slopes).all(axis=(1, 2))
    known = slopes[finite]
    least[finite] = least_eigenvalues(0.5 * (known + known.transpose(0, 2, 1)))
    return least


def _pace(atol: float, duration: float, way: float) -> float:
    """The speed for which `atol` is meant [rad/s, or sizes in a second], in a run in which what
    moves comes this far [rad, sizes]."""
    asked = min(1.0, max(LONG / duration, ROUNDED / atol))
    return max(asked, _placed(atol) * way / (atol * duration))


def _placed(atol: float) -> float:
    """Of a turn or a size: what nobody feels who asks for `atol`, but no less than rounding.

    Who asks for less than PLACED wants the waves of stiff parts, whose speeds do not add up over
    the run but swing, and are felt as forces."""
    return max(min(PLACED, SHARE * atol), ROUNDED)


@once
def _stores(system: System) -> list[_Store]:
    found = []
    places = {s.state.name: s for s in system.slices}
    slow = min(1.0, machine_size(system))
    for vertex in system.causal.graph.vertices.values():
        if vertex.is_store and vertex.state is not None and vertex.state.data in places:
            effort, flow = UNITS.get(vertex.domain, (1.0, 1.0))
            unit = effort if vertex.kind == "C" else flow
            if vertex.domain == "translation":
                unit *= slow
            moves = vertex.kind == "I" and vertex.domain in MOVING
            found.append(_Store(vertex, places[vertex.state.data], unit, moves))
    return found


@once
def _networks(system: System) -> list[NDArray[np.intp]]:
    """Stores of one domain, other than bodies, that bonds of it connect."""
    graph = system.causal.graph
    alike = [
        (b.tail, b.head)
        for b in graph.bonds.values()
        if b.frame == LINE
        and graph.vertices[b.tail].domain == graph.vertices[b.head].domain == b.domain
    ]
    number = {store.vertex.name: i for i, store in enumerate(_stores(system))}
    named = joined(graph.vertices, alike)
    found = [[number[name] for name in group if name in number] for group in named]
    return [np.array(stores, dtype=np.intp) for stores in found if len(stores) > 1]


@once
def _connected(system: System) -> list[NDArray[np.intp]]:
    """Inertias of one domain whose speeds a constraint connects."""
    stores, residual = _stores(system), system.equations.residual
    number = {s.vertex.state: i for i, s in enumerate(stores) if s.vertex.kind == "I"}
    pairs: list[tuple[Any, Any]] = []
    for row in residual.args if residual.op == "stack" else [residual]:
        found: dict[str, int] = {}
        for leaf in dependencies([row]):
            if leaf in number:
                i = number[leaf]
                first = found.setdefault(stores[i].vertex.domain, i)
                pairs.append((first, i))
    return [np.array(g, dtype=np.intp) for g in joined(range(len(stores)), pairs) if len(g) > 1]
