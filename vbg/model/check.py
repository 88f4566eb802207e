"""Rules between the parts of a model that reads well: what will not work, or is unusual."""

from __future__ import annotations

from vbg.errors import Problem
from vbg.model.model import Model


def check(model: Model) -> tuple[Problem, ...]:
    """Everything doubtful about `model`; empty is fine."""
    return ()
