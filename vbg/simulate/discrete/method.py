"""Discrete-time method: explicit small steps, joints as stiff bushings.

L. Zhanal, P. Portes, Calculation of mechanism motion using discrete time approach,
Vibroengineering PROCEDIA 18 (2018) 222-225.  In each step of 1e-5 ... 1e-7 s

    U2 = -K Phi - C r                    bushing efforts instead of constraint efforts
    momenta     X1 <- X1 + dt X1'(X, U2)            (Newton, Euler: eq. 2-4, 7, 8)
    positions   p <- p + dt v,  quat <- quat o exp(w dt / 2)    with the new momenta (5-11)

The new momenta in the second half make it the symplectic variant, which keeps the energy
of the stiff bushings bounded.  The exponential is the Rodrigues step C(e, theta) of eq. 1.

K and C are those of `vbg.simulate.discrete.bushings`.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block, stack, zeros
from vbg.errors import UsageError
from vbg.simulate.discrete.bushings import Bushings, bushing_efforts, bushings, with_efforts
from vbg.simulate.discrete.joints import machine_of
from vbg.simulate.discrete.kernels import ensure_compiled, steps_of

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Tape = tuple[NDArray, ...]

STEP = 1e-5  # [s]
PHASE = 0.3  # w dt: a tenth of the limit of stability, 2, and some


def discrete_program(system: System, bush: Bushings) -> Program:
    """Rates of all states with bushing efforts in place of constraint efforts, and behind
    them these efforts."""
    e = system.equations
    efforts = bushing_efforts(system, bush)
    replace = with_efforts(system, efforts)
    outputs = {s.state.name: replace(e.rates[s.state.leaf]) for s in system.slices}
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
    return lower(outputs | {"efforts": stack(*efforts)}, inputs)


class DiscreteTime:
    """The steps: t, x and the compiled loop over many of them.

    Bodies and the bushings of their joints are moved by kernels of their own
    (vbg.simulate.discrete.kernels); all else is read from two tapes, one of forces, one of
    motions.  `rates` is the whole as one tape, with the efforts behind: what outputs need,
    and what the steps must equal to rounding.
    """

    def __init__(self, start: Start, dt: float = STEP, frequency: float | None = None):
        system = start.system
        if not dt > 0.0:
            raise UsageError(f"the step of the discrete-time method must be positive; got {dt}.")
        if not system.equations.constraints:
            raise UsageError("there are no joints here that bushings could stand for.")
        ensure_compiled()
        self.dt = dt
        self.bushings = bush = bushings(start, PHASE / dt if frequency is None else frequency)
        self.rates = Evaluator(discrete_program(system, bush))
        machine = machine_of(system, bush.stiffness, bush.damping)
        self._machine = machine.flat
        bushed = {c.name for c in machine.joints}
        self._forces = _tape(
            _others(system, bush, bushed), system, ("store", "signal", "quadrature"), frozenset()
        )
        self._motions = _tape(
            system.equations.rates,
            system,
            ("position", "quaternion", "displacement"),
            machine.moved,
        )
        self.t, self.x = 0.0, start.state.copy()
        self.steps, self.wall = 0, 0.0

    def advance(self, t_end: float) -> None:
        """Steps up to t_end; the last one is shortened to meet it."""
        began = clock.perf_counter()
        count = int(np.floor((t_end - self.t) / self.dt + 1e-9))
        lasts = [(count, self.dt)]
        rest = t_end - self.t - count * self.dt
        if rest > 1e-9 * self.dt:
            lasts.append((1, rest))
        for steps, dt in lasts:
            steps_of(self.x, self.t, dt, steps, self._machine, *self._forces, *self._motions)
            self.t += steps * dt
            self.steps += steps
        self.t = t_end
        self.wall += clock.perf_counter() - began

    def efforts(self) -> Array:
        """Bushing efforts at (t, x), in the order of the system's constraint names."""
        self.rates(self.t, self.x)
        return self.rates.output("efforts").copy()


def _others(system: System, bush: Bushings, bushed: set[str]) -> Mapping[Block, Block]:
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
) -> tuple[Tape, Places, Places]:
    """The tape of the rates of the states of these kinds that are not `done` and not
    constantly zero; where each component stands in x and in the work space, and the same
    of the quaternions, which turn."""
    chosen = [
        s
        for s in system.slices
        if s.state.kind in kinds and s.state.name not in done and not rates[s.state.leaf].is_zero
    ]
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": system.equations.time}
    program = lower({s.state.name: rates[s.state.leaf] for s in chosen}, inputs)
    at = {s.state.name: program.outputs[s.state.name][0] for s in chosen}
    straight = [
        (i, at[s.state.name] + i - s.first)
        for s in chosen
        if s.state.kind != "quaternion"
        for i in range(s.first, s.last)
    ]
    turning = [(s.first, at[s.state.name]) for s in chosen if s.state.kind == "quaternion"]
    evaluate = Evaluator(program)
    return (evaluate.work, *evaluate.tape), _pairs(straight), _pairs(turning)


def _pairs(places: list[tuple[int, int]]) -> Places:
    return np.array(places, dtype=np.int64).reshape(-1, 2)
