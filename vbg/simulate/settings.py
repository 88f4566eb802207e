"""What a run needs besides the system, the instants of its rows, and what made it."""

from __future__ import annotations

import platform
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg import units
from vbg.errors import ModelError, Problem, UsageError
from vbg.model.resolve.settings import Simulate

Array = NDArray[np.float64]

MOST_ROWS = 1e8
LEAST_RTOL = 1e-15  # a few roundings
METHODS = ("auto", "dop853", "rk4", "radau", "adams", "discrete-time")
FORMULATIONS = ("constraint", "minimal")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run needs besides the system; `step` [s], `bushing_frequency` [Hz] and
    `bushing_damping` are of the discrete-time method, None for what suits the model; `beside` are
    instants [s] of rows besides those of the output step, for steps that are not fixed."""

    t_end: float
    output_step: float
    method: str
    rtol: float
    atol: float
    formulation: str
    step: float | None = None
    bushing_frequency: float | None = None
    bushing_damping: float | None = None
    beside: tuple[float, ...] = ()


DISCRETE = ("step", "bushing_frequency", "bushing_damping")  # of the discrete-time method
NAMES = tuple(f.name for f in fields(Settings) if f.name != "beside")
NUMBERS = {  # and their units
    "t_end": "s",
    "output_step": "s",
    "rtol": "",
    "atol": "",
    "step": "s",
    "bushing_frequency": "Hz",
    "bushing_damping": "",
}


def settings_of(defaults: Simulate, **given: Any) -> Settings:
    """The settings `given`, those of the model where they are None; numbers in SI, or texts with
    a unit, "20 ms".

    Raises UsageError for values that are no numbers, and for those of the discrete-time method
    beside another that was given."""
    values = {name: getattr(defaults, name) for name in NAMES}
    values |= {name: value for name, value in given.items() if value is not None}
    values |= {
        n: _number(n, values[n], unit) for n, unit in NUMBERS.items() if values[n] is not None
    }
    settings = Settings(**values)
    if settings.method != "discrete-time":
        for name in DISCRETE:
            if given.get(name) is not None:
                raise UsageError(
                    f"{name} belongs to method 'discrete-time'; the method is "
                    f"{settings.method!r}. Add method = 'discrete-time', or leave {name} out."
                )
    return settings


def _number(name: str, value: Any, unit: str) -> float:
    try:
        return units.convert(value, unit) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, ModelError) as error:
        raise UsageError(
            f"{name}: a number, or a text with a unit, is asked for: {error}."
        ) from None


def check(settings: Settings) -> None:
    """Raises UsageError for settings that are out of range or do not go together."""
    if settings.method not in METHODS:
        raise UsageError(
            f"method {settings.method!r} is not available; there are {', '.join(METHODS)}."
        )
    _check_formulation(settings)
    for name in ("t_end", "output_step", "rtol", "atol", *DISCRETE):
        value = getattr(settings, name)
        if name in DISCRETE and (value is None or (value == 0.0 and name == "bushing_damping")):
            continue
        if not np.isfinite(value) or value < 0.0 or (value == 0.0 and name != "t_end"):
            raise UsageError(f"{name} must be a positive number; got {value:g}.")
    if settings.rtol >= 1.0:
        raise UsageError(f"rtol is a part of what it bounds, below 1; got {settings.rtol:g}.")
    if settings.rtol < LEAST_RTOL:
        raise UsageError(
            f"rtol = {settings.rtol:g} asks for more digits than numbers have; at least "
            f"{LEAST_RTOL:g}."
        )
    _require_rows(settings.t_end, settings.output_step)


def _check_formulation(settings: Settings) -> None:
    if settings.formulation not in FORMULATIONS:
        raise UsageError(
            f"formulation {settings.formulation!r} is not available; there are "
            f"{', '.join(FORMULATIONS)}."
        )
    minimal = settings.formulation == "minimal"
    if minimal and settings.method not in ("auto", "adams"):
        raise UsageError(
            f"formulation 'minimal' is integrated by method 'adams', not {settings.method!r}: "
            "leave method out, or take formulation = 'constraint'."
        )
    if settings.method == "adams" and not minimal:
        raise UsageError(
            "method 'adams' belongs to formulation 'minimal': set formulation = 'minimal', or "
            "take another method."
        )


def _require_rows(t_end: float, output_step: float) -> None:
    rows = t_end / output_step
    if not rows <= MOST_ROWS:
        told = Problem(
            "error",
            "simulate.output_step",
            f"t_end = {t_end:g} s with output_step = {output_step:g} s asks for {rows:.3g} output "
            f"rows; at most {MOST_ROWS:.0e} are kept.",
            "Take a larger output_step, or a shorter run.",
        )
        raise UsageError.of([told])


def grid_of(settings: Settings) -> Array:
    """The instants of all rows of a run."""
    grid = output_grid(settings.t_end, settings.output_step)
    return np.union1d(grid, settings.beside) if settings.beside else grid


def output_grid(t_end: float, output_step: float) -> Array:
    """0, step, 2 step, ... and t_end itself.  UsageError where these are more than a run keeps."""
    _require_rows(t_end, output_step)
    count = int(np.floor(t_end / output_step + 1e-9))
    grid: Array = np.arange(count + 1, dtype=float) * output_step
    if t_end - grid[-1] > 1e-9 * output_step:
        return np.concatenate([grid, [t_end]])
    grid[-1] = t_end if count else 0.0
    return grid


def versions() -> dict[str, str]:
    """Versions of what made a result."""
    names = ("vbg", "numpy", "scipy", "numba")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


@cache
def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
