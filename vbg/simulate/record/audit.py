"""The audit of a run: how well energy and constraints were kept, and whether that is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.sizes import farthest_end
from vbg.assemble.system import System
from vbg.simulate.steppers.machine_size import machine_size
from vbg.solution import Audit, Event, judged

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
ROUNDINGS = 16.0  # of the work of the largest force along the machine: rounding, no energy
OPENINGS = 2.0 * 3.0**0.5  # before and behind a projection, of three components
ENERGY = 1e3  # allowed energy residual, in rtol, see docs/decisions/2026-11-audit.md
CLOSEST, LOOSEST = 1e-8, 1e-6  # and its bounds, relative to the largest energy
STEP, MOST = 1e-10, 1e-5  # but of many steps so much each, up to MOST; of implicit steps MOST
KEPT = 100.0  # allowed residual of constraints, in what a projection leaves
GAP = 1e-10  # whose work is excused at most, as KEPT is at the default tolerances
FIXED_STEP = 1e-4  # allowed energy residual of methods without error control
BUSHINGS = np.inf  # of bushings in the place of joints: their own energy is not followed


@dataclass(frozen=True, slots=True)
class Limits:
    """What residuals are allowed: of the energy relative to the largest, of positions [rad, or
    lengths of rows], of velocities [rad/s, or lengths in a second] and relative to the fastest;
    and the largest gap whose work is excused [rad, or lengths of rows]."""

    energy: float
    position: float
    velocity: float
    relative: float
    gap: float = 0.0

    def velocity_beside(self, fastest: float) -> float:
        """What a machine is allowed that moves this fast [rad/s, or sizes in a second]."""
        return max(self.velocity, self.relative * fastest)


def limits_kept(rtol: float, atol: float, duration: float) -> tuple[float, float]:
    """To what a run of this duration [s] keeps positions [rad, or lengths of rows] and velocities,
    two digits closer than it integrates.  What a velocity is off adds up over a long run; less
    than what adds up to the position's in the whole of it is none, however fast the machine is."""
    position, duration = max(1e-2 * atol, 1e-13), duration or 1.0  # nothing adds up in no time
    return position, max(closer(rtol) * min(1.0, 1.0 / duration), position / duration)


def closer(rtol: float) -> float:
    """The relative part of velocities."""
    return max(1e-1 * rtol, 1e-12)


def limits_of(
    method: str,
    rtol: float,
    position_tol: float,
    velocity_tol: float,
    rounding: float = 0.0,
    steps: int = 0,
) -> Limits:
    """Those of a run of so many `steps` whose projections leave `position_tol` and `velocity_tol`,
    and of whose gaps `rounding` is nothing but noise."""
    if method == "discrete-time":
        return Limits(BUSHINGS, np.inf, np.inf, 0.0)
    loosest = MOST if method == "radau" else min(max(LOOSEST, STEP * steps), MOST)
    energy = FIXED_STEP if method == "rk4" else float(np.clip(ENERGY * rtol, CLOSEST, loosest))
    position = max(KEPT * position_tol, rounding)
    return Limits(energy, position, KEPT * velocity_tol, KEPT * closer(rtol), max(GAP, rounding))


