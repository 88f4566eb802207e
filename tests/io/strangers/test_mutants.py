"""Damaged model files are read or refused in words: `benchmarks.robustness.mutants` tries more."""

import pytest

from benchmarks.robustness.mutants import FINE, one


@pytest.mark.parametrize("batch", range(10))
def test_mutants_are_read_or_refused(batch):
    for number in range(50):
        _, file, fate, _, _ = one(number, batch, "read")
        assert fate in FINE, (batch, number, file)


def test_what_damaged_models_compute_has_values():
    for number in range(12):
        _, file, fate, _, _ = one(number, 11, "run")
        assert fate in FINE, (number, file)
