"""What a verdict compares."""

from __future__ import annotations

from dataclasses import dataclass

from vbg.model import Model
from vbg.solution import Solution


@dataclass(frozen=True, eq=False)
class Runs:
    """The two solutions and a coarser run of each, `rougher` of the first, `coarser` of the
    second; the model that they are of, where it is known.  `beside` and `other_beside`: both runs
    again with rows beside those that lie on a crossing, where that was asked for."""

    first: Solution
    second: Solution
    coarser: Solution | None = None
    rougher: Solution | None = None
    model: Model | None = None
    beside: Solution | None = None
    other_beside: Solution | None = None
