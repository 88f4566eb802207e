"""The child process of OpenCASCADE, as vbg asks it: within limits, refusals in one sentence.

It is native code, and what it is given are strangers' files and any engineer's solids: it may fall
over them, or never come to an end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

from vbg.errors import ModelError, UsageError
from vbg.platform.limited import Server, Unserved

SECONDS, SECONDS_PER_MB = 60.0, 10.0  # of processor time for a job
MEMORY, GROWTH = 1.0e9, 100.0  # bytes for a job, and for each byte that it is given


@cache
def _server() -> Server:
    return Server("vbg.solids.child")


def ask(job: Mapping[str, Any], size: int, what: str, cannot: str) -> Any:
    """What the child says to a job (see `vbg.solids.child`) that is given `size` bytes.

    Raises UsageError where OpenCASCADE is not installed; ModelError, in one sentence about `what`,
    where it refuses, takes more than its limits, or ends: then it `cannot`.
    """
    if find_spec("OCP") is None:
        raise UsageError("OpenCASCADE is not installed: pip install 'vbg[cad]'.")
    seconds, memory = SECONDS + SECONDS_PER_MB * size / 1e6, MEMORY + GROWTH * size
    try:
        answer = _server().ask(job, seconds=seconds, memory=memory)
    except Unserved as why:
        raise ModelError(f"{what}: OpenCASCADE cannot {cannot}: {why}.") from None
    if answer["refused"]:
        raise ModelError(f"{what} {answer['refused']}")
    return answer["found"]
