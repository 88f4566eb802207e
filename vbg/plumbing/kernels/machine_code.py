"""What kernels are as machine code: made by numba, kept as a sealed file, linked by LLVM.

numba optimises every function by itself, makes machine code of it, and does both again wherever
it is called from: of 26 s for the interpreter 12 went there.  Here the functions that kernels
call stay drafts (`vbg.plumbing.kernels.drafts`); kernels that share them are optimised once,
together and with all of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from vbg.plumbing.kernels.drafts import drafts
from vbg.plumbing.paused_collection import paused_collection

Kinds = Sequence[str]
"""Of the words that a kernel gets: "p" an address, "q" an integer, "d" a number."""

CALL, KERNEL = "vbg_call_", "vbg_kernel_"  # and the kernel's name: what the lines made here are
RAISED = -(2**63)  # returned by a kernel that raises, which none should
OK = (0, -2)  # what numba says of a call that raised nothing
FOREIGN = ("NRT_", "numba_", "Py", "_Py", "__svml", "_ZN")  # what only numba's own runtime has
DYNAMIC = "numba.dynamic.globals"  # an address of this process, frozen into the code
_SEAL = b"vbg machine code 1\n"
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Wanted:
    """A numba kernel `name`, written at `place`, for arguments of these numba types, whose words
    are `kinds`."""

    name: str
    place: str
    kernel: Any
    types: tuple[Any, ...]
    kinds: Kinds


@dataclass(frozen=True, slots=True)
class MachineCode:
    """Object files of kernels and of the lines that call them, and the functions of the C
    library that they need."""

    kernels: tuple[bytes, ...]
    caller: bytes
    needs: tuple[str, ...]

    def sealed(self) -> bytes:
        """As a file, which says whether it is whole."""
        lengths = [len(kernel) for kernel in self.kernels]
        head = json.dumps({"kernels": lengths, "needs": self.needs}).encode()
        body = b"\n".join([head, b"".join((*self.kernels, self.caller))])
        return _SEAL + hashlib.sha256(body).digest() + body

    @classmethod
    def opened(cls, file: bytes) -> MachineCode | None:
        """What was sealed; None of anything else, whether cut, mixed up or of another form."""
        seal, rest = file[: len(_SEAL)], file[len(_SEAL) :]
        body = rest[_DIGEST:]
        if seal != _SEAL or rest[:_DIGEST] != hashlib.sha256(body).digest():
            return None
        head, _, objects = body.partition(b"\n")
        said = json.loads(head)
        cuts = [0, *accumulate(said["kernels"])]
        kernels = tuple(objects[a:b] for a, b in pairwise(cuts))
        return cls(kernels, objects[cuts[-1] :], tuple(said["needs"]))

    def linked(self) -> Any:
        """As code of this process; it is there as long as what is returned.

        Raises RuntimeError where this process lacks a function: LLVM would end the process.
        """
        import llvmlite.binding as llvm

        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        lacking = [name for name in self.needs if llvm.address_of_symbol(name) is None]
        if lacking:
            raise RuntimeError(f"compiled kernels need {', '.join(lacking)}, not found here")
        for content in (*self.kernels, self.caller):
            engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(content))
        engine.finalize_object()
        return engine


def compiled(wanted: Sequence[Wanted]) -> MachineCode:
    """Kernels in one piece.

    Raises TypeError where one allocates or raises, which needs numba's runtime.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock, paused_collection(), drafts() as drafting:
        made = [_made(one) for one in wanted]
        names = [one.fndesc.llvm_func_name for one in made]
        libraries = [one.library for one in made]
        if drafting:
            whole = cpu_target.target_context.codegen().create_library("vbg")
            codes, texts = [whole.finished(libraries, names)], [whole.get_llvm_str()]
        else:
            codes = [_as_numba_does(library) for library in libraries]
            texts = [library.get_llvm_str() for library in libraries]
    returns = [str(one.signature.return_type) != "none" for one in made]
    places = ", ".join(one.place for one in wanted)
    needs = sorted({name for text in texts for name in _needs(places, text)})
    return MachineCode(tuple(codes), _callers(wanted, names, returns), tuple(needs))


def _made(one: Wanted) -> Any:
    one.kernel.compile(one.types)
    return one.kernel.overloads[one.types]


def _as_numba_does(library: Any) -> bytes:
    _, _, (code, _) = library.serialize_using_object_code()
    return bytes(code)


def _needs(place: str, text: str) -> tuple[str, ...]:
    """Functions that the optimised kernel `text` calls from outside.  Machine code that needs
    numba's runtime, or an address of the process that made it, cannot be loaded by another."""
    made = set(re.findall(r"^define [^\n@]*@\"?([\w.$]+)\"?\(", text, re.MULTILINE))
    declared = re.findall(r"^declare [^\n@]*@\"?([\w.$]+)\"?\(", text, re.MULTILINE)
    used = {name for name in declared if not name.startswith("llvm.")} - made
    foreign = sorted(name for name in used if name.startswith(FOREIGN))
    if DYNAMIC in text:
        foreign.append("an array of this process")
    if foreign:
        raise TypeError(
            f"{place} allocates, raises or needs what only numba has: {', '.join(foreign)}"
        )
    return tuple(sorted(used))


def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(jit=True)


def _callers(wanted: Sequence[Wanted], names: Sequence[str], returns: Sequence[bool]) -> bytes:
    """Machine code that calls kernels with the words of a table, and that tells their addresses."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    module = ir.Module("calls")
    module.triple = llvm.get_default_triple()
    for one, name, result in zip(wanted, names, returns, strict=True):
        _add_caller(module, one, name, result)
    machine = _machine()
    code: bytes = machine.emit_object(llvm.parse_assembly(str(module)))
    return code


def _add_caller(module: Any, one: Wanted, kernel: str, returns: bool) -> None:
    from llvmlite import ir

    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    result = word if returns else pointer
    types = {"p": pointer, "q": word, "d": ir.DoubleType()}
    kinds = [types[kind] for kind in one.kinds]
    status = ir.IntType(32)
    form = ir.FunctionType(status, [result.as_pointer(), pointer.as_pointer(), *kinds])
    callee = ir.Function(module, form, kernel)
    call = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), CALL + one.name)
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
    tell = ir.Function(module, ir.FunctionType(word, []), KERNEL + one.name)
    builder = ir.IRBuilder(tell.append_basic_block())
    builder.ret(builder.ptrtoint(callee, word))
