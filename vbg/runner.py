"""One simulation in a process of its own: ``python -m vbg.runner [JOB.json]``.

The job is one JSON object, in the named file or on the first line of standard
input::

    {"model": "crank.toml",            path of the model file
     "text": "...",                    its text, if not as on disk
     "parameters": {"r": 0.12},        replaced values: numbers or what a file may say
     "solver": "vbg",                  or "mstmm", the independent transfer-matrix solver,
                                       or an engine: "pinocchio", "mujoco", "exudyn", "drake"
     "settings": {"t_end": 1.0, ...},  over those of the model's [simulate]
     "start": "equilibrium",           or as --start says; over that of the model's [simulate]
     "measures": ["max(A.speed)"],     besides those of the model's [measures]
     "units": ["bar", "A.force=kN"],   of a .csv, over those of the model's [display]
     "bonds": true,                    keep effort and flow of every bond, too
     "result": "out.h5"}               .h5 grows in the run; .csv, .json are written at its end

Everything but "model" may be left out.  What happens is told in JSON lines on
standard output, at most ten a second::

    {"kind": "stage", "stage": "reading" | "assembling" | "integrating"}
    {"kind": "progress", "fraction": 0.4, "time": 0.4, "eta": 1.3}
    {"kind": "finished", "name", "result", "wall", "time", "status", "audit", "made_by", "notes",
     "summary": [{"signal", "unit", "min", "max", "final"}, ...],
     "measures": [{"name", "expression", "value", "unit", "why"}, ...],
     "display": ["bar", "A.force=kN"]}  units to show the summary in, which is in SI
    {"kind": "failed", "error": "ModelError", "message", "problems": [...]}

The last line is always "finished" (also of a run that was cancelled or got
stuck: see its status) or "failed"; its absence means that the process was
killed.  To cancel, write ``{"cmd": "cancel"}`` on standard input, close it, or
send SIGINT or SIGTERM: the run stops at the next accepted step and the result
so far is kept.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vbg.engines import ENGINES
from vbg.io.runs.names import growing_file
from vbg.platform.files import remove_link
from vbg.platform.locks import one_writer
from vbg.platform.processes import on_end_request

if TYPE_CHECKING:
    import numpy as np

    from vbg.assemble.start.start import Start
    from vbg.causality import CausalGraph
    from vbg.display import Display
    from vbg.errors import Problem
    from vbg.io.runs.hdf5 import Writer
    from vbg.model import Model
    from vbg.solution import Solution

SOLVERS = ("vbg", "mstmm")  # vbg's own
INTERRUPTED = 130  # exit code of a run that was ended before it began
GRACE = 10.0  # seconds in which a run without a parent may still end by itself
SECONDS_BETWEEN_LINES = 0.1


@dataclass(frozen=True, slots=True)
class Job:
    """What to simulate; the fields are those of the module's docstring."""

    model: str
    text: str | None = None
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    solver: str = "vbg"
    settings: Mapping[str, Any] = field(default_factory=dict)
    start: str | None = None
    measures: Sequence[str] = ()
    units: Sequence[str] = ()
    bonds: bool = False
    result: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def command() -> list[str]:
    """The command that starts a child which runs this very vbg."""
    return [sys.executable, "-P", "-m", "vbg.runner"]


def environment() -> dict[str, str]:
    """The environment for it: this vbg first on the path, and UTF-8."""
    here = str(Path(__file__).resolve().parent.parent)
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


class Teller:
    """Tells what a run tells, one line each, and stops it when that is `wanted`."""

    def __init__(self, stream: IO[str] | None, wanted: threading.Event):
        self._stream = stream
        self._wanted = wanted
        self._started = time.monotonic()
        self._last = 0.0

    def tell(self, kind: str, **content: Any) -> None:
        """One line; without a stream nothing is told."""
        if self._stream is not None:
            self._stream.write(json.dumps({"kind": kind, **content}) + "\n")
            self._stream.flush()

    def has_read(self) -> None:
        """The model is here, or is refused."""

    def start_clock(self) -> None:
        """Count the remaining time from now: after reading and compiling."""
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def progress(self, fraction: float, t: float) -> bool:
        """Tell how far it is; False asks the solver to stop."""
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            eta = self.elapsed * (1.0 - fraction) / fraction if fraction > 0.0 else None
            self.tell("progress", fraction=fraction, time=t, eta=eta)
        return not self._wanted.is_set()


