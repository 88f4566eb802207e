"""Validations: both solvers on one model, kept with what the verdict is made from.

A validation is a value of its own beside the ordinary runs.  It holds the two runs that
were made for it, all other evidence, the settings of its verdict and the machine it is
about: nothing of it is ever exchanged for another run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.platform.files import write_text
from vbg.tui.session.runs import Run, runs_folder

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution
    from vbg.validate import Evidence


@dataclass(frozen=True, slots=True)
class Settings:
    """tolerance : relative to each channel's peak, None for the default;
    skip_events : whether windows about events are left out."""

    tolerance: float | None = None
    skip_events: bool = False


@dataclass(frozen=True, slots=True)
class Validation:
    """Both solvers on one text.

    first, second : numbers of the two runs;  text_hash, machine : of the text and of the
    machine and how it is simulated;  evidence : fields of the Evidence besides the two
    solutions, as `keep_evidence` wrote them, empty if the solvers did not come to their end;
    result, sentence : the last verdict.
    """

    number: int
    first: int
    second: int
    text_hash: str
    machine: str
    settings: Settings = field(default_factory=Settings)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    result: str = "INCONCLUSIVE"
    sentence: str = ""


def machine_of(model: Model) -> str:
    """A name of the machine and how it is simulated; comments and names of files do not enter."""
    return hashlib.sha256(f"{model.hash} {model.simulate!r}".encode()).hexdigest()


def folder_of(model: Path | None) -> Path:
    """The folder of the validations of `model`, made if it is missing."""
    folder = runs_folder(model) / "validations"
    folder.mkdir(exist_ok=True)
    return folder


def next_number(model: Path | None, known: tuple[Validation, ...]) -> int:
    """A number that no validation of `model` has."""
    number = 1 + max((validation.number for validation in known), default=0)
    while list(folder_of(model).glob(f"{number:04d}[.-]*")):
        number += 1
    return number


def remember(model: Path | None, validation: Validation) -> None:
    """Write the record of a validation."""
    file = folder_of(model) / f"{validation.number:04d}.json"
    write_text(file, json.dumps(asdict(validation)))


def remembered(model: Path | None, runs: tuple[Run, ...]) -> tuple[Validation, ...]:
    """The validations whose two runs are still there, oldest first; others are removed."""
    numbers = {run.number for run in runs}
    found = []
    for file in sorted(folder_of(model).glob("[!.]*.json")):
        try:
            plain = json.loads(file.read_text("utf-8"))
            validation = Validation(**plain | {"settings": Settings(**plain["settings"])})
        except (json.JSONDecodeError, TypeError, KeyError, OSError):
            # a record that another version or a full disk left: it is not listed
            continue
        if {validation.first, validation.second} <= numbers:
            found.append(validation)
        else:
            forget(model, validation)
    return tuple(found)


def forget(model: Path | None, validation: Validation) -> None:
    """Remove a validation's files; its runs stay."""
    for file in folder_of(model).glob(f"{validation.number:04d}[.-]*"):
        file.unlink()


def keep_evidence(evidence: Evidence, stem: str, text: str) -> dict[str, Any]:
    """Everything in `evidence` besides the two runs as plain JSON; solutions go to files
    beside `stem`."""
    from vbg.io.runs import hdf5
    from vbg.model import Model
    from vbg.solution import Solution

    kept: dict[str, Any] = {}
    for f in fields(evidence):
        value = getattr(evidence, f.name)
        if f.name in ("first", "second"):
            continue
        if isinstance(value, Solution):
            file = f"{stem}-{f.name}.h5"
            if len(value.time):
                hdf5.write(value, file, text)
            kept[f.name] = {"solution": file}
        elif isinstance(value, Model):
            kept[f.name] = {"model": [text, value.path]}
        elif isinstance(value, frozenset):
            kept[f.name] = {"set": sorted(value)}
        elif isinstance(value, tuple):
            kept[f.name] = {"tuple": list(value)}
        else:
            kept[f.name] = value
    return kept


def evidence_of(kept: Mapping[str, Any], first: Solution, second: Solution) -> Evidence:
    """The evidence that `keep_evidence` wrote, with its two runs."""
    from vbg.validate import Evidence

    return Evidence(first, second, **{name: _restored(value) for name, value in kept.items()})


def _restored(value: Any) -> Any:
    from vbg.io import toml
    from vbg.io.runs import hdf5

    if not isinstance(value, Mapping):
        return value
    ((kind, content),) = value.items()
    if kind == "model":
        return toml.parse(*content)
    if kind == "solution":
        return hdf5.read(content) if Path(content).exists() else None
    return frozenset(content) if kind == "set" else tuple(content)
