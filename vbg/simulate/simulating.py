"""From a start, or what it is assembled from, to the solution."""

from __future__ import annotations

from dataclasses import replace

from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.model import Model
from vbg.plumbing.one_thread import one_thread
from vbg.plumbing.paused_collection import paused_collection
from vbg.simulate.instants.samples import require_countable
from vbg.simulate.instants.units import units_begin
from vbg.simulate.record.recorder import Sink
from vbg.simulate.run import Progress, Run
from vbg.simulate.settings import Settings, check, settings_of
from vbg.simulate.starting import start_of
from vbg.simulate.steppers.machine_size import machine_size
from vbg.solution import Solution, Status, checked


def simulate(
    source: Start | System | Model,
    *,
    start: Start | None = None,
    t_end: float | None = None,
    output_step: float | None = None,
    method: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    formulation: str | None = None,
    step: float | None = None,
    bushing_frequency: float | None = None,
    bushing_damping: float | None = None,
    progress: Progress | None = None,
    sink: Sink | None = None,
) -> Solution:
    """Integrates a System, or the System of a Model, over [0, t_end] [s] from its assembled
    start, or from `start`, another one of the same system (`vbg.start`).

    Settings that are not given are those of the model's [simulate].  `method`:
    "dop853" (adaptive, explicit, order 8), "rk4" (fixed step = output_step), "radau" (adaptive,
    implicit, for stiff models, exact Jacobian), "auto" (dop853, and radau where stability limits
    the steps or a trial of it is less work), "discrete-time" (explicit steps of `step` [s], 1e-5 s
    or less as the model's own springs ask for, with joints as stiff bushings of
    `bushing_frequency` [Hz] and the ratio `bushing_damping`).  `formulation`: "constraint"
    (redundant coordinates, projected) or "minimal" (independent ones, see
    `vbg.simulate.minimal.stepper`; its method is "adams", which "auto" means there).
    `progress(fraction, t)` is called after accepted steps; returning False cancels.
    `sink(time, signals)` receives finished rows as they come.

    Returns what was computed; where it could not go on its status says why.  Raises AssemblyError
    if there is no consistent start, UsageError for settings out of range and too many instants.
    """
    begin = start_of(source, start)
    settings = settings_of(
        begin.system.model.simulate,
        t_end=t_end,
        output_step=output_step,
        method=method,
        rtol=rtol,
        atol=atol,
        formulation=formulation,
        step=step,
        bushing_frequency=bushing_frequency,
        bushing_damping=bushing_damping,
    )
    check(settings)
    require_countable(begin.system, settings.t_end)
    if settings.method == "discrete-time":
        from vbg.simulate.discrete.run import run_discrete

        return run_discrete(begin, settings, progress, sink)
    run, status = _integrated(begin, settings, progress, sink)
    with paused_collection():
        found = run.solution(status, (*begin.notes, *run.stepper.notes(), *run.remarks))
        return checked(found, machine_size(begin.system), has_values=run.recorder.has_values)


def simulate_beside(
    start: Start,
    *,
    beside: tuple[float, ...],
    t_end: float,
    output_step: float,
    rtol: float,
    atol: float,
    method: str | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The motion from `start` in the rows of `output_step` and at the instants `beside` [s], by
    steps that do not follow the rows; the audit is that of the whole, notes are none.

    Raises UsageError for settings out of range.
    """
    how = {"method": method, "rtol": rtol, "atol": atol}
    given = start.system.model.simulate
    settings = settings_of(given, t_end=t_end, output_step=output_step, **how)
    check(settings)
    run, status = _integrated(start, replace(settings, beside=beside), progress, None)
    with paused_collection():
        return run.solution(status, ())


def _integrated(
    start: Start, settings: Settings, progress: Progress | None, sink: Sink | None
) -> tuple[Run, Status]:
    """A run that has gone as far as it goes, and how it ended."""
    with units_begin(), paused_collection():
        run = Run(start, settings, progress, sink)
    with one_thread():
        return run, run.samples.units.through(run.go)