class _OfProcess(Teller):
    """Of a process that does one run: a reader that is gone cancels it."""

    def __init__(self, stream: IO[str], cancel: _Cancel):
        super().__init__(stream, cancel.wanted)
        self._cancel = cancel

    def tell(self, kind: str, **content: Any) -> None:
        try:
            super().tell(kind, **content)
        except BrokenPipeError:
            self._cancel.wanted.set()

    def has_read(self) -> None:
        """From now on a wish to end is heard between steps.  Whoever has heard why the model is
        refused may be gone before this process is."""
        self._cancel.reading = False


def main(arguments: list[str]) -> int:
    """Run the job of the command line; 0 unless the job could not be run."""
    # What overflows on the way is told by the status, not by numpy between the lines.
    warnings.simplefilter("ignore", RuntimeWarning)
    cancel = _Cancel()
    on_end_request(cancel.ask)
    stream = message_stream()
    commands = lines_of(0)
    text = Path(arguments[0]).read_text("utf-8") if arguments else next(commands, "null")
    threading.Thread(target=_listen, args=(commands, cancel), daemon=True).start()
    return run(Job(**json.loads(text)), _OfProcess(stream, cancel))


class _Cancel:
    """The wish that the run end.  A solver asks for it between steps; while the model is
    read, which may wait for ever on a pipe, there is nothing to keep."""

    def __init__(self) -> None:
        self.wanted = threading.Event()
        self.reading = True

    def ask(self) -> None:
        """Wish for the end."""
        self.wanted.set()
        if self.reading:
            os._exit(INTERRUPTED)


def run(job: Job, teller: Teller) -> int:
    """Run `job`, telling `teller`; a broken model is told, not raised."""
    from vbg.errors import VbgError
    from vbg.platform.files import unforeseen

    try:
        _run(job, teller)
    except (VbgError, OSError, MemoryError, RecursionError) as error:
        told = error if isinstance(error, VbgError) else unforeseen(error)
        problems = [asdict(problem) for problem in told.problems]
        teller.tell("failed", error=type(told).__name__, message=str(told), problems=problems)
        return 1
    return 0


def _run(job: Job, teller: Teller) -> None:
    from vbg.measures import parse as parse_measure
    from vbg.model.located import told_in
    from vbg.model.text.files import text_of

    teller.tell("stage", stage="reading")
    try:
        if job.text is None:
            job = replace(job, text=text_of(job.model))  # once: it may be a pipe
        written, model = _models(job)
    finally:
        teller.has_read()
    doubts = [*_bare_numbers(written, job), *_refuse_errors(model, job)]
    for text in set(job.measures) - set(model.measures):
        parse_measure(text, model.functions)
    with told_in(model):
        solution = _solved(model, job, teller)
    from vbg.io.runs.ending import to_plain

    ending = to_plain(solution)
    ending["notes"] = [*(asdict(doubt) for doubt in doubts), *ending["notes"]]
    teller.tell(
        "finished",
        name=model.name,
        result=job.result,
        wall=teller.elapsed,
        n_rows=len(solution.time),
        time=float(solution.time[-1]) if len(solution.time) else None,
        **ending,
        summary=summary(solution),
        measures=_measures(model, job, solution),
        display=[str(rule) for rule in _display(model, job)],
    )


def _models(job: Job) -> tuple[Model, Model]:
    """As it is written, and with the job's parameters."""
    from vbg.io import toml

    written = toml.parse(job.text or "", job.model)
    return written, written.with_parameters(**job.parameters) if job.parameters else written


