"""What the parts of a network read and write while one instant is solved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

Floats = list[float]


@dataclass
class Working:
    """One instant.

    x, rates : states and their rates;  z, residual : unknowns and their equations;
    positions, speeds, efforts : of every shaft, efforts as they add up;  origins : positions
    of shafts at the start;  levels, net, capacity, slopes : of every node, flow into it,
    d content / d level of its stores, rate of its level; the last node is the reference.
    through : what each part wants to tell (a current, a flow, an effort);
    signals : values of signals that were asked for at this instant;
    given : time and value of functions of time when they were last asked for.
    """

    t: float
    x: Floats
    z: Floats
    rates: Floats
    residual: Floats
    positions: Floats
    speeds: Floats
    efforts: Floats
    origins: Floats
    levels: Floats
    net: Floats
    capacity: Floats
    slopes: Floats
    through: Floats
    signals: dict[str, float] = field(default_factory=dict)
    given: dict[str, tuple[float, float]] = field(default_factory=dict)


Value = Callable[[Working], float]
Output = tuple[str, str, Value]


class Part(Protocol):
    """A part of the network: adds its flows and efforts, its residuals and state rates."""

    def act(self, w: Working) -> None: ...

    def outputs(self) -> Iterator[Output]: ...


@dataclass(frozen=True)
class Term:
    """c times the motion of a shaft; from its position at the start on where `relative`."""

    shaft: int
    c: float
    relative: bool


@dataclass(frozen=True)
class Port:
    """Where a mechanical part acts: value = offset + sum c (position - origin), speed likewise;
    an effort goes back to the shafts by the same factors, which keeps the power."""

    terms: tuple[Term, ...]
    offset: float = 0.0
    turns: bool = False

    def value(self, w: Working) -> float:
        """Coordinate, angle, position or length."""
        total = self.offset
        for term in self.terms:
            origin = w.origins[term.shaft] if term.relative else 0.0
            total += term.c * (w.positions[term.shaft] - origin)
        return total

    def speed(self, w: Working) -> float:
        """Its rate."""
        total = 0.0
        for term in self.terms:
            total += term.c * w.speeds[term.shaft]
        return total

    def push(self, w: Working, effort: float) -> None:
        """Exert an effort that makes the value grow."""
        for term in self.terms:
            w.efforts[term.shaft] += term.c * effort

    def between(self, first: Port) -> Port:
        """This port's motion against another's."""
        back = tuple(Term(t.shaft, -t.c, t.relative) for t in first.terms)
        return Port(self.terms + back, self.offset - first.offset, self.turns)
