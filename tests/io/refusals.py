"""What every file of a stranger that is not sound has to meet: one cheap, printable sentence."""

from __future__ import annotations

import tracemalloc

import pytest

from vbg.errors import ModelError, UsageError

BODY = "[bodies.b]\nmass = 1.0\ninertia = { xx = 1.0, yy = 1.0, zz = 1.0 }\nposition = [0, 0, 0]\n"
LIMIT = 200_000_000  # bytes of new memory


def refused(reader, path, kinds=(UsageError, ModelError)) -> str:
    """The words with which `reader` refuses; in one line for each thing, printable, cheap."""
    tracemalloc.start()
    try:
        with pytest.raises(kinds) as error:
            reader(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < LIMIT
    told = str(error.value)
    assert told.replace("\n", "").isprintable(), told
    assert len(told) < 2000
    return told
