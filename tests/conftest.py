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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`VBG_TAIL=k/n`: of the tests marked slow that part of `n` (from 0), the same everywhere."""
    part = os.environ.get("VBG_TAIL")
    if part is None:
        return
    k, n = map(int, part.split("/"))
    others = [
        item
        for item in items
        if item.get_closest_marker("slow") and zlib.crc32(item.nodeid.encode()) % n != k
    ]
    config.hook.pytest_deselected(items=others)
    left = set(map(id, others))
    items[:] = [item for item in items if id(item) not in left]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this case's own, the same whichever cases ran before it and where."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session", autouse=True)
def _quickly_compiled() -> Iterator[None]:
    """Exported C is compiled in a tenth of the time; tests that run it for long ask for more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vbg.export.compiler.OPTIMISATION", "-O0")
        yield


@pytest.fixture(autouse=True)
def _folder() -> Iterator[None]:
    """A test leaves the working folder as it was: what others name is meant from there."""
    before = os.getcwd()
    yield
    after = os.getcwd()
    os.chdir(before)
    assert after == before
