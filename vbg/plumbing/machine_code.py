"""What a kernel is as machine code: made by numba, kept as a sealed file, linked by LLVM.

numba optimises every function by itself, makes machine code of it, and does both again wherever
it is called from: of 26 s for the interpreter 12 went there.  Here the functions that a kernel
calls stay drafts, as they were written down; the kernel is optimised once, with all of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from vbg.plumbing.compiled import without_code
from vbg.plumbing.paused_collection import paused_collection

Kinds = Sequence[str]
"""Of the words that a kernel gets: "p" an address, "q" an integer, "d" a number."""

CALL, KERNEL = "vbg_call", "vbg_kernel"  # what the lines made here are named
RAISED = -(2**63)  # returned by a kernel that raises, which none should
OK = (0, -2)  # what numba says of a call that raised nothing
FOREIGN = ("NRT_", "numba_", "Py", "_Py", "__svml", "_ZN")  # what only numba's own runtime has
DYNAMIC = "numba.dynamic.globals"  # an address of this process, frozen into the code
_SEAL = b"vbg machine code 1\n"
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class MachineCode:
    """Object files of a kernel and of the lines that call it, and the functions of the C
    library that it needs."""

    kernel: bytes
    caller: bytes
    needs: tuple[str, ...]

    def sealed(self) -> bytes:
        """As a file, which says whether it is whole."""
        head = json.dumps({"kernel": len(self.kernel), "needs": self.needs}).encode()
        body = b"\n".join([head, self.kernel + self.caller])
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
        cut = said["kernel"]
        return cls(objects[:cut], objects[cut:], tuple(said["needs"]))

    def linked(self) -> Any:
        """As code of this process; it is there as long as what is returned.

        Raises RuntimeError where this process lacks a function: LLVM would end the process.
        """
        import llvmlite.binding as llvm

        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        lacking = [name for name in self.needs if llvm.address_of_symbol(name) is None]
        if lacking:
            raise RuntimeError(f"compiled kernels need {', '.join(lacking)}, not found here")
        for content in (self.kernel, self.caller):
            engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(content))
        engine.finalize_object()
        return engine


def compiled(place: str, kernel: Any, types: tuple[Any, ...], kinds: Kinds) -> MachineCode:
    """The numba kernel for arguments of these numba types, whose words are `kinds`.

    Raises TypeError where it allocates or raises, which needs numba's runtime.
    """
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock, paused_collection(), _drafts() as drafting:
        kernel.compile(types)
        made = kernel.overloads[types]
        name = made.fndesc.llvm_func_name
        code = made.library.finished(name) if drafting else _as_numba_does(made.library)
        text = made.library.get_llvm_str()
    caller = _caller(name, kinds, str(made.signature.return_type) != "none")
    return MachineCode(code, caller, _needs(place, text))


@contextmanager
def _drafts() -> Iterator[bool]:
    """Whether what numba compiles meanwhile stays a draft; not where numba is not built as
    this knows it."""
    from numba.core import codegen
    from numba.core.registry import cpu_target

    generator = cpu_target.target_context.codegen()
    known = (
        hasattr(codegen.JITCodeLibrary, "_optimize_functions")
        and hasattr(codegen.JITCodeLibrary, "_optimize_final_module")
        and hasattr(codegen.JITCodeLibrary, "_finalize_final_module")
        and hasattr(generator, "_library_class")
        and hasattr(generator, "set_env")
        and hasattr(generator, "_tm")
        and hasattr(generator, "_data_layout")
    )
    if not known:
        yield False
        return

    class Draft(codegen.JITCodeLibrary):
        """Functions as they were written down, for others to take in."""

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        def finished(self, name: str) -> bytes:
            """With all that it has taken in, optimised as numba does, as an object file."""
            for function in self._final_module.functions:
                if not function.is_declaration and function.name != name:
                    function.linkage = "private"
            codegen.CPUCodeLibrary._optimize_final_module(self)
            self._final_module.verify()
            code: bytes = self._codegen._tm.emit_object(self._final_module)
            return code

    before = generator._library_class
    generator._library_class = Draft
    generator.set_env = lambda name, env: None  # there is no machine code to hold it
    try:
        with without_code():
            yield True
    finally:
        generator._library_class = before
        del generator.set_env


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


def _caller(kernel: str, words: Kinds, returns: bool) -> bytes:
    """Machine code that calls a kernel with the words of a table, and that tells its address."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    module = ir.Module("calls")
    module.triple = llvm.get_default_triple()
    result = word if returns else pointer
    types = {"p": pointer, "q": word, "d": ir.DoubleType()}
    kinds = [types[kind] for kind in words]
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
