"""What a verdict is made from, so that it can be made again with other settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vbg.solution import Solution
from vbg.tmm_bridge.motion.uniqueness import channels_in
from vbg.tmm_bridge.solver import APART
from vbg.validate.compare import Verdict, compare


@dataclass(frozen=True, eq=False)
class Evidence:
    """Runs of both solvers and how they came about.

    coarser, rougher : the second and the first solver with twice the step, None if not run so;
    replayed : joints whose effort was replayed;  least : the tolerance relative to
    peaks that a replay allows, None without one;  notes : what was done to get the runs.
    """

    first: Solution
    second: Solution
    coarser: Solution | None = None
    replayed: frozenset[str] = frozenset()
    least: float | None = None
    notes: tuple[str, ...] = ()
    rougher: Solution | None = None


def verdict_on(
    evidence: Evidence,
    *,
    tolerance: float | None = None,
    exclude: tuple[tuple[float, float], ...] = (),
) -> Verdict:
    """The verdict; `tolerance` relative to each channel's peak, `exclude` windows [s]
    that are left out."""
    verdict = compare(
        evidence.first,
        evidence.second,
        tolerance=evidence.least if tolerance is None else tolerance,
        coarser=evidence.coarser,
        rougher=evidence.rougher,
        not_unique=channels_in(evidence.second.notes),
        replayed=evidence.replayed,
        exclude=exclude,
    )
    apart = [n.what.removeprefix(APART) for n in evidence.second.notes if n.what.startswith(APART)]
    if not verdict.channels and apart:
        sentence = f"Nothing to compare: the model has no joints, and {apart[0]}"
        verdict = replace(verdict, sentence=sentence)
    return replace(verdict, notes=(*evidence.notes, *verdict.notes))
