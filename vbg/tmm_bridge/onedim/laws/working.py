"""What the parts of a network read and write while their laws are recorded on a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from vbg.tmm_bridge.formulas.tape import Number, Slot, Tape
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction

TIME, BALANCE, FEEDS, CHANGES, OUTPUTS = "time", "balance", "feeds", "changes", "outputs"
SLOPES = "slopes"  # of the balance by its unknowns
SECTIONS = (TIME, BALANCE, FEEDS, CHANGES, OUTPUTS, SLOPES)


class Stored:
    """Slots that are written once a pass.  Who reads one before, within the balance, gets an
    unknown of its own, `early`, with unknown - slot = 0 (tearing: G. Kron, Diakoptics, 1963): in
    the slot is what the pass before has left."""

    def __init__(self, tape: Tape, scales: Sequence[float]):
        self.tape, self.slots, self.scales = tape, [tape.place() for _ in scales], scales
        self.early: dict[int, Slot] = {}
        self._written: set[int] = set()

    def __getitem__(self, k: int) -> Slot:
        if k in self._written or self.tape.section != BALANCE:
            return self.slots[k]
        if k not in self.early:
            self.early[k] = self.tape.place()
        return self.early[k]

    def __setitem__(self, k: int, value: Number) -> None:
        self._written.add(k)
        self.tape.store(value, self.slots[k])


@dataclass
class Working:
    """One instant on the tape.

    x, rates : states and their rates;  z, residual : unknowns and their equations;
    positions, speeds, efforts : of every shaft, efforts as they add up;  origins : positions
    of shafts at the start;  levels, net, capacity, slopes : of every node, flow into it,
    d content / d level of its stores, rate of its level; the last node is the reference.
    through : what each part wants to tell (a current, a flow, an effort);
    shares : of the efforts on shafts those that act on each path of a train of gears;
    seen : triples of bodies' motions that signals read;
    held : efforts of frictions that the mechanism makes stick, accelerations : of shafts that it
    moves, reactions : efforts of the network's rows in it, all known when it was solved;
    signals : values of signals that were asked for at this instant;
    torn : (unknown, residual, scale) of what is read before it is known.
    """

    tape: Tape
    t: Slot
    x: list[Slot]
    z: list[Slot]
    rates: Stored
    residual: Stored
    positions: list[Number]
    speeds: list[Number]
    efforts: list[Number]
    origins: list[Slot]
    levels: list[Number]
    net: list[Number]
    capacity: list[Number]
    slopes: Stored
    through: Stored
    shares: list[Number]
    seen: list[list[Slot]]
    held: list[Slot]
    accelerations: list[Slot]
    reactions: list[Slot]
    signals: dict[str, Number] = field(default_factory=dict)
    torn: list[tuple[Slot, Slot, float]] = field(default_factory=list)
    given: dict[tuple[TimeFunction, int], Number] = field(default_factory=dict)

    def timed(self, function: TimeFunction, order: int) -> Number:
        """A derivative of a function of time, computed once an instant."""
        key = (function, order)
        if key not in self.given:
            section, self.tape.section = self.tape.section, TIME
            self.given[key] = function.record(self.tape, self.t, order)
            self.tape.section = section
        return self.given[key]


Value = Callable[[Working], Number]
Output = tuple[str, str, Value]
Changing = tuple[str, int, Callable[[Working], tuple[Number, ...]]]  # the part's path, how many


@dataclass(frozen=True)
class Energies:
    """What a part holds at an instant [J], what it brings in and loses [W]; `brought` [J] is of
    what is brought in the part that the instant alone tells."""

    kinetic: Number = 0.0
    potential: Number = 0.0
    supplied: Number = 0.0
    lost: Number = 0.0
    brought: Number = 0.0

    def __add__(self, other: Energies) -> Energies:
        return Energies(
            self.kinetic + other.kinetic,
            self.potential + other.potential,
            self.supplied + other.supplied,
            self.lost + other.lost,
            self.brought + other.brought,
        )


@runtime_checkable
class Energetic(Protocol):
    """A part that holds, brings in or loses energy; asked when the balance of an instant holds."""

    def energies(self, w: Working) -> Energies: ...


class Part(Protocol):
    """A part of the network: adds its flows and efforts, its residuals and state rates."""

    def act(self, w: Working) -> None: ...

    def outputs(self) -> Iterator[Output]: ...


@dataclass(frozen=True)
class Term:
    """c times the motion of a shaft; from its position at the start on where `relative`.
    `path` is its place among the `shares` of efforts, -1 for none."""

    shaft: int
    c: float
    relative: bool
    path: int = -1


@dataclass(frozen=True)
class Port:
    """Where a mechanical part acts: value = offset + sum c (position - origin), speed likewise;
    an effort goes back to the shafts by the same factors, which keeps the power."""

    terms: tuple[Term, ...]
    offset: float = 0.0
    turns: bool = False

    def value(self, w: Working) -> Number:
        """Coordinate, angle, position or length."""
        total: Number = self.offset
        for term in self.terms:
            position = w.positions[term.shaft]
            moved = position - w.origins[term.shaft] if term.relative else position
            total = total + term.c * moved
        return total

    def speed(self, w: Working) -> Number:
        """Its rate."""
        total: Number = 0.0
        for term in self.terms:
            total = total + term.c * w.speeds[term.shaft]
        return total

    def push(self, w: Working, effort: Number) -> None:
        """Exert an effort that makes the value grow."""
        for term in self.terms:
            w.efforts[term.shaft] += term.c * effort
            if term.path >= 0:
                w.shares[term.path] += term.c * effort

    def between(self, first: Port) -> Port:
        """This port's motion against another's."""
        back = tuple(replace(term, c=-term.c) for term in first.terms)
        return Port(self.terms + back, self.offset - first.offset, self.turns)
