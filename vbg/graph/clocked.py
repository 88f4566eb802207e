"""What of a graph happens at instants: sampled states, what FMUs tell, jumps of time functions."""

from __future__ import annotations

from collections.abc import Callable

from vbg.blocks import Block, leaf
from vbg.fmi.running import Wiring
from vbg.graph.bondgraph import Clock, Exchanged, Sampled


class Clocked:
    """Collects them, for the builder of a graph."""

    def __init__(self) -> None:
        self._sampled: list[Sampled] = []
        self._exchanged: list[Exchanged] = []
        self._clocks: dict[Clock, None] = {}

    def sampled(
        self,
        name: str,
        update: Callable[[Block], Block],
        *,
        first: float,
        period: float,
        initial: Block,
    ) -> Block:
        state = leaf(name, initial.rows)
        clock = Clock(first, period)
        self._sampled.append(Sampled(name, state, update(state), clock, initial))
        self.breakpoint(first, period)
        return state

    def exchanged(
        self,
        name: str,
        inputs: Block,
        unit: Wiring,
        *,
        first: float,
        period: float,
        initial: Block,
    ) -> Block:
        state = leaf(name, initial.rows)
        clock = Clock(first, period)
        self._exchanged.append(Exchanged(name, state, inputs, unit, clock, initial))
        self.breakpoint(first, period)
        return state

    def breakpoint(self, first: float, period: float = 0.0) -> None:
        self._clocks.setdefault(Clock(first, period))