def audit(
    system: System,
    signals: Mapping[str, Array],
    events: tuple[Event, ...],
    limits: Limits,
    span: float,
    grain: float,
    worst: Array,
    amounts: Mapping[str, float],
    carried: tuple[tuple[float, float], ...] = (),
    between: Mapping[str, tuple[float, float]] | None = None,
) -> Audit:
    """Largest residuals of a run over `span` [s], and what fails; `grain` [J] of its
    energies (`grain_of_energy`), `worst`: residuals of positions and velocities, in lengths of
    the rows; `amounts`: the largest of each signal; `between`: least and largest value of signals
    inside the steps.

    That of the energy is relative to the largest energy that took part in the run, also between
    rows: kinetic, change of the potential, supplied or dissipated. What rounding alone leaves
    in the sum, ROUNDINGS eps times the largest force along the machine's size and along what
    rounding of a speed adds up to, ROUNDINGS times the grain, and ROUNDINGS eps of what all parts
    exchange, is taken off before: a block that friction holds has lost nothing, nor has a cylinder
    that carries a load, nor a circuit in which nothing flows, or sources feed one another only. So
    is the work of the largest force along what the constraints are open by, which has its own
    limit: a rod that hangs still gains nothing when a projection closes its joint.  But no gap is
    excused beyond GAP and rounding: loose tolerances leave larger ones, under a large force as much
    work as a run loses.  Gaps that have no limit are bushings', and their work is told whole.
    """
    largest = _largest_energy(signals, between or {})
    residual = np.abs(signals["energy.residual"]).max()
    opened = min(float(worst[0]), limits.gap)
    rounding = _work(system, amounts, span, opened) + ROUNDINGS * grain
    rounding += ROUNDINGS * EPS * _exchanged(signals, span)
    missing = max(0.0, residual - rounding)
    if np.isnan(residual):
        missing = residual
    if missing != 0.0:
        missing = missing / largest if largest > 0.0 else np.inf
    dependent = signals.get("residual.dependent")
    return judged(
        Audit(
            energy_residual=float(missing),
            position_residual=float(worst[0]),
            velocity_residual=float(worst[1]),
            dependent_residual=0.0 if dependent is None else float(dependent.max()),
            events=events,
            energy_limit=limits.energy,
            position_limit=limits.position,
            velocity_limit=limits.velocity_beside(_fastest(system, amounts)),
            carried=carried,
        )
    )


def _largest_energy(
    signals: Mapping[str, Array], between: Mapping[str, tuple[float, float]]
) -> float:
    """That took part in the run [J]: a spring whose rows fall on its turning points has none
    there."""
    found = 0.0
    for name in ("energy.kinetic", "energy.potential", "energy.supplied", "energy.dissipated"):
        least, most = between.get(name, (np.inf, -np.inf))
        least, most = min(least, signals[name].min()), max(most, signals[name].max())
        found = max(found, most - least if name == "energy.potential" else max(most, -least))
    return float(found)


def _exchanged(signals: Mapping[str, Array], span: float) -> float:
    """The sum of what every part takes or gives in `span` [s], either way [J], by its rows."""
    powers = (np.abs(values) for name, values in signals.items() if name.endswith(".power"))
    means = [float(np.mean(power)) for power in powers if power.size]
    return span * sum(mean for mean in means if np.isfinite(mean))


def _fastest(system: System, amounts: Mapping[str, float]) -> float:
    """The largest speed of the run [rad/s, or machine's sizes in a second]."""
    units = {"rad/s": 1.0, "m/s": machine_size(system)}
    return max(
        (
            amounts[name] / units[unit]
            for name, unit in system.signal_units.items()
            if unit in units and name in amounts
        ),
        default=0.0,
    )


def _work(system: System, amounts: Mapping[str, float], span: float, opened: float) -> float:
    """Of the largest force and the largest torque along constraints of which each of the three
    components is `opened` [rad, or machine's sizes] at a row and as much again before the
    projection that left that, and along ROUNDINGS eps of the machine's size and of that size (1 m
    at most) in every second, or over as many radians [J].  A gap at the end of an arm that is
    longer than the machine is rounded as that arm is."""
    size = machine_size(system)
    longest = max(size, farthest_end(system))
    lengths = {"N": longest + min(1.0, size) * span, "N*m": 1.0 + span}
    gaps = {"N": size * opened, "N*m": opened}
    largest = dict.fromkeys(lengths, 0.0)
    for name, unit in system.signal_units.items():
        if unit in lengths and name in amounts:
            largest[unit] = max(largest[unit], amounts[name])
    ways = {unit: ROUNDINGS * EPS * lengths[unit] + OPENINGS * gaps[unit] for unit in lengths}
    return sum(ways[unit] * effort for unit, effort in largest.items())
