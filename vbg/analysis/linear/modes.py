"""Eigenvalues of a linear state space as modes of motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEUTRAL = 1e-7  # of the largest pole: a pole this small is counted as zero


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode: exp(eigenvalue t), for a conjugate pair the one with positive frequency.

    `frequency` |eigenvalue| [rad/s] (undamped), `damped_frequency` its imaginary
    part, `damping` -real/|eigenvalue| (1: no oscillation; negative: grows).
    `states` (complex, by name of z) and `shape` (by name of signal, joint forces
    among them) are scaled so that the largest state is 1.
    """

    eigenvalue: complex
    states: Mapping[str, complex]
    shape: Mapping[str, complex]

    @property
    def frequency(self) -> float:
        return abs(self.eigenvalue)

    @property
    def damped_frequency(self) -> float:
        return abs(self.eigenvalue.imag)

    @property
    def hertz(self) -> float:
        return self.damped_frequency / (2.0 * np.pi)

    @property
    def oscillates(self) -> bool:
        return self.eigenvalue.imag != 0.0

    @property
    def damping(self) -> float:
        size = abs(self.eigenvalue)
        return 1.0 if size == 0.0 else -self.eigenvalue.real / size + 0.0

    @property
    def time_constant(self) -> float:
        """-1/real part [s]: infinite for an undamped mode, negative if it grows."""
        real = self.eigenvalue.real
        return float("inf") if real == 0.0 else -1.0 / real


def find_modes(
    A: Array, state_names: tuple[str, ...], signals: Array, signal_names: tuple[str, ...]
) -> tuple[Mode, ...]:
    """Modes of A, slowest first; `signals` are the rows of all signals by z."""
    if len(A) == 0:
        return ()
    values, vectors = np.linalg.eig(A)
    largest = float(np.abs(values).max())
    found = []
    for value, vector in zip(values, vectors.T, strict=True):
        cleaned = _cleaned(complex(value), largest)
        if cleaned.imag < 0.0:
            continue
        scaled = vector / vector[int(np.argmax(np.abs(vector)))]
        shape = signals @ scaled
        found.append(
            Mode(
                cleaned,
                dict(zip(state_names, scaled.tolist(), strict=True)),
                dict(zip(signal_names, shape.tolist(), strict=True)),
            )
        )
    return tuple(sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real)))


def _cleaned(value: complex, largest: float) -> complex:
    """`value` without rounding: a part far below what eigenvalues of a matrix with the
    norm `largest` can resolve is zero."""
    floor = NEUTRAL * largest
    if abs(value) < floor:
        return 0j
    small = 1e-10 * largest
    real = 0.0 if abs(value.real) < small else value.real
    imag = 0.0 if abs(value.imag) < small else value.imag
    return complex(real, imag)


def stability(A: Array) -> str:
    """A sentence on what small deviations do."""
    if len(A) == 0:
        return "There is no freedom: every motion is prescribed."
    values = np.linalg.eigvals(A)
    largest = float(np.abs(values).max())
    cleaned = [_cleaned(complex(v), largest) for v in values]
    growing = [v for v in cleaned if v.real > 0.0]
    neutral = [v for v in cleaned if v == 0.0]
    undamped = [v for v in cleaned if v.real == 0.0 and v.imag > 0.0]
    if growing:
        fastest = max(growing, key=lambda v: v.real)
        return (
            f"Unstable: {len(growing)} of {len(values)} poles grow, the fastest doubles a "
            f"deviation in {np.log(2.0) / fastest.real:.3g} s."
        )
    if neutral and undamped:
        return f"Not asymptotically stable: {len(neutral)} poles at zero, {len(undamped)} undamped."
    if neutral:
        return f"Neutral: {len(neutral)} of {len(values)} poles at zero (free to move on)."
    if undamped:
        which = "1 mode is" if len(undamped) == 1 else f"{len(undamped)} modes are"
        return f"Stable, not asymptotically: {which} undamped."
    slowest = max(v.real for v in cleaned)
    return (
        f"Stable: deviations die out, the slowest with a time constant of {-1.0 / slowest:.3g} s."
    )
