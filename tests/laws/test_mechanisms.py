"""Random mechanisms against the project's own dense oracle: `python -m benchmarks.mechanisms`."""

from __future__ import annotations

import pytest

from benchmarks.mechanisms import compared, random_mechanism, wrongly_refused
from tests.tail import tail

EACH = 20


@pytest.mark.parametrize("first", tail(range(0, 200, EACH), 3))
def test_accelerations_and_joint_forces_are_those_of_the_oracle(first):
    """Trees, loops in space and in planes, redundant and rigid ones, links down to 1e-8 of their
    mass, postures 1e-4 rad beside a singular one: nothing above max(1e-9, 1e-16 cond^2)."""
    for seed in range(first, first + EACH):
        verdict = compared(random_mechanism(seed))
        if verdict.refused:
            assert not wrongly_refused(verdict), verdict.refused
        else:
            assert verdict.passed, verdict
