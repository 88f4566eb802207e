"""Decorators of the kernels of the implicit method."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import ALONE
from vbg.simulate.steppers.implicit.sources import KERNELS


def entry(function):
    """Of kernels that Python calls, compiled as those of the tape."""
    return KERNELS.compiled(function, fastmath={"contract", "nsz"}, error_model="numpy", **ALONE)


compiled = entry  # those that only kernels call
