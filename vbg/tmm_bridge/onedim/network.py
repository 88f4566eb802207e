"""A network of one-dimensional parts, and one pass over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vbg.tmm_bridge.formulas.switches import Switch
from vbg.tmm_bridge.formulas.tape import Number, Slot, Tape
from vbg.tmm_bridge.formulas.timefunctions import Break
from vbg.tmm_bridge.onedim.laws.electric import Rail
from vbg.tmm_bridge.onedim.laws.friction import ROOM, DryFriction
from vbg.tmm_bridge.onedim.laws.latch import KEPT, Latch
from vbg.tmm_bridge.onedim.laws.mechanical import (
    DRIVEN,
    FREE,
    JOINT,
    MASSLESS,
    PAIR,
    Prescribed,
    Shaft,
)
from vbg.tmm_bridge.onedim.laws.signals import Held
from vbg.tmm_bridge.onedim.laws.working import (
    Changing,
    Energetic,
    Energies,
    Output,
    Part,
    Stored,
    Value,
    Working,
)


@dataclass(frozen=True)
class Pair:
    """Two points whose distance is a shaft: nodes of the mechanism, points in their frames."""

    nodes: tuple[int, int]
    first: tuple[float, float, float]
    second: tuple[float, float, float]


@dataclass(frozen=True)
class Hinge:
    """A shaft that is laid into the mechanism as a hinge on the ground: its coordinate, whether
    it turns, its speed at the start."""

    coordinate: int
    turns: bool
    speed: float


@dataclass(frozen=True)
class Row:
    """A row between coordinates of the mechanism, `second` - ratio `first`; `idle` at first."""

    first: int
    second: int
    ratio: float
    idle: bool


@dataclass(frozen=True)
class Sensor:
    """Three components of a body's motion that signals read: position or velocity of a point
    [m, m/s; world axes], or the angular velocity [rad/s; body axes, v_N = R_NB v_B]."""

    what: int
    node: int
    point: tuple[float, ...]
    R_NB: tuple[float, ...]


@dataclass(frozen=True)
class Node:
    """A node with a level: `state` or `unknown` is the level's place, -1 where it is not that;
    `rail` gives it; the reference has neither.  `crossing` are (sign, place in `through`) of the
    flows whose sum stands for the node's balance, where that is another one."""

    state: int = -1
    unknown: int = -1
    rail: Rail | None = None
    crossing: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class Network:
    """Parts, shafts and nodes (the last is the reference), laid out for one mechanism.

    start : states at t = 0, `guessed` those that nobody wrote, `filters` those of signals;
    scales : typical sizes of the unknowns;
    places : typical sizes of what parts tell (`Working.through`);
    efforts : (input of the mechanism, shaft, sign) that its shafts exert, `feeds` inputs that a
    signal gives;  changes : what changes sign where a law has a kink, with its part, or
    none where that is no event;
    breaks : instants where an input of the network jumps, or one of `switches` changes its sign;
    masses : inertia on coordinates of the mechanism;  frictions : parts whose mode changes
    between steps;  origins : where its shafts start, from which gears and screws count;
    hinges, rows : of the mechanism, for shafts and frictions that are solved with it;
    held : places that tell what such frictions hold;
    samplers : signals that are read at the strokes of a clock only;
    shares : how many paths gears tie together;  sensors : motions of bodies that signals read;
    attitudes : (first state, sensor) of quaternions that follow a body;
    latches : joints that open and close;  taps : states that are inputs, by what they excite;
    works : place of the states of what the parts have brought in and lost;
    choked : states of currents that nothing but leaks of diodes need lead on;
    paced : places among the outputs of the voltages of sources beside exponential diodes.
    """

    parts: tuple[Part, ...]
    shafts: tuple[Shaft, ...]
    nodes: tuple[Node, ...]
    pairs: tuple[Pair, ...]
    start: tuple[float, ...]
    scales: tuple[float, ...]
    places: tuple[float, ...]
    efforts: tuple[tuple[int, int, float], ...]
    feeds: tuple[tuple[int, Value], ...]
    changes: tuple[Changing, ...]
    outputs: tuple[Output, ...]
    breaks: tuple[Break, ...]
    masses: Mapping[int, float]
    frictions: tuple[DryFriction, ...] = ()
    origins: tuple[float, ...] = ()
    hinges: tuple[Hinge, ...] = ()
    rows: tuple[Row, ...] = ()
    first_row: int = 0
    guessed: frozenset[int] = frozenset()
    filters: frozenset[int] = frozenset()
    samplers: tuple[Held, ...] = ()
    switches: tuple[Switch, ...] = ()
    latches: tuple[Latch, ...] = ()
    works: int = -1
    shares: int = 0
    sensors: tuple[Sensor, ...] = ()
    attitudes: tuple[tuple[int, Sensor], ...] = ()
    taps: Mapping[str, int] = field(default_factory=dict)
    choked: tuple[int, ...] = ()
    paced: tuple[int, ...] = ()

    @property
    def row_places(self) -> range:
        """Places of the rows in the mechanism's table."""
        return range(self.first_row, self.first_row + len(self.rows))

    @property
    def discrete(self) -> Iterator[int]:
        """Discrete states, which have no rate: modes of frictions, where they stick and their
        room, what samplers hold, what joints that open and close keep, and inputs."""
        for friction in self.frictions:
            yield from range(friction.mode, friction.mode + (1 if friction.row < 0 else 1 + ROOM))
        yield from (held.state for held in self.samplers)
        for latch in self.latches:
            yield from range(latch.mode, latch.mode + KEPT)
        yield from self.taps.values()

    @property
    def fed_inputs(self) -> set[int]:
        """Inputs of the mechanism that come from here."""
        return {place for place, _, _ in self.efforts} | {place for place, _ in self.feeds}

    def working(self, tape: Tape, t: Slot) -> Working:
        """An instant on `tape` with nothing in it yet."""
        n, m, k = len(self.start), len(self.scales), len(self.shafts)
        nodes = len(self.nodes)
        return Working(
            tape=tape,
            t=t,
            x=[tape.place(start) for start in self.start],
            z=[tape.place() for _ in range(m)],
            rates=Stored(tape, [1.0] * n),
            residual=Stored(tape, [1.0] * m),
            positions=[tape.place() for _ in range(k)],
            speeds=[tape.place() for _ in range(k)],
            efforts=[0.0] * k,
            origins=[tape.place(origin) for origin in self.origins or [0.0] * k],
            levels=[0.0] * nodes,
            net=[0.0] * nodes,
            capacity=[0.0] * nodes,
            slopes=Stored(tape, [1.0] * nodes),
            through=Stored(tape, self.places),
            shares=[0.0] * self.shares,
            seen=[[tape.place() for _ in range(3)] for _ in self.sensors],
            held=[tape.place() for _ in self.frictions],
            accelerations=[tape.place() for _ in self.shafts],
            reactions=[tape.place() for _ in self.rows],
        )


