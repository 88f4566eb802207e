"""The audit of every example as shipped, in one table.  ``python -m benchmarks.accuracy.audit``

residual: largest |stored + dissipated - supplied - start| [J]; largest: the largest energy that
took part in the run [J]; beside them what is left of the joints' closure.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vbg
from benchmarks import asked

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def largest_energy(solution: vbg.Solution) -> float:
    """Of the kinetic energy, the change of the potential, what was supplied or dissipated."""
    return max(
        np.abs(solution["energy.kinetic"]).max(),
        np.ptp(solution["energy.potential"]),
        np.abs(solution["energy.supplied"]).max(),
        np.abs(solution["energy.dissipated"]).max(),
    )


def main() -> None:
    head = ("example", "method", "residual", "largest", "ratio", "position", "velocity", "events")
    print("{:22}{:>8}{:>10}{:>10}{:>9}{:>10}{:>10}{:>8}".format(*head))
    for path in sorted(EXAMPLES.glob("*.toml")):
        solution = vbg.simulate(vbg.assemble(vbg.read(path)))
        residual, largest = np.abs(solution["energy.residual"]).max(), largest_energy(solution)
        audit = solution.audit
        print(
            f"{path.stem:22}{solution.made_by.method:>8}{residual:10.1e}{largest:10.1e}"
            f"{residual / largest:9.1e}{audit.position_residual:10.1e}"
            f"{audit.velocity_residual:10.1e}{len(audit.events):8}"
        )


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
