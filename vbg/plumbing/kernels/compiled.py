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
import pickle
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from vbg.errors import VbgError
from vbg.platform.files import write_bytes
from vbg.platform.folders import cache_folder, is_private, temporary_folder
from vbg.platform.locks import alone
from vbg.platform.text import escaped
from vbg.plumbing.kernels.processors import level, wishes
from vbg.plumbing.paused_collection import paused_collection

FORM = 3
"""Of names and entries; a change leaves older folders alone."""
UNUSED = 30.0
"""Days after which compiled kernels of another version are removed."""
USED = "used"  # the file whose date says when kernels of a folder were loaded last
SHIPPED = Path(__file__).with_name("shipped")
"""Kernels that were compiled when vbg was installed, or by whoever made the wheel."""

Content = TypeVar("Content")
_MAKERS = [
    Path(__file__).with_name(f"{name}.py")
    for name in ("addressed", "drafts", "machine_code", "native", "operators", "processors")
]
"""Of machine code, besides numba: what they made before a change is not what they make now."""


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
        self._name, self._listed = name, sources
        self._sources = frozenset(Path(source).resolve() for source in sources)
        self._ready: set[str] = set()

    @cached_property
    def folder(self) -> Path:
        """Where they are kept; looked for when the first one is called."""
        from importlib.metadata import version

        import llvmlite.binding

        # code for another processor is another set
        cpu = llvmlite.binding.get_host_cpu_name()
        features = llvmlite.binding.get_host_cpu_features().flatten()
        versions = f"{sys.version}|{version('numba')}|{version('llvmlite')}"
        made_by = f"{versions}|{cpu}|{features}|{level()}{wishes()}"
        return cache_root() / self._named(made_by)

    @cached_property
    def shipped(self) -> Path | None:
        """Where those are that came with vbg; None where they would not do here."""
        made_for = level()
        return SHIPPED / self._named(made_for) if made_for else None

    def _named(self, made: str) -> str:
        """By the sources, and by what else the machine code depends on."""
        digest = hashlib.sha256(f"{FORM}|{made}".encode())
        for source in (*self._listed, *_MAKERS):
            digest.update(Path(source).name.encode() + Path(source).read_bytes())
        return f"{self._name}-{digest.hexdigest()[:16]}"

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` compiled by numba when first called, cached in `folder`; numba is loaded then.

        Raises ValueError where its file is none of the sources: a change of it would go unseen.
        """
        if Path(function.__code__.co_filename).resolve() not in self._sources:
            raise ValueError(f"{function.__code__.co_filename} is not a source of {self._name}.")
        function.__qualname__ = _own_name(function)
        return Kernel(function, self, options)

    def ensure(self, what: str, compile_all: Callable[[], None]) -> None:
        """Runs `compile_all`, which calls the kernels once, before anyone uses them:
        under the lock unless a process has finished it before."""
        if what in self._ready:
            return
        done = self.folder / f"{what}.done"
        try:
            if done.exists():
                compile_all()
                done.touch()
            else:
                self._compile_alone(compile_all, done)
        except OSError as error:
            _tell(f"{self.folder}: {error.strerror}. Compiled kernels are not kept.")
            compile_all()  # what is compiled already stays so in this process
        self._ready.add(what)

    def _compile_alone(self, compile_all: Callable[[], None], done: Path) -> None:
        _remove_unused(self.folder)
        with alone(self.folder / "lock"), paused_collection():
            if not any(self.folder.glob("*.done")):
                self._remove_unfinished()
            compile_all()
            done.touch()

    def kept(
        self,
        name: str,
        opened: Callable[[bytes], Content | None],
        made: Callable[[], Content],
        sealed: Callable[[Content], bytes],
    ) -> Content:
        """What the file `name` of the folder holds, or of that which came with vbg; None from
        `opened` says that it is not whole.  Then, as where there is none, the first process that
        needs it makes it, while others wait.

        A folder that takes no files, for want of room or of permission, is told: what was made
        serves this process alone.
        """
        if self.shipped:
            with suppress(OSError):
                came = opened((self.shipped / name).read_bytes())
                if came is not None:
                    return came
        file = self.folder / name
        found = self._read(file, opened)
        if found is not None:
            return found
        try:
            _remove_unused(self.folder)
            with alone(self.folder / "lock"):
                found = self._read(file, opened)
                if found is None:
                    found = made()
                    write_bytes(file, sealed(found))
        except (OSError, VbgError) as error:
            _tell(f"{escaped(str(error))} Compiled kernels are not kept.")
        return made() if found is None else found

    def _read(self, file: Path, opened: Callable[[bytes], Content | None]) -> Content | None:
        try:
            found = opened(file.read_bytes())
        except OSError:
            return None
        if USED not in self._ready:
            self._ready.add(USED)
            with suppress(OSError):
                (self.folder / USED).touch()
        return found

    def _remove_unfinished(self) -> None:
        """Take away what a process compiled that did not come to its end."""
        with alone(self.folder / "entries.lock"):
            for entry in self.folder.glob("*.nb[ic]"):
                entry.unlink(missing_ok=True)


@cache
def _tell(what: str) -> None:
    """Once in a process."""
    print(f"vbg: {what}", file=sys.stderr)


_drafts = [False]  # whether kernels are taken without machine code of their own


@contextmanager
def without_code() -> Iterator[None]:
    """Kernels that numba compiles meanwhile are neither read from the cache nor kept, and no
    others than those that were compiled so: what comes of them depends on nothing else."""
    before, _drafts[0] = _drafts[0], True
    try:
        yield
    finally:
        _drafts[0] = before


class Kernel:
    """A function that numba compiles where Python or another kernel first calls it.

    numba takes `_numba_type_` for the type of such a value, and anything else from what it has
    made of the function.
    """

    def __init__(self, function: Callable[..., Any], kernels: Kernels, options: dict[str, Any]):
        self.py_func = function
        self._kernels, self._options = kernels, options

    @property
    def _dispatcher(self) -> Any:
        return self._draft if _drafts[0] else self._full

    @cached_property
    def _draft(self) -> Any:
        with _compiling(None) as numba:
            return _of_any_number(numba.njit(**self._options)(self.py_func))

    @cached_property
    def _full(self) -> Any:
        folder = self._kernels.folder
        with _compiling(folder) as numba:
            kernel = numba.njit(cache=True, **self._options)(self.py_func)
            kernel._cache = _locked_cache(self.py_func, folder)
        return _of_any_number(kernel)

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_dispatcher", "_draft", "_full"):
            raise AttributeError(name)
        return getattr(self._dispatcher, name)


def _of_any_number(kernel: Any) -> Any:
    """The kernel, compiled once for all integers: numba would compile it for each constant that
    another kernel calls it with, which inlining does without."""
    from numba.core.types.misc import unliteral

    resolved = kernel.get_call_template

    def get_call_template(args: Sequence[Any], kws: dict[str, Any]) -> Any:
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return resolved(tuple(map(unliteral, args)), plain)

    kernel.get_call_template = get_call_template
    return kernel


@contextmanager
def _compiling(folder: Path | None) -> Iterator[Any]:
    """numba, with a folder for its cache, that compiles whatever NUMBA_DISABLE_JIT says: what
    kernels do by addresses means nothing to Python."""
    import numba

    config = numba.config
    before = config.CACHE_DIR, config.DISABLE_JIT
    config.CACHE_DIR, config.DISABLE_JIT = str(folder or before[0]), False
    try:
        yield numba
    finally:
        config.CACHE_DIR, config.DISABLE_JIT = before


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
            try:
                with alone(lock):
                    return self._whole(sig, target_context)
            except OSError:
                return None

        def _whole(self, sig: Any, target_context: Any) -> Any:
            """None where what is there was cut: it makes room for what is compiled anew."""
            try:
                return super().load_overload(sig, target_context)
            except (EOFError, pickle.UnpicklingError, ValueError):
                self.flush()
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                with alone(lock):
                    super().save_overload(sig, data)
            except OSError as error:
                _tell(f"{folder}: {error.strerror}. Compiled kernels are not kept.")

    return LockedCache(function)


def _remove_unused(folder: Path) -> None:
    """Removes the folders of other versions of a set that no process has used for UNUSED days."""
    name = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{name}-*"):
        files = (*other.glob("*.done"), *other.glob(USED))
        marks = [mark.stat().st_mtime for mark in files]
        if marks and time.time() - max(marks) > UNUSED * 86400.0:
            shutil.rmtree(other, ignore_errors=True)
