"""The kernels of the second solver, as one set: a change of these files compiles them anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vbg.plumbing.kernels.compiled import Kernels

SOURCES = sorted(Path(__file__).parent.rglob("*.py"))
KERNELS = Kernels("mstmm", SOURCES)


def compiled(function: Any) -> Any:
    """A kernel, for kernels to call; fused multiply-add is the only freedom taken.  What Python
    calls is told in `entries`: wrappers for Python and C take a third of the work, and who calls
    holds what the arrays stand on, so that nobody counts references."""
    return KERNELS.compiled(
        function,
        fastmath={"contract"},
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        _nrt=False,
    )
