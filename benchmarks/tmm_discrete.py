"""Convergence of the discrete-time transfer matrix method to the Riccati solution.

    python benchmarks/tmm_discrete.py

For three shipped examples: error relative to the largest value of each kind, and
the observed order between successive steps (2 is expected).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vbg
from vbg.solution import Solution
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.discrete import simulate as discrete

EXAMPLES = Path(__file__).parents[1] / "examples"
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
KINDS = (".position", ".velocity", ".force")


def error(found: Solution, reference: Solution, kind: str) -> float:
    """Largest error of the signals of one kind, relative to the largest of them."""
    names = [name for name in reference.signals if name.endswith(kind)]
    size = max(np.abs(reference[name]).max() for name in names)
    return max(np.abs(found[name] - reference[name]).max() for name in names) / size


def main() -> None:
    for name in ("double-pendulum", "triple-pendulum", "slider-crank"):
        model = vbg.read(EXAMPLES / f"{name}.toml")
        span = {"t_end": 0.4, "output_step": 0.02}
        reference = simulate(model, rtol=1e-11, atol=1e-13, **span)
        print(f"{name}\n  step [s]" + "".join(f"{kind[1:]:>12s}  order" for kind in KINDS))
        before: list[float] = []
        for step in STEPS:
            solution = discrete(model, step=step, **span)
            errors = [error(solution, reference, kind) for kind in KINDS]
            orders = [np.log2(b / e) for b, e in zip(before, errors, strict=True)] if before else []
            cells = [
                f"{e:12.2e}  {orders[k]:5.2f}" if orders else f"{e:12.2e}       "
                for k, e in enumerate(errors)
            ]
            print(f"  {step:8.2e}" + "".join(cells))
            before = errors


if __name__ == "__main__":
    main()
