"""Reading the model that a verb was given."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from vbg.errors import ModelError

if TYPE_CHECKING:
    from vbg.model import Model


def read_model(arguments: argparse.Namespace) -> Model:
    """The model of FILE with the parameters of --set.

    Raises
    ------
    ModelError
        the file has errors; all of them are in it.
    """
    import vbg

    model = vbg.read(arguments.file)
    return model.with_parameters(**dict(arguments.parameters)) if arguments.parameters else model


def read_checked(arguments: argparse.Namespace) -> Model:
    """As `read_model`, refusing a model whose check finds errors."""
    import vbg

    model = read_model(arguments)
    errors = [problem for problem in vbg.check(model) if problem.severity == "error"]
    if errors:
        raise ModelError.of(errors)
    return model
