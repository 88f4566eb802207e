"""Compiled kernels with a cache on disk that several processes may share.

numba's own cache has two weaknesses that matter here: it does not notice a
change in another file, and two processes that compile at the same moment may
take each other's machine code for their own (its index is written without a
lock), which gives wrong numbers or a crash.  So every set of kernels has a
folder named by the hash of its sources, and is compiled under a lock by the
first process that needs it; the others wait and then only read.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def cache_root() -> Path:
    """Folder for compiled kernels: VBG_CACHE_DIR, the user's cache, or a temporary one."""
    chosen = os.environ.get("VBG_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    temporary = Path(tempfile.gettempdir()) / f"vbg-{getattr(os, 'getuid', lambda: 0)()}"
    for root in ([Path(chosen)] if chosen else []) + [Path(home) / "vbg", temporary]:
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(root, os.W_OK):
            return root
    return temporary


class Kernels:
    """The kernels of one subsystem, written in the files `sources`."""

    def __init__(self, name: str, sources: Sequence[str | Path]):
        import llvmlite.binding
        import numba

        cpu = llvmlite.binding.get_host_cpu_name()
        digest = hashlib.sha256(f"{sys.version}|{numba.__version__}|{cpu}".encode())
        for source in sources:
            digest.update(Path(source).read_bytes())
        self.folder = cache_root() / f"{name}-{digest.hexdigest()[:16]}"
        self._ready: set[str] = set()

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` compiled by numba when first called, cached in `folder`."""
        import numba

        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(self.folder)
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            numba.config.CACHE_DIR = before

    def ensure(self, what: str, compile_all: Callable[[], None]) -> None:
        """Runs `compile_all`, which calls the kernels once, before anyone uses them:
        under the lock unless a process has finished it before."""
        if what in self._ready:
            return
        done = self.folder / f"{what}.done"
        if done.exists():
            compile_all()
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder / "lock"):
                compile_all()
                done.touch()
        self._ready.add(what)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds the lock file; waits for whoever holds it."""
    with path.open("a+") as file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file releases the lock
