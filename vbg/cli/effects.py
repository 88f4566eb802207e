"""Main effects and interactions as text and as data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vbg.cli.text import count, figure, table

if TYPE_CHECKING:
    from vbg.analysis.studies.effects import Effects


def effects_text(found: Sequence[Effects]) -> str:
    """A table for every measure, the largest effect first."""
    return "\n\n".join(_one(effects) for effects in found)


def _one(effects: Effects) -> str:
    head = (
        f"effects on {effects.title}, low to high of each parameter: "
        f"{count(effects.runs, 'run')}, {figure(effects.mean)} in the middle"
    )
    ranked = sorted(effects.effects, key=lambda effect: -abs(effect.value))
    rows = [("effect of", "value", "+-")]
    for effect in ranked:
        told = "" if math.isnan(effect.error) else figure(effect.error, 2)
        rows.append((effect.name, figure(effect.value), told))
    fit = f"R^2 {effects.explained:.6g}, largest residual {figure(effects.left, 3)}"
    if effects.without:
        fit += f"; {' and '.join(effects.without)} are not told apart by these points"
    return "\n".join([head, table(rows, "<>>", "  "), f"  {fit}"])


def effects_data(found: Sequence[Effects]) -> list[dict[str, Any]]:
    """The same as plain values for JSON."""
    return [
        {
            "measure": effects.measure,
            "unit": effects.unit,
            "runs": effects.runs,
            "mean": effects.mean,
            "R2": effects.explained,
            "largest_residual": effects.left,
            "not_told_apart": list(effects.without),
            "effects": [
                {
                    "parameters": list(effect.parameters),
                    "value": effect.value,
                    "error": None if math.isnan(effect.error) else effect.error,
                }
                for effect in effects.effects
            ],
        }
        for effects in found
    ]
