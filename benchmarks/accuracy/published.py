"""The published problems in one table: achieved digits.

``python -m benchmarks.accuracy.published``

digits: fewest and median correct digits over all compared values.  Where the
published values are themselves accurate to few digits (ADAMS prints six,
DASSL ran at 1e-6), so is the figure.
"""

from __future__ import annotations

import statistics

from benchmarks import asked
from tests.published.problems import PROBLEMS
from vbg.runner import SOLVERS


def main() -> None:
    for solver in SOLVERS:
        table(solver)


def table(solver: str) -> None:
    """One line per problem."""
    head = (solver, "values", "fewest", "median", "worst/tolerance", "energy", "position")
    print("{:24}{:>7}{:>8}{:>8}{:>17}{:>10}{:>10}".format(*head))
    for problem in PROBLEMS.values():
        solution = problem.solve(solver)
        channels = problem.channels(solution)
        digits = sorted(channel.digits for channel in channels)
        worst = max(channel.error / channel.tolerance for channel in channels)
        audit = solution.audit
        print(
            f"{problem.name:24}{len(channels):7}{digits[0]:8.1f}{statistics.median(digits):8.1f}"
            f"{worst:17.2g}{audit.energy_residual:10.1e}{audit.position_residual:10.1e}"
        )


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
