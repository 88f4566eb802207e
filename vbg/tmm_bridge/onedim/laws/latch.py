"""Joints that open and close.

Such a joint is always a cut of the tree: its rows idle while it is open.  What it keeps are states
without a rate: whether it is open, the impulse and moment (W) and the energy that its closings
have cost, what of its condition is rounding, and whether `engage` may close it: it does where it
comes true, and behind an opening it has to have been false first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Number, choose
from vbg.tmm_bridge.onedim.laws.working import Output, Value, Working

IMPULSE, MOMENT, LOST, GRAIN, ARMED = 1, 4, 7, 8, 9  # places behind the mode
KEPT = 10


@dataclass(frozen=True)
class Latch:
    """The joint `name`; `release` is positive where it opens, `engage` where it closes (None:
    never), `mode` the place of its states, of which the first is 1 while it is open; `timed` if
    its conditions are functions of time alone, which nothing rounds."""

    name: str
    release: Value | None
    engage: Value | None
    mode: int
    timed: bool

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Grows through zero where the mode changes, or where what is open may close again."""
        release, engage = (-1.0 if v is None else v(w) for v in (self.release, self.engage))
        opened = choose(w.x[self.mode + ARMED], engage, -engage)
        return (choose(w.x[self.mode], opened, release) - w.x[self.mode + GRAIN],)

    def outputs(self) -> Iterator[Output]:
        """Under the names of the model."""
        yield f"{self.name}.open", "1", _state(self.mode)
        for what, first, unit in (("impulse", IMPULSE, "N*s"), ("moment", MOMENT, "N*m*s")):
            for k in range(3):
                yield f"{self.name}.{what}[{k}]", unit, _state(self.mode + first + k)
        yield f"{self.name}.lost", "J", _state(self.mode + LOST)


def _state(place: int) -> Value:
    return lambda w: w.x[place]
