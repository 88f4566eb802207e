"""Reading the result that a verb was given, and saying where it is not whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vbg.display import Display
    from vbg.solution import Solution


def model_display(file: str) -> Display:
    """The units that the model of a result wants it shown in; those of SI where the file does
    not keep the model."""
    from vbg.io import toml
    from vbg.io.runs import hdf5

    text = hdf5.read_model(file) if file.endswith(".h5") else ""
    return toml.parse(text, file).display if text else ()


def read_result(file: str) -> Solution:
    """The solution in `file`; one that did not reach its end is told on standard error.

    Raises UsageError if it is no result.
    """
    from vbg.io.runs.results import read

    solution = read(file)
    if solution.status.code != "finished":
        print(f"vbg: {file} is partial: {solution.status.sentence}", file=sys.stderr)
    return solution
