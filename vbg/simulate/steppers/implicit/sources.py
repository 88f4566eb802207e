"""The kernels of the implicit method, as one set: a change of these files compiles them anew."""

from __future__ import annotations

from pathlib import Path

from vbg.assemble.program.machine import SOURCES
from vbg.plumbing.kernels.compiled import Kernels

_HERE = Path(__file__).parent
_OWN = [*sorted((_HERE / "kernels").glob("*.py")), _HERE / "ending.py"]
KERNELS = Kernels("implicit", [*SOURCES, *_OWN])
