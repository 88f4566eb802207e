"""The compiled reader of a Program: one interpreter for every model.

No model is ever compiled: `run` walks the tape and calls a kernel once per
segment.  The workspace may be float64 or complex128 (complex steps);
comparisons look at real parts.
"""

from vbg.assemble.program.machine.pointer import Reader
from vbg.assemble.program.machine.projection import (
    MOVED,
    NO_PROJECTION,
    WANTS_CORRECTION,
    Projection,
    measure,
    normalise,
    project,
    project_each,
)
from vbg.assemble.program.machine.rows import Signals, write_rows
from vbg.assemble.program.machine.running import evaluate_each, rk4_step, stages
from vbg.assemble.program.machine.tape import ensure_compiled, interpreter, run

__all__ = [
    "MOVED",
    "NO_PROJECTION",
    "WANTS_CORRECTION",
    "Projection",
    "Reader",
    "Signals",
    "ensure_compiled",
    "evaluate_each",
    "interpreter",
    "measure",
    "normalise",
    "project",
    "project_each",
    "rk4_step",
    "run",
    "stages",
    "write_rows",
]
