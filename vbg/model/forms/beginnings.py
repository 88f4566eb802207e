"""Where a run starts: `[simulate] start`, and `--start`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vbg import expressions
from vbg.fields import EQUILIBRIUM, WRITTEN, Beginning
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope, described
from vbg.model.values.values import read_list, unknown_keys

FORMS = '"written", "equilibrium", { file = "run.h5", at = "1.2 s" } or { balance = ["PART"] }'
RESULTS = (".h5", ".csv", ".json")


def read_beginning(reading: Reading, scope: Scope, path: Path, raw: Any) -> str | Beginning | None:
    """The start that is written; None, with problems noted, where it is none."""
    if raw in (WRITTEN, EQUILIBRIUM):
        return str(raw)
    if isinstance(raw, str):
        what = f"{expressions.shown(raw)} is no start."
        remedy = reading.hint(raw, (WRITTEN, EQUILIBRIUM), "starts")
        if raw.endswith(RESULTS):
            remedy = f'Write {{ file = "{raw}" }}.'
        reading.fail(path, what, remedy)
        return None
    if not isinstance(raw, Mapping):
        reading.fail(path, f"expected {FORMS}, found {described(raw)}.")
        return None
    unknown_keys(reading, path, raw, ("file", "at", "balance"), "a start")
    if ("file" in raw) == ("balance" in raw) or ("at" in raw and "file" not in raw):
        reading.fail(path, f"a start must be one of {FORMS}, found {described(raw)}.")
        return None
    if "balance" in raw:
        return _balance(reading, scope, (*path, "balance"), raw["balance"])
    file = reading.text((*path, "file"), raw["file"])
    at = reading.number((*path, "at"), raw["at"], "s") if "at" in raw else None
    if file is None or ("at" in raw and at is None):
        return None
    if not file.endswith(RESULTS):
        reading.fail((*path, "file"), f"a result must end in {', '.join(RESULTS)}, found {file!r}.")
        return None
    return Beginning(file, at)


def _balance(reading: Reading, scope: Scope, path: Path, raw: Any) -> Beginning | None:
    entries = read_list(reading, path, raw, 0, "parts")
    if not entries:
        return None
    known = [name for name, table in scope.objects.items() if table]
    for i, name in enumerate(entries):
        if not isinstance(name, str) or name.partition(".")[0] not in known:
            reading.unknown((*path, i), "unknown part", str(name), known, "parts")
            return None
    return Beginning(balance=tuple(entries))
