"""What a format for mechanisms alone (URDF, MSTMMSim) has no words for."""

from __future__ import annotations

from vbg.errors import UsageError
from vbg.model import Model
from vbg.model.catalogue import TABLES

SHOWN = 8


def besides_joints(model: Model) -> list[str]:
    """Every part of the model that is neither a body nor a joint, by table and name."""
    parts = [
        f"{table}.{name}"
        for table in TABLES
        if table not in ("bodies", "joints")
        for name in getattr(model, table)
    ]
    parts += [f"bodies.{n}.flexible" for n, body in model.bodies.items() if body.flexible]
    return [*parts, "bonds"] if model.bonds else parts


def refuse(form: str, unknown: list[str], holds: str) -> None:
    """UsageError with all that `form` cannot say, and what it holds; nothing if it says all."""
    if unknown:
        more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
        raise UsageError(
            f"{form} has no element for {', '.join(unknown[:SHOWN])}{more}. It holds {holds}."
        )
