"""What steps cost, counted and never timed: the same run makes the same choice on every machine.

Microseconds of one core of 2026 (docs/decisions/2026-11-trial.md), of which ratios alone matter:

    explicit step    STEP + rates r
    implicit step    STEP + rates r + iterations i + Jacobians j + factorisations l

with r from the length of the rate's program, and i, j, l from the size and structure of its
Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass

from vbg.simulate.steppers.implicit.ending import DENSE
from vbg.simulate.steppers.implicit.sparsity import Pattern

STEP = 100.0  # calls around a step
CALLED, BY_NUMPY = 15.0, 130.0  # calls around an iteration in compiled code, and by numpy
SOLVES = 4  # of an iteration of seven stages


@dataclass(slots=True)
class Counts:
    """What was done so far, beside evaluations of the rate."""

    steps: int = 0
    iterations: int = 0
    jacobians: int = 0
    factorisations: int = 0


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a rate, an iteration, a Jacobian and a factorisation [us]."""

    rate: float
    iteration: float = 0.0
    jacobian: float = 0.0
    factorisation: float = 0.0

    def of(self, rates: int, counts: Counts) -> float:
        return (
            STEP * counts.steps
            + self.rate * rates
            + self.iteration * counts.iterations
            + self.jacobian * counts.jacobians
            + self.factorisation * counts.factorisations
        )


def explicit_prices(operations: int) -> Prices:
    """`operations`: of the program of the rates."""
    return Prices(2.0 + 0.007 * operations)


def implicit_prices(operations: int, size: int, pattern: Pattern | None) -> Prices:
    """`size` states; `pattern` of the Jacobian, None where it is dense."""
    rate = explicit_prices(operations).rate
    column = 4.0 + 2.0 * rate + 0.03 * size  # by complex numbers
    if pattern is None:
        solve = 1.5 + 0.0013 * size**2
        factorisation = 6.0 + 0.01 * size**2 + 7e-5 * size**3
        called = CALLED if size <= DENSE else BY_NUMPY
        return Prices(rate, called + SOLVES * solve, column * size, factorisation)
    entries = len(pattern.rows)
    solve = 10.0 + 0.006 * entries
    return Prices(rate, CALLED + SOLVES * solve, column * pattern.groups, 100.0 + 0.12 * entries)
