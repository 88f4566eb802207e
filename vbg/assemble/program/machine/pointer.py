"""The interpreter as a pointer: code that runs tapes without a copy of its machine code.

numba links what a kernel calls into that kernel.  The interpreter is by far the largest; each
kernel that called it by name would take as long to compile as it does (10 s).
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic


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
