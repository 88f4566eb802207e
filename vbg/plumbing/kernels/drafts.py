"""Functions that stay as numba has written them down, until the kernels that call them are whole.

numba optimises a function by itself, copies it into the module of each function that calls it,
with all that it calls, and optimises that again.  A draft is neither optimised nor copied: all of
them are linked once, when the kernels are finished: of 29 s for the second solver's, copies took 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from vbg.plumbing.kernels.compiled import without_code
from vbg.plumbing.kernels.operators import remembered_operators, remembers
from vbg.plumbing.kernels.processors import level


@contextmanager
def drafts() -> Iterator[bool]:
    """Whether what numba compiles meanwhile stays a draft; not where numba is not built as
    this knows it."""
    context, generator = _numba()
    if not known():
        yield False
        return
    before = generator._library_class, context.cached_internal_func, generator._tm
    generator._library_class, context.cached_internal_func = _draft_class(), {}
    generator._tm = _machine(generator)
    generator.set_env = lambda name, env: None  # there is no machine code to hold it
    try:
        with without_code(), remembered_operators():
            yield True
    finally:
        generator._library_class, context.cached_internal_func, generator._tm = before
        del generator.set_env


def _numba() -> tuple[Any, Any]:
    """What numba compiles with, and what makes machine code of it."""
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    return context, context.codegen()


def known() -> bool:
    """Whether numba is built as this knows it."""
    from numba.core import codegen

    context, generator = _numba()
    return (
        hasattr(codegen.JITCodeLibrary, "_optimize_functions")
        and hasattr(codegen.JITCodeLibrary, "_optimize_final_module")
        and hasattr(codegen.JITCodeLibrary, "_get_module_for_linking")
        and "_linking_libraries" in codegen.CPUCodeLibrary.finalize.__code__.co_names
        and remembers()
        and hasattr(context, "cached_internal_func")
        and hasattr(generator, "_library_class")
        and hasattr(generator, "set_env")
        and hasattr(generator, "_tm")
        and hasattr(generator, "_data_layout")
    )


def _machine(generator: Any) -> Any:
    """What code is made for: numba's, or, of its kind, the level that code is made for here."""
    import llvmlite.binding as llvm
    from numba import config

    made_for = level()
    if made_for is None:
        return generator._tm
    here = llvm.Target.from_triple(llvm.get_process_triple())
    return here.create_target_machine(cpu=made_for, opt=config.OPT, reloc="static", jit=True)


@cache
def _draft_class() -> Any:
    from numba.core import codegen

    class Draft(codegen.JITCodeLibrary):
        """One function as it was written down, and what else numba made for it."""

        _shared_module: Any

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def finalize(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        def collect(self, modules: dict[Any, Any]) -> None:
            """Adds the module of each library that is called, through others too, and its own."""
            if self in modules:
                return
            modules[self] = self._final_module
            for called in self._linking_libraries:
                if isinstance(called, Draft):
                    called.collect(modules)
                else:
                    modules[called] = called._get_module_for_linking()

        def _get_module_for_linking(self) -> Any:
            """With all that it calls: for what numba compiles, behind this, in its own way."""
            if self._shared_module is None:
                modules: dict[Any, Any] = {}
                self.collect(modules)
                whole = modules.pop(self).clone()
                for module in modules.values():
                    whole.link_in(module, preserve=True)
                for function in whole.functions:
                    if not function.is_declaration and function.linkage.name == "external":
                        function.linkage = "linkonce_odr"
                self._shared_module = whole
            return self._shared_module

        def finished(self, libraries: Sequence[Any], names: Sequence[str]) -> bytes:
            """Libraries, each once and with all that they call, of which the functions `names`
            stay visible, optimised as numba does, as an object file."""
            modules: dict[Any, Any] = {}
            for library in libraries:
                library.collect(modules)
            for module in modules.values():
                self._final_module.link_in(module, preserve=True)
            for function in self._final_module.functions:
                if not function.is_declaration:
                    function.linkage = "external" if function.name in names else "private"
            self._optimize_final_module()
            self._final_module.verify()
            code: bytes = self._codegen._tm.emit_object(self._final_module)
            return code

    return Draft
