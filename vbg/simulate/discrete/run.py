"""A whole run by the discrete-time method, recorded like every other."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from vbg.assemble.start.start import Start
from vbg.errors import Problem, UsageError
from vbg.simulate.discrete.method import STEP, DiscreteTime
from vbg.simulate.events.drives import drive_kinks, require_no_jump
from vbg.simulate.events.events import Samples
from vbg.simulate.events.kinks import kink_instants
from vbg.simulate.record.audit import audit, limits_of
from vbg.simulate.record.recorder import ENERGY_UNITS, Recorder, Sink
from vbg.simulate.settings import Settings, output_grid, versions
from vbg.solution import MadeBy, Solution, Status, checked

Progress = Callable[[float, float], bool | None]

PIECE = 0.05  # s of motion between two looks at the progress function, at most


def run_discrete(
    start: Start, settings: Settings, progress: Progress | None, sink: Sink | None
) -> Solution:
    """Steps of 1e-5 s over [0, t_end]; the joint forces recorded are those of the bushings.

    The status says how fast it was: seconds of motion in a second of computing.  Raises
    UsageError for models with parts that switch or are sampled, and for models without joints.
    """
    system = start.system
    if any(s.state.kind == "discrete" for s in system.slices):
        raise UsageError(
            "the discrete-time method has no part that sticks, switches a state or is sampled; "
            "use method = 'auto'."
        )
    stepper = DiscreteTime(start, min(STEP, settings.output_step))
    grid = output_grid(settings.t_end, settings.output_step)
    require_no_jump(drive_kinks(start, grid))
    recorder = Recorder(system, stepper.rates, grid, sink)
    began = clock.process_time()
    samples = Samples(system, kink_instants(system, grid))
    status = _go(stepper, recorder, samples, settings.t_end, progress)
    recorder.flush()
    signals = recorder.signals()
    model = system.model
    solution = Solution(
        time=recorder.time,
        signals=signals,
        audit=audit(
            system, signals, (), limits_of("discrete-time", np.nan, 0.0, 0.0), settings.t_end
        ),
        made_by=MadeBy(
            solver="vbg",
            model=model.name,
            model_hash=model.hash,
            method="discrete-time",
            versions=versions(),
            n_steps=stepper.steps,
            n_rates=stepper.steps,
            cpu=clock.process_time() - began,
        ),
        status=status,
        units=dict(system.signal_units) | ENERGY_UNITS,
        notes=(*start.notes, _note(stepper)),
    )
    return checked(solution)


def _note(stepper: DiscreteTime) -> Problem:
    hertz = stepper.bushings.frequency / (2.0 * np.pi)
    return Problem(
        "note",
        "joints",
        f"are stiff bushings of up to {hertz:.4g} Hz; their gaps are in residual.position.",
    )


def _go(
    stepper: DiscreteTime,
    recorder: Recorder,
    samples: Samples,
    t_end: float,
    progress: Progress | None,
) -> Status:
    """Steps from output instant to output instant."""
    recorder.add(samples.behind(0.0), stepper.x)
    for target in recorder.grid[1:]:
        while stepper.t < target:
            stepper.advance(min(float(target), stepper.t + PIECE))
            if not np.all(np.isfinite(stepper.x)):
                return Status(
                    "failed",
                    f"The state is not finite any more at t = {stepper.t:.6g} s.",
                    "The step is too long for the springs or masses of this model: use "
                    "method = 'auto', or make stiff springs softer.",
                )
            if progress is not None and progress(stepper.t / t_end, stepper.t) is False:
                recorder.end_at(stepper.t, stepper.x)
                return Status("cancelled", f"Cancelled at t = {stepper.t:.6g} s.")
        recorder.add(samples.behind(float(target)), stepper.x)
    factor = stepper.t / stepper.wall if stepper.wall > 0.0 else float("inf")
    return Status(
        "finished",
        f"The simulation reached its end: {stepper.steps} steps of {stepper.dt:.3g} s, "
        f"real-time factor {factor:.3g}.",
    )
