"""Problems found after reading, with the place of their object in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vbg.errors import Problem
from vbg.model.catalogue import TABLES
from vbg.model.model import Model


def located(model: Model, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The same `problems`, each that names a part (``joints.A``) or a key of it
    (``joints.A.drive``) with the line and column where the file writes it."""
    return tuple(_with_place(model, problem) for problem in problems)


def _with_place(model: Model, problem: Problem) -> Problem:
    table, *steps = problem.where.split(".")
    if problem.line or not model.path or not (getattr(model, table, None) and table in TABLES):
        return problem
    file, line, column = model.where((table, *steps))
    return replace(problem, file=file, line=line, column=column)
