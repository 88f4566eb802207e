"""From what an engineer asks for to a Start."""

from __future__ import annotations

from dataclasses import replace

from vbg.analysis.begin.balance import balanced
from vbg.analysis.begin.observed import Instant, observed
from vbg.analysis.rest.operating import operating_point
from vbg.analysis.rest.timed import as_long_as
from vbg.assemble import Start, System, assemble_start, start_at
from vbg.errors import AsAsked, AssemblyError, Problem, UsageError
from vbg.fields import EQUILIBRIUM, WRITTEN, Beginning
from vbg.model.located import located

Asked = str | Beginning | Instant | Start


def begin(system: System, asked: Asked | None = None) -> Start:
    """The Start of `system` that is `asked` for, by default that of its model's [simulate].

    "written": the assembled start; "equilibrium": where the machine comes to rest from there,
    with its sources as they are at t = 0; an Instant: the state whose signals are those of a
    result; `Beginning(balance=...)`: the written start, the contents of those parts found.

    Raises AssemblyError where there is no such start, UsageError for a file that was not
    loaded or a Start of another system.
    """
    asked = system.model.simulate.start if asked is None else asked
    if isinstance(asked, Start):
        return _of(system, asked)
    if isinstance(asked, Instant):
        return observed(system, asked)
    if isinstance(asked, Beginning):
        if asked.balance:
            return balanced(system, asked.balance)
        raise UsageError(
            f"the model starts from the result {asked.file}: load it and hand it over, "
            "start=vbg.load(FILE)."
        )
    if asked == WRITTEN:
        return assemble_start(system)
    if asked == EQUILIBRIUM:
        return _resting(system)
    raise UsageError(f"start={asked!r} is unknown; there are {WRITTEN!r} and {EQUILIBRIUM!r}.")


def _of(system: System, start: Start) -> Start:
    if start.system is not system:
        raise UsageError(
            "the start belongs to another system than the one to be simulated: make it of the "
            "same value, system = vbg.assemble(model); start = vbg.start(system)."
        )
    return start


def _resting(system: System) -> Start:
    point = operating_point(system, "equilibrium")
    if point.kind != "equilibrium":
        problem = Problem(
            "error",
            "simulate.start",
            f"no rest is found from the written start. {point.sentence}",
            "A machine that is driven, falls or turns freely has none: start it as written, hold "
            "it by a spring or a drive, or write a start nearer to its rest.",
        )
        raise AssemblyError.of(located(system.model, [problem]))
    start = start_at(system, point.x)
    limit = as_long_as(point.until_changed, point.t)
    where, what = "simulate.start", f"the run begins where the machine rests{limit}."
    note = Problem("note", where, what) if limit else AsAsked("note", where, what)
    if point.hidden:
        what = f"{what} {point.hidden}"
        remedy = "A start that is written, without this search, holds what it says."
        note = Problem("warning", where, what, remedy)
    if point.growth is not None:
        away = point.growth.coordinate
        remedy = (
            f"A posture that is meant to be held, as by a controller, needs no other. For another "
            f"rest write a start beyond this one, with another {away}."
        )
        note = Problem("warning", where, f"{what} {point.growth.sentence}", remedy)
    return replace(start, notes=(*start.notes, *located(system.model, [note])))
