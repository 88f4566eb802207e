"""The interpreter as a pointer: code that runs tapes without a copy of its machine code.

numba links what a kernel calls into that kernel.  The interpreter is by far the largest; each
kernel that called it by name would take as long to compile as it does (10 s).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray


class Reader(NamedTuple):
    """What compiled code needs to run a program: its workspace, what the interpreter reads,
    and where its outputs stand, one behind the other."""

    work: NDArray[Any]
    segments: NDArray[Any]
    operands: NDArray[Any]
    factors: NDArray[Any]
    stream: NDArray[Any]
    kept: NDArray[np.float64]
    first: int
    last: int


NOTHING = Reader(
    np.zeros(8),
    np.zeros((0, 13), dtype=np.int64),
    np.zeros(0, dtype=np.int64),
    np.zeros(0),
    np.zeros(0, dtype=np.int64),
    np.zeros(0),
    0,
    0,
)
"""A program that does nothing."""


def address_of(kernel: Any) -> int:
    """Of the machine code of a kernel that is compiled for one signature."""
    (compiled,) = (kernel.overloads[s] for s in kernel.signatures if s[0].dtype == types.float64)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic
def run_at(typingctx, address, work, segments, operands, factors, stream, kept):
    """Runs the interpreter that stands at `address` on a tape."""

    def codegen(context, builder, signature, args):
        kinds = signature.args[1:]
        form = context.call_conv.get_function_type(types.none, kinds)
        code = builder.inttoptr(args[0], form.as_pointer())
        context.call_conv.call_function(builder, code, types.none, kinds, args[1:])
        return context.get_dummy_value()

    return types.void(address, work, segments, operands, factors, stream, kept), codegen
