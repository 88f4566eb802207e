"""Compiled kernels with a cache on disk that several processes may share.

numba's own cache has three weaknesses that matter here: it does not notice a
change in another file; it files entries by the place and the date of a source,
so that every installation of the same sources compiles anew; and two processes
that compile at the same moment may take each other's machine code for their own
(its index and its data are two files written without a lock: the code for
float64 was once read as that for complex128), or give one name to two kernels
of one factory, which gives wrong numbers or a crash.  So every set of kernels
has a folder named by the hash of its sources, every kernel a name of its own,
every entry is filed by its module and its text, read and written under a lock,
and a whole set is compiled by the first process that needs it while the others
wait.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vbg.platform.folders import cache_folder, is_private, temporary_folder
from vbg.platform.locks import alone
from vbg.platform.text import escaped

FORM = 2
"""Of names and entries; a change leaves older folders alone."""
UNUSED = 30.0
"""Days after which compiled kernels of another version are removed."""


def cache_root() -> Path:
    """Folder for compiled kernels: VBG_CACHE_DIR, the user's cache, or one of this process.

    numba's index is a pickle, and reading it runs what it says: only a folder that is the
    user's own and closed to others is used.
    """
    return _first_private(os.environ.get("VBG_CACHE_DIR"))


@cache
def _first_private(chosen: str | None) -> Path:
    for root in (*([Path(chosen)] if chosen else []), cache_folder()):
        if is_private(root):
            return root
        print(
            f"vbg: {escaped(str(root))} is not a folder of yours that is closed to others;"
            " compiled kernels are not kept there.",
            file=sys.stderr,
        )
    return temporary_folder()


class Kernels:
    """The kernels of one subsystem, written in the files `sources`."""

    def __init__(self, name: str, sources: Sequence[str | Path]):
        import llvmlite.binding

        # as numba reads it: code for another processor is another set
        host = llvmlite.binding.get_host_cpu_name()
        cpu = os.environ.get("NUMBA_CPU_NAME") or host
        features = llvmlite.binding.get_host_cpu_features().flatten()
        digest = hashlib.sha256(
            f"{FORM}|{sys.version}|{version('numba')}|{cpu}|{features}".encode()
        )
        self._sources = frozenset(Path(source).resolve() for source in sources)
        for source in sources:
            digest.update(Path(source).name.encode() + Path(source).read_bytes())
        self.folder = cache_root() / f"{name}-{digest.hexdigest()[:16]}"
        self._ready: set[str] = set()

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` compiled by numba when first called, cached in `folder`; numba is loaded then.

        Raises ValueError where its file is none of the sources: a change of it would go unseen.
        """
        if Path(function.__code__.co_filename).resolve() not in self._sources:
            raise ValueError(f"{function.__code__.co_filename} is not a source of {self.folder}.")
        function.__qualname__ = _own_name(function)
        return Kernel(function, self.folder, options)

    def ensure(self, what: str, compile_all: Callable[[], None]) -> None:
        """Runs `compile_all`, which calls the kernels once, before anyone uses them:
        under the lock unless a process has finished it before."""
        if what in self._ready:
            return
        done = self.folder / f"{what}.done"
        if done.exists():
            compile_all()
            done.touch()
        else:
            _remove_unused(self.folder)
            with alone(self.folder / "lock"):
                if not any(self.folder.glob("*.done")):
                    self._remove_unfinished()
                compile_all()
                done.touch()
        self._ready.add(what)

    def _remove_unfinished(self) -> None:
        """Take away what a process compiled that did not come to its end."""
        with alone(self.folder / "entries.lock"):
            for entry in self.folder.glob("*.nb[ic]"):
                entry.unlink(missing_ok=True)


class Kernel:
    """A function that numba compiles where Python or another kernel first calls it.

    numba takes `_numba_type_` for the type of such a value, and anything else from what it has
    made of the function.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, options: dict[str, Any]):
        self.py_func = function
        self._folder, self._options = folder, options

    @cached_property
    def _dispatcher(self) -> Any:
        import numba

        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(self._folder)
        try:
            kernel = numba.njit(cache=True, **self._options)(self.py_func)
            kernel._cache = _locked_cache(self.py_func, self._folder)
        finally:
            numba.config.CACHE_DIR = before
        return kernel

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_dispatcher":
            raise AttributeError(name)
        return getattr(self._dispatcher, name)


def _own_name(function: Callable[..., Any]) -> str:
    """The qualified name, with what a kernel made by another function closes over.

    numba names machine code by qualified name, types of arguments and a count within the
    process.  Two kernels of one factory that two processes have compiled could so have one
    name, and a third process that loads both would run one of them for the other.
    """
    values = (cell.cell_contents for cell in function.__closure__ or ())
    inside = (v if isinstance(v, bool | int | float | str) else _name_of(v) for v in values)
    return "_".join([function.__qualname__, *map(str, inside)])


def _name_of(value: Any) -> str:
    kernel = getattr(value, "py_func", value)
    return str(getattr(kernel, "__qualname__", type(kernel).__qualname__))


def _locked_cache(function: Callable[..., Any], folder: Path) -> Any:
    """numba's cache of one function in `folder`, filed by its module and its text wherever
    that stands, whose entries are read and written under the folder's lock."""
    from numba.core import caching

    lock = folder / "entries.lock"
    code = function.__code__

    class Place:
        """What numba asks of a place for entries."""

        def get_cache_path(self) -> str:
            return str(folder)

        def ensure_cache_path(self) -> None:
            folder.mkdir(parents=True, exist_ok=True)

        def get_source_stamp(self) -> str:
            return hashlib.sha256(Path(code.co_filename).read_bytes()).hexdigest()

        def get_disambiguator(self) -> str:
            where = f"{function.__module__}:{code.co_firstlineno}"
            return hashlib.sha256(where.encode()).hexdigest()[:12]

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Place:
            return cls()

    class Entries(caching.CompileResultCacheImpl):
        _locator_classes = (Place,)

    class LockedCache(caching.FunctionCache):
        _impl_class = Entries

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            with alone(lock):
                return super().load_overload(sig, target_context)

        def save_overload(self, sig: Any, data: Any) -> None:
            with alone(lock):
                super().save_overload(sig, data)

    return LockedCache(function)


def _remove_unused(folder: Path) -> None:
    """Removes the folders of other versions of a set that no process has used for UNUSED days."""
    name = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{name}-*"):
        marks = [mark.stat().st_mtime for mark in other.glob("*.done")]
        if marks and time.time() - max(marks) > UNUSED * 86400.0:
            shutil.rmtree(other, ignore_errors=True)
