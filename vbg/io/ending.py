"""How a run ended, as plain data for JSON: status, audit, how it was made, notes.

NaN has no JSON: it is written as null and comes back as NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from vbg.errors import Problem
from vbg.solution import Audit, Event, MadeBy, Solution, Status


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


def from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `Solution` that `to_plain` took apart."""
    audit = _with_nan(plain["audit"])
    audit["events"] = tuple(Event(**event) for event in audit.get("events", ()))
    audit["failures"] = tuple(audit.get("failures", ()))
    return {
        "status": Status(**plain["status"]),
        "audit": Audit(**audit),
        "made_by": MadeBy(**_with_nan(plain["made_by"])),
        "notes": tuple(Problem(**note) for note in plain["notes"]),
    }


def _without_nan(plain: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in plain.items()
    }


def _with_nan(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in plain.items()}
