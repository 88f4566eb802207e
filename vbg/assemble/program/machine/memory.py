"""Kernel decorator and unchecked access to the workspace."""

from __future__ import annotations

from pathlib import Path

from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from vbg.assemble.program import lower, program
from vbg.blocks import functions
from vbg.plumbing.compiled import Kernels

SOURCES = sorted(Path(__file__).parent.glob("*.py"))
SOURCES += [Path(str(module.__file__)) for module in (program, lower, functions)]
KERNELS = Kernels("assemble", SOURCES)


def entry(function):
    """Decorator of kernels that Python calls; contraction to fused multiply-add is allowed."""
    return KERNELS.compiled(function, fastmath={"contract", "nsz"}, error_model="numpy")


def compiled(function):
    """The same for those that only kernels call: without wrappers for Python and C, which take
    a third of the time that compiling takes."""
    return KERNELS.compiled(
        function,
        fastmath={"contract", "nsz"},
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )


@intrinsic
def at(typingctx, array, index):
    """array[index] without the check for negative indices: the tape has none, and the
    check costs more than the arithmetic (3.3 against 7.6 ns for a 3 x 3 product)."""

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        data = arrayobj.make_array(kind)(context, builder, args[0]).data
        return arrayobj.load_item(context, builder, kind, builder.gep(data, [args[1]]))

    return array.dtype(array, index), codegen


@intrinsic
def put(typingctx, array, index, value):
    """array[index] = value, likewise."""

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        data = arrayobj.make_array(kind)(context, builder, args[0]).data
        arrayobj.store_item(context, builder, kind, args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, index, array.dtype), codegen
