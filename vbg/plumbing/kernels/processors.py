"""The processor that machine code is made for.

What rounds, and whether products and sums are fused, is the processor's; made for the one at
hand, a kernel gives other last digits on the next one.  So code is made for a level that nearly
all processors have, where this one has it: the same code on all of them, which an installed vbg
brings along (`vbg.plumbing.kernels.compiled`).  Measured beside code for the processor itself
(AMD EPYC with 512 bits): the same within 3 %.
"""

from __future__ import annotations

import os
import platform
from functools import cache

X86_64_V3 = "x86-64-v3"
"""Processors since 2013 (Intel) and 2015 (AMD): the third level of the x86-64 psABI."""
_V2 = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf")
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_NUMBA = "NUMBA_"
WITHOUT_EFFECT = ("CACHE_DIR", "DISABLE_JIT", "NUM_THREADS", "THREADING_LAYER")
"""Of numba's variables (NUMBA_...): those that leave the machine code as it is."""


def level() -> str | None:
    """What code is made for; None: for this processor, or as numba's variables wish it."""
    return None if wishes() else _level_here()


def wishes() -> str:
    """What numba's variables wish of the machine code."""
    names = sorted(name for name in os.environ if name.startswith(_NUMBA))
    wished = [name for name in names if name.removeprefix(_NUMBA) not in WITHOUT_EFFECT]
    return "".join(f"|{name}={os.environ[name]}" for name in wished)


@cache
def _level_here() -> str | None:
    import llvmlite.binding

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return None
    has = llvmlite.binding.get_host_cpu_features()
    return X86_64_V3 if all(map(has.get, _V2 + _V3)) else None
