"""Damaged model files are read or refused in words; `python -m benchmarks.mutants` tries more."""

import random

import pytest

from benchmarks.mutants import EXAMPLES, fault, mutant


@pytest.mark.parametrize("batch", range(10))
def test_mutants_are_read_or_refused(batch):
    for i in range(50):
        rng = random.Random(f"{batch} {i}")
        file = rng.choice(EXAMPLES)
        text = mutant(file.read_text(encoding="utf-8"), rng)
        assert fault(text, str(file)) in ("", "refused"), (batch, i, file.name)
