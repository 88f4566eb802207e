"""The compiled reader of a Program: one interpreter for every model.

No model is ever compiled: `run` walks the tape and calls a kernel once per
segment.  The workspace may be float64 or complex128 (complex steps);
comparisons look at real parts.
"""

from vbg.assemble.program.machine.tape import ensure_compiled, rk4_step, run

__all__ = ["ensure_compiled", "rk4_step", "run"]
