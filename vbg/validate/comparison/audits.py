"""What the runs' own audits say of a verdict.

Each run holds itself to what its tolerances promise; a verdict allows energy 1e-6.  Between the
two a residual is told, and no more; above, or where anything else of an audit fails (constraints,
the law of a dry friction, what hangs together), that two solvers agree proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from vbg.solution import Solution

REMEDY = "Tighten rtol and atol, and look at energy.residual and residual.* of that run."


def failed_audits(
    runs: tuple[Solution, ...], allowed: float, names: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Why no PASS follows from runs whose own audits fail, empty if it may, and notes on what they
    say that is within `allowed`, relative to the largest energy; `names` of the solvers."""
    grave, notes = [], []
    for run in runs:
        audit, who = run.audit, names.get(run.made_by.solver, run.made_by.solver)
        by_energy = audit.energy_residual > audit.energy_limit
        small = bool(by_energy and audit.energy_residual <= allowed)
        told, rest = audit.failures[:small], audit.failures[small:]
        notes += [f"Of {who}'s run {one}; a verdict allows {allowed:.0e}." for one in told]
        grave += [f"of {who}'s run {' and '.join(rest)}"] if rest else []
    if not grave:
        return "", tuple(notes)
    return f"Nothing is proven: {'; '.join(grave)}. {REMEDY}", tuple(notes)
