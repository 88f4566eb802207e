"""A mechanism at one instant: its rate, its closure, what changes sign at its stops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.entries import closure, correction, measure_rows, section, stages
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.program import EXACT, PLAY_CHANGES, PLAY_OUTPUTS, Program
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_KIND,
    LINK_MASS,
    LINK_Q,
    PRISMATIC,
)
from vbg.tmm_bridge.kernels.stages import Rules, standstill
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_TREE,
    IDLE,
    LAW_STOP,
    PAIR_STOP,
    Scratch,
    Tables,
    scratch_for,
)
from vbg.tmm_bridge.mechanism.mechanism import Mechanism, NoBalance, NoInertia
from vbg.tmm_bridge.mechanism.scales import hinge_units, row_units
from vbg.tmm_bridge.mechanism.start import displace, model_size
from vbg.tmm_bridge.mechanism.turns import count_angles
from vbg.tmm_bridge.motion.rate.dependent import JUMPS, Dependence
from vbg.tmm_bridge.motion.rate.indicating import effects, is_kept, of_modes, owners
from vbg.tmm_bridge.motion.rate.instants import Stop, drives_from
from vbg.tmm_bridge.motion.rate.pace import Pace
from vbg.tmm_bridge.motion.rate.recording import program_of
from vbg.tmm_bridge.motion.rate.sizes import Sizes, sizes_of
from vbg.tmm_bridge.motion.rate.sources_read import Read
from vbg.tmm_bridge.motion.rate.works import Works, works_of
from vbg.tmm_bridge.onedim.laws.friction import FADED, DryFriction
from vbg.tmm_bridge.onedim.laws.latch import Latch

JERK = 0.01  # relative change of the speeds by one projection that no smooth motion needs
FAST, SMALL = 60.0, 1e-5  # [rad/s or m/s], in which rates are nearly linear; of other states
FINE = 1e-6  # a strain, as a share of a length
PROJECTED = 1e-15  # residual [rad or model's size] below which nothing is projected: rounding
STILL = 1e-3  # [rad/s, or model's size in a second], beside which a jump of speeds is looked at
TURNING = 1e-9  # of the speeds at which static friction is felt: below it, it is there already
ALMOST = 1.0 + 1e-9  # of a speed at which a step ended
NO_LAW = (0.0, 0.0, 0.0, -np.inf, np.inf)  # of a joint that is open


class Singular(ArithmeticError):
    """The loops cannot be followed here: a projection changed the speeds visibly."""

    def __init__(self, t: float, row: int, change: float):
        self.t, self.row, self.change = t, row, change
        super().__init__(f"t = {t}")


@dataclass
class Plant:
    """A mechanism with its workspace and the span in which its inputs are smooth.

    A state is the mechanism's own, then that of its network of one-dimensional parts;
    `tables` are its own: rows of the frictions `sticky` hold or idle.  `inputs` and `drive`
    are those of the last evaluation; `balls` the places of quaternions; `grain` sizes below
    which a coordinate is rounded as if it had them; `typical` sizes of all states where they
    are not larger, for differences; `works` what was supplied and lost, `choked` places of
    currents in series with diodes, `discrete` those of states that change between steps only,
    `read` sources whose efforts are, `earlier` time and state before the last stop; `written`
    the state as it was given, which is `closing` while stores come together at the start; `sizes`
    of ways and speeds so far, `pace` of sources beside diodes, `duration` [s] of the run, `fastest`
    and `liveliest` the largest speeds and accelerations that each dry friction has had.
    """

    mechanism: Mechanism
    duration: float = 0.0
    fastest: Array = field(init=False)
    liveliest: Array = field(init=False)
    tables: Tables = field(init=False)
    sticky: list[DryFriction] = field(init=False)
    scratch: Scratch = field(init=False)
    program: Program = field(init=False)
    dependence: Dependence | None = field(init=False)
    sampled: Array = field(init=False)
    read: tuple[Read, ...] = field(init=False)
    inputs: Array = field(init=False)
    drive: Array = field(init=False)
    balls: Array = field(init=False)
    grain: Array = field(init=False)
    typical: Array = field(init=False)
    works: Works = field(init=False)
    choked: list[int] = field(init=False)
    discrete: list[int] = field(init=False)
    sizes: Sizes = field(init=False)
    pace: Pace = field(init=False)
    _effects: dict[str, list[int]] = field(init=False)
    smooth: tuple[float, float] = (-np.inf, np.inf)
    earlier: tuple[float, Array] | None = None
    written: Array | None = None
    closing: bool = False
    n_rates: int = 0
    rank: int = -1
    _still: Rules = field(default_factory=lambda: standstill(0))

    def __post_init__(self) -> None:
        t = self.mechanism.tables
        # rows of frictions and of joints that open begin and end to hold: every plant has its own
        self.tables = t._replace(rows=t.rows.copy(), row=t.row.copy(), law=t.law.copy())
        self.scratch = scratch_for(t)
        network = self.mechanism.network
        self.sticky = [] if network is None else [f for f in network.frictions if f.row >= 0]
        self.fastest = np.zeros(0 if network is None else len(network.frictions))
        self.liveliest = self.fastest.copy()
        self._effects = effects(self.mechanism)
        self.program, self.dependence, self.sampled, self.read = program_of(self.mechanism)
        self.inputs = np.zeros(len(self.mechanism.inputs))
        self.drive = np.zeros((len(self.mechanism.drives), 3))
        kinds, places = t.links[:, LINK_KIND], t.links[:, LINK_Q]
        self.balls = np.concatenate([places[kinds == BALL], places[kinds == ELASTIC] + 3])
        states = 0 if network is None else len(network.start)
        own = self.mechanism.size
        self.works = works_of(self.mechanism, self.duration)
        self.discrete, self.choked = [], []
        if network is not None:
            self.discrete = [own + place for place in network.discrete]
            self.choked = [own + place for place in network.choked]
        self.grain = np.zeros(self.mechanism.size + states)
        self.grain[: t.sizes[0]] = 1.0
        self.grain[places[kinds == PRISMATIC]] = t.length[0]
        self.typical = np.full(len(self.grain), SMALL)
        strained = (places[kinds == ELASTIC][:, None] + np.arange(3)).ravel()
        self.grain[strained] = t.length[0]
        modes = [np.arange(q, q + n) for _, q, _, n in t.flexes]
        for (node, *_), there in zip(t.flexes, modes, strict=True):
            self.grain[there] = t.length[0] * math.sqrt(t.link[node, LINK_MASS])
        strained = np.concatenate([strained, *modes])
        self.typical[: t.sizes[0]] = self.grain[: t.sizes[0]]
        self.grain[strained] *= FINE  # joint coordinates that are strains lose no digits
        self.typical[t.sizes[0] : t.sizes[0] + t.sizes[1]] = FAST
        self.sizes = sizes_of(self.mechanism, self.duration)
        self.pace = Pace(() if network is None else network.paced)

    @property
    def kept(self) -> frozenset[int]:
        """States of the network that impulses pass by: of signals, while the start is closed."""
        network = self.mechanism.network
        return network.filters if self.closing and network is not None else frozenset()

    def inside(self, t: float) -> float:
        """t, seen from inside the smooth span."""
        return min(max(float(t), self.smooth[0]), self.smooth[1])

    def rate(self, t: float, y: Array) -> Array:
        """dy/dt.  Raises NoInertia."""
        K = np.zeros((1, len(y)))
        self.stages(t, 0.0, y, K, self._at_rest(len(y)), (0, 1))
        out: Array = K[0]
        return out

    def evaluate(self, t: float, y: Array) -> Array:
        """Leave everything at (t, y) in the workspace; the state with its driven coordinates."""
        rules = self._at_rest(len(y))
        self.stages(t, 0.0, y, np.zeros((1, len(y))), rules, (0, 1))
        return rules.at.copy()

    def _at_rest(self, n: int) -> Rules:
        """The rules of a single stage, packed for the kernel once."""
        if len(self._still.at) != n:
            self._still = standstill(n)
        return self._still

    def rates(self, t: float, after: Array, y: Array, moved: Array) -> Array:
        """dy/dt (m, n) at the times t + `after` (m,) and the states y + `moved` (m, n).
        Raises NoInertia."""
        m, n = moved.shape
        A = np.eye(2 * m, k=-m)
        K = np.concatenate([moved, np.zeros((m, n))])
        rules = Rules(A, np.tile(after, 2), np.zeros(0), np.zeros(0), np.zeros(n), np.zeros(1))
        self.stages(t, 1.0, y, K, rules, (m, 2 * m))
        return K[m:]

    def noise(self, t: float, y: Array, f: Array) -> Array:
        """How far rounding of the time, the state and the posture moves the rate f at (t, y); what
        changes between steps only has none: a mode but for its last digit is another one.  Looked
        at ahead and behind: beyond a jump of the law, which is on one side at most, it is more."""
        instant, grain = np.spacing(abs(t)), np.spacing(np.maximum(np.abs(y), self.grain))
        grain[self.discrete] = 0.0
        others = np.copysign(grain, f) * (np.arange(len(y)) % 2 == [[0], [1]])
        sides = np.zeros((2, len(y)))
        for found, side in zip(sides, (1, -1), strict=True):
            for k, moved in enumerate(others, 1):
                for at, state in ((t, y + side * moved), (t + side * k * instant, y)):
                    np.maximum(found, np.abs(self.rate(at, state) - f), out=found)
        least = np.fmin(*sides)
        return np.where(np.isfinite(least), least, 0.0)

    def look(self, y: Array, rate: Array) -> None:
        """Take note of a state that the motion came to, and of its rate."""
        self.sizes.look(y)
        self.works.look(rate)

    def stages(
        self, t: float, h: float, y: Array, K: Array, rules: Rules, rows: tuple[int, int]
    ) -> None:
        """Rates at stages of a step, see `stepping.stages`.  Raises NoInertia."""
        self.n_rates += rows[1] - rows[0]
        self._hold(y)
        faulty = stages(
            self.tables,
            self.scratch,
            self.program,
            float(t),
            float(h),
            y,
            K,
            rules,
            *rows,
            np.array(self.smooth),
            self.inputs,
            self.drive,
        )
        self.rank = int(self.scratch.rank[0])
        if faulty >= 0:
            raise NoInertia(faulty)

    def outputs(self) -> Array:
        """Outputs of the network at the instant that was evaluated."""
        p = self.program
        self._tell_held()
        section(p, PLAY_CHANGES)
        section(p, PLAY_OUTPUTS)
        told: Array = p.memory[p.outputs]
        return told

    def longest_step(self, t: float, y: Array) -> float:
        """The longest step [s] from (t, y) that passes no charge of a diode unseen."""
        if not self.pace.places:
            return np.inf
        self.evaluate(t, y)
        return self.pace.longest(t, self.outputs())

    def sample(self, stop: Stop, y: Array) -> Array:
        """The state behind a stop, with what signals read at the strokes of their clocks there:
        all at once, behind the jumps of inputs."""
        network = self.mechanism.network
        due = [
            i
            for i, held in enumerate(network.samplers if network is not None else ())
            if stop.jumps and held.due(*stop.rows)
        ]
        if network is None or not due:
            return y
        y = y.copy()
        self.evaluate(stop.after, y)
        section(self.program, PLAY_CHANGES)
        places = [self.mechanism.size + network.samplers[i].state for i in due]
        y[places] = self.program.memory[self.sampled[due]]
        return y

    def where(self, friction: DryFriction) -> float:
        """Where the row of a friction on the mechanism is; the posture was just found."""
        if friction.row < 0:
            return 0.0
        first, second = self.tables.rows[friction.row, 2:4]
        x = self.scratch.coordinate[:, 0]
        return float(x[second] - self.tables.row[friction.row, 0] * x[first])

    def loosened(self, y: Array) -> Array:
        """The state in which no friction on the mechanism sticks, so that none of their rows holds:
        an impulse is without bound, and what friction holds is nothing beside it."""
        y = y.copy()
        for friction in self.sticky:
            place = self.mechanism.size + friction.mode
            y[place] = y[place] or 1.0
        self._hold(y)
        return y

    def restored(self, y: Array, before: Array) -> Array:
        """The state with the modes that these frictions had `before`: the speeds of y tell which
        of them go on to hold."""
        y, own = y.copy(), self.mechanism.size
        modes = [own + friction.mode for friction in self.sticky]
        y[modes] = before[modes]
        return y

    def _hold(self, y: Array) -> None:
        """Frictions that stick in the state y hold their rows, and joints that are closed theirs;
        an open one has neither friction nor stops."""
        own = self.mechanism.size
        for friction in self.sticky:
            sticks = y[own + friction.mode] == 0.0
            self.tables.rows[friction.row, 4] = -1 if sticks else IDLE
            self.tables.row[friction.row, 1] = y[own + friction.mode + 1]
        network = self.mechanism.network
        for latch in network.latches if network is not None else ():
            opened = y[own + latch.mode] > 0.5
            rows = list(self.mechanism.cut[latch.name].rows)
            self.tables.rows[rows, 4] = IDLE if opened else -1
            for law in self._effects[latch.name]:
                self.tables.law[law] = NO_LAW if opened else self.mechanism.tables.law[law]

    def _tell_held(self) -> None:
        """What rows of frictions and gears hold, how shafts accelerate: for what tells it."""
        s, p, network = self.scratch, self.program, self.mechanism.network
        for friction in self.sticky:
            p.memory[p.held[friction.index]] = s.effort[friction.row] / friction.lever
        if network is not None:
            p.memory[p.reactions] = s.effort[network.row_places]
            for k, place in p.accelerations:
                if self.tables.coordinates[k, 0] == COORDINATE_TREE:
                    p.memory[place] = s.acceleration[self.tables.coordinates[k, 3]]

    def together(self, t: float, y: Array, *, first: bool) -> Array:
        """The state with the network's dependent stores as they hang together; at the `first`
        instant those that nobody gave a value follow."""
        network = self.mechanism.network
        if self.dependence is None or network is None:
            return y
        guessed = network.guessed if first else ()
        y, own = y.copy(), self.mechanism.size
        before = self.held_by_network(t, y)
        for _ in range(JUMPS):
            self.evaluate(t, y)
            if not np.isfinite(self.program.memory[self.dependence.held]).all():
                raise NoBalance(t)
            how = guessed, self.kept
            y[own:], size = self.dependence.consistent(self.program.memory, y[own:], *how)
            if size <= EXACT:
                break
        if not first:  # what an impulse of a source brings
            y[self.works.places[2]] += self.held_by_network(t, y) - before
        return y

    def struck(self, stop: Stop, y: Array) -> Array:
        """The state behind a stop at which given levels jump: what stores on them hold more or
        less comes from the sources."""
        if self.mechanism.network is None or not stop.jumps:
            return y
        y, smooth = y.copy(), self.smooth
        self.smooth = (-np.inf, np.inf)
        before, after = (self.held_by_network(t, y) for t in (stop.before, stop.after))
        self.smooth = smooth
        y[self.works.places[2]] += after - before
        return y

    def held_by_network(self, t: float, y: Array) -> float:
        """Energy of all parts of the network, without what an instant tells by itself to be
        supplied (`Energies.brought`)."""
        self.evaluate(t, y)
        brought, kinetic, potential = self.outputs()[-3:]
        return float(kinetic + potential - brought)

    def grips(self, t: float, y: Array) -> Array:
        """(speed, effort, largest effort) of every dry friction."""
        self.evaluate(t, y)
        self._tell_held()
        section(self.program, PLAY_CHANGES)
        found: Array = self.program.memory[self.program.grip]
        return found

    def soonest_reversal(self, t: float, y: Array, ahead: Array) -> float:
        """How much of a step `ahead` lies before the first reversal of what slips so slowly that
        its static friction is felt, at most 1."""
        network = self.mechanism.network
        laws = [] if network is None else [f.law for f in network.frictions]
        felt = np.array([ALMOST * FADED * law.stribeck if law.falls else 0.0 for law in laws])
        if not felt.any():
            return 1.0
        later, now = (self.grips(t, at)[:, 0] for at in (y + ahead, y))
        turning = (np.abs(now) > TURNING * felt) & (np.abs(now) <= felt) & (now * later < 0.0)
        return float(np.min(now[turning] / (now - later)[turning], initial=1.0))

    def settle(self, t: float, y: Array) -> Array:
        """dy/dt at a closed posture, whose rank is believed until the next one."""
        self.scratch.limit[0] = -1
        out = self.rate(t, y)
        if self.mechanism.network is not None and not np.isfinite(out).all():
            raise NoBalance(t)
        self.scratch.limit[0] = self.rank
        return out

    def mobilities(self, *, of_loops: bool = False) -> Array:
        """Squared singular values of the scaled rows over the hinges, ascending; `of_loops`
        without those of frictions, which come and go.  `evaluate` has run."""
        s = self.scratch
        if not len(s.G):
            return np.zeros(0)
        measure_rows(self.tables, s)
        values = np.zeros(len(s.G))
        rows = np.delete(s.G, [f.row for f in self.sticky], axis=0) if of_loops else s.G
        found = np.linalg.svd(rows, compute_uv=False)
        values[: len(found)] = found**2
        ascending: Array = values[::-1]
        return ascending

    def nearness(self) -> float:
        """Smallest squared singular value that counts, relative to the largest: zero in a
        singular posture.  `settle` has run."""
        if not len(self.scratch.G) or not self.rank:
            return 1.0
        values = self.mobilities()
        return float(values[len(values) - self.rank] / values[-1])

    def project(self, t: float, y: Array, *, jerk: float = JERK) -> Array:
        """The state with its loops closed, its quaternions of unit length.

        Raises Singular where that changes the speeds by more than `jerk`."""
        tables, s = self.tables, self.scratch
        y = y.copy()
        for q in self.balls:
            y[q : q + 4] /= np.linalg.norm(y[q : q + 4])
        if not len(tables.rows):
            return y
        drive = drives_from(self.mechanism, self.inside(t), t)
        units, hinges = row_units(tables), hinge_units(tables, model_size(self.mechanism))
        step = np.zeros(int(tables.sizes[1]))
        for _ in range(4):
            closure(tables, s, y, drive)
            chosen = s.order[: s.limit[0]] if s.limit[0] >= 0 else s.order
            if np.abs(s.row_state[:, 0] / units)[chosen].max(initial=0.0) <= PROJECTED:
                break
            correction(tables, s, -s.row_state[:, 0].copy(), step)
            y = displace(tables, y, step)
        count_angles(self.mechanism, s, y, near=s.coordinate[:, 0].copy())
        closure(tables, s, y, drive)
        missed = np.abs(s.row_state[:, 1] / units)
        if missed.max() > PROJECTED:
            correction(tables, s, -s.row_state[:, 1].copy(), step)
            n_q = int(tables.sizes[0])
            speeds = y[n_q : n_q + len(step)]
            largest = float(np.abs(speeds / hinges).max())
            change = float(np.abs(step / hinges).max() / (largest + STILL))
            if change > jerk:
                raise Singular(t, int(np.argmax(missed)), change)
            y[n_q : n_q + len(step)] += step
        return y

    def indicators(self, t: float, y: Array) -> Array:
        """What changes sign where a stop touches, or leaves or would begin to pull; behind them,
        as bends, the other of the last two: a stop that would pull loses the energy of its spring
        until it is left."""
        tables, s = self.tables, self.scratch
        self.evaluate(t, y)
        signs, bends = [], []
        for n in np.flatnonzero(tables.laws[:, 0] == LAW_STOP):
            x, speed = s.coordinate[tables.laws[n, 1], :2]
            k, _, c, lower, upper = self.mechanism.tables.law[n]  # of an open joint, too
            for depth, rate_in in ((lower - x, -speed), (x - upper, speed)):
                if np.isfinite(depth):
                    signs.append(min(depth, depth + c / k * rate_in))
                    bends.append(depth)
        for n in np.flatnonzero(tables.pairs[:, 0] == PAIR_STOP):
            depth, rate_in, (k, _, c) = -s.pair[n, 3], -s.pair[n, 4], tables.pair[n, 6:9]
            signs.append(depth)
            bends.append(min(depth, depth + c / k * rate_in))
        signs += bends
        self._tell_held()
        section(self.program, PLAY_CHANGES)
        signs += self.program.memory[self.program.changes].tolist()
        return np.array(signs)

    def signs(self, t: float, y: Array) -> Array:
        """Of the indicators where modes have just been chosen: a dry friction that holds is within
        what it can there, whatever rounding says, and one that slips at no speed or without
        inertia has its own way, so that all are seen to leave it.  What else slips a rounding
        the other way, as at a dead centre, comes back to its own.  A joint whose condition is
        zero has not turned over: it does where that grows."""
        found: Array = np.sign(self.indicators(t, y))
        for place, owner in owners(self.mechanism, len(found)):
            if isinstance(owner, Latch) and found[place] == 0.0:
                found[place] = -1.0
        own = self.mechanism.size
        for place, friction in of_modes(self.mechanism, len(found)):
            sticks = y[own + friction.mode] == 0.0
            if sticks or friction.has_no_inertia or found[place] == 0.0:
                found[place] = 1.0
        return found

    def keeps_side(self, hit: int) -> bool:
        """Whether a mode keeps the side of this indicator until it crosses."""
        return is_kept(self.mechanism, hit, len(self.stop_names()))

    def stop_names(self) -> list[str]:
        """Part of each indicator, none of a mere bend."""
        tables = self.tables
        by_place = {place: name for name, place in self.mechanism.parts.items()}
        names = []
        for n in np.flatnonzero(tables.laws[:, 0] == LAW_STOP):
            finite = int(np.isfinite(tables.law[n, 3])) + int(np.isfinite(tables.law[n, 4]))
            names += [by_place["law", int(n)]] * finite
        names += [by_place["pair", int(n)] for n in np.flatnonzero(tables.pairs[:, 0] == PAIR_STOP)]
        names += [""] * len(names)
        if self.mechanism.network is not None:
            names += [name for name, n, _ in self.mechanism.network.changes for _ in range(n)]
        return names