def energies(network: Network, w: Working) -> Energies:
    """Of all parts and shafts at an instant whose balance holds.

    What joints and lines take from the network is the mechanism's: it counts the first as
    supplied and the second as lost with the other sign, which is taken back here.
    """
    total = Energies()
    for part in network.parts:
        if isinstance(part, Energetic):
            total = total + part.energies(w)
    for i, shaft in enumerate(network.shafts):
        if shaft.mass:
            total = total + Energies(kinetic=0.5 * shaft.mass * w.speeds[i] * w.speeds[i])
        if shaft.kind == JOINT:
            total = total + Energies(supplied=-w.efforts[i] * w.speeds[i])
        elif shaft.kind == PAIR:
            total = total + Energies(lost=w.efforts[i] * w.speeds[i])
    return total


def set_levels(network: Network, w: Working) -> None:
    """Speeds of shafts and levels of nodes from states, unknowns and sources."""
    for i, shaft in enumerate(network.shafts):
        if shaft.kind in (JOINT, PAIR):
            continue
        w.positions[i] = w.x[shaft.state]
        if shaft.kind == FREE:
            w.speeds[i] = w.x[shaft.state + 1]
        elif shaft.kind == MASSLESS:
            w.speeds[i] = w.z[shaft.unknown]
        elif shaft.drive is not None:
            w.speeds[i] = w.timed(shaft.drive, 0) / shaft.factor
    rails = []
    for i, node in enumerate(network.nodes):
        if node.state >= 0:
            w.levels[i] = w.x[node.state]
        elif node.unknown >= 0:
            w.levels[i] = w.z[node.unknown]
        elif node.rail is not None:
            rails.append((i, node.rail))
    for i, rail in rails:
        w.levels[i] = rail.level(w)
    w.signals.clear()


def _into(w: Working, node: Node, net: Number) -> Number:
    """What the node's balance is told by: the flow into it, or into its island."""
    total: Number = 0.0
    for sign, place in node.crossing:
        total = total + sign * w.through[place]
    return total if node.crossing else net


def balance(network: Network, w: Working) -> None:
    """Everything at (t, x, z): residuals of the unknowns, rates of the states, efforts."""
    set_levels(network, w)
    for part in network.parts:
        part.act(w)
    for friction in network.frictions:
        if friction.row < 0:
            friction.close(w, network.shafts)
    for i, node in enumerate(network.nodes):
        if node.state >= 0:
            slope = w.net[i] / w.capacity[i]
            w.slopes[i] = w.rates[node.state] = slope
        elif node.unknown >= 0:
            w.residual[node.unknown] = _into(w, node, w.net[i])
        elif node.rail is not None:
            node.rail.close(w)
    for i, shaft in enumerate(network.shafts):
        if shaft.kind == FREE:
            w.rates[shaft.state] = w.speeds[i]
            w.rates[shaft.state + 1] = w.efforts[i] / shaft.mass
        elif shaft.kind == MASSLESS:
            w.residual[shaft.unknown] = w.efforts[i]
            w.rates[shaft.state] = w.speeds[i]
        elif shaft.kind == DRIVEN:
            w.rates[shaft.state] = w.speeds[i]
    for friction in network.frictions:
        friction.hold(w)
    for part in network.parts:
        if isinstance(part, Prescribed):
            part.close(w)
    _tear(w)


def _tear(w: Working) -> None:
    """The equations of what was read before it was known."""
    for stored in (w.through, w.slopes, w.rates):
        for k, early in stored.early.items():
            left = w.tape.place()
            w.tape.store(early - stored.slots[k], left)
            w.torn.append((early, left, stored.scales[k]))
