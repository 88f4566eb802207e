"""Many runs of one model: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import hashlib
import json
import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.analysis.studies.sampling import Point
from vbg.analysis.studies.table import Row, Table
from vbg.errors import (
    AssemblyError,
    CausalityError,
    ModelError,
    UsageError,
    VbgError,
    not_installed,
)
from vbg.measures import Measure, evaluate, in_unit, parse, remarks, unit_told
from vbg.platform.processes import end_tree, end_with_parent

if TYPE_CHECKING:
    from vbg.analysis.begin.begin import Asked
    from vbg.model import Model
    from vbg.solution import Solution

AHEAD = 4  # points handed out beforehand, per process


@dataclass(frozen=True)
class Study:
    """What is run at every point: a model, settings of the run, measures; `start` over that of
    the model's [simulate], see `vbg.analysis.begin`.

    A measure is an expression, told in SI, or the name of one of the model's [measures], told in
    the unit that this has there (`units_of`)."""

    model: Model
    settings: Mapping[str, Any]
    measures: tuple[str, ...]
    start: Asked | None = None

    def measure(self, text: str) -> Measure:
        """What one of `measures` stands for."""
        return self.model.measures.get(text, Measure(text))

    def key(self, parameters: Sequence[str]) -> str:
        """Names the study in its table: model without the varied values, and settings."""
        fixed = dict.fromkeys(parameters, 0.0)
        document = json.dumps(
            [_plain(self.model.document), fixed, dict(self.settings), repr(self.start)]
            if self.start is not None
            else [_plain(self.model.document), fixed, dict(self.settings)],
            sort_keys=True,
            default=str,
        )
        return hashlib.sha256(document.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def units_of(study: Study) -> tuple[str, ...]:
    """The unit in which each measure is told: its own, or that of SI which follows from signals
    and parameters; "" where it has none, or one that only its writer knows.

    Raises UsageError for a measure of quantities that do not go together.
    """
    from vbg.assemble import assemble
    from vbg.simulate.record.recorder import ENERGY_UNITS

    model = study.model
    signals: Mapping[str, str] = {}
    with suppress(ModelError, CausalityError, AssemblyError):  # only its points may be possible
        signals = {**assemble(model).signal_units, **ENERGY_UNITS}
    measures = [study.measure(text) for text in study.measures]
    trees = [parse(one.expression, model.functions) for one in measures]
    found = [
        unit_told(tree, signals, model.parameter_units, one.unit)
        for tree, one in zip(trees, measures, strict=True)
    ]
    return tuple(one.unit or unit for one, unit in zip(measures, found, strict=True))


def table_of(study: Study, path: str | Path, parameters: Sequence[str]) -> Table:
    """The table at `path` of a study over these parameters, with what it already holds."""
    named = " ".join([*study.model.name.split(), study.key(parameters)])
    return Table(path, named, parameters, study.measures, units_of(study))


def run_point(study: Study, point: Point) -> Row:
    """One run.  A point that cannot be run or does not reach its end is kept as failed."""
    from vbg.analysis.begin import begin
    from vbg.assemble import assemble
    from vbg.simulate.simulating import simulate

    try:
        model = study.model.with_parameters(**dict(point))
        system = assemble(model)
        solution = simulate(begin(system, study.start), **study.settings)
        if solution.status.code != "finished":
            return Row(point, (), "failed", solution.status.sentence)
        known = solution, model.parameters, model.functions
        measures = [study.measure(text) for text in study.measures]
        asked = [parse(one.expression, model.functions) for one in measures]
        values = tuple(evaluate(one, *known) for one in asked)
        for measure, value in zip(study.measures, values, strict=True):
            if not math.isfinite(value):
                return Row(point, (), "failed", f"{measure} has no value.")
        told = tuple(in_unit(v, one.unit) for v, one in zip(values, measures, strict=True))
    except UsageError:
        raise  # a wrong measure or parameter is wrong at every point
    except VbgError as error:
        return Row(point, (), "failed", " ".join(str(error).split()))
    meant = [f"{what}." for one in asked for what in remarks(one, *known)]
    return Row(point, told, "finished", " ".join([_remarks(solution), *meant]).strip())


def _remarks(solution: Solution) -> str:
    """What makes the measures of a finished run doubtful: an audit above its limit, peaks that its
    rows do not show."""
    from vbg.simulate.record.peaks import hidden

    told = (*(f"{what}." for what in solution.audit.failures), *hidden(solution.notes))
    return " ".join(told)


_OF_PROCESS: list[Study] = []  # the study of this worker process, set once by its initialiser


def _begin(study: Study) -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C: the parent ends us
    _OF_PROCESS[:] = [study]


def _run_here(point: Point) -> Row:
    return run_point(_OF_PROCESS[0], point)


def sweep(
    study: Study,
    points: Sequence[Point],
    table: Table,
    *,
    processes: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Run the points that `table` does not have yet, and add their rows as they come.

    `processes` on this machine, or the Dask cluster at `scheduler`.  KeyboardInterrupt
    stops it; what is in the table stays and is not run again.

    Raises UsageError for wrong parameters or measures.
    """
    for text in study.measures:
        parse(study.measure(text).expression, study.model.functions)
    with table:
        missing = table.missing(points)
        rows = (
            _on_dask(study, missing, scheduler)
            if scheduler is not None
            else _in_processes(study, missing, processes)
        )
        for row in rows:
            table.add(row)
            if progress is not None:
                progress(len(table.rows), len(points))


def _in_processes(study: Study, points: Sequence[Point], processes: int) -> Iterator[Row]:
    processes = min(processes, len(points))  # one without a point has nothing to do
    if processes <= 1:
        for point in points:
            yield run_point(study, point)
        return
    context = get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(study,))
    waiting = iter(points)
    try:
        running = {pool.submit(_run_here, p) for p in islice(waiting, AHEAD * processes)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                running |= {pool.submit(_run_here, p) for p in islice(waiting, 1)}
    except BrokenProcessPool:
        raise VbgError(
            "A process of the study was ended from outside, perhaps for want of memory."
            " Rows that are in the table stay; the same command goes on from there, -j with"
            " fewer processes."
        ) from None
    except BaseException:
        # what is under way would go on for as long as a run takes
        for pid in tuple(getattr(pool, "_processes", None) or ()):
            end_tree(pid, kill=True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _on_dask(study: Study, points: Sequence[Point], scheduler: str) -> Iterator[Row]:
    try:
        from dask.distributed import Client, as_completed
    except ImportError as error:
        raise not_installed("--scheduler", "Dask", "sweep") from error
    try:
        client = Client(scheduler)
    except (ValueError, OSError) as error:
        raise UsageError(
            f"--scheduler {scheduler!r}: there is no Dask cluster: {error}."
            " Write the address that `dask scheduler` prints, such as tcp://10.0.0.7:8786."
        ) from error
    with client:
        shared = client.scatter(study, broadcast=True)
        futures = [client.submit(run_point, shared, point, pure=False) for point in points]
        for future in as_completed(futures):
            yield future.result()
