"""What every test may ask for."""

from __future__ import annotations

import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this case's own, the same whichever cases ran before it and where."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
