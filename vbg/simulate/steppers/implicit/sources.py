"""The kernels of the implicit method, as one set: a change of these files compiles them anew."""

from __future__ import annotations

from pathlib import Path

from vbg.assemble.program.machine.sources import SOURCES
from vbg.plumbing.compiled import Kernels

_HERE = (Path(__file__).with_name(name) for name in ("kernels.py", "ending.py"))
KERNELS = Kernels("implicit", [*SOURCES, *_HERE])
