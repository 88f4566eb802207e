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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.evaluator import Evaluator, tape
from vbg.assemble.lower import lower
from vbg.assemble.program import Program
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, const, mul
from vbg.errors import UsageError

Array = NDArray[np.float64]

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
    from vbg.blocks import stack

    e = system.equations
    return Substitution({e.efforts: stack(*(c.unknown for c in e.constraints))})(rate)


def discrete_program(system: System, bush: Bushings) -> Program:
    """Rates of all states with bushing efforts in place of constraint efforts, and behind
    them these efforts."""
    e = system.equations
    effort = -1.0 * mul(const(np.diag(bush.stiffness)), e.position) - mul(
        const(np.diag(bush.damping)), e.residual
    )
    replace = Substitution({e.efforts: effort})
    outputs = {s.state.name: replace(e.rates[s.state.leaf]) for s in system.slices}
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
    return lower(outputs | {"efforts": effort}, inputs)


def _places(system: System, kinds: tuple[str, ...]) -> NDArray[np.int64]:
    spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind in kinds]
    return np.concatenate([np.zeros(0, dtype=np.int64), *spans]).astype(np.int64)


class DiscreteTime:
    """The steps: t, x and the compiled loop over many of them."""

    def __init__(self, system: System, dt: float = STEP, frequency: float | None = None):
        if not dt > 0.0:
            raise UsageError(f"the step of the discrete-time method must be positive; got {dt}.")
        if not system.equations.constraints:
            raise UsageError("there are no joints here that bushings could stand for.")
        self.dt = dt
        self.bushings = bushings(system, PHASE / dt if frequency is None else frequency)
        self.program = discrete_program(system, self.bushings)
        self.rates = Evaluator(self.program)
        self._posture = Evaluator(
            lower(
                {
                    s.state.name: system.equations.rates[s.state.leaf]
                    for s in system.slices
                    if s.state.kind in ("position", "quaternion", "displacement")
                },
                {s.state.name: s.state.leaf for s in system.slices} | {"t": system.equations.time},
            )
        )
        self._momenta = _places(system, ("store", "signal", "quadrature"))
        straight = [s for s in system.slices if s.state.kind in ("position", "displacement")]
        turning = [s for s in system.slices if s.state.kind == "quaternion"]
        offsets = {name: at for name, (at, _, _) in self._posture.program.outputs.items()}
        self._straight = np.array(
            [
                (i, offsets[s.state.name] + i - s.first)
                for s in straight
                for i in range(s.first, s.last)
            ],
            dtype=np.int64,
        ).reshape(-1, 2)
        self._turning = np.array(
            [(s.first, offsets[s.state.name]) for s in turning], dtype=np.int64
        ).reshape(-1, 2)
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
            _loop()(
                self.rates.work,
                *tape(self.program),
                self._first(self.program),
                self._posture.work,
                *tape(self._posture.program),
                self.x,
                self.t,
                dt,
                steps,
                self._momenta,
                self._straight,
                self._turning,
            )
            self.t += steps * dt
            self.steps += steps
        self.t = t_end
        self.wall += clock.perf_counter() - began

    def efforts(self) -> Array:
        """Bushing efforts at (t, x), in the order of the system's constraint names."""
        self.rates(self.t, self.x)
        return self.rates.output("efforts").copy()

    @staticmethod
    def _first(program: Program) -> int:
        return next(iter(program.outputs.values()))[0]


_COMPILED: dict[str, Callable[..., None]] = {}  # the loop, compiled at its first use


def _loop() -> Callable[..., None]:
    """The compiled loop over steps."""
    if "loop" not in _COMPILED:
        import numba

        from vbg.assemble.machine import run

        _COMPILED["loop"] = numba.njit(_steps_with(run))
    return _COMPILED["loop"]


def _steps_with(run: Any) -> Callable[..., None]:
    """The loop around `run` of the virtual machine."""

    def steps_of(
        work, segments, operands, factors, stream, first,  # program of all rates
        work2, segments2, operands2, factors2, stream2,  # program of the posture's rates
        x, t, dt, steps, momenta, straight, turning,
    ):  # fmt: skip
        n = x.shape[0]
        for step in range(steps):
            work[:n] = x
            work[n] = t + step * dt
            run(work, segments, operands, factors, stream)
            for k in range(momenta.shape[0]):
                i = momenta[k]
                x[i] += dt * work[first + i]
            work2[:n] = x
            work2[n] = t + step * dt
            run(work2, segments2, operands2, factors2, stream2)
            for k in range(straight.shape[0]):
                x[straight[k, 0]] += dt * work2[straight[k, 1]]
            for k in range(turning.shape[0]):
                i, j = turning[k, 0], turning[k, 1]
                # quat' = 1/2 quat o (0, w) is perpendicular to quat and |quat'| = |w| / 2:
                # quat o exp(w dt / 2) = cos(|w| dt / 2) quat + sin(|w| dt / 2) quat' / |quat'|
                half = np.sqrt(
                    work2[j] ** 2 + work2[j + 1] ** 2 + work2[j + 2] ** 2 + work2[j + 3] ** 2
                )
                c = np.cos(half * dt)
                s = np.sin(half * dt) / half if half > 0.0 else dt
                for m in range(4):
                    x[i + m] = c * x[i + m] + s * work2[j + m]

    return steps_of
