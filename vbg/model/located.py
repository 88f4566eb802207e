"""Problems found after reading, with the place of their object in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vbg.errors import Problem
from vbg.model.catalogue import TABLES
from vbg.model.model import Model


def located(model: Model, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The same `problems`, each that names a part (``joints.A``, or ``A`` alone) or a key of
    it (``joints.A.drive``) with the line and column where the file writes it."""
    return tuple(_with_place(model, problem) for problem in problems)


def _with_place(model: Model, problem: Problem) -> Problem:
    table, *steps = problem.where.split(".")
    if table not in TABLES:  # the bare name of a part: names are unique in a model
        owner = next((name for name in TABLES if table in getattr(model, name)), "")
        table, steps = owner, [table, *steps]
    if problem.line or not table or not getattr(model, table):
        return problem
    file, line, column = model.where((table, *steps))
    where = ".".join([table, *steps])
    return replace(problem, where=where, file=file, line=line, column=column)
