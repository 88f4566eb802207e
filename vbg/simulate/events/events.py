"""Events: switching functions are located to the root, modes follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start
from vbg.graph.bondgraph import Mode, Switch
from vbg.junctions.latch import MODE
from vbg.physics.stiction import most_held
from vbg.simulate.events.gripping import AT_ONCE, Grips, rows_of
from vbg.simulate.events.looks import FLAT, closer, end_of, goes_on, is_doubtful, places, under_way
from vbg.simulate.events.massless import Massless, massless_ways
from vbg.simulate.events.recent import ALIKE, Recent
from vbg.simulate.events.rounding import Rounding
from vbg.simulate.steppers.stepper import FixedStep, Stepper
from vbg.solution import Event

Array = NDArray[np.float64]

ROUNDS = 20  # changes of modes that may follow from one event,
ROUNDS_EACH = 6  # and so many more for everything that can stick
BRENT = 50**2  # iterations: halving needs 50, Brent at most their square (a triple root 150)
STEP = 1e-40  # of complex steps
COMES = 4.0  # times as long as its growth asks for, in which a mode comes to its side
INSTANT = 1e-5  # of an output step: events within it are at one instant


class Switches:
    """The switching functions of one run, their signs, and the modes they set."""

    def __init__(
        self,
        start: Start,
        output_step: float,
        duration: float,
        renew: Callable[[float, Array], None] | None = None,
    ):
        """`duration` [s] is that of the run; `renew(t, x)` chooses the rows that hold in the modes
        of x."""
        system = start.system
        graph = system.causal.graph
        self._instant = INSTANT * output_step
        self._about: list[Switch | Mode] = [*graph.switches, *graph.modes]
        self._evaluate = start.evaluator("switch")
        places = {s.state.name: s.first for s in system.slices}
        self._mode = np.array([places.get(s.name, -1) for s in self._about], dtype=int)
        self._rest = np.array([getattr(s, "rest", 0.0) for s in self._about])
        self._signs: Array = np.zeros(len(self._about))
        self.unsettled: dict[str, float] = {}  # modes that did not come to agree, and when first
        self._scale: Array = np.zeros(len(self._about))
        self._lately: Array = np.zeros(len(self._about))  # the largest values in these modes
        # kinks without a word: one that is zero but for rounding has not been passed
        self._quiet = np.array([not s.what for s in self._about], dtype=bool)
        self._kinks = self._quiet & (self._mode < 0)
        # a mode is on where its function is above zero: one that stays zero is off
        self._above = (self._mode >= 0) & (self._rest == 0.0) & ~self._quiet
        self._grips = rows_of(system, [s.name for s in self._about])
        # a joint that opens and closes begins as it is; the latches tell of it
        latches = {f"{c.name}.{MODE}" for c in system.equations.constraints if c.latches}
        self._latch = np.array([s.name in latches for s in self._about], dtype=bool)
        self._armed = np.ones(len(self._about), dtype=bool)  # what is not does not close
        self._late = np.full(len(self._about), -np.inf)  # until when it comes to its side [s]
        at_once = massless_ways(system, [s.name for s in self._about])
        by_size = (self._mode >= 0) & (self._rest == 0.0) & ~self._latch
        by_size[at_once] = True
        # as what holds that can hold nothing and has nothing to hold
        self._stays = self._above | (self._rest > 0.0)
        self._rounding = Rounding(start, [s.name for s in self._about], np.flatnonzero(by_size))
        self._start = start
        self.hasty = False  # what was found turns back within a step that is no brief one
        self.undefined = ""  # names of what has no value any more
        self._crossed: list[int] = []
        self._recent = Recent(len(self._about), self._instant)
        ways = np.array([modes for _, modes in self._grips], dtype=np.intp).reshape(-1, 2)
        places_of = self._mode[ways]
        self._dry = Grips(
            ways,
            places_of,
            self._values,
            self._growth,
            renew or _as_they_are,
            self._tell,
            duration,
            *np.zeros((2, len(ways))),
        )
        self._massless = Massless(
            at_once, self._mode[at_once], self._values, self._growth, self._rounded
        )
        self._at_once = AT_ONCE * duration

    def _values(self, t: float, x: Array) -> Array:
        return self._seen(self._evaluate(t, x)[: len(self._about)].copy())

    def _rounded(self, t: float, x: Array) -> Array:
        """Below which values are rounding.  Bounds of what follows at once count the ways of all
        modes, which are exact: no value is rounding that is not little beside what it has been."""
        sizes, ways = self._rounding(t, x), self._massless.ways
        sizes = np.maximum(sizes, np.minimum(self._recent.blurred * sizes, FLAT * self._scale))
        sizes[ways] = np.minimum(sizes[ways], FLAT * self._scale[ways])
        return sizes

    def _seen(self, values: Array) -> Array:
        """The same, their sizes kept in mind."""
        for largest in (self._scale, self._lately):
            np.maximum(largest, np.abs(values), out=largest, where=np.isfinite(values))
        return values

    def begin(self, t: float, x: Array, *, first: bool = False) -> None:
        """Modes that agree with their conditions, in place, and the signs from there."""
        if self._about:
            self._agree(t, x, first=first)
            self._remember(t, x)

    def begin_run(self, x: Array, t: float = 0.0) -> None:
        """The same from modes that are all off but for those of what moves, and of joints that
        begin open."""
        x[self._mode[(self._mode >= 0) & ~self._latch]] = 0.0
        x[self._massless.places] = (1.0, 0.0)
        rests = np.setdiff1d(np.flatnonzero(self._rest > 0.0), self._massless.ways)
        if rests.size:
            x[self._mode[rests]] = 1.0
            x[self._mode[rests]] = self._values(t, x)[rests] > 0.0
        self.begin(t, x, first=True)

    def find(
        self, stepper: Stepper, project: Callable[[float, Array], object]
    ) -> tuple[float, list[Event]] | None:
        """The first crossing inside the last step, to the root, and its events; `project` moves
        a state onto the constraints, where the root is wanted.

        A long step is looked at in several places (`closer`).
        """
        if not self._about:
            return None

        def looked(times: Array) -> Array:
            return self._evaluate.each(times, stepper.between_each(times))[:, : len(self._about)]

        points = places(stepper.t_before, stepper.t)
        looks = looked(points[1:])
        if is_doubtful(looks, FLAT * self._lately):
            rounding = self._rounded(stepper.t, stepper.between(stepper.t))
            floor = np.maximum(rounding, FLAT * np.fmax(self._lately, np.abs(looks).max(axis=0)))
            points, looks = closer(looked, points, looks, floor)
        if np.all(np.sign(looks) == self._signs):  # as nearly always
            self._seen(np.abs(looks).max(axis=0))
            self._arm(looks.max(axis=0))
            self._dry.slack(looks, self._signs)
            return None
        rest = self._dry.slack(looks, self._signs)
        since = np.full(len(self._about), points[0])  # the last look not beyond zero by rounding
        for after, found in zip(points[1:], looks, strict=True):
            values = self._seen(found)
            lost = np.isnan(values) & (~self._quiet | self._latch)
            if lost.any():
                self.undefined = ", ".join(self._about[i].name for i in np.flatnonzero(lost))
                return None
            signs = np.sign(values)
            resting = (self._signs > 0.0) & (np.abs(values) <= rest) & ~self._above
            resting |= self._quiet & (np.abs(values) <= FLAT * self._scale)
            resting |= self._stays & (self._signs < 0.0) & (values == 0.0)
            self._arm(values)
            resting |= ~self._armed & (self._signs > 0.0) | (after <= self._late)
            beyond = np.flatnonzero((signs != self._signs) & (self._signs != 0.0) & ~resting)
            crossed = beyond
            if crossed.size:
                sizes = self._rounded(after, stepper.between(after))
                crossed = crossed[np.abs(values[crossed]) >= sizes[crossed]]
            if crossed.size:
                return self._first_root(stepper, project, crossed, since[crossed], after)
            since = np.where(np.isin(np.arange(len(since)), beyond), since, after)
            self._signs = np.where((self._mode >= 0) | resting, self._signs, signs)
        return None

    def pass_none(self) -> None:
        """What was found is not met: something else happens before it."""
        self._crossed = []

    def _first_root(
        self,
        stepper: Stepper,
        project: Callable[[float, Array], object],
        crossed: NDArray[np.intp],
        since: Array,
        after: float,
    ) -> tuple[float, list[Event]]:
        def projected(t: float) -> Array:
            x = stepper.between(t).copy()
            project(t, x)
            return x

        def looked(times: Array) -> Array:
            return self._evaluate.each(times, stepper.between_each(times))[:, : len(self._about)]

        times: dict[int, float] = {}
        for i, before in zip(crossed.tolist(), since.tolist(), strict=True):
            root = self._root(projected, i, before, after)
            if root is None:  # on the constraints it has not crossed yet, beside them it has
                root = self._root(stepper.between, i, before, after)
            # without either it stood beyond zero from the beginning
            times[i] = before if root is None else root
        first = float(min(times.values()))
        there = self._evaluate(first, stepper.between(first))[: len(self._about)]
        flat = self._latch & (np.abs(there) <= FLAT * self._scale)
        at_once = [i for i, t in times.items() if t <= first * (1.0 + ALIKE) or flat[i]]
        # laws that jump jump before it; joints that close at one instant do in one impact
        if (self._kinks | self._latch)[at_once].all():
            first = float(max(times[i] for i in at_once))
        self._crossed = [i for i in at_once if times[i] <= first]
        if flat.any() and first < after:
            turning = flat & (self._armed | (self._signs < 0.0))
            ahead = turning & goes_on(looked, first, after, self._signs)
            self._crossed += np.setdiff1d(np.flatnonzero(ahead), self._crossed).tolist()
        self.hasty = self._turns_back(stepper)
        if not self.hasty:
            self._recent.add(first, self._crossed)
        idle = self.idle(first, stepper.between(first)) if self._grips else frozenset()
        return first, self._told(first, (i for i in self._crossed if i not in idle))

    def _turns_back(self, stepper: Stepper) -> bool:
        """Whether a mode crosses that has turned over where the step begins, and that is no brief
        one.  On its side by less than a long step errs by, as a voltage that begins as the cube of
        the time, it is seen to turn back in a brief step only."""
        own = [i for i in self._crossed if self._mode[i] >= 0 and self._rest[i] == 0.0]
        brief = stepper.t - stepper.t_before <= self._instant or isinstance(stepper, FixedStep)
        return not brief and self._recent.turned_at(stepper.t_before, own)

    def _told(self, t: float, changed: Iterable[int]) -> list[Event]:
        """The events of what changed, but for kinks."""
        about = (self._about[i] for i in changed)
        return [Event(t, one.name, one.what) for one in about if one.what]

    def jump(self, instant: float, t: float, x: Array, idle: frozenset[int]) -> list[Event]:
        """The same as `begin` where functions of time jump, at t just behind the instant, and
        the events of what this changed; `idle` has no effect before it."""
        before = self._signs
        self.begin(t, x)
        changed = np.flatnonzero(before * self._signs < 0.0).tolist()
        idle &= self.idle(t, x) if changed else frozenset()
        return self._told(instant, (i for i in changed if i not in idle))

    def struck(
        self, instant: float, t: float, x: Array, impulse: Callable[[float, Array], object]
    ) -> list[Event]:
        """x behind an `impulse` at t, in place, and what it set going: dry friction that sticks
        carries none of it.  What slips behind it is not at rest, be it that it has just been."""
        if not self._grips:
            impulse(t, x)
            return []
        idle, places = self.idle(t, x), self._mode[self._dry.ways]
        before = x[places].copy()
        self._dry.struck(t, x, impulse, self._instant)
        changed = self._dry.ways[x[places] != before]
        self._signs[self._dry.ways] = np.where(x[places] > 0.5, 1.0, -1.0)
        crossed, slips = self._crossed, self._dry.ways[(x[places] > 0.5).any(axis=1)]
        self._crossed = [i for i in crossed if i not in slips]
        told = (i for i in changed.tolist() if i not in idle and i not in crossed)
        return self._told(instant, told)

    def is_passed(self, t: float, x: Array) -> bool:
        """Whether any switching function has another sign at (t, x) than its modes agree with."""
        values = self._values(t, x)
        self._dry.slack(values[None], self._signs)
        return not np.array_equal(np.sign(values), self._signs)

    def gripping(self, t: float, x: Array) -> list[int]:
        """Constraint rows of dry frictions that stick, or whose motion has turned round: they
        may stick."""
        if not self._grips:
            return []
        values, rows = self._values(t, x), []
        for row, modes in self._grips:
            slipping = [i for i in modes if x[self._mode[i]] > 0.5]
            if all(values[i] < 0.0 for i in slipping):
                rows.append(row)
        return rows

    def idle(self, t: float, x: Array) -> frozenset[int]:
        """Modes of dry frictions that can hold nothing, as of an open clutch."""
        found: set[int] = set()
        for _, (forward, backward) in self._grips:
            slipping = x.copy()
            slipping[self._mode[forward]], slipping[self._mode[backward]] = 1.0, 0.0
            if most_held(self._values(t, slipping)[backward]) == 0.0:
                found |= {forward, backward}
        return frozenset(found)

    @property
    def opens_or_closes(self) -> bool:
        """Whether a joint that opens or closes is among what was found to cross."""
        return bool(self._latch[self._crossed].any())

    @property
    def keep_sides(self) -> bool:
        """Whether all that was found to cross keep their side by a mode, rounding or not."""
        return bool((self._mode[self._crossed] >= 0).all())

    def _root(
        self, state: Callable[[float], Array], i: int, before: float, after: float
    ) -> float | None:
        """Where function `i` vanishes between two times with different signs, if they have; one
        that begins as a rounding of zero, where it leaves that on the other side."""
        from scipy.optimize import brentq

        # what is solved by iteration may end elsewhere in its last digits when it is asked again
        ends: dict[float, float] = {}
        beyond = 0.0

        def value(t: float) -> float:
            return ends[t] if t in ends else float(self._values(t, state(t))[i]) - beyond

        ends = {t: value(t) for t in (before, after)}
        late = not self._above[i] and ends[before] * self._signs[i] <= 0.0  # a root has two sides
        if late or self._rest[i] > 0.0 == ends[before]:  # over there, and back before the look
            before = under_way(value, self._signs[i], before, after)
            ends[before] = value(before)
        if self._above[i] and ends[before] > 0.0 == ends[after]:
            return end_of(lambda t: value(t) > 0.0, before, after)
        size = float(self._rounded(before, state(before))[i])
        if size > 0.0 and abs(ends[before]) <= size < abs(ends[after]):
            beyond = float(np.copysign(size, ends[after]))
            ends = {t: found - beyond for t, found in ends.items()}
        root = before
        if ends[before] * ends[after] < 0.0:
            root = brentq(value, before, after, xtol=1e-15 * after, rtol=1e-14, maxiter=BRENT)
        elif not self._kinks[i] or ends[before] != 0.0:
            return None
        if self._is_short(i, root, state(root), value(root)):  # a law that jumps jumps behind
            least = 0.0 if self._kinks[i] else np.nextafter(0.0, 1.0)  # at zero a choice has not
            end = end_of(lambda t: value(t) * self._signs[i] >= least, root, after)
            return float(np.nextafter(end, after))
        return float(root)

    def _is_short(self, i: int, t: float, x: Array, value: float) -> bool:
        """Whether function `i` has its sign at its root yet: at all, of a law that jumps there; by
        more than rounding, of a mode, which would turn back (a comparator passes zero at 1e10 V/s,
        of which the last digits of a time are a microvolt)."""
        left = value * self._signs[i]
        if self._mode[i] < 0 or self._rest[i] > 0.0:
            return bool(self._kinks[i] and left >= 0.0)
        return bool(left > FLAT * self._scale[i] and left > self._rounded(t, x)[i])

    def until_reversal(self, t: float, x: Array) -> float:
        """How long what slips does so at the accelerations of now: a longer step could pass the
        last of it, in which static friction is felt, between two stages."""
        if not (slips := (self._rest > 0.0) & (x[self._mode] > 0.5)).any():
            return np.inf
        speed, growth = self._values(t, x), self._growth(t, x)
        slows = slips & (growth < 0.0) & (speed > -self._at_once * growth)
        return float(np.min(speed[slows] / -growth[slows], initial=np.inf))

    def turn(self, x: Array) -> None:
        """Turns the modes over that crossed, but for those of dry frictions: what stops may go on
        the other way at once."""
        own = [i for i in self._crossed if self._mode[i] >= 0 and self._rest[i] == 0.0]
        self._turn(x, np.array(own, dtype=np.intp))

    def _turn(self, x: Array, which: NDArray[np.intp]) -> None:
        """These over; a joint closes where its condition comes true, and not again while it stays
        true behind an opening."""
        x[self._mode[which]] = 1.0 - x[self._mode[which]]
        self._armed[which] = ~self._latch[which] | (x[self._mode[which]] < 0.5)

    def _arm(self, values: Array) -> None:
        """What is open may close again once its condition has been false, by more than rounding."""
        self._armed |= values > FLAT * self._scale

    def passed(self, t: float, x: Array) -> None:
        """All modes and signs beyond the event at t, once those that crossed are turned over.

        A kink that is zero but for rounding keeps its side: of two at one instant the second
        has not been passed when the first is, nor is the first once more when the second is."""
        if np.any(self._mode >= 0):
            self._agree(t, x)
        signs = self._signs.copy()
        values = self._remember(t, x)
        rounded = self._kinks & (signs != 0.0) & (np.abs(values) <= FLAT * self._scale)
        self._signs[rounded] = signs[rounded]
        for i in self._crossed:
            if self._mode[i] < 0:
                self._signs[i] = -signs[i]
        self._crossed = []

    @cached_property
    def _derivative(self) -> tuple[Evaluator, Evaluator]:
        return (
            self._start.evaluator("rate", complex_valued=True),
            self._start.evaluator("switch", complex_valued=True),
        )

    def _growth(self, t: float, x: Array) -> Array:
        """Rates of the switching functions along the motion; NaN where a law has no slope,
        which the next step reports."""
        rate, condition = self._derivative
        try:
            slope = rate(t, x.astype(np.complex128))[: len(x)].real
            values = condition(t + 1j * STEP, x + 1j * STEP * slope)
        except ZeroDivisionError:
            return np.full(len(self._about), np.nan)
        return np.asarray(values[: len(self._about)].imag / STEP)

    def _agree(self, t: float, x: Array, *, first: bool = False) -> None:
        """Turns modes over until each agrees with the sign of its condition; those of dry
        frictions all at once, for they hold each other."""
        own = np.flatnonzero((self._mode >= 0) & (self._rest == 0.0))
        dry = partial(self._dry.agree, crossed=self._crossed, brief=self._instant, first=first)
        ended = self._above & ~np.isin(np.arange(len(self._about)), self._crossed)
        wrong, looked = own, False
        for _ in range(ROUNDS + ROUNDS_EACH * len(self._grips)):
            values = self._values(t, x)
            sure = (np.abs(values) > FLAT * self._scale) | self._stays_zero(t, x, values, ended)
            sure &= self._armed | (values > 0.0)
            wrong = own[(values[own] > 0.0) != (x[self._mode[own]] > 0.5)]
            self._comes_to_agree(t, x, values, wrong[~sure[wrong]])  # before a step asks
            wrong = wrong[sure[wrong]]
            ended &= False  # once: what follows from that may be zero in both modes
            if wrong.size:
                wrong = wrong[np.abs(values[wrong]) >= self._rounded(t, x)[wrong]]
                wrong = wrong[~self._comes_to_agree(t, x, values, wrong)]
            self._turn(x, wrong)
            if not wrong.size:
                turned = self._massless.agree(t, x, self._instant)
                if not turned.size:
                    if not (self._grips and dry(t, x, again=looked)):
                        return
                    looked = True
                wrong = np.append(turned, self._dry.ways[:, 0])
        self._tell(t, wrong)

    def _comes_to_agree(
        self, t: float, x: Array, values: Array, wrong: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Which of the `wrong` have just been turned over at their zero, and have the sign of
        their side as soon as what that zero's instant is known to: the rounding in the mode before
        over its growth there.  That of a diode's current, as it stops to conduct beside a choke,
        is 1e8 times as much of the voltage that it blocks from there on."""
        crossed = np.isin(wrong, self._crossed)
        if not crossed.any():
            return crossed
        before = x.copy()
        before[self._mode[wrong]] = 1.0 - x[self._mode[wrong]]
        known = np.full(len(wrong), ALIKE * t)
        slope = np.abs(self._growth(t, before)[wrong])
        known += np.divide(self._rounded(t, before)[wrong], slope, out=slope, where=slope > 0.0)
        side = np.where(x[self._mode[wrong]] > 0.5, 1.0, -1.0)
        lack, growth = -side * values[wrong], side * self._growth(t, x)[wrong]
        late = crossed & (lack < known * growth)
        self._late[wrong[late]] = t + COMES * lack[late] / growth[late]
        return late

    def _stays_zero(
        self, t: float, x: Array, values: Array, ended: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which of those that may have ended are zero, and do not grow from there: all is zero in
        every mode where a source begins."""
        zero = ended & (values == 0.0)
        if zero.any():
            zero &= ~(self._growth(t, x) > 0.0)
        return zero

    def _tell(self, t: float, which: NDArray[np.intp]) -> None:
        """These have not come to agree at t."""
        for i in which:
            self.unsettled.setdefault(self._about[i].name, t)

    def _remember(self, t: float, x: Array) -> Array:
        """Signs: of a mode its own side, of a mere switch that of its function, which it gives."""
        values = self._values(t, x)
        self._arm(values)
        signs = np.sign(values)
        held = self._mode >= 0
        signs[held] = np.where(x[self._mode[held]] > 0.5, 1.0, -1.0)
        if not np.array_equal(signs[held], self._signs[held]):
            # a diode that conducts has 1e-10 of the voltage that it has blocked, and is not flat
            self._lately = np.where(np.isfinite(values), np.abs(values), 0.0)
        self._signs = signs
        return values

    @property
    def shivers(self) -> bool:
        """Whether a mode turns over again and again at one instant: a law that jumps, or friction,
        may slide along its zero, but what a mode sets decays within a step that is too long."""
        modes = (self._mode >= 0) & (self._rest == 0.0) & ~self._latch
        return bool(modes[self._recent.shivering].any())

    @property
    def chatters(self) -> str:
        """The names of what switches endlessly at one instant; empty if nothing does."""
        return ", ".join(self._about[i].name for i in self._recent.endless)


def _as_they_are(_t: float, _x: Array) -> None:
    """Of what has no choice of rows."""
