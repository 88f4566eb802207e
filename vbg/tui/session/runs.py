"""Runs: what was simulated, how far it is, and where its result lies.

A run is a value; progress replaces it.  Each finished run leaves a small JSON
file beside its result, so that it is listed again the next time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from vbg.errors import Problem
from vbg.platform.files import write_text
from vbg.tui.session.kept.folders import name_of, state_folder

State = Literal["starting", "running", "cancelling", "finished", "cancelled", "failed"]
KEPT = 20  # results kept for each model; older ones are removed
SOLVER_NAMES = {"vbg": "bond graph", "mstmm": "MSTMM", "file": "file"}


@dataclass(frozen=True, slots=True)
class Run:
    """One simulation.

    text_hash : of the model text it was started with;  fraction, time, eta,
    wall : of the progress [1, s, s, s];  audit : residuals by name, of the end;
    changed : what changed in the model since the run before;  note : the engineer's words;
    pinned : the baseline, behind all later ones, and kept;  told : the problems that its start
    told, as plain values.
    A run of the solver "file" is a result from elsewhere, which stays where it is.
    """

    number: int
    solver: str
    text_hash: str
    result: str
    state: State = "starting"
    stage: str = ""
    sentence: str = ""
    remedy: str = ""
    fraction: float = 0.0
    time: float = 0.0
    t_end: float = math.nan
    eta: float | None = None
    wall: float = 0.0
    started: float = 0.0
    audit: Mapping[str, Any] = field(default_factory=dict)
    made_by: Mapping[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    changed: str = ""
    note: str = ""
    pinned: bool = False
    told: tuple[Mapping[str, Any], ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What its start said against the model, or doubted."""
        found = (Problem(**plain) for plain in self.told)
        return tuple(problem for problem in found if problem.severity != "note")

    @property
    def active(self) -> bool:
        return self.state in ("starting", "running", "cancelling")

    @property
    def title(self) -> str:
        return f"run {self.number} {SOLVER_NAMES.get(self.solver, self.solver)}"

    @property
    def summary(self) -> str:
        """What is said of it, what is different about it, or else how it ended."""
        if self.note:
            return self.note
        return self.changed if self.changed and self.state == "finished" else self.outcome

    @property
    def outcome(self) -> str:
        """How it ended or how far it is, in a few words."""
        if self.state == "finished":
            failures = self.audit.get("failures", ())
            but = f", but {' and '.join(failures)}" if failures else ""
            return f"finished at t = {self.time:.6g} s{but}"
        if self.state == "cancelled":
            return f"cancelled at t = {self.time:.6g} s"
        if self.state == "failed":
            return f"failed: {self.sentence}"
        if self.state == "cancelling":
            return "cancelling"
        return f"running {100 * self.fraction:.0f} %"


def runs_folder(model: Path | None) -> Path:
    """The folder of the results of `model`, made if it is missing."""
    folder = state_folder() / "runs" / name_of(model)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remember(run: Run) -> None:
    """Write the record of a run that has ended, beside its result."""
    if run.solver == "file":
        return
    plain = {key: value for key, value in asdict(run).items() if key != "log"}
    text = json.dumps({**plain, "log": list(run.log)})
    write_text(Path(run.result).with_suffix(".json"), text)


def remembered(model: Path | None) -> tuple[Run, ...]:
    """The runs of `model` whose results still exist, oldest first."""
    known = {f.name for f in fields(Run)}
    found = []
    for file in sorted(runs_folder(model).glob("[!.]*.json")):
        try:
            plain = json.loads(file.read_text("utf-8"))
            run = Run(**{k: v for k, v in plain.items() if k in known})
            _ = run.problems  # they can be read
        except (json.JSONDecodeError, TypeError, OSError):
            # a record that another version or a full disk left: its run is not listed
            continue
        if Path(run.result).exists():
            found.append(run)
    old = [run for run in found[:-KEPT] if not run.pinned]
    for run in old:
        forget(run)
    return tuple(run for run in found if run not in old)


def forget(run: Run) -> None:
    """Remove a run's files, if they are ours."""
    if run.solver == "file":
        return
    for file in (Path(run.result), Path(run.result).with_suffix(".json"), bonds_file(run)):
        file.unlink(missing_ok=True)


def bonds_file(run: Run) -> Path:
    """Where effort and flow of all bonds of `run` are kept once they were asked for."""
    return Path(run.result).with_suffix(".bonds.h5")


def next_file(model: Path | None, runs: tuple[Run, ...], solver: str) -> tuple[int, Path]:
    """Number and result file of a new run."""
    number = 1 + max((run.number for run in runs), default=0)
    folder = runs_folder(model)
    while (folder / f"{number:04d}-{solver}.h5").exists():
        number += 1
    return number, folder / f"{number:04d}-{solver}.h5"
