"""What equations are rewritten with; each remembers what it met in one machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from vbg.analysis.symbolic.rewriting.slopes import Slopes
from vbg.analysis.symbolic.rewriting.tidy import Decimals, Tidy


@dataclass(frozen=True, eq=False)
class Algebra:
    """`slope(e, x)`: de/dx; `tidy(e)`: the shortest form of e; `decimals(e)`: without odd
    fractions."""

    slope: Slopes = field(default_factory=Slopes)
    tidy: Tidy = field(default_factory=Tidy)
    decimals: Decimals = field(default_factory=Decimals)
