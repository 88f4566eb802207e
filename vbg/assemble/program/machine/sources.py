"""The kernels that run tapes, as one set: a change of these files compiles them anew."""

from __future__ import annotations

from pathlib import Path

from vbg.assemble.program import lower, program
from vbg.blocks import functions
from vbg.plumbing import dormand_prince
from vbg.plumbing.kernels.compiled import Kernels

SOURCES = sorted(Path(__file__).parent.rglob("*.py"))
SOURCES += [Path(str(m.__file__)) for m in (program, lower, functions, dormand_prince)]
KERNELS = Kernels("assemble", SOURCES)
