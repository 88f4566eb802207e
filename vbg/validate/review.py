"""What the evidence says about a FAIL: since when, which law first, which side, what to try."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from vbg.validate.compare import CONVERGES, NAMES
from vbg.validate.comparison.judging import TINY, TOLERANCE
from vbg.validate.comparison.values import Verdict
from vbg.validate.evidence import Evidence
from vbg.validate.first_law import first_law

CLEAR = 100.0  # times the other side's residual: so much more speaks against a side
LEAKS = 1e-8  # relative energy, or a residual relative to nothing: below it nothing is said
AT_ONCE = 1e-9  # of the span: channels that begin to differ so near to each other do so together


def review(
    evidence: Evidence, verdict: Verdict, witnesses: Mapping[str, tuple[Verdict, Verdict]]
) -> tuple[str, ...]:
    """Sentences about a FAIL; empty for other verdicts.

    `witnesses` are further methods by name, each with its verdict beside the first solver and
    beside the second.
    """
    if verdict.result != "FAIL":
        return ()
    against = [
        *_by_values(evidence, verdict),
        *_by_audit(evidence),
        *_by_losses(evidence),
        *_by_residual(evidence),
        *_by_witness(witnesses),
    ]
    said = [*_beginning(evidence, verdict), *(sentence for _, sentence in against)]
    sides = {side for side, _ in against}
    if evidence.fault:
        said.append("The start is at fault, not the laws: look at how each solver reads it.")
    elif len(sides) == 1:
        said.append(f"The evidence speaks against {sides.pop()}.")
    elif sides:
        said.append("The evidence speaks against both sides: the start or the model, perhaps.")
    else:
        said.append("Nothing known speaks against one side rather than the other.")
    said.append(_what_to_try(evidence, verdict, witnesses))
    return tuple(said)


def _beginning(evidence: Evidence, verdict: Verdict) -> list[str]:
    """When the difference begins, and in whose law."""
    failed = [c for c in verdict.failed() if math.isfinite(c.since)]
    if not failed:
        return []
    begin = min(c.since for c in failed)
    span = verdict.span[1] - verdict.span[0]
    first = [c for c in failed if c.since <= begin + AT_ONCE * span]
    first.sort(key=lambda c: -c.max_error / max(c.peak, 1e-300))
    names = ", ".join(c.name for c in first[:6]) + (", ..." if len(first) > 6 else "")
    said = [f"The difference begins at t = {begin:.6g} s, in {names}."]
    if evidence.model is not None:
        at_start = begin <= verdict.span[0] + AT_ONCE * span
        said.append(first_law(evidence.model, first, at_start=at_start))
    return said


def _by_values(evidence: Evidence, verdict: Verdict) -> list[tuple[str, str]]:
    """The side that has no numbers where the other one has."""
    found = []
    pair = evidence.first, evidence.second
    for solution, other in (pair, pair[::-1]):
        void = [
            c.name
            for c in verdict.failed()
            if c.name in solution and c.name in other
            if np.isfinite(other[c.name]).all() and not np.isfinite(solution[c.name]).all()
        ]
        if void:
            who = NAMES.get(solution.made_by.solver, solution.made_by.solver)
            said = f"{who[0].upper()}{who[1:]} has no value of {void[0]} where the other has one."
            found.append((who, said))
    return found


def _by_audit(evidence: Evidence) -> list[tuple[str, str]]:
    """The side whose energy does not close."""
    values = [s.audit.energy_residual for s in (evidence.first, evidence.second)]
    return _worse(
        evidence,
        values,
        LEAKS,
        "the energy audit of {who} leaves {a:.1e}, that of the other {b:.1e}",
    )


def _by_losses(evidence: Evidence) -> list[tuple[str, str]]:
    """The side in which losses give energy back, as with a wrong sign, and in the other not."""
    name = "energy.dissipated"
    if name not in evidence.first or name not in evidence.second:
        return []
    values = []
    for solution in (evidence.first, evidence.second):
        lost = solution[name]
        values.append(float((np.maximum.accumulate(lost) - lost).max() / max(np.ptp(lost), TINY)))
    return _worse(
        evidence,
        values,
        TOLERANCE,
        "in {who} losses give back {a:.1e} of what they take, in the other {b:.1e}",
    )


def _by_residual(evidence: Evidence) -> list[tuple[str, str]]:
    """The side whose joints do not hold."""
    found = []
    for what in ("position_residual", "velocity_residual"):
        values = [getattr(s.audit, what) for s in (evidence.first, evidence.second)]
        words = what.replace("_", " ")
        found += _worse(
            evidence,
            values,
            TOLERANCE,
            f"the {words} of {{who}} is {{a:.1e}}, of the other {{b:.1e}}",
        )
    return found


def _worse(
    evidence: Evidence, values: list[float], least: float, sentence: str
) -> list[tuple[str, str]]:
    """(side, sentence) if one value is clearly larger than the other."""
    if not all(math.isfinite(v) for v in values):
        return []
    worse = int(values[1] > values[0])
    a, b = values[worse], values[1 - worse]
    if not (a > least and a > CLEAR * b):
        return []
    solution = (evidence.first, evidence.second)[worse]
    who = NAMES.get(solution.made_by.solver, solution.made_by.solver)
    said = sentence.format(who=who, a=a, b=b)
    return [(who, f"{said[0].upper()}{said[1:]}.")]


def _by_witness(witnesses: Mapping[str, tuple[Verdict, Verdict]]) -> list[tuple[str, str]]:
    """The side that a third method contradicts."""
    found = []
    for name, (beside_first, beside_second) in witnesses.items():
        results = (beside_first.result, beside_second.result)
        if results == ("PASS", "FAIL"):
            who, other = NAMES["tmm_bridge"], NAMES["vbg"]
        elif results == ("FAIL", "PASS"):
            who, other = NAMES["vbg"], NAMES["tmm_bridge"]
        else:
            continue
        found.append((who, f"The column {name} agrees with {other} and not with {who}."))
    return found


def _what_to_try(
    evidence: Evidence, verdict: Verdict, witnesses: Mapping[str, tuple[Verdict, Verdict]]
) -> str:
    """The next thing that an engineer would do."""
    if evidence.fault:
        return "Try: write the start so that it closes, then validate again."
    if verdict.halving >= CONVERGES:
        return "Try: a tighter --rtol, for part of the difference follows the step."
    if not witnesses and evidence.model is not None and evidence.model.joints:
        return "Try: --also dt for a third witness; then the model without its parts one by one."
    return "Try: the model without its parts one by one, to the smallest that still differs."
