"""Compiled kernels as machine code that is called without numba.

numba takes longer to load than a small run does: its import, the linear algebra that it looks
for, and its registries were half of the time of a process.  It is needed to compile; what it has
made of a kernel is an object file, which LLVM's linker loads by itself (0.05 s).

A kernel gets its arguments from one table of words of 8 bytes, in the order in which numba hands
them over: an array is owner, parent (none), number of entries, their size, address, shape and
strides; a number is itself; a tuple is what it holds.  A few lines of machine code, made here,
read the table and call the kernel.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from struct import Struct, error
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.platform.files import write_bytes
from vbg.plumbing.compiled import Kernels

CALL, KERNEL = "vbg_call", "vbg_kernel"  # what the lines made here are named
RAISED = -(2**63)  # returned by a kernel that raises, which none should
OK = (0, -2)  # what numba says of a call that raised nothing
FOREIGN = ("NRT_", "numba_", "Py", "_Py")  # what only numba's own runtime has

_INT, _FLOAT = Struct("=q").pack, Struct("=d").pack
_ARRAYS = {1: Struct("=7q").pack, 2: Struct("=9q").pack}  # by their number of axes


class Plan:
    """What a tuple of arrays is made of, which stays where it is: looked at once."""

    @cached_property
    def packed(self) -> bytes:
        """As a kernel gets it."""
        values: Iterable[Any] = self  # type: ignore[assignment]
        return b"".join(_packer(value)(value) for value in values)


def _packer(example: Any) -> Callable[[Any], bytes]:
    """What packs values like the example, and refuses others."""
    if isinstance(example, Plan):
        return partial(_packed_plan, type(example))
    if isinstance(example, np.ndarray):
        pack = {1: _packed_vector, 2: _packed_matrix}[example.ndim]
        return partial(pack, example.dtype, example.itemsize)
    return _FLOAT if isinstance(example, float) else _INT


def _packed_plan(kind: type[Plan], value: Any) -> bytes:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} is wanted")
    return value.packed


def _packed_vector(kind: np.dtype[Any], size: int, value: NDArray[Any]) -> bytes:
    (n,) = _shape(kind, 1, value)
    return _ARRAYS[1](0, 0, n, size, value.ctypes.data, n, size)


def _packed_matrix(kind: np.dtype[Any], size: int, value: NDArray[Any]) -> bytes:
    rows, columns = _shape(kind, 2, value)
    return _ARRAYS[2](
        0, 0, rows * columns, size, value.ctypes.data, rows, columns, columns * size, size
    )


def _shape(kind: np.dtype[Any], axes: int, value: NDArray[Any]) -> tuple[int, ...]:
    if value.dtype != kind or value.ndim != axes or not value.flags.c_contiguous:
        raise TypeError(f"a contiguous array of {axes} axes, {kind}, is wanted")
    return value.shape


class Native:
    """The kernel `place` ("MODULE:NAME") of a set, for arguments like `example`.

    Compiled by the first process that needs it and loaded where it is first called.  Returns
    the kernel's integer, 0 if it has none.  Raises TypeError for other arguments.
    """

    def __init__(self, kernels: Kernels, place: str, *example: Any):
        self.place, self.name = place, place.rpartition(":")[2]
        self._kernels, self._example = kernels, example
        self._packers = tuple(map(_packer, example))

    def __call__(self, *arguments: Any) -> int:
        returned: int = self._call(self._table(arguments))
        if returned == RAISED:
            raise RuntimeError(f"the kernel {self.name} raised an error")
        return returned

    def bound(self, *arguments: Any) -> Callable[[], int]:
        """A call with these arguments, whose arrays stay where they are."""
        call, table = self._call, self._table(arguments)

        def again(_kept: Any = arguments) -> int:
            return int(call(table))

        return again

    @cached_property
    def address(self) -> int:
        """Of the kernel's machine code, for kernels that call it by a pointer."""
        tell = ctypes.PYFUNCTYPE(ctypes.c_int64)(self._address_of(KERNEL))
        return int(tell())

    def python(self) -> Any:
        """The kernel as numba has it."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)

    def _table(self, arguments: Sequence[Any]) -> bytes:
        pairs = zip(self._packers, arguments, strict=True)
        try:
            return b"".join([pack(value) for pack, value in pairs])
        except (TypeError, ValueError, AttributeError, error) as wrong:
            raise TypeError(f"{self.name}: {wrong}") from wrong

    @cached_property
    def _call(self) -> Any:
        # a pointer to bytes is handed over as it is; the interpreter's lock is kept
        return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(self._address_of(CALL))

    def _address_of(self, symbol: str) -> int:
        address: int = self._engine.get_function_address(symbol)
        return address

    @cached_property
    def _engine(self) -> Any:
        folder = self._kernels.folder
        files = folder / f"{self.name}.o", folder / f"{self.name}.call.o"
        self._kernels.ensure(f"{self.name}.native", lambda: self._make(*files))
        return _linked([file.read_bytes() for file in files])

    def _make(self, code: Path, call: Path) -> None:
        """Compile the kernel where no process has done so."""
        if code.exists() and call.exists():
            return
        from numba import typeof

        kernel = self.python()
        types = tuple(typeof(value) for value in self._example)
        kernel.compile(types)
        made = kernel.overloads[types]
        _refuse_foreign(self.place, made.library.get_llvm_str())
        result = made.signature.return_type
        lines = _caller(made.fndesc.llvm_func_name, self._example, str(result) != "none")
        _, _, (objects, _) = made.library.serialize_using_object_code()
        write_bytes(code, objects)
        write_bytes(call, lines)


def _refuse_foreign(place: str, text: str) -> None:
    """Machine code that needs numba's runtime cannot be loaded without it."""
    used = set(re.findall(r"call [^\n]*?@\"?([A-Za-z_.0-9]+)\"?\(", text))
    foreign = sorted(name for name in used if name.startswith(FOREIGN))
    if foreign:
        raise TypeError(f"{place} allocates or raises: it calls {', '.join(foreign)}")