def _display(model: Model, job: Job) -> Display:
    from vbg.display import rules_of

    return (*model.display, *rules_of(job.units))


def _bare_numbers(written: Model, job: Job) -> list[Problem]:
    """How numbers without a unit were taken that are easily meant in the unit of the file."""
    from vbg.errors import Problem

    taken = {name: written.taken(name, value) for name, value in job.parameters.items()}
    return [
        Problem("note", f"parameters.{name}", f"{words}.") for name, words in taken.items() if words
    ]


def _refuse_errors(model: Model, job: Job) -> list[Problem]:
    """The clear words of `vbg check` before those of causality; what it doubts is returned, and
    what it notes of the replaced parameters."""
    from vbg.errors import ModelError
    from vbg.model import check

    problems = check(model)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ModelError.of(errors)
    replaced = {f"parameters.{name}" for name in job.parameters}
    return [p for p in problems if p.severity == "warning" or p.where in replaced]


def _solved(model: Model, job: Job, teller: Teller) -> Solution:
    """The solution, kept in the job's result file.  Formats that are written at the end
    stream beside it, so that a kill loses nothing."""
    if job.result is None:
        return _simulate(model, job, teller, writer=None)
    from vbg.io.runs.hdf5 import Writer

    growing = growing_file(job.result)
    with ExitStack() as held:
        if growing != job.result:
            held.enter_context(one_writer(job.result))
            remove_link(growing)
        writer = held.enter_context(Writer(growing, model=_text(job, model)))
        solution = _simulate(model, job, teller, writer)
        writer.finish(solution)
        if growing != job.result:
            _export(solution, job.result, _display(model, job))
            Path(growing).unlink()
    return solution


def _export(solution: Solution, result: str, display: Display) -> None:
    from vbg.io.runs.results import save

    save(solution, result, *(map(str, display) if result.endswith(".csv") else ()))


def _text(job: Job, model: Model) -> str:
    """The model file as the result keeps it, with the job's parameters."""
    from vbg.io.toml import kept_in_result, updated

    text = job.text or ""
    if job.parameters:
        text = updated(text, model.document)
    return kept_in_result(text, model)


def _simulate(model: Model, job: Job, teller: Teller, writer: Writer | None) -> Solution:
    from vbg.assemble import assemble
    from vbg.display import require
    from vbg.simulate.simulating import simulate
    from vbg.starting import asked_for, start

    settings = _settings(model, job)
    teller.tell("stage", stage="assembling")
    _require_bonds(job)
    if job.solver == "mstmm":
        _require_written(model, job)
        from vbg import tmm_bridge
        from vbg.simulate.record.beyond import beyond_parts

        teller.start_clock()
        solution = tmm_bridge.simulate(model, progress=teller.progress, **settings)
        beyond = beyond_parts(model, solution.time, solution.signals)
        solution = replace(solution, notes=(*solution.notes, *beyond))
        if writer is not None:
            writer.append(solution.time, solution.signals)
        return solution
    system = assemble(_observed(model) if job.bonds else model)
    sink = None
    if writer is not None:
        writer.know(system.signal_units)
        sink = writer.append
    from vbg.simulate.record.recorder import ENERGY_UNITS

    require(_display(model, job), {**system.signal_units, **ENERGY_UNITS})
    begin = start(system, None if job.start is None else asked_for(job.start))
    teller.tell("stage", stage="integrating")
    teller.start_clock()
    if job.solver in ENGINES:
        return _by_engine(model, begin, job.solver, settings, teller, sink)
    return simulate(begin, progress=teller.progress, sink=sink, **settings)


def _require_bonds(job: Job) -> None:
    """The bond graph alone has bonds."""
    from vbg.errors import UsageError

    if job.bonds and job.solver != "vbg":
        raise UsageError(f"bonds belong to the bond graph: solver {job.solver} has none to keep.")


def _observed(model: Model) -> CausalGraph:
    from vbg.analysis.bonds import observed
    from vbg.causality import assign
    from vbg.graph import expand

    return observed(assign(expand(model)))


