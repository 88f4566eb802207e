"""Problems found after reading, with the place of their object in the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from vbg.errors import Problem, VbgError
from vbg.model.catalogue import TABLES
from vbg.model.model import Model

SETTINGS = "simulate"


@contextmanager
def told_in(model: Model) -> Iterator[None]:
    """Errors of what is done with the model tell where its file writes what they name."""
    try:
        yield
    except VbgError as error:
        if not error.problems:
            raise
        raise type(error).of(located(model, error.problems)) from error


def located(model: Model, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The same `problems`, each that names a part (``joints.A``, or ``A`` alone), a key of
    it (``joints.A.drive``), a setting (``simulate.start``) or a raw bond (``bonds: a -> b``) with
    the line and column where the file writes it."""
    return tuple(_with_place(model, problem) for problem in problems)


def _with_place(model: Model, problem: Problem) -> Problem:
    head, _, bond = problem.where.partition(": ")
    if head == "bonds" and bond in model.bonds and not problem.line:
        file, line, column = model.where(("bonds", model.bonds.index(bond)))
        return replace(problem, file=file, line=line, column=column)
    table, *steps = problem.where.split(".")
    if table == SETTINGS and set(steps) <= set(model.document.get(table, {})):  # else asked for
        file, line, column = model.where((table, *steps))
        return replace(problem, file=file, line=line, column=column)
    if table not in TABLES:  # the bare name of a part: names are unique in a model
        owner = next((name for name in TABLES if table in getattr(model, name)), "")
        table, steps = owner, [table, *steps]
    if problem.line or not table or not getattr(model, table):
        return problem
    file, line, column = model.where((table, *steps))
    where = ".".join([table, *steps])
    return replace(problem, where=where, file=file, line=line, column=column)
