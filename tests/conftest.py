"""What every test may ask for."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

# before numpy is loaded: where each core has its process, threads for matrices of 20 rows wait for
# each other (tests of poles take 0.9 of the processor time with one)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this case's own, the same whichever cases ran before it and where."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(autouse=True)
def _folder() -> Iterator[None]:
    """A test leaves the working folder as it was: what others name is meant from there."""
    before = os.getcwd()
    yield
    after = os.getcwd()
    os.chdir(before)
    assert after == before
