"""Drives and sources that jump or have a kink, looked at before a run.

A position that a drive prescribes must not jump: no force moves a body in no time.  Where its
speed jumps (a kink of the position, a step of a prescribed speed, of a voltage at a capacitor),
an impulse acts: the velocities are moved onto the constraints in the mass metric, which is the
motion behind an ideal impulse, and what the stored energy changes by is work of the drive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start
from vbg.assemble.start.values.valueless import without_speed
from vbg.errors import ModelError, Problem
from vbg.simulate.instants.kinks import kink_instants
from vbg.simulate.instants.samples import Instant, Samples
from vbg.simulate.settings import output_grid

Array = NDArray[np.float64]

MOST = 10_000  # instants looked at
SEEN = 1e-9  # of the size of what is prescribed: a smaller jump is rounding
NAMED = 3  # kinks of one drive that are told


@dataclass(frozen=True, slots=True)
class Kink:
    """What the rows of `part` prescribe jumps at `t`: their position by `jump` [m, rad], or their
    speed (voltage, current, ...) by `slope`, NaN where one of them has no value."""

    t: float
    part: str
    jump: float
    slope: float


def drive_kinks(start: Start, grid: Array, kinks: Array | None = None) -> tuple[Kink, ...]:
    """Jumps of all constraint rows over the output `grid`, in order of time; `kinks`: those of
    its functions of time, where they are known."""
    system = start.system
    graph = system.causal.graph
    if not system.equations.constraints or not (graph.instants or graph.clocks):
        return ()
    samples = Samples(system, kink_instants(system, grid) if kinks is None else kinks)
    return tuple(_kinks(start, samples.instants(float(grid[-1]), MOST)))


def _kinks(start: Start, instants: Iterator[Instant]) -> Iterator[Kink]:
    system, x = start.system, start.state
    residual = Evaluator(system.programs.residual)

    def both(t: float) -> tuple[Array, Array]:
        residual(t, x)
        return residual.output("position").copy(), residual.output("velocity").copy()

    for instant in instants:
        apart = max(instant.after - max(instant.before, 0.0), 0.0)
        (p, v), (p_after, v_after) = both(max(instant.before, 0.0)), both(instant.after)
        v_first, v_last = both(max(instant.before - apart, 0.0))[1], both(instant.after + apart)[1]
        with np.errstate(invalid="ignore"):  # infinite speeds are told below
            moved = SEEN * np.abs(p) + 4.0 * apart * np.maximum(np.abs(v), np.abs(v_after))
            jumps = _jump(p_after - p, moved)
            bent = 4.0 * np.maximum(np.abs(v - v_first), np.abs(v_last - v_after))
            slopes = _jump(v_after - v, SEEN * np.maximum(np.abs(v), np.abs(v_after)) + bent)
        if instant.first <= 0.0:
            slopes[:] = 0.0  # the run starts behind it
        for c in system.equations.constraints:
            rows = slice(c.first, c.first + c.unknown.rows)
            if not all(np.isfinite(value[rows]).all() for value in (p, v, p_after, v_after)):
                yield Kink(instant.at, c.part, 0.0, np.nan)
                continue
            jump, slope = _largest(jumps[rows]), _largest(slopes[rows])
            if jump != 0.0 or slope != 0.0:
                yield Kink(instant.at, c.part, jump, slope)


def _jump(change: Array, natural: Array) -> Array:
    """Zero where it is no more than what smooth functions and rounding change."""
    return np.where(np.abs(change) > natural + 1e-13, -change, 0.0)


def _largest(values: Array) -> float:
    return float(values[np.argmax(np.abs(values))]) if len(values) else 0.0


def drives_told(start: Start) -> tuple[Problem, ...]:
    """What is to be said of the drives and sources of a run as the model asks for."""
    given = start.system.model.simulate
    return drive_problems(drive_kinks(start, output_grid(given.t_end, given.output_step)))


def drive_problems(kinks: tuple[Kink, ...]) -> tuple[Problem, ...]:
    """An error for what jumps or has no speed, a note on each drive that has a kink."""
    found = []
    for part in dict.fromkeys(kink.part for kink in kinks):
        own = [kink for kink in kinks if kink.part == part]
        if jumps := [kink for kink in own if kink.jump != 0.0]:
            found.append(_refusal(jumps[0]))
            continue
        if lost := [kink for kink in own if np.isnan(kink.slope)]:
            found.append(without_speed(lost[0].part, lost[0].t))
            continue
        times = ", ".join(f"{k.t:.6g} s (by {k.slope:.3g})" for k in own[:NAMED])
        more = f" and {len(own) - NAMED} times more" if len(own) > NAMED else ""
        found.append(
            Problem(
                "note",
                part,
                f"what it prescribes has a kink at t = {times}{more}: an impulse acts there.",
                "Its work is counted and it is told as an event; the force of an impulse has no "
                "value. Round the kink if the machine cannot do this.",
            )
        )
    return tuple(found)


def _refusal(kink: Kink) -> Problem:
    return Problem(
        "error",
        kink.part,
        f"what it prescribes jumps by {kink.jump:.3g} [m or rad] at t = {kink.t:.6g} s: no force "
        "moves a body in no time.",
        "Let it move there in a time (signals of kind ramp, table, or a smooth function of t), or "
        "start another run from there.",
    )


def require_no_jump(kinks: tuple[Kink, ...]) -> None:
    """Raises ModelError where a prescribed position jumps or has no speed."""
    jumps = tuple(p for p in drive_problems(kinks) if p.severity == "error")
    if jumps:
        raise ModelError.of(jumps)
