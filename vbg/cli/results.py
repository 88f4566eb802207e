"""Reading the result that a verb was given, and saying where it is not whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vbg.solution import Solution


def read_result(file: str) -> Solution:
    """The solution in `file`; one that did not reach its end is told on standard error.

    Raises UsageError if it is no result.
    """
    from vbg.io.results import read

    solution = read(file)
    if solution.status.code != "finished":
        print(f"vbg: {file} is partial: {solution.status.sentence}", file=sys.stderr)
    return solution
