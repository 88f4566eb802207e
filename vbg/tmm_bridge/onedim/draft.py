"""A network while it grows: places of states, unknowns, nodes and readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.tmm_bridge.formulas.switches import Switch
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.onedim.excited import spelled
from vbg.tmm_bridge.onedim.laws.electric import ELECTRIC, HYDRAULIC, Ends, Rail
from vbg.tmm_bridge.onedim.laws.friction import DryFriction
from vbg.tmm_bridge.onedim.laws.latch import Latch
from vbg.tmm_bridge.onedim.laws.mechanical import JOINT, PAIR, Shaft
from vbg.tmm_bridge.onedim.laws.signals import Held
from vbg.tmm_bridge.onedim.laws.working import Changing, Output, Part, Port, Term, Value
from vbg.tmm_bridge.onedim.network import Hinge, Pair, Row, Sensor
from vbg.tmm_bridge.tree.places import BodyPlace

REFERENCE = {"electric": "gnd", "hydraulic": "tank"}
GROUND = -1  # the index of every reference among the nodes: the last
SCALES = {"electric": (1.0, 1e-2), "hydraulic": (1e5, 1e-5)}


def no_twin(part: Any, name: str, why: str) -> UsageError:
    """The error of a part that the transfer-matrix solver cannot integrate itself."""
    return UsageError(f"{part.table}.{name}: {why} has no twin in the transfer-matrix solver.")


@dataclass
class Level:
    """A node of a circuit: what its stores start at, weighted by their size; whether the model
    writes it, whether the size of a store depends on the level, whether they start apart."""

    table: str
    index: int
    weight: float = 0.0
    start: float = 0.0
    written: bool = False
    bent: bool = False
    apart: bool = False
    rail: Rail | None = None


@dataclass
class Draft:
    """Everything that is laid out so far; `reads` are the names that signals ask for, `begins`
    values of signals at the start that no part writes: of nodes, of controllers; `switches` have
    what reads the motion, too, go from one branch to another; `taps` the states
    that are inputs at the `excited` names (`excited`) that something reads; `ties` the pairs of
    nodes between which a part may carry any flow, `leaks` what carries next to none at times,
    `chokes` what carries its state, `wires` all that carries currents."""

    model: Model
    bodies: Mapping[str, BodyPlace]
    coordinates: Mapping[tuple[str, str], int]
    begins: Mapping[str, float] = field(default_factory=dict)
    start: list[float] = field(default_factory=list)
    guessed: set[int] = field(default_factory=set)
    filters: set[int] = field(default_factory=set)
    scales: list[float] = field(default_factory=list)
    levels: dict[tuple[str, str], Level] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    late: list[Part] = field(default_factory=list)
    shafts: list[Shaft] = field(default_factory=list)
    joints: dict[tuple[str, str], int] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    changes: list[Changing] = field(default_factory=list)
    readers: dict[str, Value] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    outputs: list[Output] = field(default_factory=list)
    functions: list[TimeFunction] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    frictions: list[DryFriction] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    latches: list[Latch] = field(default_factory=list)
    hinges: list[Hinge] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    shares: int = 0
    sensors: list[Sensor] = field(default_factory=list)
    attitudes: list[tuple[int, Sensor]] = field(default_factory=list)
    first_coordinate: int = 0
    first_row: int = 0
    excited: frozenset[str] = frozenset()
    taps: dict[str, int] = field(default_factory=dict)
    ties: list[tuple[int, int]] = field(default_factory=list)
    leaks: list[Ends] = field(default_factory=list)
    wires: list[Ends] = field(default_factory=list)
    chokes: list[tuple[Ends, int]] = field(default_factory=list)

    def state(self, *start: float) -> int:
        """Place of the first of some new states."""
        self.start.extend(start)
        return len(self.start) - len(start)

    def filter(self, *start: float) -> int:
        """Place of the first of some new states that a signal keeps."""
        place = self.state(*start)
        self.filters.update(range(place, place + len(start)))
        return place

    def raised(self, name: str, value: Value) -> Value:
        """The value, with an input added where the name is excited."""
        name = spelled(name)
        if name not in self.excited:
            return value
        if name not in self.taps:
            self.taps[name] = self.state(0.0)
        place = self.taps[name]
        return lambda w: value(w) + w.x[place]

    def store(self, written: float | None, otherwise: float = 0.0) -> int:
        """Place of a new state, which follows the others where the model writes no start."""
        place = self.state(otherwise if written is None else written)
        if written is None:
            self.guessed.add(place)
        return place

    def unknown(self, scale: float) -> int:
        """Place of a new unknown."""
        self.scales.append(scale)
        return len(self.scales) - 1

    def place(self, scale: float = 1.0) -> int:
        """A new place in `through`, for what is typically so large."""
        self.places.append(scale)
        return len(self.places) - 1

    def share(self) -> int:
        """A new place in `shares`."""
        self.shares += 1
        return self.shares - 1

    def node(self, table: str, name: str) -> int:
        """Index of a node."""
        if name == REFERENCE[table]:
            return GROUND
        return self.levels[table, name].index

    def ends(self, table: str, name: str, nodes: tuple[str, str]) -> Ends:
        """Two nodes of a part, which ties them together."""
        ends = self.loose_ends(table, name, nodes)
        self.ties.append((ends.first, ends.second))
        return ends

    def loose_ends(self, table: str, name: str, nodes: tuple[str, str]) -> Ends:
        """Two nodes of a part that may block all but a leak."""
        first, second = (self.node(table, node) for node in nodes)
        if table != "electric":
            return Ends(name, first, second, self.place(SCALES[table][1]), HYDRAULIC)
        self.wires.append(Ends(name, first, second, self.place(SCALES[table][1]), ELECTRIC))
        return self.wires[-1]

    def add(self, part: Part, *, late: bool = False) -> None:
        """Take a part in; `late` ones read what the others leave in `through`."""
        (self.late if late else self.parts).append(part)
        for output in part.outputs():
            self.tell(output)

    def tell(self, output: Output) -> None:
        """An output that signals may read."""
        self.outputs.append(output)
        self.readers[output[0]] = output[2]

    def hinge(self, mass: float, speed: float, *, turns: bool) -> int:
        """A shaft that the mechanism moves although no joint of the model does."""
        place = self.first_coordinate + len(self.hinges)
        self.hinges.append(Hinge(place, turns, speed))
        self.shafts.append(Shaft(JOINT, mass, place=place))
        return len(self.shafts) - 1

    def joint(self, name: str, key: str) -> int:
        """The shaft that is a coordinate of a joint."""
        if (name, key) not in self.coordinates:
            raise UsageError(f"joints.{name} has no free coordinate for a part to act on.")
        if (name, key) not in self.joints:
            self.joints[name, key] = len(self.shafts)
            self.shafts.append(Shaft(JOINT, place=self.coordinates[name, key]))
        return self.joints[name, key]

    def line(self, between: tuple[Attachment, Attachment]) -> Port:
        """The distance of two points."""
        places, points = [], []
        for end in between:
            place = self.bodies[end.body]
            p = place.p_NB + place.R_NB @ np.array(end.at)
            places.append(place.node)
            points.append((float(p[0]), float(p[1]), float(p[2])))
        self.pairs.append(Pair((places[0], places[1]), points[0], points[1]))
        self.shafts.append(Shaft(PAIR, place=len(self.pairs) - 1))
        return Port((Term(len(self.shafts) - 1, 1.0, relative=False),))

    def joint_port(self, name: str, key: str) -> Port:
        """The coordinate itself."""
        return Port((Term(self.joint(name, key), 1.0, relative=False),), turns=key != "slide")
