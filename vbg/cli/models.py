"""Reading the model that a verb was given."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import ModelError, UsageError

if TYPE_CHECKING:
    from vbg.model import Model


STANDARD_INPUT = "-"


def read_model(arguments: argparse.Namespace) -> Model:
    """The model of FILE, or of standard input, with the parameters of --set.

    Raises
    ------
    ModelError
        the file has errors; all of them are in it.
    """
    model = model_in(arguments.file)
    if not arguments.parameters:
        return model
    changed = model.with_parameters(**dict(arguments.parameters))
    for name, value in arguments.parameters:
        if words := model.taken(name, value):
            print(f"vbg: {words}", file=sys.stderr)
    return changed


def model_in(file: str) -> Model:
    """The model in the file of that name; "-" is standard input."""
    if file != STANDARD_INPUT:
        import vbg

        require_model(file)
        return vbg.read(file)
    from vbg.io import toml

    return toml.parse(text_of_standard_input(), "<stdin>")


def require_model(file: str) -> None:
    """Raises UsageError where there is no file of that name."""
    if file == STANDARD_INPUT or Path(file).is_file():
        return
    if Path(file).is_dir():
        raise UsageError(f"{file} is a folder; name the model file in it.")
    if Path(file).exists():
        return  # a pipe, as of <(command)
    near = [name for name in (f"{file}.toml", f"{Path(file).stem}.toml") if Path(name).is_file()]
    remedy = f"Did you mean {near[0]}?" if near else "`vbg new` writes one to start from."
    raise UsageError(f"{file}: no such file. {remedy}")


def text_of_standard_input() -> str:
    """All of standard input; UsageError if it is not text."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input: byte {error.start + 1} is not UTF-8 text.") from None


def read_checked(arguments: argparse.Namespace) -> Model:
    """As `read_model`, refusing a model whose check finds errors."""
    import vbg

    model = read_model(arguments)
    problems = vbg.check(model)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ModelError.of(errors)
    varied = (text.partition("=")[0].strip() for text in getattr(arguments, "vary", ()))
    named = {*(name for name, _ in arguments.parameters), *varied}
    for problem in problems:
        if problem.where.removeprefix("parameters.") in named:
            print(f"vbg: {problem}", file=sys.stderr)
    return model