def _by_engine(
    model: Model,
    begin: Start,
    engine: str,
    settings: dict[str, Any],
    teller: Teller,
    sink: Any,
) -> Solution:
    """The run by another engine, from the start that vbg assembled."""
    from vbg.engines.running import simulate

    first = begin.outputs(0.0, begin.state)
    solution = simulate(model, first, engine=engine, progress=teller.progress, **settings)
    if sink is not None:
        sink(solution.time, solution.signals)
    return solution


def _require_written(model: Model, job: Job) -> None:
    """The transfer-matrix solver alone begins as written."""
    from vbg.errors import UsageError
    from vbg.fields import WRITTEN

    asked = model.simulate.start if job.start is None else job.start
    if asked != WRITTEN:
        raise UsageError(
            f"the transfer-matrix solver starts from what is written, not from {asked}: `vbg "
            "validate` hands it the start of the other solver; here --start written."
        )


def _settings(model: Model, job: Job) -> dict[str, Any]:
    """Settings of the job over those of the model."""
    from vbg.errors import UsageError

    if job.solver not in (known := (*SOLVERS, *ENGINES)):
        raise UsageError(f"Unknown solver '{job.solver}'; there are {', '.join(known)}.")
    names = ("t_end", "output_step", "method", "rtol", "atol", "formulation")
    further = ("step", "bushing_frequency", "bushing_damping")  # of one method alone
    unknown = sorted(set(job.settings) - {*names, *further})
    if unknown:
        raise UsageError(f"Unknown settings {unknown}; there are {', '.join((*names, *further))}.")
    settings = {name: getattr(model.simulate, name) for name in names} | dict(job.settings)
    alone = sorted(set(job.settings) & set(further))
    if job.solver != "vbg" and alone:
        raise UsageError(f"{alone[0]} belongs to method 'discrete-time', which solver vbg has.")
    if job.solver != "vbg":
        for name in ("method", "formulation"):
            if name in job.settings:
                raise UsageError(
                    f"{name} {job.settings[name]!r} is of solver vbg; {job.solver} has its own. "
                    f"Leave out --{name} or --solver."
                )
            del settings[name]
    return settings


def _measures(model: Model, job: Job, solution: Solution) -> list[dict[str, Any]]:
    """What the model's [measures] and the job ask of the run."""
    from vbg.measures import Measure, measured

    asked = {
        **model.measures,
        **{text: model.measures.get(text, Measure(text)) for text in job.measures},
    }
    known = model.parameters, model.functions, model.parameter_units
    return [asdict(measured(n, m, solution, *known)) for n, m in asked.items()]


def summary(solution: Solution) -> list[dict[str, Any]]:
    """One row per scalar or component: its unit, extremes and last value (null for NaN)."""
    from vbg.solution import components

    if len(solution.time) == 0:
        return []
    return [
        {
            "signal": name,
            "unit": solution.unit(name),
            "min": _number(values.min()),
            "max": _number(values.max()),
            "final": _number(values[-1]),
        }
        for name, values in components(solution)
    ]


def _number(value: np.floating) -> float | None:
    number = float(value)
    return number if abs(number) < float("inf") else None


def message_stream() -> IO[str]:
    """Standard output for the messages alone: prints of libraries go to standard error."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return stream


def lines_of(descriptor: int) -> Iterator[str]:
    """Lines as they come, without the lock of sys.stdin, which a thread that waits
    for input would hold while the interpreter wants to end."""
    buffer = b""
    while block := os.read(descriptor, 1 << 16):
        *lines, buffer = (buffer + block).split(b"\n")
        yield from (line.decode() for line in lines)


def _listen(commands: Iterator[str], cancel: _Cancel) -> None:
    """Cancel on the command, and when whoever started this process is gone."""
    for line in commands:
        if "cancel" in line:
            cancel.ask()
            return
    cancel.ask()
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    with suppress(OSError):
        sys.stderr.flush()
    # At once: all files are closed, and one that the disk refused must not be tried again.
    os._exit(code)
