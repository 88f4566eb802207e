"""A verdict and its channels, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vbg.notebook import text_table

Mark = Literal["PASS", "FAIL", "INCONCLUSIVE", "VACUOUS", "NOT UNIQUE"]
Result = Literal["PASS", "FAIL", "INCONCLUSIVE"]


@dataclass(frozen=True)
class Channel:
    """One compared component.

    peak : largest magnitude in either solution; max_error at `worst_time` [s];
    relative_l2 : ||difference|| / ||first||; tolerance : what was allowed;
    integration : what doubling the step changes in either solver's own run, the
    larger of the two, relative to the peak: a bound of the errors of integration
    (NaN if no coarser run was made); source : "integrated", or "replayed" where the
    second solver took an effort from the first; since : the first instant at which the
    difference is above what was allowed [s], NaN without one; proves : whether it agrees by more
    than rounding and where it begins (places and angles begin alike in both solvers); None where it
    stands still.
    """

    name: str
    unit: str
    peak: float
    max_error: float
    worst_time: float
    relative_l2: float
    tolerance: float
    integration: float
    source: str
    result: Mark
    since: float = math.nan
    proves: bool | None = True


@dataclass(frozen=True)
class Verdict:
    """What the comparison says; `sentence` says why.

    halving : largest error of the coarser run over that of the finer, over all
    channels: two solvers can agree on a coarse wrong answer, but then it stays
    near 1.  `excluded` are the windows (from, to) that were left out; `replayed` the parts
    whose efforts the second solver took from the first, `once` those that only one of the two
    solved; `audits` the energy that each side did not account for, relative to the largest
    energy of its run, by solver; `review` what the evidence says about a FAIL.
    """

    result: Result
    sentence: str
    channels: tuple[Channel, ...] = ()
    model: str = ""
    model_hash: str = ""
    solvers: tuple[str, str] = ("", "")
    span: tuple[float, float] = (math.nan, math.nan)
    halving: float = math.nan
    excluded: tuple[tuple[float, float], ...] = ()
    notes: tuple[str, ...] = field(default=())
    replayed: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    audits: Mapping[str, float] = field(default_factory=dict)
    review: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        rows = (
            (c.name, f"{c.peak:.4g} {c.unit}", f"{c.max_error:.2g} {c.unit}", c.result)
            for c in sorted(self.channels, key=lambda c: -c.max_error / max(c.peak, 1e-300))
        )
        heading = f"{self.word}  {self.sentence}"
        return text_table(heading, ("channel", "peak", "largest error", "result"), rows)

    def failed(self) -> tuple[Channel, ...]:
        """Channels above their tolerance, worst first."""
        bad = [channel for channel in self.channels if channel.result == "FAIL"]
        return tuple(sorted(bad, key=lambda c: -c.max_error / max(c.peak, 1e-300)))

    @property
    def word(self) -> str:
        """The result, and what of a PASS was not solved twice: PASS (1 part replayed: motor)."""
        if self.result != "PASS":
            return self.result
        said = []
        for parts, how in ((self.replayed, "replayed"), (self.once, "solved once")):
            if parts:
                plural = "part" if len(parts) == 1 else "parts"
                said.append(f"{len(parts)} {plural} {how}: {', '.join(parts)}")
        return f"{self.result} ({'; '.join(said)})" if said else self.result

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the channels: solved twice, replayed, not unique, zero."""
        kinds = [
            {"NOT UNIQUE": "not unique", "VACUOUS": "zero"}.get(
                c.result, "replayed" if c.source == "replayed" else "solved twice"
            )
            for c in self.channels
        ]
        names = ("solved twice", "replayed", "not unique", "zero")
        return {name: kinds.count(name) / max(len(kinds), 1) for name in names}
