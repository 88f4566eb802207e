"""Discrete-time method: explicit small steps, joints as stiff bushings.

L. Zhanal, P. Portes, Calculation of mechanism motion using discrete time approach,
Vibroengineering PROCEDIA 18 (2018) 222-225.  In each step of 1e-5 ... 1e-7 s

    U2 = -K Phi - C r                    bushing efforts instead of constraint efforts
    momenta     X1 <- X1 + dt X1'(X, U2)            (Newton, Euler: eq. 2-4, 7, 8)
    positions   p <- p + dt v,  quat <- quat o exp(w dt / 2)    with the new momenta (5-11)

The new momenta in the second half make it the symplectic variant, which keeps the energy
of the stiff bushings bounded.  The exponential is the Rodrigues step C(e, theta) of eq. 1.

K and C of each constrained direction follow from one frequency w and damping ratio z:

    K = w^2 / (s H4_ii),   C = 2 z w / (s H4_ii)

with H4 = G M^-1 G^T at the start (1/H4_ii is the mass that the direction sees) and s the
largest eigenvalue of H4 scaled to a diagonal of ones, so that w is the largest
frequency that the bushings cause.  The gap of the joints shrinks with 1/w^2.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.evaluator import Evaluator, tape
from vbg.assemble.lower import lower
from vbg.assemble.program import Program
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, const, mul, rows, stack
from vbg.errors import UsageError
from vbg.simulate.discrete_joints import machine_of
from vbg.simulate.discrete_kernels import ensure_compiled, steps_of

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Tape = tuple[NDArray, ...]

STEP = 1e-5  # [s]
PHASE = 0.3  # w dt: a tenth of the limit of stability, 2, and some
DAMPING = 0.5  # ratio z of the bushings


@dataclass(frozen=True, slots=True)
class Bushings:
    """Stiffness K and damping C of every constrained direction, and their frequency [rad/s]."""

    stiffness: Array
    damping: Array
    frequency: float


def bushings(system: System, frequency: float, ratio: float = DAMPING) -> Bushings:
    """K and C for the frequency [rad/s] at the assembled start."""
    H4 = _mobility(system)
    diagonal = np.diag(H4).copy()
    if np.any(diagonal <= 0.0):
        raise UsageError(
            "a constraint acts on no mass: the discrete-time method has no step for it"
        )
    scale = 1.0 / np.sqrt(diagonal)
    largest = float(np.linalg.eigvalsh(scale[:, None] * H4 * scale).max())
    per_mass = 1.0 / (largest * diagonal)
    return Bushings(frequency**2 * per_mass, 2.0 * ratio * frequency * per_mass, frequency)


def _mobility(system: System) -> Array:
    """H4 = dr/dX1 dX1'/dU2, column by column; exact because both are linear there."""
    e = system.equations
    count = e.efforts.rows
    unknown = {c.name: c.unknown for c in e.constraints}
    x = system.initial_state
    residual = system.evaluator("residual")
    efforts = Evaluator(
        lower(
            {s.state.name: _open_rate(system, e.rates[s.state.leaf]) for s in system.slices},
            {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time} | unknown,
        )
    )
    at_rest = efforts(0.0, x, np.zeros(count)).copy()
    residual(0.0, x)
    before = residual.output("velocity").copy()
    momenta = _places(system, ("store",))
    H4 = np.empty((count, count))
    for i in range(count):
        change = efforts(0.0, x, np.eye(count)[i])[: system.size] - at_rest[: system.size]
        moved = x.copy()
        moved[momenta] += change[momenta]
        residual(0.0, moved)
        H4[:, i] = residual.output("velocity") - before
    return 0.5 * (H4 + H4.T)


def _open_rate(system: System, rate: Block) -> Block:
    """A rate with the constraint efforts as inputs again."""
    e = system.equations
    return Substitution({e.efforts: stack(*(c.unknown for c in e.constraints))})(rate)


def bushing_efforts(system: System, bush: Bushings) -> Block:
    """U2 = -K Phi - C r."""
    e = system.equations
    return -1.0 * mul(const(np.diag(bush.stiffness)), e.position) - mul(
        const(np.diag(bush.damping)), e.residual
    )


def discrete_program(system: System, bush: Bushings) -> Program:
    """Rates of all states with bushing efforts in place of constraint efforts, and behind
    them these efforts."""
    e = system.equations
    effort = bushing_efforts(system, bush)
    replace = Substitution({e.efforts: effort})
    outputs = {s.state.name: replace(e.rates[s.state.leaf]) for s in system.slices}
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
    return lower(outputs | {"efforts": effort}, inputs)


def _places(system: System, kinds: tuple[str, ...]) -> NDArray[np.int64]:
    spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind in kinds]
    return np.concatenate([np.zeros(0, dtype=np.int64), *spans]).astype(np.int64)


class DiscreteTime:
    """The steps: t, x and the compiled loop over many of them.

    Bodies and the bushings of their joints are moved by kernels of their own
    (vbg.simulate.discrete_kernels); all else is read from two tapes, one of forces, one of
    motions.  `rates` is the whole as one tape, with the efforts behind: what outputs need,
    and what the steps must equal to rounding.
    """

    def __init__(self, system: System, dt: float = STEP, frequency: float | None = None):
        if not dt > 0.0:
            raise UsageError(f"the step of the discrete-time method must be positive; got {dt}.")
        if not system.equations.constraints:
            raise UsageError("there are no joints here that bushings could stand for.")
        ensure_compiled()
        self.dt = dt
        self.bushings = bush = bushings(system, PHASE / dt if frequency is None else frequency)
        self.rates = Evaluator(discrete_program(system, bush))
        machine = machine_of(system, bush.stiffness, bush.damping)
        self._machine = machine.flat
        bushed = {row for c in machine.joints for row in range(c.first, c.first + len(c.labels))}
        self._forces = _tape(
            _others(system, bush, bushed), system, ("store", "signal", "quadrature"), frozenset()
        )
        self._motions = _tape(
            system.equations.rates,
            system,
            ("position", "quaternion", "displacement"),
            machine.moved,
        )
        self.t, self.x = 0.0, system.initial_state.copy()
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


def _others(system: System, bush: Bushings, bushed: set[int]) -> Mapping[Block, Block]:
    """Rates with the bushing efforts of those rows only that are not `bushed` by kernels."""
    left = np.array([row not in bushed for row in range(system.equations.efforts.rows)])
    effort = bushing_efforts(system, bush)
    parts = [rows(effort, i, i + 1) if kept else const(0.0) for i, kept in enumerate(left.tolist())]
    replace = Substitution({system.equations.efforts: stack(*parts)})
    return {leaf: replace(rate) for leaf, rate in system.equations.rates.items()}


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
    return (Evaluator(program).work, *tape(program)), _pairs(straight), _pairs(turning)


def _pairs(places: list[tuple[int, int]]) -> Places:
    return np.array(places, dtype=np.int64).reshape(-1, 2)
