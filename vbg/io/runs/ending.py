"""How a run ended, as plain data for JSON: status, audit, how it was made, notes.

NaN has no JSON: it is written as null and comes back as NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from vbg.errors import Problem
from vbg.io.runs.trust import restored
from vbg.solution import Audit, MadeBy, Solution, Status


def to_plain(solution: Solution) -> dict[str, Any]:
    """All of `solution` but time and signals, as dicts, lists, strings and numbers."""
    made_by = {f.name: getattr(solution.made_by, f.name) for f in fields(MadeBy)}
    made_by["versions"] = dict(made_by["versions"])
    return {
        "status": asdict(solution.status),
        "audit": _without_nan(asdict(solution.audit)),
        "made_by": _without_nan(made_by),
        "notes": [asdict(note) for note in solution.notes],
    }


def from_plain(plain: Any) -> dict[str, Any]:
    """The keyword arguments of `Solution` that `to_plain` took apart.

    Raises KeyError or ValueError where `plain` is something else: it comes from a file.
    """
    if not isinstance(plain, Mapping):
        raise ValueError("it does not say how the run ended")
    return {
        "status": restored(Status, plain["status"]),
        "audit": restored(Audit, plain["audit"]),
        "made_by": restored(MadeBy, plain["made_by"]),
        "notes": restored(tuple[Problem, ...], plain["notes"]),
    }


def _without_nan(plain: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in plain.items()
    }
