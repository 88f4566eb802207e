"""Discrete-time method: explicit small steps, joints as stiff bushings.

L. Zhanal, P. Portes, Calculation of mechanism motion using discrete time approach,
Vibroengineering PROCEDIA 18 (2018) 222-225.  In each step of 1e-5 ... 1e-7 s

    U2 = -K Phi - C r                    bushing efforts instead of constraint efforts
    momenta     X1 <- X1 + dt X1'(X, U2)            (Newton, Euler: eq. 2-4, 7, 8)
    positions   p <- p + dt v,  quat <- quat o exp(w dt / 2)    with the new momenta (5-11)

The new momenta in the second half make it the symplectic variant, which keeps the energy of the
stiff bushings bounded, and that of springs, capacitors and volumes, whose displacements belong to
the second half, too.  The exponential is the Rodrigues step C(e, theta) of eq. 1.

K and C are those of `vbg.simulate.discrete.bushings`.  The bushings begin in balance: pressed by
the efforts U2 of rigid joints, Phi = -U2 / K, r = 0; rows without a position
(rolling) slip, r = -U2 / C.  Where the posture makes them stiffer than the step carries, steps
become shorter.  What sticks is held by an effort that is mended behind each step.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.machine import Reader, interpreter
from vbg.assemble.program.program import Program
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block, stack, zeros
from vbg.simulate.discrete.bushings import (
    DAMPING,
    Bushings,
    Mobility,
    bushing_efforts,
    bushings,
    held_rows,
    largest,
    not_by_small_steps,
    possible_gaps,
    with_efforts,
)
from vbg.simulate.discrete.entries import UNWATCHED, steps_of
from vbg.simulate.discrete.joints import machine_of
from vbg.simulate.steppers.stiffness import fastest
from vbg.simulate.steppers.tolerances import Tolerances

Array = NDArray[np.float64]
Places = NDArray[np.int64]


STEP = 1e-5  # [s], at most
OWN = 0.1  # step, in the fastest time constant of the model's own
PHASE = 0.3  # w dt: a sixth of the limit of stability, see `Bushings.carried`
LOOK = 1000  # steps from one look at the bushings' stiffness to the next
SHORTEST = 1e-3  # of the step: beyond that the posture is singular
LOOSE = 1e-2  # relative tolerance of an eigenvalue that is only looked at
CLOSINGS = 3  # Newton steps into the balance


def discrete_program(system: System, bush: Bushings) -> Program:
    """Rates of all states with bushing efforts in place of constraint efforts, and behind
    them these efforts."""
    e = system.equations
    efforts = bushing_efforts(system, bush)
    replace = with_efforts(system, efforts)
    outputs = {s.state.name: replace(e.rates[s.state.leaf]) for s in system.slices}
    return lower(outputs | {"efforts": stack(*efforts) if efforts else zeros(0)}, _inputs(system))


def _inputs(system: System) -> dict[str, Block]:
    """State, time, and efforts of what sticks, which are given."""
    states = {s.state.name: s.state.leaf for s in system.slices}
    return states | {"t": system.equations.time} | held_rows(system)[0]


class DiscreteTime:
    """The steps: t, x and the compiled loop over many of them.

    `dt`, `frequency` [rad/s], `ratio`: step, the bushings' largest frequency and damping ratio;
    None for those that suit the masses and the model's own springs.

    Bodies and the bushings of their joints are moved by kernels of their own
    (vbg.simulate.discrete.kernels); all else is read from two tapes, one of forces, one of
    motions.  `rates` is the whole as one tape, with the efforts behind: what outputs need,
    and what the steps must equal to rounding.
    """

    def __init__(
        self,
        start: Start,
        dt: float | None = None,
        frequency: float | None = None,
        ratio: float | None = None,
    ):
        system = start.system
        self.dt = step_of(start) if dt is None else dt
        self._mobility = Mobility(start) if system.equations.constraints else None
        self.bushings = bush = self._bushings(frequency, DAMPING if ratio is None else ratio)
        self.rates = Evaluator(discrete_program(system, bush))
        machine = machine_of(system, bush.stiffness, bush.damping)
        self._machine = machine.flat
        bushed = {c.name for c in machine.joints}
        second = displaced(system)
        self._forces = _tape(
            _pressed(system, bush, bushed), system, ("store", "signal", "quadrature"), second
        )
        self._motions = _tape(
            _pressed(system, bush, set()),
            system,
            ("position", "quaternion", "displacement", *second),
            machine.moved,
        )
        self.t, self.x = 0.0, start.state.copy()
        if self._mobility is not None:
            self.x = balanced(start, bush, self._mobility)
        self.steps, self.wall, self.shortest = 0, 0.0, self.dt
        self._looked, self._step, self._last = 0.0, self.dt, self.dt
        _, self._grips = held_rows(system)
        self._given = np.zeros(len(self._grips))

    def _bushings(self, frequency: float | None, ratio: float) -> Bushings:
        """Those asked for, or as stiff as the step carries with room for other postures."""
        if self._mobility is None:
            return Bushings(np.zeros(0), np.zeros(0), PHASE / self.dt, ratio)
        given = PHASE / self.dt if frequency is None else frequency
        bush = bushings(self._mobility, given, ratio)
        if (most := bush.carried(1.0, 1.0)) < self.dt:
            raise not_by_small_steps(
                "simulate.bushing_frequency",
                f"bushings of {given / (2.0 * np.pi):.4g} Hz and a damping ratio of {ratio:g} need "
                f"steps shorter than {most:.3g} s; got {self.dt:.3g} s.",
                "Give a shorter step, or a smaller bushing_frequency.",
            )
        return bush

    def _carried(self) -> float:
        """The step where the motion stands, dt or shorter."""
        if self._mobility is None:
            return self.dt
        self._mobility.at(self.t, self.x)
        bush = self.bushings
        squared = largest(self._mobility, np.sqrt(bush.stiffness), LOOSE)
        growth = squared / bush.frequency**2
        if not np.isfinite(growth) or growth <= 1.0:
            return self.dt
        return min(self.dt, max(bush.carried(growth), SHORTEST * self.dt))

    def advance(self, t_end: float, watched: tuple[Places, Array, Array] = UNWATCHED) -> None:
        """Steps up to t_end; the last one is shortened to meet it.  Ends behind the first step that
        comes to half a turn of what is `watched` (`HalfTurns.rigid`), or passes it."""
        while self.t < t_end and np.all(np.isfinite(self.x)):
            if self.t >= self._looked:
                self._step = self._carried()
                self.shortest = min(self.shortest, self._step)
                self._looked = self.t + LOOK * self.dt
            target = t_end if t_end - self.t <= 1.5 * LOOK * self.dt else self._looked
            if self._advance(target, watched):
                return

    def _advance(self, t_end: float, watched: tuple[Places, Array, Array]) -> bool:
        """Whether it ends at half a turn."""
        began = clock.perf_counter()
        count = int(np.floor((t_end - self.t) / self._step + 1e-9))
        lasts = [(count, self._step)]
        rest = t_end - self.t - count * self._step
        if rest > 1e-9 * self._step:
            lasts.append((1, rest))
        for steps, dt in lasts:
            last = steps_of(
                self.x,
                self.t,
                dt,
                steps,
                self._machine,
                interpreter(),
                *self._forces,
                *self._motions,
                *watched,
            )
            self.t += (last or steps) * dt
            self.steps += last or steps
            self._last = dt
            if last:
                break
        else:
            self.t = t_end
        self.wall += clock.perf_counter() - began
        return last > 0

    def hold(self, rows: Sequence[int]) -> None:
        """Stops what sticks, behind a step: what is missing in its efforts is told by the impulses
        that this takes."""
        if len(self._grips) == 0:
            return
        held = np.array([row in rows for row in self._grips])
        self._given[~held] = 0.0
        if rows and self._mobility is not None:
            impulses = self._mobility.stopped(self.t, self.x, self._grips[held])
            self._given[held] += impulses / self._last
        behind = slice(len(self.x) + 1, len(self.x) + 1 + len(self._given))
        for (work, *_), *_ in (self._forces, self._motions):
            work[behind] = self._given

    def efforts(self) -> Array:
        """Efforts of bushings and of what sticks at (t, x), in the order of the system's constraint
        names."""
        self.rates(self.t, self.x, self._given)
        found: Array = self.rates.output("efforts").ravel().copy()
        return found


def step_of(start: Start) -> float:
    """The step that the fastest of the model's own springs, dampers and circuits asks for at the
    start, 1e-5 s at most [s]."""
    from vbg.simulate.steppers.implicit.jacobian import implicit_jacobian

    jacobian = implicit_jacobian(start)(0.0, start.state)
    return min(STEP, OWN / fastest(jacobian, Tolerances(start.system, 1.0)(0.0, start.state)))


def balanced(start: Start, bush: Bushings, mobility: Mobility) -> Array:
    """The start with the gaps that its joint efforts press into the bushings."""
    x, constraints = start.state.copy(), start.system.equations.constraints
    efforts = start.constraint_efforts(0.0, x)
    if not np.all(np.isfinite(efforts)):
        return x
    placed = np.array([c.position is not None for c in constraints for _ in c.labels])
    pressed = np.divide(efforts, bush.stiffness, out=0.0 * efforts, where=bush.stiffness > 0.0)
    slowed = np.divide(efforts, bush.damping, out=0.0 * efforts, where=bush.damping > 0.0)
    gap, slip = np.where(placed, -pressed, 0.0), np.where(placed, 0.0, -slowed)
    projector = Projector(start.system, start.kept)
    for _ in range(CLOSINGS):
        step = gap - projector.residuals(0.0, x)[0]
        if start.dependent:  # gaps of redundant joints follow from the others, more than linearly
            mobility.at(0.0, x)
            step = possible_gaps(mobility, step, np.where(placed, bush.stiffness, 0.0))
        projector.move_posture(0.0, x, step)
        projector.measure(0.0, x)
    projector.move_velocity(0.0, x, slip - projector.residuals(0.0, x)[1])
    return x


def displaced(system: System) -> frozenset[str]:
    """Names of the stores that belong to the second half: those of displacements, charges and
    volumes."""
    vertices = system.causal.graph.vertices.values()
    return frozenset(v.state.data for v in vertices if v.kind == "C" and v.state is not None)


def _pressed(system: System, bush: Bushings, bushed: set[str]) -> Mapping[Block, Block]:
    """Rates with the bushing efforts of those constraints only that are not `bushed` by
    kernels."""
    e = system.equations
    efforts = [
        zeros(c.unknown.rows) if c.name in bushed else effort
        for c, effort in zip(e.constraints, bushing_efforts(system, bush), strict=True)
    ]
    replace = with_efforts(system, efforts)
    return {leaf: replace(rate) for leaf, rate in e.rates.items()}


def _tape(
    rates: Mapping[Block, Block], system: System, kinds: tuple[str, ...], done: frozenset[str]
) -> tuple[Reader, Places, Places]:
    """The tape of the rates of the states of these kinds or names that are not `done` and not
    constantly zero; where each component stands in x and in the work space, and the same
    of the quaternions, which turn."""
    chosen = [
        s
        for s in system.slices
        if (s.state.kind in kinds or s.state.name in kinds)
        and s.state.name not in done
        and not rates[s.state.leaf].is_zero
    ]
    program = lower({s.state.name: rates[s.state.leaf] for s in chosen}, _inputs(system))
    at = {s.state.name: program.outputs[s.state.name][0] for s in chosen}
    straight = [
        (i, at[s.state.name] + i - s.first)
        for s in chosen
        if s.state.kind != "quaternion"
        for i in range(s.first, s.last)
    ]
    turning = [(s.first, at[s.state.name]) for s in chosen if s.state.kind == "quaternion"]
    evaluate = Evaluator(program)
    return evaluate.reader, _pairs(straight), _pairs(turning)


def _pairs(places: list[tuple[int, int]]) -> Places:
    return np.array(places, dtype=np.int64).reshape(-1, 2)
