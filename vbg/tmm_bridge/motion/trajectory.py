"""The states of a run at its output instants, and what is counted on the way."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from vbg.solution import Event, Status
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.motion.events.half_turns import Twists
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.steps.looking import Looks
from vbg.tmm_bridge.motion.steps.methods import Method
from vbg.tmm_bridge.motion.witnesses import Witnesses

CHATTER = 500  # restarts that are remembered


@dataclass(frozen=True)
class Trajectory:
    """States at the output times that were reached, and how the run went; `inside` are the
    times, where an input jumps those behind the jump, at which a row looks at the inputs;
    `crossings` are roots of indicators with the rows before each; `stiff` says whether implicit
    steps were among them, `liveliest` (frictions,) how fast each dry friction was seen to speed
    up while it slips, and would where it holds; `between` are some states at ends of steps."""

    time: Array
    states: Array
    inside: Array
    events: tuple[Event, ...]
    n_steps: int
    n_rates: int
    status: Status
    crossings: tuple[tuple[float, int], ...] = ()
    stiff: bool = False
    liveliest: Array = field(default_factory=lambda: np.zeros(0))
    between: Witnesses = field(default_factory=Witnesses)


@dataclass
class RunRecord:
    """Output states and counters while the run goes on; `told` are the signs of indicators as
    the events so far left them."""

    grid: Array
    patience: float = np.inf
    method: Method = field(default_factory=Method)
    looks: Looks = field(default_factory=Looks)
    told: Array = field(default_factory=lambda: np.zeros(0))
    twists: Twists = field(default_factory=Twists)
    between: Witnesses = field(default_factory=Witnesses)
    times: list[float] = field(default_factory=list)
    states: list[Array] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    crossings: list[tuple[float, int]] = field(default_factory=list)
    restarts: deque[float] = field(default_factory=lambda: deque(maxlen=CHATTER))
    n_steps: int = 0
    failure: str = ""
    remedy: str = ""  # of that, where it is another one than of a step that is too short

    @property
    def done(self) -> int:
        return len(self.states)

    def add(self, plant: Plant, t: float, y: Array) -> None:
        """The next row, seen at t."""
        self.times.append(float(self.grid[self.done]))
        self.states.append(y)
        self.inside.append(plant.inside(t))

    def back_to(self, t: float) -> None:
        """Forget the rows behind t."""
        kept = bisect_right(self.times, t)
        del self.times[kept:], self.states[kept:], self.inside[kept:]
        self.between.back_to(t)

    def end_at(self, plant: Plant, t: float, y: Array) -> None:
        """The last row of a run that is cut off at t, between two output instants or on one:
        what was reached is kept."""
        if self.done < len(self.grid) and t > self.times[-1]:
            self.add(plant, t, y)
            self.times[-1] = min(t, self.times[-1])
