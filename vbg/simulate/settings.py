"""What a run needs besides the system, the instants of its rows, and what made it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run needs besides the system."""

    t_end: float
    output_step: float
    method: str
    rtol: float
    atol: float
    formulation: str


def output_grid(t_end: float, output_step: float) -> Array:
    """0, step, 2 step, ... and t_end itself."""
    count = int(np.floor(t_end / output_step + 1e-9))
    grid: Array = np.arange(count + 1, dtype=float) * output_step
    if t_end - grid[-1] > 1e-9 * output_step:
        return np.concatenate([grid, [t_end]])
    grid[-1] = t_end if count else 0.0
    return grid


def versions() -> dict[str, str]:
    """Versions of what made a result."""
    found = {"python": platform.python_version()}
    for name in ("vbg", "numpy", "scipy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
