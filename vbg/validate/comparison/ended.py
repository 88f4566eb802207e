"""Runs that ended early: how they did, what both reached, and until when they agree."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from vbg.solution import FINISHED, Solution
from vbg.validate.comparison.values import Verdict


def stopped(first: Solution, second: Solution, *how: str) -> str:
    """Which of the two ended early, and why; empty if none did so, or not in this way."""
    for solution in (first, second):
        if solution.status.code in (how or ("failed", "cancelled")):
            who = solution.made_by.solver or "a solver"
            return f"{who}: {solution.status.sentence} {solution.status.remedy}".strip()
    return ""


def stopped_at_once(first: Solution, second: Solution) -> bool:
    """Whether one of them has no row, or none but a first one without values: there it stopped."""
    if not len(first.time) or not len(second.time):
        return True
    if min(first.time[-1], second.time[-1]) > first.time[0]:
        return False
    rows = [values[:1] for one in (first, second) for values in one.signals.values()]
    return not all(np.isfinite(row).all() for row in rows)


def until_both_end(first: Solution, second: Solution, part: float) -> tuple[Solution, Solution]:
    """Both up to a part of what both reached, as if they had ended there; without the row of the
    stop itself, which lies between those of the other."""
    end = part * min(first.time[-1], second.time[-1])
    for one, other in ((first, second), (second, first)):
        if one.time[-1] <= end and not np.isclose(other.time, one.time[-1], 1e-9, 0.0).any():
            end = float(one.time[-2:][0])

    def cut(solution: Solution) -> Solution:
        n = int(np.count_nonzero(solution.time <= end))
        signals = {name: values[:n] for name, values in solution.signals.items()}
        return replace(solution, time=solution.time[:n], signals=signals, status=FINISHED)

    return cut(first), cut(second)


def agreed(whole: Verdict, limit: float) -> str:
    """Until when two runs agree, one of which ended early; empty if nothing tells.

    What integration leaves open tells nothing of the two, nor do channels that move by rounding
    alone, nor a first row, which both are given.
    """
    told = [c for c in whole.channels if c.result in ("PASS", "FAIL")]
    since = min((c.since for c in whole.failed() if math.isfinite(c.since)), default=math.inf)
    if since <= whole.span[0]:
        return "They differ from the first row on."
    moving = [c for c in told if c.proves is not None]
    is_proven = not moving or any(c.proves or c.result == "FAIL" for c in moving)
    if not told or not is_proven or whole.span[0] == whole.span[1]:
        return ""
    until = f"Up to t = {whole.span[1]:.4g} s" if since == math.inf else f"Before t = {since:.4g} s"
    unsure = sum(c.result == "INCONCLUSIVE" for c in whole.channels)
    part = f" in {len(told)} of {len(told) + unsure} non-zero channels" if unsure else ""
    return f"{until} both agree within {limit:g} of each peak{part}; what comes then is not judged."