def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(jit=True)


def _linked(objects: Sequence[bytes]) -> Any:
    """Object files as machine code of this process."""
    import llvmlite.binding as llvm

    machine = _machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for content in objects:
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return engine


def _caller(kernel: str, example: Sequence[Any], returns: bool) -> bytes:
    """Machine code that calls a kernel with the words of a table, and that tells its address."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    module = ir.Module("calls")
    module.triple = llvm.get_default_triple()
    result = word if returns else pointer
    kinds = [kind for value in example for kind in _kinds(value, ir)]
    status = ir.IntType(32)
    form = ir.FunctionType(status, [result.as_pointer(), pointer.as_pointer(), *kinds])
    callee = ir.Function(module, form, kernel)
    call = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), CALL)
    builder = ir.IRBuilder(call.append_basic_block())
    to, raised = builder.alloca(result), builder.alloca(pointer)
    given = []
    for i, kind in enumerate(kinds):
        place = builder.gep(call.args[0], [ir.Constant(word, i)])
        given.append(builder.load(builder.bitcast(place, kind.as_pointer())))
    said = builder.call(callee, [to, raised, *given])
    well = [builder.icmp_signed("==", said, ir.Constant(status, good)) for good in OK]
    value = builder.load(to) if returns else ir.Constant(word, 0)
    builder.ret(builder.select(builder.or_(*well), value, ir.Constant(word, RAISED)))
    tell = ir.Function(module, ir.FunctionType(word, []), KERNEL)
    builder = ir.IRBuilder(tell.append_basic_block())
    builder.ret(builder.ptrtoint(callee, word))
    machine = _machine()
    code: bytes = machine.emit_object(llvm.parse_assembly(str(module)))
    return code


def _kinds(value: Any, ir: Any) -> list[Any]:
    """Types of the words of a value."""
    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    if isinstance(value, Plan):
        return [kind for each in value for kind in _kinds(each, ir)]  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray):
        return [pointer, pointer, word, word, pointer, *2 * value.ndim * (word,)]
    return [ir.DoubleType() if isinstance(value, float) else word]
