"""`vbg check`: everything that is wrong with a model file, without running it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_model
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.text import count
from vbg.errors import Problem, VbgError

if TYPE_CHECKING:
    from vbg.model import Model

PLACE = 30


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "check",
        act=act,
        summary="find everything that is wrong with a model file",
        detail="Reads it, checks it, assigns causality and puts the mechanism together.\n"
        "Exit code 1 if there is an error; warnings and notes do not fail.",
        examples="vbg check crank.toml\nvbg check crank.toml --set r=-1 --json",
    )
    add_model(parser)
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    try:
        model = read_model(arguments)
        problems = problems_of(model)
        about = _about(model)
    except VbgError as error:
        if not error.problems:
            raise
        problems, about = error.problems, arguments.file
    failed = any(problem.severity == "error" for problem in problems)
    if arguments.json:
        print(json.dumps({"file": arguments.file, "problems": [asdict(p) for p in problems]}))
        return int(failed)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not failed:
        found = count(len(problems), "remark") if problems else "no problems"
        print(f"{about}: {found}.")
    return int(failed)


def problems_of(model: Model) -> tuple[Problem, ...]:
    """Problems of the model and, if it has no errors, of the start of its motion."""
    import vbg

    problems = tuple(vbg.check(model))
    if any(problem.severity == "error" for problem in problems):
        return problems
    try:
        _ = vbg.assemble(model).initial_state
    except VbgError as error:
        return (*problems, *(error.problems or (Problem("error", model.name, str(error)),)))
    return problems


def _about(model: Model) -> str:
    numbers = [
        count(len(parts), noun)
        for parts, noun in (
            (model.bodies, "body"),
            (model.joints, "joint"),
            (model.forces, "force"),
        )
        if parts
    ]
    return f"{model.name or model.path}: {', '.join(numbers)}"
