"""Loops closed through sample-and-hold: exact multipliers over one period.

Between instants z' = A z + G h with h held, at them h becomes E z + F h.  From one instant to
the next, with P = exp(A T) and Q = int_0^T exp(A s) ds G,

    z -> P z + Q h,   h -> E (P z + Q h) + F h

(K. Astrom, B. Wittenmark, Computer-Controlled Systems, 1997, section 2.3).  Deviations die out
where all eigenvalues mu of this map lie inside the unit circle; s = ln(mu) / T is the pole of a
continuous machine that does the same from instant to instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.tangent import Tangent
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System

Array = NDArray[np.float64]

STEP = 1e-40  # of complex steps
SETTLES = 30  # rounds until what is held agrees with what is read
NEUTRAL = 1e-9  # a multiplier this near the unit circle lies on it


@dataclass(frozen=True, eq=False)
class Sampling:
    """`names` of what is held, the `period` [s], and the `multipliers` of one period; without
    them the clocks differ and there is no common map."""

    names: tuple[str, ...]
    period: float
    multipliers: NDArray[np.complex128]

    @property
    def poles(self) -> NDArray[np.complex128]:
        """ln(mu) / T [1/s]; a multiplier of zero (dead beat) has none and is left out."""
        lasting = self.multipliers[np.abs(self.multipliers) > 1e-12]
        return np.asarray(np.log(lasting) / self.period)

    @property
    def stability(self) -> str:
        """Whether deviations die out from sample to sample, in a sentence."""
        what = f"With {', '.join(self.names)} sampled"
        if not self.multipliers.size:
            return f"{what} at different periods, stability is not decided here: simulate."
        size = np.abs(self.multipliers)
        every = f"{what} every {self.period:g} s"
        if np.any(size > 1.0 + NEUTRAL):
            return f"Unstable: {every}, a deviation grows {size.max():.4g} times from one to next."
        if np.any(size > 1.0 - NEUTRAL):
            return f"Not asymptotically stable: {every}, some deviations stay."
        return f"Stable: {every}, what dies out last keeps {size.max():.4g} of itself each time."


class Samples:
    """The sampled states of a system: what they become, and how that depends on x."""

    def __init__(self, system: System):
        graph = system.causal.graph
        self.sampled = graph.sampled
        slices = {s.state.name: np.arange(s.first, s.last) for s in system.slices}
        places = [slices[s.name] for s in self.sampled]
        self.places = np.concatenate([np.zeros(0, dtype=int), *places])
        if self.sampled:
            self._update = Evaluator(system.programs.update, complex_valued=True)

    def updated(self, t: float, x: Array) -> Array:
        """x with what is held as it is read."""
        x = x.copy()
        for _ in range(SETTLES if self.sampled else 0):
            self._update(t, x.astype(complex))
            read = self._read().real
            if np.array_equal(read, x[self.places]):
                break
            x[self.places] = read
        return x

    def _read(self) -> NDArray[np.complex128]:
        return np.concatenate([np.ravel(self._update.output(s.name)) for s in self.sampled])

    def slopes(self, t: float, x: Array) -> Array:
        """d read / d x, shape (held, n)."""
        columns = []
        for i in range(len(x)):
            z = x.astype(complex)
            z[i] += 1j * STEP
            self._update(t, z)
            columns.append(self._read().imag / STEP)
        return np.column_stack(columns)

    def following(self, t: float, x: Array) -> Array:
        """d x / d x (n, n) where what is held follows what it reads: (I - F)^-1 E in its rows."""
        whole = np.eye(len(x))
        slopes = self.slopes(t, x)
        own = slopes[:, self.places]
        slopes[:, self.places] = 0.0
        whole[self.places] = np.linalg.lstsq(np.eye(len(own)) - own, slopes, rcond=None)[0]
        return whole


@dataclass(frozen=True, eq=False)
class Mapped:
    """`matrix` of deviations (z, h) from one instant to the next, `period` [s] later; None where
    the clocks of what is held differ.  `names` of what is held."""

    names: tuple[str, ...]
    period: float
    matrix: Array | None


def period_map(system: System, t: float, x: Array, rate: Array, space: Tangent) -> Mapped | None:
    """The map over one period at x; `rate` is d rate / d x.  None where nothing is sampled."""
    samples = Samples(system)
    if not samples.sampled:
        return None
    from scipy.linalg import expm

    names = tuple(s.name.removesuffix(".held") for s in samples.sampled)
    clocks = {s.clock for s in samples.sampled}
    if len(clocks) > 1:
        return Mapped(names, 0.0, None)
    (clock,) = clocks
    A = space.reduce @ rate[space.rows] @ space.basis
    G = space.reduce @ rate[np.ix_(space.rows, samples.places)]
    r, h = len(A), len(samples.places)
    whole = np.zeros((r + h, r + h))
    whole[:r, :r], whole[:r, r:] = A, G
    advance = expm(whole * clock.period)[:r]
    slopes = samples.slopes(t, x)
    E, F = slopes @ space.basis, slopes[:, samples.places]
    held = E @ advance
    held[:, r:] += F
    return Mapped(names, clock.period, np.vstack([advance, held]))


def sampling(system: System, t: float, x: Array, rate: Array, space: Tangent) -> Sampling | None:
    """What becomes of deviations in one period; None where nothing is sampled."""
    found = period_map(system, t, x, rate, space)
    if found is None:
        return None
    if found.matrix is None:
        return Sampling(found.names, found.period, np.zeros(0, dtype=complex))
    multipliers = np.linalg.eigvals(found.matrix).astype(np.complex128)
    return Sampling(found.names, found.period, multipliers)
