"""Convergence of the discrete-time transfer matrix method to the Riccati solution.

    python -m benchmarks.accuracy.tmm_discrete

For shipped examples (chains, loops in the plane and in space) and each scheme:
error relative to the largest value of each kind, and the order seen between
successive steps beside the one expected.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vbg
from benchmarks import asked
from vbg.model import Model
from vbg.solution import Solution
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.discrete.method import SCHEMES
from vbg.tmm_bridge.discrete.method import simulate as discrete

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("double-pendulum", "triple-pendulum", "slider-crank", "spatial-four-bar")
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
KINDS = (".position", ".velocity", ".force")
SPAN = {"t_end": 0.4, "output_step": 0.02}


def error(found: Solution, reference: Solution, kind: str) -> float:
    """Largest error of the signals of one kind, relative to the largest of them."""
    names = [name for name in reference.signals if name.endswith(kind)]
    size = max(np.abs(reference[name]).max() for name in names)
    return float(max(np.abs(found[name] - reference[name]).max() for name in names) / size)


def table(model: Model, reference: Solution, scheme: str) -> None:
    """Errors and orders of one scheme, a row for each step."""
    before: list[float] = []
    for step in STEPS:
        solution = discrete(model, step=step, scheme=scheme, **SPAN)
        errors = [error(solution, reference, kind) for kind in KINDS]
        orders = [np.log2(b / e) for b, e in zip(before, errors, strict=True)] if before else []
        cells = [
            f"{e:12.2e}  {orders[k]:5.2f}" if orders else f"{e:12.2e}       "
            for k, e in enumerate(errors)
        ]
        print(f"  {scheme:8s}  {SCHEMES[scheme][2]}  {step:8.2e}" + "".join(cells))
        before = errors


def main() -> None:
    for name in NAMES:
        model = vbg.read(EXAMPLES / f"{name}.toml")
        reference = simulate(model, rtol=1e-11, atol=1e-13, **SPAN)
        print(
            f"{name}\n  scheme    order  step [s]" + "".join(f"{k[1:]:>9s}  order" for k in KINDS)
        )
        for scheme in SCHEMES:
            table(model, reference, scheme)


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
