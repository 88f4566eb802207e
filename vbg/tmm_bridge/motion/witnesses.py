"""States of a run between its rows, for what rows may miss.

Rows an oscillation's period apart fall on its turning points, all of them, and tell of no motion
and no energy.  So some ends of steps are kept, a few in a run of any length, and the instants at
which joints close.  Every other one,
every fourth ... could fall on turning points, too, where steps are alike; those of which

    frac(n phi) < share,     phi = (sqrt 5 - 1) / 2,

is true of the number n have gaps of two or three lengths that no period divides (H. Weyl, Math.
Annalen 77 (1916) 313: n phi is spread evenly), and of a smaller share they are some of the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from vbg.tmm_bridge.kernels.motion.rotation import Array

MOST = 64  # states that are kept
PHI = 0.5 * (5.0**0.5 - 1.0)


class Closing(NamedTuple):
    """The joints that close at one instant, and those that are open behind it."""

    joints: tuple[str, ...]
    open: tuple[str, ...]


class Seen(NamedTuple):
    """A state, the time that it is seen at, and the draw by which it stays."""

    inside: float
    state: Array
    draw: float


@dataclass
class Witnesses:
    """At most MOST states of a run, spread evenly over its steps."""

    kept: list[Seen] = field(default_factory=list)
    closings: dict[Closing, Seen] = field(default_factory=dict)
    _steps: int = 0
    _share: float = 1.0

    def add(self, inside: float, state: Array) -> None:
        """The state at the end of a step."""
        self._steps += 1
        draw = self._steps * PHI % 1.0
        if draw >= self._share:
            return
        self.kept.append(Seen(inside, state.copy(), draw))
        if len(self.kept) > MOST:
            self._share *= 0.5
            self.kept = [seen for seen in self.kept if seen.draw < self._share]

    def close(self, closing: Closing, inside: float, state: Array) -> None:
        """The `state` in which these joints close, their modes already those behind it: the first
        of its like."""
        self.closings.setdefault(closing, Seen(inside, state.copy(), 0.0))

    def back_to(self, t: float) -> None:
        """Forget those behind t."""
        self.kept = [seen for seen in self.kept if seen.inside <= t]
        self.closings = {c: seen for c, seen in self.closings.items() if seen.inside <= t}
