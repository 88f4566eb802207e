"""Modes of the dry frictions of a run, found for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.blocks import dependencies
from vbg.physics.stiction import RESTING, most_held
from vbg.simulate.events.sticking import Modes, alone, held

Array = NDArray[np.float64]
Values = Callable[[float, Array], Array]  # of all switching functions at (t, x)

BRIEF = 64.0 * np.finfo(float).eps  # of the time: a speed that comes of so little of it is none
# Of a run: what is at rest within so little of it has moved by less than a rounding of the way that
# its acceleration makes in the whole of it (1e-20 / 2 of that).
AT_ONCE = 1e-10
NOISE = 1e-8  # of the largest speed that a friction has had: what is left of it where it stuck
SLACK = 1e-11  # of the same, at an event
WEAK = 1e-8  # of what another holds: rounding of that has eaten half of its digits
LIMIT = 1e-9  # of what a friction holds: nearer to all of it, it goes
TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True)
class Grips:
    """Dry frictions of a system: `ways` (n, 2) the switching functions of their modes forward and
    backward, `places` (n, 2) of these modes in the state; `values` and `growth` of the switching
    functions; `renew(t, x)` chooses the rows that hold in the modes of x, `unsettled(t, ways)` is
    told which shares of a load have not been found; `duration` [s] is that of the run; `fastest`
    and `liveliest` (n,) are the largest speeds and accelerations that they have had."""

    ways: NDArray[np.intp]
    places: NDArray[np.intp]
    values: Values
    growth: Values
    renew: Callable[[float, Array], None]
    unsettled: Callable[[float, NDArray[np.intp]], None]
    duration: float
    fastest: Array
    liveliest: Array

    def agree(
        self,
        t: float,
        x: Array,
        crossed: Sequence[int],
        brief: float,
        *,
        first: bool,
        again: bool,
    ) -> bool:
        """Modes in place: of what moves by its speed, of what is at rest by what holds.  Whether
        any has changed.

        At rest are those whose switching function has just `crossed` zero, those that stuck or
        begin (`first`) and are not set going, and those whose speed is rounding, also of the time
        at which they are looked at, which is `brief` [s] at least.  No speed is one by its size
        alone: it is set going if it lasts.  `again`: of the same event, which takes nothing from
        one way to the next more than once."""
        before = x[self.places].copy()
        stuck = ~np.any(before > 0.5, axis=1)
        x[self.places] = (1.0, 0.0)
        self.renew(t, x)
        speed, growth = self.values(t, x)[self.ways[:, 0]], self.growth(t, x)[self.ways[:, 0]]
        idle = np.maximum(AT_ONCE * self.duration * np.abs(growth), NOISE * self.fastest)
        np.maximum(self.fastest, np.abs(speed), out=self.fastest)
        slow = np.minimum(idle, self._slowest)
        np.fmax(self.liveliest, np.abs(growth), out=self.liveliest)
        still = np.abs(speed) <= np.where(stuck | first, idle, slow)
        still |= np.abs(speed) <= BRIEF * max(abs(t), brief) * np.abs(growth)
        turned = np.isin(self.ways, crossed).any(axis=1)
        still |= turned
        modes = np.sign(speed).astype(np.intp)
        resting = np.flatnonzero(still)
        if resting.size:
            kept = np.where(stuck | (first & still), 0, np.where(before[:, 1] > 0.5, -1, 1))
            following = np.where(kept < 0, 0, np.where(stuck, 1, -1))
            onward = np.where(turned & (not again), following, kept)
            modes = self._held(t, x, modes, resting, onward[resting])
            modes = self._let_go(t, x, modes)
        self._set(t, x, modes)
        return bool(np.any(x[self.places] != before))

    def struck(
        self, t: float, x: Array, impulse: Callable[[float, Array], object], brief: float
    ) -> None:
        """x behind an `impulse`, in place.  What friction holds is bounded, and nothing within no
        time: none holds in the impulse, and the speeds behind it say how each goes on."""
        before = x[self.places].copy()
        self._set(t, x, np.ones(len(self.places), dtype=np.intp))
        impulse(t, x)
        x[self.places] = before
        self.agree(t, x, (), brief, first=False, again=False)

    def slack(self, values: Array, signs: Array) -> Array:
        """Speeds that are rounding still where what slips comes to zero, of each switching
        function: beside the run and the fastest that it has been, whose `values` (..., n) are
        looked at while modes with positive `signs` slip."""
        found = np.zeros(values.shape[-1])
        if self.ways.size:
            speeds = np.where(signs > 0.0, np.abs(values), 0.0)[..., self.ways]
            np.fmax(
                self.fastest,
                speeds.max(axis=-1).reshape(-1, len(self.ways)).max(axis=0),
                out=self.fastest,
            )
            beside = np.maximum(AT_ONCE * self.duration * self.liveliest, SLACK * self.fastest)
            found[self.ways] = np.minimum(self._slowest, beside)[:, None]
        return found

    @property
    def _slowest(self) -> Array:
        """The largest speeds at which what slips is ever at rest, (n,)."""
        return np.maximum(RESTING, SLACK * self.fastest)

    def _set(self, t: float, x: Array, modes: Modes) -> None:
        x[self.places] = _slipping(modes)
        self.renew(t, x)

    def _held(
        self,
        t: float,
        x: Array,
        modes: Modes,
        resting: NDArray[np.intp],
        onward: Modes,
    ) -> Modes:
        """How those at rest go on, as few of them stuck as can: what each does to the others from
        its effort, alone beside the load, which the accelerations are linear in.  What nothing
        pushes and can hold nothing, as a clutch that begins to engage, goes `onward`: as it did, or
        the next of the three ways if it has just left that; only what follows tells which is."""
        modes = modes.copy()
        modes[resting] = 1
        ahead, back = self._most(t, x, resting, modes)
        A, b = self._accelerations(t, x, resting, modes, ahead, back)
        found, f, whole = held(A, b, ahead, back)
        if not whole:
            self.unsettled(t, self.ways[resting, 0])
        found = np.where((found == 0) & (ahead + back == 0.0), onward, found)
        modes[resting] = alone(A, f, ahead, back, found)
        return modes

    def _accelerations(
        self,
        t: float,
        x: Array,
        resting: NDArray[np.intp],
        modes: Modes,
        ahead: Array,
        back: Array,
    ) -> tuple[Array, Array]:
        """A and b of those at rest, v' = A f + b; others slip as `modes` say.  One effort at a time
        is beside the load: all of them at once would drown what a clutch adds that has just begun
        to close.  Half of either way, by what it holds there, is no effort and no grip."""
        forward, backward = self.ways[resting].T
        A, places = np.zeros((len(resting), len(resting))), self.places[resting]
        able = ahead + back > 0.0
        half = np.divide(back, ahead + back, out=np.ones(len(back)), where=able)
        none = np.stack([half, 1.0 - half], axis=1)
        x[self.places] = _slipping(modes)
        x[places] = none
        b = self.growth(t, x)[forward]
        for j in np.flatnonzero(able):
            goes = ahead[j] >= back[j]
            x[places[j]] = (1.0, 0.0) if goes else (0.0, 1.0)
            grown = self.growth(t, x)
            changed = grown[forward] - b
            if not goes:
                changed[j] = -grown[backward[j]] - b[j]
            A[:, j] = changed / (-ahead[j] if goes else back[j])
            x[places[j]] = none[j]
        holds = np.maximum(ahead, back)
        lost = (holds < WEAK * holds[:, None]) & able
        return np.where(lost, A.T, A), b  # symmetric, and known better from the stronger of two

    def _most(
        self, t: float, x: Array, resting: NDArray[np.intp], modes: Modes
    ) -> tuple[Array, Array]:
        """What each can hold ahead and back."""
        found = []
        for way in (-1, 1):
            modes[resting] = way
            x[self.places] = _slipping(modes)
            values = self.values(t, x)[self.ways[resting]]
            found.append(most_held(values[:, 0 if way < 0 else 1]))
        return found[0], found[1]

    def _let_go(self, t: float, x: Array, modes: Modes) -> Modes:
        """The most overloaded of those that hold goes to its limit as long as there is one, and
        what it leaves is held by the others."""
        modes = modes.copy()
        most = np.stack(self._most(t, x, np.arange(len(modes)), modes.copy()), axis=1)
        for _ in range(len(modes)):
            self._set(t, x, modes)
            values = np.where((modes == 0)[:, None], self.values(t, x)[self.ways], -np.inf)
            over = values > -LIMIT * most
            if not over.any():
                break
            load = np.where(over, (values + most) / np.maximum(most, TINY), -np.inf)
            friction, way = divmod(int(np.argmax(load)), 2)
            modes[friction] = -1 if way else 1
        return modes


def _slipping(modes: Modes) -> Array:
    return np.stack([modes > 0, modes < 0], axis=1).astype(float)


def rows_of(system: System, names: list[str]) -> list[tuple[int, tuple[int, ...]]]:
    """Rows of the constraints that hold at times, each with the modes that say when."""
    found = []
    for c in system.equations.constraints:
        if c.active is None or c.latches:
            continue
        leaves = {b.data for b in dependencies([c.active]) if b.op == "leaf"}
        found.append((c.first, tuple(i for i, name in enumerate(names) if name in leaves)))
    return found
