"""The compiled reader of a Program: one interpreter for every model.

No model is ever compiled: `run` walks the tape and calls a kernel once per
segment.  The workspace may be float64 or complex128 (complex steps);
comparisons look at real parts.  Kernels for float64 run without numba (`Native`);
what they are made of is loaded where they are compiled.
"""

from vbg.assemble.program.machine.entries import (
    attempt,
    complex_interpreter,
    complex_run,
    evaluate_each,
    inside,
    interpreter,
    measure,
    normalise,
    project,
    project_each,
    rk4_step,
    run,
    terms,
    write_rows,
)
from vbg.assemble.program.machine.plans import (
    LOST,
    MOVED,
    NO_PIVOTS,
    NO_PLACES,
    NO_PROJECTION,
    NO_VALUES,
    NOTHING,
    WANTS_CORRECTION,
    Attempt,
    Gate,
    Pivots,
    Projection,
    Reader,
    Signals,
    Tableau,
)
from vbg.assemble.program.machine.sources import SOURCES

__all__ = [
    "LOST",
    "MOVED",
    "NOTHING",
    "NO_PIVOTS",
    "NO_PLACES",
    "NO_PROJECTION",
    "NO_VALUES",
    "SOURCES",
    "WANTS_CORRECTION",
    "Attempt",
    "Gate",
    "Pivots",
    "Projection",
    "Reader",
    "Signals",
    "Tableau",
    "attempt",
    "complex_interpreter",
    "complex_run",
    "evaluate_each",
    "inside",
    "interpreter",
    "measure",
    "normalise",
    "project",
    "project_each",
    "rk4_step",
    "run",
    "terms",
    "write_rows",
]
