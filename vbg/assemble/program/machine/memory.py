"""Kernel decorators, unchecked access to the workspace, and room for a while."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from vbg.assemble.program.machine.sources import KERNELS

ALONE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
"""Without wrappers for Python and C, which take a third of the time that compiling takes, and
without counts of references: who calls from Python holds what the arrays stand on."""


def entry(function):
    """Decorator of kernels that Python calls (`Native`); contraction to fused multiply-add is
    allowed."""
    return KERNELS.compiled(function, fastmath={"contract", "nsz"}, error_model="numpy", **ALONE)


compiled = entry  # those that only kernels call


def unrolled(function):
    """Decorator of kernels that only kernels call, with constants for the lengths of their loops:
    one function, which the compiler takes in at each call and unrolls there."""
    options = {"fastmath": {"contract", "nsz"}, "error_model": "numpy", "forceinline": True}
    return KERNELS.compiled(function, **options, **ALONE)


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


@intrinsic
def room(typingctx, like, number):
    """A new array of so many zeros of the kind of `like`, outside numba's own memory, which is
    not there where kernels run without it; `give_back` frees it."""
    kind = types.Array(like.dtype, 1, "C")

    def codegen(context, builder, signature, args):
        word = cgutils.intp_t
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        form = ir.FunctionType(cgutils.voidptr_t, [word, word])
        calloc = cgutils.get_or_insert_function(builder.module, form, "calloc")
        each = context.get_constant(types.intp, size)
        data = builder.call(calloc, [args[1], each])
        found = arrayobj.make_array(kind)(context, builder)
        pointer = builder.bitcast(data, found.data.type)
        arrayobj.populate_array(found, pointer, [args[1]], [each], each, None)
        return found._getvalue()

    return kind(like, number), codegen


@intrinsic
def give_back(typingctx, array):
    """Frees what `room` has given."""

    def codegen(context, builder, signature, args):
        data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
        form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t])
        free = cgutils.get_or_insert_function(builder.module, form, "free")
        builder.call(free, [builder.bitcast(data, cgutils.voidptr_t)])
        return context.get_dummy_value()

    return types.void(array), codegen
