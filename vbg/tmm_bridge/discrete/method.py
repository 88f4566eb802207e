"""MS-DT-TMM: the discrete-time transfer matrix method, state vectors in positions.

At t_(n+1) the displacements dx and small rotations dtheta from a predicted
posture are unknown, z = [dx, dtheta, m, q, 1].  A step of Houbolt, Newmark or
Wilson makes every acceleration affine in them (x'' = A x + B), and the elements
so linearised are passed through the same Riccati transform as the accelerations
are, with the cut efforts as further right-hand sides.  All three are of second
order in the step h.

Rui et al., mstmmsim.txt; the steps' own sources in their modules.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.solution import FINISHED, Audit, MadeBy, Solution, Status
from vbg.tmm_bridge.discrete import houbolt, newmark, wilson
from vbg.tmm_bridge.discrete.march import Found
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_ACC, W_FORCE
from vbg.tmm_bridge.mechanism.bending import refuse_flexible
from vbg.tmm_bridge.mechanism.contradictions import row_name
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import Pose, start
from vbg.tmm_bridge.motion.events.half_turns import Twisted, Twists, has_twists
from vbg.tmm_bridge.motion.integration import integrate
from vbg.tmm_bridge.motion.rate.instants import behind, output_grid
from vbg.tmm_bridge.motion.rate.plant import Singular
from vbg.tmm_bridge.motion.signals.channels import Record, replay, signals
from vbg.tmm_bridge.motion.signals.energies import residual_signals
from vbg.tmm_bridge.motion.trajectory import Trajectory
from vbg.tmm_bridge.overall.transfer import loads_of_bodies

STEP = 1e-3  # [s], unless the output step is shorter


class Scheme(Protocol):
    """A formula that makes the accelerations affine in the displacements of one step."""

    def begin(self, time: float, y: Array) -> None: ...

    def step(self, time: float) -> Found: ...


# name -> (the scheme for a mechanism and a step, states that it starts from, order)
SCHEMES: Mapping[str, tuple[Callable[[Mechanism, float], Scheme], int, int]] = {
    "houbolt": (houbolt.Houbolt, houbolt.STARTS, houbolt.ORDER),
    "newmark": (newmark.Newmark, newmark.STARTS, newmark.ORDER),
    "wilson": (wilson.Wilson, wilson.STARTS, wilson.ORDER),
}
Progress = Callable[[float, float], bool | None]


def simulate(
    model: Model,
    *,
    t_end: float | None = None,
    output_step: float | None = None,
    step: float | None = None,
    scheme: str = "newmark",
    progress: Progress | None = None,
    poses: Mapping[str, Pose] | None = None,
    angles: Mapping[str, float] | None = None,
    replays: Mapping[str, TimeFunction] | None = None,
) -> Solution:
    """Motion and joint forces by the discrete-time method at a fixed step [s].

    The step is the largest part of the output step that is not above `step`
    (default 1e-3 s); `poses`, `angles` and `replays` as for the Riccati solver.  What a scheme
    needs of the past at the start comes from that solver, too.  Raises UsageError for
    an unknown scheme, or for one-dimensional parts and feedback that are not replayed.
    """
    if scheme not in SCHEMES:
        raise UsageError(f"scheme={scheme!r} is unknown; there are {', '.join(SCHEMES)}.")
    begun = clock.process_time()
    asked = model.simulate.output_step if output_step is None else output_step
    grid = output_grid(model.simulate.t_end if t_end is None else t_end, asked)
    spacing = _spacing(grid, asked)
    every = int(np.ceil(spacing / (STEP if step is None else step) - 1e-9))
    h = spacing / every
    mechanism = lay_out(model, replays)
    refuse_flexible(model, "discrete-time method moves rigid bodies and beams")
    if mechanism.network is not None:
        raise UsageError(
            f"{model.name}: the discrete-time method moves bodies only. Replay what its"
            " one-dimensional parts and controllers exert."
        )
    make, starts, order = SCHEMES[scheme]
    y0 = start(mechanism, poses, angles=angles).y
    states = np.array([y0])
    if starts > 1:
        states = integrate(mechanism, y0, np.arange(starts) * h, 1e-12, 1e-14).states
    end = float(grid[-1])
    records, status = _march(mechanism, make(mechanism, h), states, h, end, every, progress)
    named, units = {}, {}
    record = _stacked(mechanism, records)
    for name, values, unit in (*signals(mechanism, record), *residual_signals(mechanism, record)):
        named[name], units[name] = values, unit
    made_by = MadeBy(
        solver="tmm_bridge.discrete",
        model=model.name,
        model_hash=model.hash,
        method=f"ms-dt-tmm, {scheme} (order {order}), h = {h:.6g} s",
        n_steps=round(float(record.time[-1]) / h),
        cpu=clock.process_time() - begun,
    )
    audit = Audit(position_residual=float(named["residual.position"].max(initial=0.0)))
    return Solution(record.time, named, audit, made_by, status, units)


def _spacing(grid: Array, asked: float) -> float:
    """Of the rows [s]; `asked` where the first one is all of them."""
    return float(grid[1] - grid[0]) if len(grid) > 1 else asked


def _march(
    mechanism: Mechanism,
    scheme: Scheme,
    states: Array,
    h: float,
    end: float,
    every: int,
    progress: Progress | None,
) -> tuple[list[tuple[float, Found | Array]], Status]:
    """Steps of h to the end [s]; keeps those at output times (states before the first)."""
    kept: list[tuple[float, Found | Array]] = []
    total, twists = round(end / h), Twists()
    for k in range(total + 1):
        time = k * h
        found: Found | Array
        try:
            if k < len(states):
                found = y = states[k]
                scheme.begin(time, y)
            else:
                found = scheme.step(time)
                y = found.y
                if not np.isfinite(y).all():
                    return kept, _failed(f"it diverged at t = {time:.6g} s.")
            _look_at_twists(mechanism, twists, time, y)
        except Singular as pose:
            why = f"at joints.{row_name(mechanism, pose.row)} the loops cannot be followed"
            return kept, _failed(f"{why} at t = {time:.6g} s.")
        except Twisted as part:
            return kept, replace(_failed(part.sentence), remedy=part.remedy)
        if k % every == 0:
            kept.append((time, found))
        if progress is not None and progress(k / max(total, 1), time) is False:
            if k % every:
                kept.append((time, found))  # what was reached is kept
            return kept, Status("cancelled", f"The run was cancelled at {time:.6g} s.")
    return kept, FINISHED


def _look_at_twists(mechanism: Mechanism, twists: Twists, time: float, y: Array) -> None:
    """At elastic ends behind a step.  Raises Twisted where it has passed half a turn."""
    if has_twists(mechanism):
        twists.step(mechanism, loads_of_bodies(mechanism, y, time)[0], time)


def _failed(why: str) -> Status:
    return Status("failed", f"The discrete-time method stopped: {why}", "Take a shorter step.")


def _stacked(mechanism: Mechanism, records: list[tuple[float, Found | Array]]) -> Record:
    """Workspaces at the output times with the step's own motion and forces in them."""
    states = np.array([r if isinstance(r, np.ndarray) else r.y for _, r in records])
    times = np.array([time for time, _ in records])
    seen = behind(mechanism, times)
    record = replay(mechanism, Trajectory(times, states, seen, (), 0, 0, FINISHED))
    work, effort = record.work.copy(), record.effort.copy()
    for k, (_, found) in enumerate(records):
        if isinstance(found, np.ndarray):
            continue
        work[k, :, W_ACC : W_ACC + 6] = found.acceleration
        work[k, :, W_FORCE : W_FORCE + 6] = found.force
        effort[k] = found.effort
    values = {name: getattr(record, name) for name in Record.__dataclass_fields__}
    return Record(**{**values, "work": work, "effort": effort})
