"""`vbg.start` and `vbg.simulate`: the last steps of the pipeline, from any start.

start = vbg.start(model)                       as [simulate] says, by default as written
start = vbg.start(system, "equilibrium")       where the machine rests
start = vbg.start(system, vbg.load("a.h5"))    as a result ended; at=1.2 where it was then
solution = vbg.simulate(start)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from vbg.analysis.begin import Instant, begin, instant_of
from vbg.assemble import Start, System, assemble
from vbg.causality import CausalGraph
from vbg.errors import UsageError
from vbg.fields import EQUILIBRIUM, WRITTEN, Beginning
from vbg.graph import BondGraph
from vbg.model import Model, Placed
from vbg.model.located import told_in
from vbg.model.text.allowed import refusal
from vbg.simulate.simulating import simulate as integrate
from vbg.solution import Solution

Source = Start | System | CausalGraph | BondGraph | Placed | Model
Asked = str | Beginning | Instant | Solution | Start


def start(source: Source, asked: Asked | None = None, *, at: float | None = None) -> Start:
    """Where a motion begins.

    asked : "written" (the assembled start), "equilibrium" (where the machine comes to rest, its
    sources as they are at t = 0), a Solution (the state it was in at the time `at` [s], by default
    its last; the clock of a run begins at 0 again), `Beginning(balance=["PART"])`; by default
    what the model's [simulate] says.

    Raises AssemblyError where the machine does not close, has no rest or contradicts itself,
    UsageError for a result of another machine.
    """
    if isinstance(source, Start):
        if asked is None:
            return source
        source = source.system
    system = source if isinstance(source, System) else assemble(source)
    asked = system.model.simulate.start if asked is None else asked
    if isinstance(asked, Beginning) and asked.file:
        asked = instant_of(_loaded(asked, system.model), asked.at)
    elif isinstance(asked, Solution):
        asked = instant_of(asked, at)
    elif at is not None:
        raise UsageError("at= is the time of a result to start from; give it as start=.")
    return begin(system, asked)


def simulate(
    source: Source, *, start: Asked | None = None, at: float | None = None, **settings: Any
) -> Solution:
    """Integrates a machine over [0, t_end] [s].

    `start` and `at` are those of `vbg.start`; `settings` are those of `vbg.simulate.simulate`:
    t_end, output_step, method, rtol, atol, formulation, progress, sink.  Returns a Solution, whose
    status says where the integration could not go on.
    """
    settled = _start(source, start, at=at)
    with told_in(settled.system.model):
        return integrate(settled, **settings)


_start = start  # `simulate` has an argument of this name


def _loaded(asked: Beginning, model: Model) -> Solution:
    """The result that the model names, found from the model's folder."""
    from vbg.io.runs.results import read

    path = os.path.join(os.path.dirname(os.path.abspath(model.path or "model")), asked.file)
    told = refusal(asked.file, path, os.path.realpath(model.path or "model"))
    if told:
        raise UsageError(
            f"simulate.start: {told} Put it there, or allow its folder: --allow-include DIR."
        )
    return read(path)


def asked_start(model: Model, text: str | None) -> str | Beginning | Instant | None:
    """What `--start` says, else the model's own start where it names a file; None for that of
    the model: for verbs that make many Starts."""
    if text is not None:
        return asked_for(text)
    own = model.simulate.start
    if isinstance(own, Beginning) and own.file:
        return instant_of(_loaded(own, model), own.at)
    return None


def asked_for(text: str) -> str | Beginning | Instant:
    """What `--start` says: written, equilibrium, balance:PART,PART, RESULT or RESULT@TIME.

    Raises UsageError for anything else.
    """
    from vbg import units
    from vbg.errors import ModelError
    from vbg.io.runs.results import read

    if text in (WRITTEN, EQUILIBRIUM):
        return text
    if text.startswith("balance:"):
        return Beginning(balance=tuple(text.removeprefix("balance:").split(",")))
    file, _, time = text.partition("@") if not Path(text).exists() else (text, "", "")
    if not file.endswith((".h5", ".csv", ".json")):
        raise UsageError(
            f"--start {text!r}: it is written, equilibrium, balance:PART, RESULT.h5 or "
            "RESULT.h5@TIME."
        )
    try:
        at = units.convert(time, "s") if time else None
    except ModelError as error:
        raise UsageError(f"--start {text!r}: {error}.") from None
    return instant_of(read(file), at)
