"""A run again, with rows besides those of its output step."""

from __future__ import annotations

from dataclasses import replace

from vbg.assemble.start.start import Start
from vbg.plumbing.one_thread import one_thread
from vbg.plumbing.paused_collection import paused_collection
from vbg.simulate.instants.units import units_begin
from vbg.simulate.run import Progress, Run
from vbg.simulate.settings import check, settings_of
from vbg.solution import Solution


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
    with units_begin(), paused_collection():
        run = Run(start, replace(settings, beside=beside), progress, None)
    with one_thread():
        status = run.samples.units.through(run.go)
    with paused_collection():
        return run.solution(status, ())
